//! The bytes of a file and the text of a note: the byte order mark and the line ends of a file are kept.

/// How a file writes its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Encoding {
    has_bom: bool,
    /// Every line ends with CR LF.
    is_crlf: bool,
}

const BOM: &str = "\u{feff}";

/// The text of a file, with LF line ends if all of them are CR LF. Mixed ones stay as they are. `None` if
/// it is not UTF-8, or has a NUL character, which no store holds.
pub(super) fn decode(bytes: &[u8]) -> Option<(String, Encoding)> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))?;
    let (text, has_bom) = match text.strip_prefix(BOM) {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let is_crlf = is_crlf(text);
    let text = if is_crlf { text.replace("\r\n", "\n") } else { text.to_owned() };
    Some((text, Encoding { has_bom, is_crlf }))
}

/// The bytes of a file with this text.
pub(super) fn encode(text: &str, encoding: Encoding) -> Vec<u8> {
    let text = match (encoding.is_crlf, is_crlf(text)) {
        (true, _) => text.replace("\r\n", "\n").replace('\n', "\r\n"),
        (false, true) => text.replace("\r\n", "\n"),
        (false, false) => text.to_owned(),
    };
    let bom = if encoding.has_bom { BOM } else { "" };
    format!("{bom}{text}").into_bytes()
}

impl Encoding {
    /// The encoding of a new file for a note.
    pub(super) fn of_note(text: &str) -> Encoding {
        Encoding { has_bom: false, is_crlf: is_crlf(text) }
    }
}

/// The text of a file with the line ends of the note that it is compared with.
pub(super) fn with_line_ends_of(text: String, note: Option<&str>) -> String {
    if note.is_some_and(is_crlf) && !text.contains('\r') {
        text.replace('\n', "\r\n")
    } else {
        text
    }
}

/// Whether a text has lines, and all of them end with CR LF.
fn is_crlf(text: &str) -> bool {
    let ends = text.matches('\n').count();
    ends > 0 && ends == text.matches("\r\n").count() && ends == text.matches('\r').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_as_they_were() {
        for bytes in [
            "",
            "a",
            "a\nb\n",
            "a\r\nb\r\n",
            "\u{feff}a\r\nb",
            "\u{feff}",
            "a\r\nb\n",
            "a\rb\r\n",
            "\r\n\r\n",
            "\u{feff}\u{feff}a",
        ] {
            let (text, encoding) = decode(bytes.as_bytes()).unwrap();
            assert_eq!(encode(&text, encoding), bytes.as_bytes(), "{bytes:?}");
        }
        assert_eq!(decode(b"a\xff"), None);
        assert_eq!(decode(b"a\0"), None);
    }

    #[test]
    fn a_changed_text_keeps_the_line_ends_and_the_mark_of_its_file() {
        let (text, encoding) = decode("\u{feff}a\r\nb\r\n".as_bytes()).unwrap();
        assert_eq!(text, "a\nb\n");
        assert_eq!(encode("a\nc\n", encoding), "\u{feff}a\r\nc\r\n".as_bytes());
        // A note with CR LF in the store does not get a second CR.
        assert_eq!(encode("a\r\nc\r\n", encoding), "\u{feff}a\r\nc\r\n".as_bytes());
        assert_eq!(with_line_ends_of("a\nb\n".to_owned(), Some("x\r\n")), "a\r\nb\r\n");
        assert_eq!(with_line_ends_of("a\nb\n".to_owned(), Some("x\n")), "a\nb\n");
    }
}
