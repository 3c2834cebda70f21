//! A line that moves while something long goes on, for a person at a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A line on standard error that says how many items there were so far, and how fast. Nothing is shown where
/// that is no terminal.
#[must_use]
pub fn items(doing: &'static str) -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    // The template is a constant; were it wrong, the bar would have the library's own look.
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {human_pos} items, {per_sec}, {elapsed}")
    {
        bar.set_style(style);
    }
    bar.set_message(doing);
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}
