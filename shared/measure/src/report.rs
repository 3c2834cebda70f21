//! The costs as a table for the terminal, and as CSV.

use crate::capacity::{Cost, Kind, LATER_PAGE, Measured, Options};

impl Kind {
    /// In words.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PageOfATenant => "page with total, whole tenant",
            Self::PageOfAnEntity => "page with total, one entity",
            Self::Collection => "whole collection, one entity",
            Self::Cursor => "by cursor",
        }
    }
}

/// A number with its thousands set apart, and a half where there is one.
#[must_use]
pub fn grouped(number: f64) -> String {
    let text = format!("{number:.1}");
    let (whole, rest) = text.split_once('.').unwrap_or((&text, "0"));
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if rest == "0" { grouped } else { format!("{grouped}.{rest}") }
}

/// The costs side by side: read units and, after a slash, calls.
#[must_use]
pub fn table(measured: &[Measured]) -> String {
    let later = format!("page {LATER_PAGE}");
    let mut text = format!(
        "{:<13}{:<31}{:>9}{:>16}{:>16}{:>16}{:>15}\n",
        "list", "question", "rows", "page 1", later, "scan", "scan / page 1"
    );
    let cost = |cost: Cost| format!("{} / {}", grouped(cost.units), cost.calls);
    for Measured { list, question, kind, rows, first, later, scan, .. } in measured {
        let later = match (later, kind) {
            (Some(later), _) => cost(*later),
            (None, Kind::Collection) => "one answer".to_owned(),
            (None, _) => "ended before".to_owned(),
        };
        let rows = grouped(*rows as f64);
        let factor = format!("{:.0}x", scan.units / first.units);
        text.push_str(&format!(
            "{list:<13}{question:<31}{rows:>9}{:>16}{later:>16}{:>16}{factor:>15}\n",
            cost(*first),
            cost(*scan)
        ));
    }
    text
}

/// The costs as CSV, a line for each page. `all` is the page of a whole collection.
#[must_use]
pub fn csv(measured: &[Measured], options: &Options) -> String {
    let mut text = String::from(
        "list,question,answer,tenants,item_bytes,limit,rows,rows_of_question,page,read_units,calls,\
         scan_read_units,scan_calls\n",
    );
    let Options { tenants, item_bytes, limit, .. } = options;
    for Measured { list, question, kind, rows, found, first, later, scan } in measured {
        let whole = *kind == Kind::Collection;
        let first_page = if whole { "all".to_owned() } else { "1".to_owned() };
        let later = later.map(|cost| (LATER_PAGE.to_string(), cost));
        for (page, cost) in std::iter::once((first_page, *first)).chain(later) {
            text.push_str(&format!(
                "{list},{question},\"{}\",{tenants},{item_bytes},{limit},{rows},{found},{page},{},{},{},{}\n",
                kind.as_str(),
                cost.units,
                cost.calls,
                scan.units,
                scan.calls
            ));
        }
    }
    text
}

/// A table of Markdown, which is as well read as it is. The first line holds the titles.
#[must_use]
pub fn markdown<const COLUMNS: usize>(lines: &[[String; COLUMNS]]) -> String {
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..COLUMNS).map(width).collect();
    let mut text = String::new();
    for (place, line) in lines.iter().enumerate() {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("| {cell:width$} "));
        text.extend(cells.chain(["|\n".to_owned()]));
        if place == 0 {
            text.extend(widths.iter().map(|width| format!("|{}", "-".repeat(width + 2))));
            text.push_str("|\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart;

    fn measured(kind: Kind, rows: usize, units: f64) -> Measured {
        let cost = |units| Cost { units, calls: 1 };
        let later = (kind == Kind::Cursor && rows > 1_000).then(|| cost(units));
        let (first, scan) = (cost(units), cost(rows as f64 / 8.0));
        Measured { list: "l", question: "q", kind, rows, found: 50, first, later, scan }
    }

    #[test]
    fn what_was_measured_is_told_as_a_table_as_csv_and_as_a_chart() {
        let options =
            Options { lists: Vec::new(), rows: Vec::new(), tenants: 20, item_bytes: 1_024, limit: 20 };
        let all: Vec<Measured> = [1_000, 100_000]
            .into_iter()
            .flat_map(|rows| [measured(Kind::Cursor, rows, 3.0), measured(Kind::Collection, rows, 25.5)])
            .collect();
        let table = table(&all);
        assert!(table.contains("12,500 / 1          4167x\n"), "{table}");
        assert!(table.contains("ended before") && table.contains("one answer"), "{table}");
        let csv = csv(&all, &options);
        assert_eq!(csv.lines().count(), 1 + 5, "{csv}");
        assert!(csv.contains("l,q,\"by cursor\",20,1024,20,100000,50,10,3,1,12500,1\n"), "{csv}");
        assert!(csv.contains(",all,25.5,1,"), "{csv}");
        let svg = chart::svg(&all, &options);
        assert!(svg.contains("by cursor: 3") && svg.contains("12,500"), "{svg}");
        assert!(!svg.contains("NaN"), "{svg}");
        // Even of a single size of the table.
        assert!(!chart::svg(&all[..1], &options).contains("NaN"));
    }
}
