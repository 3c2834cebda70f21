//! The costs as a chart: read units by rows of the table, both logarithmic.

use crate::capacity::{Kind, LATER_PAGE, Measured, Options};
use crate::report::grouped;
use crate::rows::OF_AN_ENTITY;

/// The edges of the plot. What is right of it is room for the labels.
const LEFT: f64 = 76.0;
const RIGHT: f64 = 640.0;
const TOP: f64 = 76.0;
const BOTTOM: f64 = 430.0;

/// The least distance of two labels.
const BETWEEN_LABELS: f64 = 19.0;

const HEAD: &str = "\
<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 960 570\" width=\"960\" height=\"570\" \
font-family=\"system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif\" fill=\"#4b5563\">
<rect width=\"960\" height=\"570\" fill=\"#ffffff\"/>
<text x=\"24\" y=\"34\" font-size=\"20\" font-weight=\"600\" fill=\"#111827\">\
A scan grows with everybody's data, a key with what you ask for</text>
<text x=\"24\" y=\"57\" font-size=\"13\">Read units of one request, by rows in the table (both scales \
logarithmic)</text>
<text x=\"358\" y=\"472\" font-size=\"13\" text-anchor=\"middle\">rows in the table, of all tenants</text>
<text x=\"24\" y=\"530\" font-size=\"12\">A page with an exact total pays for its own range, all rows of the \
tenant or of the entity, and never for the others'.</text>
<text x=\"24\" y=\"548\" font-size=\"12\">So a list of all that a tenant has grows with that tenant. Consumed \
capacity as the embedded DynamoDB answers it.</text>
";

/// A scale between two edges, from one power of ten to another.
struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    fn new(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        let low = values.clone().fold(f64::INFINITY, f64::min).max(0.1).log10().floor();
        let high = values.fold(1.0, f64::max).log10().ceil().max(low + 1.0);
        Self { low, high, from, to }
    }

    fn place(&self, value: f64) -> f64 {
        let part = (value.max(0.1).log10() - self.low) / (self.high - self.low);
        self.from + part * (self.to - self.from)
    }

    fn powers(&self) -> Vec<f64> {
        let next = |power: &f64| Some(power + 1.0).filter(|power| *power <= self.high);
        std::iter::successors(Some(self.low), next).map(|power| 10_f64.powf(power)).collect()
    }
}

/// Lines of one colour, told by one label.
struct Series {
    what: &'static str,
    style: (&'static str, f64, u32),
    /// Rows and read units as the table grows, for each line.
    lines: Vec<Vec<(f64, f64)>>,
}

impl Series {
    fn of_kind(measured: &[Measured], kind: Kind) -> Self {
        let color = match kind {
            Kind::PageOfATenant => "#1d4ed8",
            Kind::PageOfAnEntity => "#0e7490",
            Kind::Collection => "#7e22ce",
            Kind::Cursor => "#15803d",
        };
        let of_kind: Vec<&Measured> = measured.iter().filter(|one| one.kind == kind).collect();
        let mut lines = lines(&of_kind, |one| Some(one.first.units));
        lines.extend(self::lines(&of_kind, |one| Some(one.later?.units)));
        Self { what: kind.as_str(), style: (color, 1.6, 500), lines }
    }

    /// The least and the most at the end of its lines.
    fn end(&self) -> Option<(f64, f64)> {
        let ends = || self.lines.iter().filter_map(|line| line.last()).map(|(_, units)| *units);
        Some((ends().reduce(f64::min)?, ends().reduce(f64::max)?))
    }
}

/// The line of each question; of several equal ones, one.
fn lines(measured: &[&Measured], units: impl Fn(&Measured) -> Option<f64>) -> Vec<Vec<(f64, f64)>> {
    let mut lines: Vec<Vec<(f64, f64)>> = Vec::new();
    for Measured { question, .. } in measured {
        let own = measured.iter().filter(|one| one.question == *question);
        let line: Vec<(f64, f64)> = own.filter_map(|one| Some((one.rows as f64, units(one)?))).collect();
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// The chart, as SVG.
#[must_use]
pub fn svg(measured: &[Measured], options: &Options) -> String {
    let all: Vec<&Measured> = measured.iter().collect();
    let scan = lines(&all, |one| Some(one.scan.units));
    let kinds = [Kind::PageOfATenant, Kind::PageOfAnEntity, Kind::Collection, Kind::Cursor];
    let mut series = Vec::from(kinds.map(|kind| Series::of_kind(measured, kind)));
    series.push(Series { what: "scan with a tenant filter", style: ("#c2410c", 5.0, 700), lines: scan });
    let points = || series.iter().flat_map(|series| &series.lines).flatten();
    let x = Scale::new(points().map(|(rows, _)| *rows), LEFT, RIGHT);
    let y = Scale::new(points().map(|(_, units)| *units), BOTTOM, TOP);

    let mut svg = String::from(HEAD);
    let Options { tenants, item_bytes, limit, .. } = options;
    svg.push_str(&format!(
        "<text x=\"24\" y=\"512\" font-size=\"12\">{tenants} tenants, items of {} bytes, up to {OF_AN_ENTITY} rows \
         of each entity, pages of {limit}. Thin lines: every question, pages 1 and {LATER_PAGE}.</text>\n",
        grouped(*item_bytes as f64)
    ));
    for (power, at) in y.powers().into_iter().map(|power| (grouped(power), y.place(power))) {
        svg.push_str(&format!(
            "<path d=\"M{LEFT} {at:.1}H{RIGHT}\" stroke=\"#e5e7eb\"/>\
             <text x=\"66\" y=\"{:.1}\" font-size=\"12\" text-anchor=\"end\">{power}</text>\n",
            at + 4.0
        ));
    }
    for (power, at) in x.powers().into_iter().map(|power| (grouped(power), x.place(power))) {
        svg.push_str(&format!(
            "<text x=\"{at:.1}\" y=\"450\" font-size=\"12\" text-anchor=\"middle\">{power}</text>\n"
        ));
    }
    for Series { style: (color, width, _), lines, .. } in &series {
        for line in lines {
            let points =
                line.iter().map(|(rows, units)| format!("{:.1},{:.1}", x.place(*rows), y.place(*units)));
            svg.push_str(&format!(
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\" \
                 stroke-linecap=\"round\"/>\n",
                points.collect::<Vec<_>>().join(" ")
            ));
        }
    }
    let ends = series.iter().filter_map(|series| Some((series, series.end()?)));
    let mut labels: Vec<_> =
        ends.map(|(series, (low, high))| (y.place((low * high).sqrt()), series, low, high)).collect();
    labels.sort_by(|(a, ..), (b, ..)| a.total_cmp(b));
    let mut free = TOP;
    for (at, Series { what, style: (color, _, weight), .. }, low, high) in labels {
        let at = at.max(free);
        free = at + BETWEEN_LABELS;
        let low = if low < high { format!("{}–", grouped(low)) } else { String::new() };
        svg.push_str(&format!(
            "<text x=\"652\" y=\"{:.1}\" font-size=\"14\" fill=\"{color}\" font-weight=\"{weight}\">{what}: {low}{}</text>\n",
            at + 5.0,
            grouped(high)
        ));
    }
    svg.push_str("</svg>\n");
    svg
}
