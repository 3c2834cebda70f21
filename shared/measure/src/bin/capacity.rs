//! `capacity` tells what every question of every list costs by key, and what the scan costs that it replaces.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that talks to the person who started it"
)]

use std::path::PathBuf;
use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressStyle};
use kit::item::MAX_ITEM_BYTES;
use kit::list::List;
use local::template::Template;
use measure::capacity::{self, Options};
use measure::lists::LISTS;
use measure::{Failure, chart, number, report};

const HELP: &str = "\
Tells the read units and calls of every question of every list, page 1 and page 10, beside those of the scan
with a tenant filter that it replaces, as the table grows. Run it in the project's folder.

  --rows N,N,...    the rows of the table (1000,10000,100000)
  --tenants N       the tenants that share it (20)
  --item-bytes N    the size of an item, names included (1024); 409600 at most, as in DynamoDB, and a page of
                    them has to fit into the 6 MB of an answer
  --limit N         the rows of a page (20)
  --list NAME       only this list; may be given several times
  --csv FILE        writes the numbers there
  --svg FILE        draws them there";

struct Wanted {
    options: Options,
    csv: Option<PathBuf>,
    svg: Option<PathBuf>,
}

fn main() -> ExitCode {
    measure::program(HELP, run)
}

fn run(words: &[String]) -> Result<(), Failure> {
    let Wanted { options, csv, svg } = wanted(words)?;
    let template = Template::load("template.yaml")?;
    let bar = ProgressBar::new(capacity::work(&options) as u64);
    let style = "{bar:30} {percent:>3}%  {msg}  ({elapsed}, {eta} left)";
    // The template is a constant; were it wrong, the bar would have the library's own look.
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style);
    }
    let measured = capacity::measure(&template, &options, |doing, rows| {
        bar.set_message(doing);
        bar.inc(rows as u64);
    });
    bar.finish_and_clear();
    let measured = measured?;
    println!(
        "Read units / calls of one request. {} tenants, items of {} bytes, pages of {}.\n",
        options.tenants, options.item_bytes, options.limit
    );
    print!("{}", report::table(&measured));
    for (path, text) in [(csv, report::csv(&measured, &options)), (svg, chart::svg(&measured, &options))] {
        let Some(path) = path else { continue };
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        println!("\nWritten: {}", path.display());
    }
    Ok(())
}

fn wanted(words: &[String]) -> Result<Wanted, Failure> {
    let options = Options {
        lists: Vec::new(),
        rows: vec![1_000, 10_000, 100_000],
        tenants: 20,
        item_bytes: 1_024,
        limit: 20,
    };
    let mut wanted = Wanted { options, csv: None, svg: None };
    let options = &mut wanted.options;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let value = || -> Result<&String, Failure> {
            rest.clone().next().ok_or_else(|| format!("{word} needs a value; --help tells more").into())
        };
        match word.as_str() {
            "--rows" => {
                options.rows =
                    value()?.split(',').map(|text| number(word, text)).collect::<Result<_, _>>()?;
            }
            "--tenants" => options.tenants = number(word, value()?)?,
            "--item-bytes" => options.item_bytes = item_bytes(word, value()?)?,
            "--limit" => options.limit = number(word, value()?)?,
            "--list" => options.lists.push(list(value()?)?),
            "--csv" => wanted.csv = Some(value()?.into()),
            "--svg" => wanted.svg = Some(value()?.into()),
            _ => return Err(format!("{word:?} is not understood here; --help tells what is").into()),
        }
        rest.next();
    }
    options.rows.sort_unstable();
    options.rows.dedup();
    if options.lists.is_empty() {
        options.lists = LISTS.to_vec();
    }
    Ok(wanted)
}

fn item_bytes(option: &str, text: &str) -> Result<usize, Failure> {
    let bytes = number(option, text)?;
    if bytes > MAX_ITEM_BYTES {
        let most = format!("DynamoDB stores items of at most {MAX_ITEM_BYTES} bytes, names included");
        return Err(format!("{option} {text}: {most}").into());
    }
    Ok(bytes)
}

fn list(name: &str) -> Result<&'static List, Failure> {
    let names: Vec<&str> = LISTS.iter().map(|list| list.name()).collect();
    let list = LISTS.iter().copied().find(|list| list.name() == name);
    list.ok_or_else(|| format!("there is no list {name:?}, but: {}", names.join(", ")).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_no_larger_than_dynamodb_stores() {
        let taken = |bytes: &str| wanted(&["--item-bytes".to_owned(), bytes.to_owned()]);
        assert_eq!(taken("409600").unwrap().options.item_bytes, MAX_ITEM_BYTES);
        for wrong in ["409601", "3000000"] {
            let problem = taken(wrong).err().unwrap().to_string();
            assert!(problem.contains("at most 409600 bytes"), "{problem}");
        }
        assert!(taken("0").is_err());
        assert!(HELP.contains(&MAX_ITEM_BYTES.to_string()), "the help tells another size");
    }
}
