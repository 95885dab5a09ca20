//! Tells code, comments and string literals of a Rust file apart, as far as the checks need it:
//! a word in a comment breaks no rule, and SQL lives only in literals.

/// A Rust file taken apart. The texts have the line breaks of the file, so a line number in one is
/// a line number in the others.
#[derive(Debug, Clone, Default)]
pub struct RustSource {
    /// The file with comments and literals blanked out.
    pub code: String,
    /// The file with only comments blanked out.
    pub uncommented: String,
    /// The file with everything but comments blanked out.
    pub comments: String,
    /// The string literals, in order.
    pub literals: Vec<Literal>,
}

/// A string literal as it is written: escapes are not resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Literal {
    /// The line, counted from 1, that the literal begins on.
    pub line: usize,
    /// What stands between the quotes.
    pub content: String,
}

impl RustSource {
    /// Takes a file apart. Text that is not Rust gives some answer, never an error.
    pub fn parse(text: &str) -> Self {
        let mut source = RustSource::default();
        let mut line = 1;
        let mut rest = text;
        while let Some(piece) = next_piece(rest) {
            let (taken, after) = rest.split_at(piece.length);
            let is_comment = matches!(piece.kind, Kind::Comment);
            source.comments.push_str(&if is_comment { taken.to_owned() } else { blank(taken) });
            match piece.kind {
                Kind::Code => {
                    source.code.push_str(taken);
                    source.uncommented.push_str(taken);
                }
                Kind::Comment => {
                    source.code.push_str(&blank(taken));
                    source.uncommented.push_str(&blank(taken));
                }
                Kind::Literal => {
                    source.code.push_str(&blank(taken));
                    source.uncommented.push_str(taken);
                    // The closing delimiter is the prefix without its letters, mirrored.
                    let opening = taken.find('"').map_or(0, |quote| quote + 1);
                    let hashes = taken.chars().take(opening).filter(|&c| c == '#').count();
                    let closing = taken.len().saturating_sub(hashes + 1);
                    let content = taken.get(opening..closing).unwrap_or_default().to_owned();
                    source.literals.push(Literal { line, content });
                }
                Kind::Character => {
                    source.code.push_str(&blank(taken));
                    source.uncommented.push_str(taken);
                }
            }
            line += taken.matches('\n').count();
            rest = after;
        }
        source
    }
}

/// Whether a character may be part of an identifier or keyword.
pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

enum Kind {
    Code,
    Comment,
    Literal,
    Character,
}

struct Piece {
    kind: Kind,
    length: usize,
}

fn next_piece(rest: &str) -> Option<Piece> {
    let first = rest.chars().next()?;
    let piece = |kind, length| Some(Piece { kind, length });
    if rest.starts_with("//") {
        return piece(Kind::Comment, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return piece(Kind::Comment, block_comment_length(rest));
    }
    if let Some(length) = raw_string_length(rest) {
        return piece(Kind::Literal, length);
    }
    if is_word(first) {
        // As a whole, lest the end of a word be taken for the `r` of a raw string.
        return piece(Kind::Code, rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
    }
    if first == '"' {
        return piece(Kind::Literal, quoted_length(rest, '"'));
    }
    if first == '\'' && is_character_literal(rest) {
        return piece(Kind::Character, quoted_length(rest, '\''));
    }
    piece(Kind::Code, first.len_utf8())
}

/// Block comments nest.
fn block_comment_length(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut skip_until = 0;
    for (at, _) in rest.char_indices() {
        if at < skip_until {
            continue;
        }
        let here = rest.get(at..).unwrap_or_default();
        if here.starts_with("/*") {
            depth += 1;
            skip_until = at + 2;
        } else if here.starts_with("*/") {
            depth -= 1;
            skip_until = at + 2;
            if depth == 0 {
                return skip_until;
            }
        }
    }
    rest.len()
}

/// The length of `r".."`, `br#".."#` and the like, if that is what stands here.
fn raw_string_length(rest: &str) -> Option<usize> {
    let after_prefix = rest.strip_prefix(['b', 'c']).unwrap_or(rest).strip_prefix('r')?;
    let body = after_prefix.trim_start_matches('#');
    let hashes = after_prefix.len() - body.len();
    let content = body.strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let opening = rest.len() - content.len();
    Some(content.find(&end).map_or(rest.len(), |at| opening + at + end.len()))
}

fn quoted_length(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            return at + 1;
        }
    }
    rest.len()
}

/// Tells `'a'` from the lifetime `'a`.
fn is_character_literal(rest: &str) -> bool {
    let mut after_quote = rest.chars().skip(1);
    match after_quote.next() {
        Some('\\') => true,
        Some(_) => after_quote.next() == Some('\''),
        None => false,
    }
}

fn blank(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literals(text: &str) -> Vec<String> {
        RustSource::parse(text).literals.into_iter().map(|literal| literal.content).collect()
    }

    #[test]
    fn comments_are_told_from_code() {
        let source = RustSource::parse("a // b\n/* c /* d */\n e */ f \"// g\"");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&source.code), ["a", "f"]);
        assert_eq!(words(&source.uncommented), ["a", "f", "\"//", "g\""]);
        assert_eq!(words(&source.comments).concat(), "//b/*c/*d*/e*/");
        assert_eq!(source.code.matches('\n').count(), 2);
    }

    #[test]
    fn literals_of_every_form_are_found() {
        assert_eq!(literals(r#"("a", b"b", c"c", "d\"d", "")"#), ["a", "b", "c", "d\\\"d", ""]);
        assert_eq!(literals("r\"a\\\" br#\"b\"b\"# cr##\"c\"#c\"##"), ["a\\", "b\"b", "c\"#c"]);
    }

    #[test]
    fn a_literal_knows_its_line() {
        let source = RustSource::parse("\n\"a\nb\"\n\"c\"");
        let lines: Vec<_> = source.literals.iter().map(|literal| literal.line).collect();
        assert_eq!(lines, [2, 4]);
    }

    #[test]
    fn quotes_that_open_no_literal_are_left_alone() {
        assert_eq!(
            literals("fn f<'a>(x: &'a str) { '\"'; '\\''; b'\"'; r#type; for_r\"x\" }"),
            ["x"]
        );
    }

    #[test]
    fn an_unclosed_literal_or_comment_ends_with_the_file() {
        assert_eq!(literals("\"abc").len(), 1);
        assert_eq!(literals("r#\"abc\"").len(), 1);
        assert_eq!(RustSource::parse("/* abc").code.trim(), "");
    }
}
