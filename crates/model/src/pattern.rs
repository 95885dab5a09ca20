//! Globs over session ids: `*` is a run without a colon, `**` is anything, the rest is literal.

use crate::{Error, Result, id::check_text};

/// A pattern that session ids may match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPattern(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Run,
    Anything,
}

impl SessionPattern {
    /// Reads a pattern.
    pub fn parse(text: &str) -> Result<SessionPattern> {
        check_text("pattern", text)?;
        if text.is_empty() {
            return Err(
                Error::field("pattern", "is empty").remedy("write ** to match every session")
            );
        }
        if text.len() > 512 {
            return Err(Error::field("pattern", "is longer than 512 bytes"));
        }
        let mut pieces: Vec<Piece> = Vec::new();
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            let piece = if let Some(after) = rest.strip_prefix("**") {
                rest = after.trim_start_matches('*');
                Piece::Anything
            } else if let Some(after) = rest.strip_prefix('*') {
                rest = after;
                Piece::Run
            } else {
                rest = rest.get(letter.len_utf8()..).unwrap_or_default();
                if let Some(Piece::Literal(literal)) = pieces.last_mut() {
                    literal.push(letter);
                    continue;
                }
                Piece::Literal(letter.to_string())
            };
            pieces.push(piece);
        }
        Ok(SessionPattern(pieces))
    }

    /// Whether the whole of `id` matches.
    pub fn matches(&self, id: &str) -> bool {
        // The set of offsets reached so far, as in a small automaton: linear in the id for each
        // piece, so that no pattern can be made to backtrack.
        let mut reached = vec![false; id.len() + 1];
        if let Some(start) = reached.first_mut() {
            *start = true;
        }
        for piece in &self.0 {
            reached = step(piece, id, &reached);
        }
        reached.last().copied().unwrap_or(false)
    }
}

fn step(piece: &Piece, id: &str, reached: &[bool]) -> Vec<bool> {
    let mut next = vec![false; reached.len()];
    match piece {
        Piece::Literal(literal) => {
            for (offset, _) in reached.iter().enumerate().filter(|(_, reached)| **reached) {
                let tail = id.as_bytes().get(offset..).unwrap_or_default();
                if tail.starts_with(literal.as_bytes())
                    && let Some(end) = next.get_mut(offset + literal.len())
                {
                    *end = true;
                }
            }
        }
        Piece::Run | Piece::Anything => {
            let mut open = false;
            for (offset, slot) in next.iter_mut().enumerate() {
                open |= reached.get(offset).copied().unwrap_or(false);
                *slot = open;
                if *piece == Piece::Run && id.as_bytes().get(offset) == Some(&b':') {
                    open = false;
                }
            }
        }
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn star_stops_at_a_colon_and_two_stars_do_not() {
        for (pattern, id, want) in [
            ("heartbeat", "heartbeat", true),
            ("heartbeat", "heartbeats", false),
            ("cron:*", "cron:daily", true),
            ("cron:*", "cron:daily:2", false),
            ("cron:**", "cron:daily:2", true),
            ("agent:*:cron:*", "agent:x:cron:y", true),
            ("agent:*:cron:*", "agent:x:y:cron:z", false),
            ("**", "anything: at all", true),
            ("*", "", true),
            ("a.c", "abc", false),
            ("*é*", "caféx", true),
            ("[a]+(b)?", "[a]+(b)?", true),
            ("a***b", "a:::b", true),
        ] {
            assert_eq!(SessionPattern::parse(pattern).unwrap().matches(id), want, "{pattern} {id}");
        }
        assert!(SessionPattern::parse("").is_err());
    }

    fn slow(pattern: &[char], id: &[char]) -> bool {
        match pattern {
            [] => id.is_empty(),
            ['*', '*', rest @ ..] => (0..=id.len()).any(|n| slow(rest, &id[n..])),
            ['*', rest @ ..] => (0..=id.len())
                .take_while(|n| !id[..*n].contains(&':'))
                .any(|n| slow(rest, &id[n..])),
            [letter, rest @ ..] => id.first() == Some(letter) && slow(rest, &id[1..]),
        }
    }

    proptest! {
        #![proptest_config(oneiro_testkit::proptest_config(256))]

        #[test]
        fn agrees_with_a_plain_recursive_matcher(pattern in "[ab:*]{1,6}", id in "[ab:]{0,8}") {
            let letters: Vec<char> = pattern.chars().collect();
            let name: Vec<char> = id.chars().collect();
            prop_assert_eq!(
                SessionPattern::parse(&pattern).unwrap().matches(&id),
                slow(&letters, &name)
            );
        }
    }
}
