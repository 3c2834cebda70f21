//! A line that moves while something long goes on, for a person at a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar on standard error that says how many of `total` items there were so far, how fast, and how long the
/// rest takes. The total is what the service knew some hours ago, so it is near the truth; 0 where it knew
/// nothing. Nothing is shown where standard error is no terminal.
#[must_use]
pub fn items(doing: impl Into<String>, total: u64) -> ProgressBar {
    let (bar, template) = if total == 0 {
        (ProgressBar::new_spinner(), "{spinner} {msg} {human_pos} items, {per_sec}, {elapsed}")
    } else {
        let template = "{msg} [{bar:40}] {human_pos} of about {human_len} items, {per_sec}, {eta} left";
        (ProgressBar::new(total), template)
    };
    // The template is a constant; were it wrong, the bar would have the library's own look.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_message(doing.into());
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}
