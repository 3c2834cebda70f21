//! What was measured, and how it is told.

use serde::Serialize;

use crate::report::markdown;

/// A median, and the quartiles around it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// A quarter is below it.
    pub lower: f64,
    /// Half is below it.
    pub median: f64,
    /// A quarter is above it.
    pub upper: f64,
}

/// What is measured: time in seconds, or bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// A time.
    Seconds,
    /// A size.
    Bytes,
}

/// The most that a figure may be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Aim {
    /// So many times the floor.
    Ratio(f64),
    /// So much.
    Ours(f64),
}

/// A figure of a function beside the floor's.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// What it is of.
    pub what: String,
    /// In what it is.
    pub unit: Unit,
    /// The floor's.
    pub floor: Spread,
    /// The function's.
    pub ours: Spread,
    /// How many times the floor's the function's is, by their medians.
    pub ratio: f64,
    /// The most that it may be, if that is said.
    pub aim: Option<Aim>,
}

impl Spread {
    /// Of these numbers; `None` if there are none.
    #[must_use]
    pub fn of(mut numbers: Vec<f64>) -> Option<Self> {
        numbers.sort_by(f64::total_cmp);
        // Between two of them where there is none at the very place.
        let at = |quarters: usize| {
            let place = numbers.len().checked_sub(1)? * quarters;
            let (before, after) = (numbers.get(place / 4)?, numbers.get(place.div_ceil(4))?);
            Some(before + (after - before) * (place % 4) as f64 / 4.0)
        };
        Some(Self { lower: at(1)?, median: at(2)?, upper: at(3)? })
    }

    /// Of a single number.
    #[must_use]
    pub const fn only(number: f64) -> Self {
        Self { lower: number, median: number, upper: number }
    }

    /// Each of it divided.
    #[must_use]
    pub fn divided_by(self, by: f64) -> Self {
        Self { lower: self.lower / by, median: self.median / by, upper: self.upper / by }
    }
}

impl Figure {
    /// A time beside the floor's.
    #[must_use]
    pub fn time(what: String, floor: Spread, ours: Spread) -> Self {
        Self { what, unit: Unit::Seconds, floor, ours, ratio: ours.median / floor.median, aim: None }
    }

    /// A size beside the floor's.
    #[must_use]
    pub fn bytes(what: String, floor: Spread, ours: Spread) -> Self {
        Self { unit: Unit::Bytes, ..Self::time(what, floor, ours) }
    }

    /// The same, with the most that the ratio may be.
    #[must_use]
    pub fn at_most(self, ratio: f64) -> Self {
        Self { aim: Some(Aim::Ratio(ratio)), ..self }
    }

    /// The same, with the most that the function's own may be.
    #[must_use]
    pub fn at_most_itself(self, ours: f64) -> Self {
        Self { aim: Some(Aim::Ours(ours)), ..self }
    }

    fn is_within(&self) -> Option<bool> {
        match self.aim? {
            Aim::Ratio(most) => Some(self.ratio <= most),
            Aim::Ours(most) => Some(self.ours.median <= most),
        }
    }

    fn number(&self, number: f64) -> String {
        match self.unit {
            Unit::Bytes => format!("{:.1} MB", number / 1e6),
            Unit::Seconds if self.floor.median >= 1e-3 => format!("{:.2} ms", number * 1e3),
            Unit::Seconds => format!("{:.0} µs", number * 1e6),
        }
    }

    fn spread(&self, spread: Spread) -> String {
        let Spread { lower, median, upper } = spread;
        let median = self.number(median);
        if lower == upper {
            return median;
        }
        let bare = |number| self.number(number).split(' ').next().unwrap_or_default().to_owned();
        format!("{median} ({} to {})", bare(lower), bare(upper))
    }

    fn aim(&self) -> String {
        match self.aim {
            None => String::new(),
            Some(Aim::Ratio(most)) => format!("{most:.1}"),
            Some(Aim::Ours(most)) => self.number(most).replace(".0 ", " "),
        }
    }
}

/// The figures as a table of Markdown, which is as well read as it is.
#[must_use]
pub fn table(figures: &[Figure]) -> String {
    let titles = ["", "floor", "ours", "ratio", "at most", ""].map(str::to_owned);
    let mut lines = vec![titles];
    lines.extend(figures.iter().map(|figure| {
        let within = match figure.is_within() {
            None => "",
            Some(true) => "yes",
            Some(false) => "no",
        };
        [
            figure.what.clone(),
            figure.spread(figure.floor),
            figure.spread(figure.ours),
            format!("{:.2}", figure.ratio),
            figure.aim(),
            within.to_owned(),
        ]
    }));
    markdown(&lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_those_of_the_numbers() {
        let spread = Spread::of(vec![5.0, 1.0, 4.0, 2.0, 3.0]).unwrap();
        assert_eq!(spread, Spread { lower: 2.0, median: 3.0, upper: 4.0 });
        let between = Spread::of(vec![1.0, 3.0]).unwrap();
        assert_eq!(between, Spread { lower: 1.5, median: 2.0, upper: 2.5 });
        assert_eq!(Spread::of(vec![7.0]), Some(Spread::only(7.0)));
        assert_eq!(Spread::of(Vec::new()), None);
    }

    #[test]
    fn a_figure_is_told_beside_its_floor_and_its_aim() {
        let ours = Spread { lower: 240e-6, median: 250e-6, upper: 260e-6 };
        let time = Figure::time("page".to_owned(), Spread::only(200e-6), ours).at_most(1.2);
        let bytes = Figure::bytes("size".to_owned(), Spread::only(2e6), Spread::only(5e6));
        let table = table(&[time, bytes.at_most_itself(6e6)]);
        assert!(table.contains("| page | 200 µs | 250 µs (240 to 260) | 1.25  | 1.2     | no  |"), "{table}");
        assert!(table.contains("| size | 2.0 MB | 5.0 MB              | 2.50  | 6 MB    | yes |"), "{table}");
    }
}
