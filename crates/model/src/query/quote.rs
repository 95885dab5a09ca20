//! Quotation marks of a query, ASCII and typographic.

struct Pair {
    opens: &'static [char],
    closes: &'static [char],
}

/// Every kind of quotation. The first opening and the last closing mark are used for printing.
const QUOTE_PAIRS: [Pair; 7] = [
    Pair { opens: &['"'], closes: &['"'] },
    // English “x”, German „x“, Swedish ”x”.
    Pair { opens: &['“', '”', '„', '‟'], closes: &['“', '”'] },
    Pair { opens: &['«'], closes: &['»'] },
    // German books »x«, Finnish »x».
    Pair { opens: &['»'], closes: &['«', '»'] },
    Pair { opens: &['「'], closes: &['」'] },
    Pair { opens: &['『'], closes: &['』'] },
    Pair { opens: &['\u{FF02}'], closes: &['\u{FF02}'] },
];

/// Whether `letter` is a quotation mark. No word contains one.
pub(super) fn is_quote(letter: char) -> bool {
    // Called for every character, most of which are ASCII.
    letter == '"'
        || !letter.is_ascii()
            && QUOTE_PAIRS
                .iter()
                .any(|pair| pair.opens.contains(&letter) || pair.closes.contains(&letter))
}

/// Whether `letter` opens a quotation even after a letter: directed marks do, for scripts without
/// spaces; `5"` is five inches.
pub(super) fn opens_inside(letter: char) -> bool {
    matches!(letter, '“' | '„' | '«' | '「' | '『')
}

/// Finds quotations in one text. Stores the last closing mark of each kind, so that unpaired marks
/// cost no search.
pub(super) struct Quotes<'t> {
    text: &'t str,
    last: [Option<usize>; QUOTE_PAIRS.len()],
}

impl<'t> Quotes<'t> {
    pub(super) fn new(text: &'t str) -> Quotes<'t> {
        Quotes { text, last: QUOTE_PAIRS.map(|pair| text.rfind(pair.closes)) }
    }

    /// The text quoted by the mark at `at`, and its end.
    pub(super) fn read(&self, at: usize) -> Option<(&'t str, usize)> {
        let mut letters = self.text.get(at..)?.chars();
        let mark = letters.next()?;
        let inside = letters.as_str();
        let start = at + mark.len_utf8();
        QUOTE_PAIRS.iter().zip(self.last).find_map(|(pair, last)| {
            if !pair.opens.contains(&mark) || last? < start {
                return None;
            }
            let end = inside.find(pair.closes)?;
            let (quoted, rest) = inside.split_at_checked(end)?;
            Some((quoted, start + end + rest.chars().next()?.len_utf8()))
        })
    }
}

/// Quotes `text` with marks that it does not contain. A quotation of a query always has such a
/// pair; in other texts ASCII marks become spaces.
pub(super) fn quoted(text: &str) -> String {
    let free = QUOTE_PAIRS.iter().find(|pair| !text.contains(pair.closes));
    let marks = free.and_then(|pair| pair.opens.first().zip(pair.closes.last()));
    match marks {
        Some((open, close)) => format!("{open}{text}{close}"),
        None => format!("\"{}\"", text.replace('"', " ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_closes_as_its_language_does() {
        for (text, want) in [
            ("\"a b\" c", Some("a b")),
            ("“a” c", Some("a")),
            ("„a“ c", Some("a")),
            ("”a” c", Some("a")),
            ("«a» c", Some("a")),
            ("»a« c", Some("a")),
            ("»a» c", Some("a")),
            ("「a」 c", Some("a")),
            ("『a「b」』 c", Some("a「b」")),
            ("\u{FF02}a\u{FF02} c", Some("a")),
            ("“a \"b\" c”", Some("a \"b\" c")),
            ("\"a", None),
            ("「a\"", None),
        ] {
            assert_eq!(Quotes::new(text).read(0).map(|(quoted, _)| quoted), want, "{text}");
        }
    }

    #[test]
    fn a_text_is_quoted_by_marks_it_does_not_hold() {
        for text in ["a", "a \"b\"", "\"“", "\"“«»", "\"”»「」"] {
            let printed = quoted(text);
            assert_eq!(Quotes::new(&printed).read(0), Some((text, printed.len())), "{text}");
        }
        assert_eq!(quoted("\"”»」』\u{FF02}"), "\" ”»」』\u{FF02}\"");
    }
}
