//! The quotation marks of a query, ASCII and typographic: which open, which close, which pair can
//! hold a given text. It must not know what is quoted.

struct Pair {
    opens: &'static [char],
    closes: &'static [char],
}

/// Every kind of quotation. The first opening and the last closing mark are those we print.
const PAIRS: [Pair; 7] = [
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

/// Whether `letter` is a quotation mark of any kind; no word of a query holds one.
pub(super) fn is_quote(letter: char) -> bool {
    // Asked of every character, nearly all of which are ASCII.
    letter == '"'
        || !letter.is_ascii()
            && PAIRS
                .iter()
                .any(|pair| pair.opens.contains(&letter) || pair.closes.contains(&letter))
}

/// Whether `letter` opens a quotation even right after a letter: marks that have a direction do,
/// as scripts without spaces need; `5"` is five inches.
pub(super) fn opens_inside(letter: char) -> bool {
    matches!(letter, '“' | '„' | '«' | '「' | '『')
}

/// Finds quotations in one text. It knows where each kind closes for the last time, so that
/// marks that never close cost no search each.
pub(super) struct Quotes<'t> {
    text: &'t str,
    last: [Option<usize>; PAIRS.len()],
}

impl<'t> Quotes<'t> {
    pub(super) fn new(text: &'t str) -> Quotes<'t> {
        Quotes { text, last: PAIRS.map(|pair| text.rfind(pair.closes)) }
    }

    /// What is quoted by the mark at `at`, and where the text goes on after it.
    pub(super) fn read(&self, at: usize) -> Option<(&'t str, usize)> {
        let mut letters = self.text.get(at..)?.chars();
        let mark = letters.next()?;
        let inside = letters.as_str();
        let start = at + mark.len_utf8();
        PAIRS.iter().zip(self.last).find_map(|(pair, last)| {
            if !pair.opens.contains(&mark) || last? < start {
                return None;
            }
            let end = inside.find(pair.closes)?;
            let (quoted, rest) = inside.split_at_checked(end)?;
            Some((quoted, start + end + rest.chars().next()?.len_utf8()))
        })
    }
}

/// `text` in quotation marks that it does not hold. What a query quoted always has such a pair;
/// in any other text ASCII marks become spaces.
pub(super) fn quoted(text: &str) -> String {
    let free = PAIRS.iter().find(|pair| !text.contains(pair.closes));
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
