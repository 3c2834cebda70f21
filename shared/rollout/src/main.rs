//! `rollout` is what an operator takes a new index live with.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that talks to the person who started it"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use kit::dynamo::{Db, Session};
use kit::key::Rollout;
use kit::load::{self, LoadRequest};
use kit::report::{self, ReportRequest};
use kit::rollout::{Stage, Stages};
use local::template::Template;
use rollout::connection::{Place, connect, told};
use rollout::rehearsal::{self, Options};
use rollout::samconfig::{self, Parameters};
use rollout::{deployment, import, progress, text};
use serde::Serialize;
use tokio::time::Instant;

const HELP: &str = "\
Takes a new index live, one stage at a time. Run it in the project's folder.

  rollout report INDEX                    what is in the index, and whether the next stage is safe
  rollout load INDEX [--apply]            gives the stored items their key; without --apply, only counts
  rollout deploy-check --from F --to T    what a deployment may not do, from parameters F to parameters T
  rollout import --from F --in DIR        what CloudFormation needs to take over the tables that exist, with
                                          the parameters of samconfig.toml
  rollout parameters samconfig.toml       the parameters that sam deploy gives the template, as JSON
  rollout rehearse INDEX                  all stages on this machine alone, under load and with kills

report and load read AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, TABLE_PREFIX
and AWS_ENDPOINT_URL_DYNAMODB, and take

  --local             the database of make run instead, on 127.0.0.1:8000
  --deployed FILE     stage and table prefix from the parameters of a stack, as JSON
  --stage STAGE       the stage that is deployed: none, create, write, backfill or read (with --local: read)
  --segments N        in how many segments the table is read
  --write-units N     load: write units a second, all segments together
  --json              the answer as JSON

deploy-check and import take --local, deploy-check --built arm64 or --built x86_64: what the functions are built for.
rehearse takes

  --items N           how many items (100000)
  --kills N           how often the load is killed (20)
  --seed N            another rehearsal";

/// How it ended: an error, and that something is not safe, are told apart.
const NOT_SAFE: u8 = 2;

/// How long one call of the load or of the report may go on.
const PATIENCE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        [.., "--help" | "-h"] | ["help"] => {
            println!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        ["report", rest @ ..] => report(rest).await,
        ["load", rest @ ..] => load(rest).await,
        ["deploy-check", rest @ ..] => deploy_check(rest).await,
        ["import", rest @ ..] => take_over(rest).await,
        ["parameters", rest @ ..] => parameters(rest),
        ["rehearse", rest @ ..] => rehearse(rest).await,
        [] => Err(format!("say what to do.\n\n{HELP}").into()),
        [word, ..] => Err(format!("{word:?} is not understood here.\n\n{HELP}").into()),
    };
    outcome.unwrap_or_else(|problem| {
        eprintln!("error: {problem}");
        ExitCode::FAILURE
    })
}

/// The words after a command.
#[derive(Debug)]
struct Given<'a> {
    plain: Vec<&'a str>,
    flags: Vec<&'a str>,
    values: BTreeMap<&'a str, &'a str>,
}

impl<'a> Given<'a> {
    /// Reads the words of a command that takes `flags`, and options that need a value.
    fn read(words: &[&'a str], flags: &[&str], options: &[&str]) -> Result<Self, Failure> {
        let mut given = Self { plain: Vec::new(), flags: Vec::new(), values: BTreeMap::new() };
        let mut rest = words;
        while let [word, after @ ..] = rest {
            rest = after;
            if flags.contains(word) {
                given.flags.push(word);
            } else if options.contains(word) {
                let [value, after @ ..] = rest else { return Err(format!("{word} needs a value").into()) };
                given.values.insert(word, value);
                rest = after;
            } else if word.starts_with('-') {
                return Err(format!("{word:?} is not understood here; rollout --help tells what is").into());
            } else {
                given.plain.push(word);
            }
        }
        Ok(given)
    }

    fn has(&self, flag: &str) -> bool {
        self.flags.contains(&flag)
    }

    fn number<N: std::str::FromStr>(&self, option: &str) -> Result<Option<N>, Failure> {
        let parsed = self.values.get(option).map(|text| {
            text.parse()
                .map_err(|_| Failure::from(format!("{option} {text}: not a number that is taken here")))
        });
        parsed.transpose()
    }

    fn required(&self, option: &str) -> Result<&'a str, Failure> {
        self.values.get(option).copied().ok_or_else(|| format!("{option} is missing").into())
    }

    /// The one index that is named.
    fn rollout(&self) -> Result<&'static Rollout, Failure> {
        let names: Vec<&str> = tables::ROLLOUTS.iter().map(|rollout| rollout.name).collect();
        let [name] = self.plain.as_slice() else {
            return Err(format!("name one index of: {}", names.join(", ")).into());
        };
        let rollout = tables::ROLLOUTS.iter().copied().find(|rollout| rollout.name == *name);
        rollout.ok_or_else(|| format!("there is no index {name:?}, but: {}", names.join(", ")).into())
    }

    /// Where the index is, and at which stage.
    fn place(&self, rollout: &Rollout) -> Result<(Place, Stages), Failure> {
        let deployed = self.values.get("--deployed").map(|path| read_parameters(path)).transpose()?;
        let of = |name: &str| deployed.as_ref().and_then(|deployed| deployed.get(name)).cloned();
        let stage = match (self.values.get("--stage"), &deployed) {
            (Some(stage), _) => (*stage).to_owned(),
            // What is deployed knows nothing of the index.
            (None, Some(deployed)) => {
                deployed.get(&rollout.parameter()).cloned().unwrap_or_else(|| Stage::None.as_str().to_owned())
            }
            (None, None) if self.has("--local") => Stage::Read.as_str().to_owned(),
            (None, None) => {
                return Err("say which stage is deployed: STAGE=.. after make, or --stage STAGE or \
                            --deployed FILE after rollout"
                    .into());
            }
        };
        let stage = Stage::parse(&stage).ok_or_else(|| {
            format!("{stage:?} is no stage: there are {}", Stage::ALL.map(Stage::as_str).join(", "))
        })?;
        let place = Place {
            local: self.has("--local"),
            table_prefix: of("TablePrefix"),
            url: of("DynamoDbEndpoint"),
        };
        Ok((place, Stages::new(vec![(rollout.name, stage)])))
    }
}

async fn report(words: &[&str]) -> Result<ExitCode, Failure> {
    let given = Given::read(words, &["--json", "--local"], &["--segments", "--stage", "--deployed"])?;
    let rollout = given.rollout()?;
    let (place, stages) = given.place(rollout)?;
    let request = ReportRequest { index: rollout.name.to_owned(), segments: given.number("--segments")? };
    let db = connect(&place)?;
    let bar = progress::items("reading", known_items(&db, rollout).await?);
    let told_of = |items| bar.inc(items);
    let outcome = report::run(rollout, &request, &stages, &db, Instant::now() + PATIENCE, &told_of).await;
    bar.finish_and_clear();
    let report = outcome.map_err(|error| told(&error))?;
    show(given.has("--json"), &report, text::report)?;
    Ok(if text::is_safe(&report) { ExitCode::SUCCESS } else { NOT_SAFE.into() })
}

/// How many items the table had some hours ago.
async fn known_items(db: &Db, rollout: &Rollout) -> Result<u64, Failure> {
    let mut session = Session::new(db, Instant::now() + Duration::from_secs(30));
    let described = session.describe(&rollout.table).await.map_err(|error| told(&error))?;
    Ok(described.map(|described| described.items).unwrap_or_default())
}

async fn load(words: &[&str]) -> Result<ExitCode, Failure> {
    let flags = ["--apply", "--json", "--local"];
    let given = Given::read(words, &flags, &["--segments", "--write-units", "--stage", "--deployed"])?;
    let rollout = given.rollout()?;
    let (place, stages) = given.place(rollout)?;
    let request = LoadRequest {
        index: rollout.name.to_owned(),
        segments: given.number("--segments")?,
        segment: None,
        dry_run: !given.has("--apply"),
        write_units_per_second: given.number("--write-units")?,
        run: None,
        begin: false,
    };
    let db = connect(&place)?;
    let bar = progress::items("loading", known_items(&db, rollout).await?);
    let all_written = AtomicU64::new(0);
    let told_of = |items, written| {
        let so_far = all_written.fetch_add(written, Ordering::Relaxed) + written;
        let what = if request.dry_run { "would be written" } else { "written" };
        bar.set_message(format!("{} {what};", text::grouped(so_far)));
        bar.inc(items);
    };
    let loading = async {
        // Each call goes on where the last one ended, and one that fails ends the loop.
        loop {
            let deadline = Instant::now() + PATIENCE;
            let progress = &tables::maintenance::TABLE;
            let loaded = load::run(rollout, progress, &request, &stages, &db, deadline, &told_of).await;
            match loaded {
                Ok(loaded) if !loaded.done && loaded.failed.is_empty() => {}
                outcome => return outcome,
            }
        }
    };
    let outcome = tokio::select! {
        outcome = loading => Some(outcome),
        _ = tokio::signal::ctrl_c() => None,
    };
    bar.finish_and_clear();
    let Some(outcome) = outcome else {
        eprintln!("Stopped. What was done is kept: the same command goes on from there.");
        return Ok(ExitCode::FAILURE);
    };
    let loaded = outcome.map_err(|error| told(&error))?;
    show(given.has("--json"), &loaded, text::loaded)?;
    Ok(if loaded.done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn deploy_check(words: &[&str]) -> Result<ExitCode, Failure> {
    let given = Given::read(words, &["--local"], &["--from", "--to", "--built"])?;
    if let Some(word) = given.plain.first() {
        return Err(format!("deploy-check does not know {word:?}").into());
    }
    let (from, to) = (read_parameters(given.required("--from")?)?, read_parameters(given.required("--to")?)?);
    let template = Template::load("template.yaml")?;
    let built = given.values.get("--built").copied();
    let checked = deployment::check(template, &from, &to, built, given.has("--local")).await?;
    for refusal in &checked.refusals {
        eprintln!("refused: {refusal}");
    }
    if checked.refusals.is_empty() {
        let moves = &checked.moves;
        println!(
            "{}.",
            if moves.is_empty() { "No index changes its stage".to_owned() } else { moves.join(", ") }
        );
        return Ok(ExitCode::SUCCESS);
    }
    Ok(NOT_SAFE.into())
}

async fn take_over(words: &[&str]) -> Result<ExitCode, Failure> {
    let given = Given::read(words, &["--local"], &["--from", "--in"])?;
    if let Some(word) = given.plain.first() {
        return Err(format!("import does not know {word:?}").into());
    }
    let from = read_parameters(given.required("--from")?)?;
    let config = std::fs::read_to_string("samconfig.toml")
        .map_err(|error| format!("cannot read samconfig.toml, which make deploy writes: {error}"))?;
    let to = samconfig::parameters(&config)?;
    let stack = samconfig::stack_name(&config)?.ok_or("samconfig.toml names no stack (stack_name)")?;
    let folder = Path::new(given.required("--in")?);
    if !from.is_empty() {
        return Err("there is a stack already, and tables are imported before it has anything else".into());
    }
    let template = deployment::template_at(Template::load("template.yaml")?, &from, &to)?;
    if !deployment::parameter(&template, "DynamoDbEndpoint").is_empty() {
        return Err(
            "CloudFormation imports tables of DynamoDB itself, and DynamoDbEndpoint names another".into()
        );
    }
    let db = deployment::database_of(&template, given.has("--local"))?;
    let import = match import::import(&template, &deployment::live(&template, &db).await?)? {
        Ok(import) => import,
        Err(reasons) => {
            reasons.iter().for_each(|reason| eprintln!("refused: {reason}"));
            return Ok(NOT_SAFE.into());
        }
    };
    let (body, resources) = (folder.join("import-template.json"), folder.join("import-resources.json"));
    std::fs::write(&body, import.template.to_string())?;
    std::fs::write(&resources, import.resources.to_string())?;
    println!("{}", text::import(&stack, &import.tables, &body, &resources));
    Ok(ExitCode::SUCCESS)
}

fn parameters(words: &[&str]) -> Result<ExitCode, Failure> {
    let [path] = words else { return Err("name one file: rollout parameters samconfig.toml".into()) };
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))?;
    println!("{}", serde_json::to_string_pretty(&samconfig::parameters(&text)?)?);
    Ok(ExitCode::SUCCESS)
}

async fn rehearse(words: &[&str]) -> Result<ExitCode, Failure> {
    let given = Given::read(words, &[], &["--items", "--seed", "--kills"])?;
    let options = Options {
        rollout: given.rollout()?,
        items: given.number("--items")?.unwrap_or(100_000),
        kills: given.number("--kills")?.unwrap_or(20),
        seed: given.number("--seed")?.unwrap_or(1),
        program: std::env::current_exe()?,
        template: PathBuf::from("template.yaml"),
    };
    let outcome = rehearsal::run(&options, |line| println!("{line}")).await?;
    Ok(if outcome.lost.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn read_parameters(path: &str) -> Result<Parameters, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("{path} is no JSON object of texts: {error}").into())
}

fn show<T: Serialize>(json: bool, answer: &T, words: fn(&T) -> String) -> Result<(), Failure> {
    if json {
        println!("{}", serde_json::to_string(answer)?);
    } else {
        print!("{}", words(answer));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(words: &[&str], flags: &[&str], options: &[&str]) -> String {
        Given::read(words, flags, options).unwrap_err().to_string()
    }

    #[test]
    fn words_are_read_in_any_order() {
        let words = ["--segments", "4", "orders-by-customer", "--json"];
        let given = Given::read(&words, &["--json"], &["--segments"]).unwrap();
        assert_eq!(given.rollout().unwrap().name, "orders-by-customer");
        assert_eq!(given.number::<i64>("--segments").unwrap(), Some(4));
        assert!(given.has("--json"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(problem(&["--segments"], &[], &["--segments"]), "--segments needs a value");
        assert_eq!(
            problem(&["--aply"], &["--apply"], &[]),
            "\"--aply\" is not understood here; rollout --help tells what is"
        );
        let given = Given::read(&["orders", "--items", "many"], &[], &["--items"]).unwrap();
        let error = given.rollout().unwrap_err().to_string();
        assert!(
            error.starts_with("there is no index \"orders\", but: orders-by-customer, person"),
            "{error}"
        );
        assert_eq!(
            given.number::<usize>("--items").unwrap_err().to_string(),
            "--items many: not a number that is taken here"
        );
        assert!(
            Given::read(&[], &[], &[])
                .unwrap()
                .rollout()
                .unwrap_err()
                .to_string()
                .starts_with("name one index of: ")
        );
    }
}
