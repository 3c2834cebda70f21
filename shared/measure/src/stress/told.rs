//! What was measured, as tables.

use crate::report::{grouped, markdown};
use crate::stress::{Kept, MOST_CONNECTIONS, MOST_MORE_FILES, Options, Report, Step};

/// The report as tables of Markdown.
#[must_use]
pub fn tables(report: &Report, options: &Options) -> String {
    let mut tables = vec![steps(report)];
    if !report.faults.is_empty() {
        tables.push(faults(report));
    }
    if let Some(kept) = &report.kept {
        tables.push(self::kept(kept, options));
    }
    tables.join("\n")
}

fn steps(report: &Report) -> String {
    let titles = [
        "at once",
        "requests",
        "a second",
        "p50",
        "p90",
        "p99",
        "max",
        "answers",
        "read units",
        "calls",
        "started",
        "slowest",
    ];
    let mut lines = vec![titles.map(str::to_owned)];
    let steps = report.steps.iter().map(|step| (step.at_once.to_string(), step));
    let mixed = report.mixed.iter().map(|step| (format!("{}, faults", step.at_once), step));
    for (at_once, step) in steps.chain(mixed) {
        let of_functions = match &step.functions {
            None => Default::default(),
            Some(functions) => [
                format!("{:.1}", functions.read_units),
                format!("{:.2}", functions.calls),
                functions.started.to_string(),
                time(functions.slowest * 1e3),
            ],
        };
        let [read_units, calls, started, slowest] = of_functions;
        let [p50, p90, p99, max] = latencies(step);
        lines.push([
            at_once,
            grouped(step.requests as f64),
            grouped(step.per_second.round()),
            p50,
            p90,
            p99,
            max,
            answers(step),
            read_units,
            calls,
            started,
            slowest,
        ]);
    }
    markdown(&lines)
}

fn faults(report: &Report) -> String {
    let titles = ["fault", "alone: calls", "answers", "p50", "max", "by chance: calls"];
    let mut lines = vec![titles.map(str::to_owned)];
    for faulty in &report.faults {
        let (answers, [p50, .., max]) = match &faulty.alone {
            None => Default::default(),
            Some(step) => (answers(step), latencies(step)),
        };
        let [alone, chance] = [faulty.given_alone, faulty.given].map(|given| grouped(given as f64));
        lines.push([faulty.fault.name().to_owned(), alone, answers, p50, max, chance]);
    }
    markdown(&lines)
}

fn kept(kept: &Kept, options: &Options) -> String {
    let after = grouped(kept.after as f64);
    let titles =
        [&format!("{} environments", kept.environments), &format!("after {after}"), "at the end", "at most"];
    let megabytes = |bytes: f64| format!("{:.1} MB", bytes / 1e6);
    let lines = [
        ["memory, on average", &megabytes(kept.memory_before), &megabytes(kept.memory_after), ""],
        ["memory, the largest growth", "", &megabytes(kept.growth as f64), &megabytes(options.growth as f64)],
        ["open files, the most", "", &kept.open_files.to_string(), ""],
        [
            "more open files than at first, the most",
            "",
            &kept.more_files.to_string(),
            &MOST_MORE_FILES.to_string(),
        ],
        [
            "connections to DynamoDB, the most",
            "",
            &kept.connections.to_string(),
            &MOST_CONNECTIONS.to_string(),
        ],
    ];
    let lines: Vec<[String; 4]> =
        std::iter::once(titles).chain(lines).map(|line| line.map(str::to_owned)).collect();
    markdown(&lines)
}

/// How many there were of each status.
fn answers(step: &Step) -> String {
    let each = step.statuses.iter().map(|(status, count)| format!("{} x {status}", grouped(*count as f64)));
    each.collect::<Vec<_>>().join(", ")
}

fn latencies(step: &Step) -> [String; 4] {
    match step.latency {
        None => Default::default(),
        Some(latency) => [latency.p50, latency.p90, latency.p99, latency.max].map(time),
    }
}

/// A time that is given in milliseconds.
fn time(milliseconds: f64) -> String {
    if milliseconds < 1_000.0 {
        format!("{milliseconds:.1} ms")
    } else {
        format!("{:.2} s", milliseconds / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::*;
    use crate::stress::client::Latency;
    use crate::stress::dynamodb::{Fault, Shares};
    use crate::stress::{Faulty, Functions};

    #[test]
    fn all_that_was_measured_is_told() {
        let options = Options {
            steps: vec![1],
            step_requests: 1,
            alone: 1,
            requests: 1,
            at_once: 1,
            environments: 1,
            deadline: Duration::from_secs(10),
            shares: Shares::default(),
            seed: 1,
            growth: 2_000_000,
        };
        let step = Step {
            at_once: 4,
            requests: 2_000,
            seconds: 2.0,
            per_second: 1_000.0,
            latency: Some(Latency { p50: 1.25, p90: 2.0, p99: 3.0, max: 9_700.0 }),
            statuses: BTreeMap::from([(200, 1_990), (504, 10)]),
            functions: Some(Functions { read_units: 12.54, calls: 2.2, started: 3, slowest: 0.5 }),
        };
        let kept = Kept {
            environments: 16,
            after: 10_000,
            memory_before: 9e6,
            memory_after: 9.5e6,
            growth: 700_000,
            open_files: 9,
            more_files: 0,
            connections: 1,
        };
        let faulty = Faulty { fault: Fault::Stall, given_alone: 8, alone: Some(step.clone()), given: 1_234 };
        let report = Report {
            steps: vec![step.clone()],
            faults: vec![faulty],
            mixed: Some(step),
            kept: Some(kept),
            ..Report::default()
        };
        let tables = tables(&report, &options);
        let step = "| 2,000    | 1,000    | 1.2 ms | 2.0 ms | 3.0 ms | 9.70 s | 1,990 x 200, 10 x 504 | 12.5       | 2.20  |";
        for part in [step, "| 4, faults |", "| stall | 8 ", "| 1,234 ", "| 0.7 MB ", "| 9.5 MB ", "| 2.0 MB "]
        {
            assert!(tables.contains(part), "{part}\n{tables}");
        }
    }
}
