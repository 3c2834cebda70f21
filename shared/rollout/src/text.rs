//! What the report and the load answer, in words that a person reads at a glance.

use std::path::Path;

use kit::load::Loaded;
use kit::report::Report;
use kit::rollout::Unindexable;

/// How many items are named that cannot be in an index. The answer as JSON has more of them.
const NAMED: usize = 10;

/// A number with its thousands set apart.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Lines of a name and what is said of it, one below the other.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn say(&mut self, name: &str, what: &str) {
        self.0.push_str(&format!("  {name:<26}{what}\n"));
    }

    fn count(&mut self, name: &str, number: u64) {
        self.say(name, &format!("{:>12}", grouped(number)));
    }

    fn units(&mut self, name: &str, units: f64) {
        self.say(name, &format!("{units:>12.1}"));
    }

    fn unindexable(&mut self, unindexable: &Unindexable) {
        self.count("cannot be in the index", unindexable.count);
        if unindexable.would_vanish > 0 {
            self.count("  would vanish from screens", unindexable.would_vanish);
        }
        for (reason, count) in &unindexable.reasons {
            self.0.push_str(&format!("    {:>10}  {reason}\n", grouped(*count)));
        }
        for named in unindexable.items.iter().take(NAMED) {
            let vanishes = if named.would_vanish { " (would vanish from screens)" } else { "" };
            self.0.push_str(&format!("    {}: {}{vanishes}\n", named.key, named.reason));
        }
        let others = unindexable.count.saturating_sub(NAMED as u64);
        if others > 0 {
            self.0.push_str(&format!("    and {} more\n", grouped(others)));
        }
    }
}

/// How far an index is.
#[must_use]
pub fn report(report: &Report) -> String {
    let mut lines = Lines(format!("{}: {} of {}\n\n", report.index, report.index_name, report.table));
    let status = match (report.table_exists, report.status.as_deref()) {
        (false, _) => "the table does not exist",
        (true, None) => "the index does not exist",
        (true, Some(status)) => status,
    };
    lines.say("status", status);
    lines.say("stage", &report.stage);
    lines.count("items", report.items);
    lines.count("should be in the index", report.eligible);
    lines.count("  are", report.indexed);
    lines.count("  to load", report.to_load);
    lines.count("to remove", report.to_remove);
    match report.entries {
        Some(entries) => lines.count("entries in the index", entries),
        None => lines.say("entries in the index", "     unknown"),
    }
    if report.unwritable > 0 {
        lines.count("writable no more with it", report.unwritable);
    }
    lines.unindexable(&report.unindexable);
    let versions = report.schema_versions.iter();
    let versions: Vec<String> =
        versions.map(|(version, count)| format!("{version}: {}", grouped(*count))).collect();
    lines.say("schema versions", &versions.join(", "));
    lines.units("read units", report.read_units);
    let mut text = lines.0;
    if !report.done {
        text.push_str("\nThe table was not read to its end.\n");
    }
    match &report.next {
        Some(next) if next.safe => {
            text.push_str(&format!("\nNext stage {}: safe. {}\n", next.stage, next.reasons.join("; ")));
        }
        Some(next) => {
            text.push_str(&format!("\nNext stage {}: NOT safe\n", next.stage));
            for reason in &next.reasons {
                text.push_str(&format!("  - {reason}\n"));
            }
        }
        None if report.verified => {
            text.push_str("\nLists read the index, and it holds all that screens show.\n");
        }
        None => text.push_str("\nLists read the index, and it does NOT hold all that screens show.\n"),
    }
    text
}

/// Whether nothing stands in the way of what comes next.
#[must_use]
pub fn is_safe(report: &Report) -> bool {
    report.next.as_ref().map_or(report.verified, |next| next.safe)
}

/// What a load did.
#[must_use]
pub fn loaded(loaded: &Loaded) -> String {
    let kind = if loaded.dry_run { "dry run, nothing was written" } else { "load" };
    let mut lines = Lines(format!("{}: {kind}, run {} of {}\n\n", loaded.index, loaded.run, loaded.table));
    lines.count("segments", u64::from(loaded.segments));
    lines.say("write units a second", &format!("{:>12}", loaded.write_units_per_second));
    lines.count("read", loaded.read);
    lines.count("right already", loaded.right);
    lines.count(if loaded.dry_run { "would be written" } else { "written" }, loaded.written);
    lines.count("deleted meanwhile", loaded.deleted);
    lines.count("lost races, done again", loaded.lost_races);
    lines.count("throttles", loaded.throttles);
    lines.units("read units", loaded.read_units);
    lines.units("write units", loaded.write_units);
    lines.unindexable(&loaded.unindexable);
    let mut text = lines.0;
    for (segment, why) in &loaded.failed {
        text.push_str(&format!("\nSegment {segment} failed: {why}\n"));
    }
    text.push_str(match (loaded.done, loaded.dry_run) {
        (true, false) => "\nDone.\n",
        (true, true) => "\nDone. With --apply (APPLY=1 after make) the items are written.\n",
        (false, _) => "\nNot done. The same command goes on from here.\n",
    });
    text
}

/// What was written for the import of `tables`, and the commands that carry it out. The guided part of a first
/// deployment leaves a stack that has nothing, which only takes a change set that makes it: so it is deleted.
#[must_use]
pub fn import(stack: &str, tables: &[String], template: &Path, resources: &Path) -> String {
    let (template, resources) = (template.display(), resources.display());
    format!(
        "{} tables: {}.

Written: {template} and {resources}. Now, with the region and the profile of samconfig.toml:

aws cloudformation delete-stack --stack-name {stack}
aws cloudformation wait stack-delete-complete --stack-name {stack}
aws cloudformation create-change-set --stack-name {stack} --change-set-name take-over --change-set-type IMPORT \\
  --template-body file://{template} --resources-to-import file://{resources}
aws cloudformation wait change-set-create-complete --stack-name {stack} --change-set-name take-over
aws cloudformation describe-change-set --stack-name {stack} --change-set-name take-over
aws cloudformation execute-change-set --stack-name {stack} --change-set-name take-over
aws cloudformation wait stack-import-complete --stack-name {stack}

The first two delete what asking for the answers left: a stack that has nothing. The tables belong to none.",
        tables.len(),
        tables.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use kit::rollout::Named;

    #[test]
    fn thousands_are_set_apart() {
        let texts = [0, 999, 1_000, 65_536, 1_234_567].map(grouped);
        assert_eq!(texts, ["0", "999", "1,000", "65,536", "1,234,567"]);
    }

    #[test]
    fn a_load_says_what_it_did_and_names_what_cannot_be_indexed() {
        let named = |at: usize| Named {
            key: format!("{{\"id\":\"p-{at}\"}}"),
            reason: "name is missing".to_owned(),
            would_vanish: at == 0,
        };
        let text = loaded(&Loaded {
            index: "person-by-tenant".to_owned(),
            written: 1_200,
            done: true,
            unindexable: Unindexable {
                count: 12,
                would_vanish: 1,
                reasons: [("name is missing".to_owned(), 12)].into(),
                items: (0..12).map(named).collect(),
            },
            ..Loaded::default()
        });
        assert!(text.contains("written                          1,200\n"), "{text}");
        assert!(text.contains("{\"id\":\"p-0\"}: name is missing (would vanish from screens)\n"), "{text}");
        assert!(text.contains("p-9") && !text.contains("p-10"), "{text}");
        assert!(text.contains("    and 2 more\n"), "{text}");
        assert!(text.ends_with("\nDone.\n"), "{text}");
        let dry = loaded(&Loaded { done: true, dry_run: true, ..Loaded::default() });
        assert!(dry.ends_with("\nDone. With --apply (APPLY=1 after make) the items are written.\n"), "{dry}");
    }
}
