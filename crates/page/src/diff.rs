//! Differences of texts in colour: removed and added lines, and where they stand.

use crate::text::plain;
use maud::{Markup, html};

/// Lines that are shown before a difference is cut.
const LINES_SHOWN: usize = 200;

/// Characters of a line that are shown before it is cut.
const LINE_CHARS: usize = 240;

/// A unified difference. If it is long and there is an address of all of it, only the beginning is
/// shown.
pub(crate) fn coloured(text: &str, whole: Option<String>) -> Markup {
    // The names of both sides are in the heading.
    let lines =
        text.lines().skip_while(|line| line.starts_with("--- ") || line.starts_with("+++ "));
    let lines: Vec<&str> = lines.collect();
    let shown = if whole.is_some() { LINES_SHOWN } else { usize::MAX };
    let is_long = |line: &&str| line.chars().nth(LINE_CHARS).is_some();
    let is_cut = lines.len() > shown || lines.iter().any(is_long);
    html! {
        pre.diff tabindex="0" {
            @for line in lines.iter().take(shown) {
                @let cut: String = match &whole {
                    Some(_) => line.chars().take(LINE_CHARS).collect(),
                    None => (*line).to_owned(),
                };
                @match line.chars().next() {
                    Some('+') => ins { (plain(&cut)) },
                    Some('-') => del { (plain(&cut)) },
                    Some('@') => span.place { (plain(&cut)) },
                    _ => span { (plain(&cut)) },
                }
                "\n"
            }
        }
        @if let Some(whole) = whole.filter(|_| is_cut) {
            p.more {
                a href=(whole) { "Show all of it" }
            }
        }
    }
}
