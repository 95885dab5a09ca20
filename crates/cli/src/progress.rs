//! Progress on long work, on standard error, for people at a terminal only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;

/// A bar of `total` bytes or pages.
pub fn bar(total: u64, what: &'static str, quiet: bool) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), target(quiet));
    let style = ProgressStyle::with_template("{msg} {bar:30} {percent:>3}% {eta} left");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())).with_message(what)
}

/// A count without an end.
pub fn counter(what: &'static str, quiet: bool) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, target(quiet));
    let style = ProgressStyle::with_template("{msg} {human_pos} ({per_sec})");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner())).with_message(what)
}

fn target(quiet: bool) -> ProgressDrawTarget {
    if quiet || !std::io::stderr().is_terminal() {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr_with_hz(10)
    }
}
