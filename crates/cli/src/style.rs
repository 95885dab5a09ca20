//! Bold, dim and coloured text for a terminal; for anything else, the text alone.

use crate::config::{ColourChoice, colour_choice};
use crate::output::plain;
use oneiro::Role;
use std::io::IsTerminal;

/// Whether text is coloured.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    colours: bool,
}

impl Style {
    /// A style with colours, or without any.
    pub const fn new(colours: bool) -> Style {
        Style { colours }
    }

    /// The style for a stream: with colours at a terminal, unless the environment says otherwise.
    pub fn of_stream(stream: &impl IsTerminal) -> Style {
        Style::new(match colour_choice() {
            ColourChoice::Always => true,
            ColourChoice::Never => false,
            ColourChoice::AtTerminal => stream.is_terminal(),
        })
    }

    /// Whether text is coloured.
    pub fn has_colours(self) -> bool {
        self.colours
    }

    /// What went wrong.
    pub fn error(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// What to do about it.
    pub fn hint(self, text: &str) -> String {
        self.paint("36", text)
    }

    /// The name of a speaker, by role.
    pub fn role(self, role: &Role, name: &str) -> String {
        let code = match role {
            Role::User => "1;32",
            Role::Assistant => "1;34",
            Role::Tool => "35",
            Role::System | Role::Developer | Role::Other(_) => "2",
        };
        self.paint(code, name)
    }

    /// A unified diff: removed lines red, added ones green, places dim.
    pub fn diff(self, text: &str) -> String {
        let line = |line: &str| {
            let code = match line.as_bytes().first() {
                _ if line.starts_with("--- ") || line.starts_with("+++ ") => "1",
                Some(b'-') => "31",
                Some(b'+') => "32",
                Some(b'@') => "2",
                _ => return line.to_owned(),
            };
            self.paint(code, line)
        };
        text.split('\n').map(line).collect::<Vec<_>>().join("\n")
    }

    /// A diff by words: `[-removed-]` red, `{+added+}` green.
    pub fn word_diff(self, text: &str) -> String {
        if !self.colours {
            return text.to_owned();
        }
        text.replace("[-", "\u{1b}[31m[-")
            .replace("-]", "-]\u{1b}[0m")
            .replace("{+", "\u{1b}[32m{+")
            .replace("+}", "+}\u{1b}[0m")
    }

    /// Important text.
    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Less important text.
    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// Stored text on one line, with stretches of its characters marked. Each character stays one
    /// character, so that the places of the marks hold.
    pub fn marked(self, text: &str, marks: &[(usize, usize)]) -> String {
        let line: Vec<char> = plain(text)
            .chars()
            .map(|letter| if letter.is_whitespace() { ' ' } else { letter })
            .collect();
        let mut out = String::with_capacity(text.len() + 16 * marks.len());
        let mut at = 0;
        for (start, end) in marks {
            let (start, end) = ((*start).clamp(at, line.len()), (*end).clamp(at, line.len()));
            out.extend(line.get(at..start).unwrap_or_default());
            let mark: String = line.get(start..end).unwrap_or_default().iter().collect();
            out.push_str(&self.paint("1;33", &mark));
            at = end.max(start);
        }
        out.extend(line.get(at..).unwrap_or_default());
        out
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colours && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_put_by_characters() {
        let style = Style::new(true);
        assert_eq!(style.marked("ä 漢字\nb", &[(2, 4)]), "ä \u{1b}[1;33m漢字\u{1b}[0m b");
        assert_eq!(Style::new(false).marked("ä 漢字\nb", &[(2, 4)]), "ä 漢字 b");
        assert_eq!(style.marked("ab", &[(1, 9), (0, 1)]), "a\u{1b}[1;33mb\u{1b}[0m");
    }

    #[test]
    fn a_diff_is_coloured_by_line_and_is_the_same_text_without_colours() {
        let diff = "--- a\n+++ b\n@@ -1 +1 @@\n same\n-old\n+new\n";
        let coloured = Style::new(true).diff(diff);
        assert!(
            coloured.contains("\u{1b}[31m-old\u{1b}[0m\n\u{1b}[32m+new\u{1b}[0m\n"),
            "{coloured}"
        );
        assert!(coloured.contains("\n same\n"), "{coloured}");
        assert_eq!(Style::new(false).diff(diff), diff);
    }

    #[test]
    fn stored_text_cannot_bring_colours_of_its_own() {
        assert_eq!(Style::new(true).marked("a\u{1b}[31mb", &[]), "a\u{FFFD}[31mb");
    }
}
