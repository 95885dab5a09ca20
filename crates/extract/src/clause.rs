//! Splits sentences into clauses, and says which clauses need the one before.

use crate::connectives::{begins_inside, has_subject, joins, needs_what_precedes};

/// Shorter sentences are not split.
const MIN_SPLIT_BYTES: usize = 40;

/// Minimum bytes before a colon, or between parentheses, of a clause of its own.
const MIN_PART_BYTES: usize = 32;

/// Sentences this long may be split at any comma.
const LONG_SENTENCE_BYTES: usize = 200;

/// How a clause depends on the one before it in its sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    /// Not at all: it begins the sentence, or has a subject of its own.
    Free,
    /// It can be left out, but not be kept alone.
    Tied,
    /// It goes with what stands before it, unless that is only a word of address.
    Comma,
}

/// Calls `each` with the start of each further clause of a sentence, in order.
pub(crate) fn split_points(sentence: &str, mut each: impl FnMut(usize, Link)) {
    if sentence.len() < MIN_SPLIT_BYTES {
        return;
    }
    let bytes = sentence.as_bytes();
    let after = |at: usize| sentence.get(at..).unwrap_or_default().trim_start();
    let own_subject = |at: usize| {
        if has_subject(after(at)) { Link::Free } else { Link::Tied }
    };
    for (at, byte) in bytes.iter().enumerate() {
        let follows = |offset: usize, wanted: u8| bytes.get(at + offset) == Some(&wanted);
        match byte {
            b',' if follows(1, b' ') => each(at + 2, after_comma(after(at + 2), sentence.len())),
            b';' if follows(1, b' ') => each(at + 2, own_subject(at + 2)),
            // What leads on with few words is nothing without what it leads to.
            b':' if follows(1, b' ') && at >= MIN_PART_BYTES => each(at + 2, Link::Tied),
            b'(' if at > 0 => {
                let inside = bytes.iter().skip(at).position(|byte| *byte == b')');
                if let Some(length) = inside.filter(|length| *length >= MIN_PART_BYTES) {
                    each(at, Link::Tied);
                    each(at + length + 1, Link::Comma);
                }
            }
            b'-' if follows(1, b' ') && at > 0 && bytes.get(at - 1) == Some(&b' ') => {
                each(at + 2, own_subject(at + 2));
            }
            b' ' => {
                // "and we" begins a clause; so does "because", but not one that stands alone.
                let rest = sentence.get(at + 1..).unwrap_or_default();
                let word = rest.split(' ').next().unwrap_or_default();
                let is_after_mark = at > 0 && matches!(bytes.get(at - 1), Some(b',' | b';'));
                if !is_after_mark && joins(word) && has_subject(rest) {
                    each(at + 1, Link::Free);
                } else if !is_after_mark && begins_inside(word) {
                    each(at + 1, Link::Tied);
                }
            }
            // The first byte of what is beyond ASCII; the marks looked for begin with these.
            0xd8 | 0xe2 | 0xe3 | 0xef => {
                let letter = sentence.get(at..).and_then(|rest| rest.chars().next());
                let next = at + letter.map_or(1, char::len_utf8);
                match letter {
                    // Clauses between wide commas mostly have what they need.
                    Some('，' | '；') if needs_what_precedes(after(next)) => {
                        each(next, Link::Tied);
                    }
                    Some('，' | '；') => each(next, Link::Free),
                    Some('،' | '؛' | '：') => each(next, Link::Tied),
                    Some('—' | '–') => each(next, own_subject(next)),
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

fn after_comma(rest: &str, sentence_bytes: usize) -> Link {
    if has_subject(rest) {
        Link::Free
    } else if needs_what_precedes(rest) || sentence_bytes >= LONG_SENTENCE_BYTES {
        Link::Tied
    } else {
        Link::Comma
    }
}

/// A range without the space and the marks at its ends that lead on to another clause.
pub(crate) fn trim_marks(text: &str, (start, end): (usize, usize)) -> (usize, usize) {
    let shown = text.get(start..end).unwrap_or_default();
    let leads_on = |letter: char| {
        letter.is_whitespace()
            || matches!(letter, ',' | ';' | '，' | '、' | '；' | '،' | '؛' | '—' | '–')
    };
    let kept = shown.trim_end_matches(|letter| leads_on(letter) || letter == '-');
    let kept = if kept.is_empty() { shown } else { kept };
    let front = kept.len() - kept.trim_start_matches(leads_on).len();
    (start + front, start + kept.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clauses(sentence: &str) -> Vec<(&str, Link)> {
        let mut starts = vec![(0, Link::Free)];
        split_points(sentence, |at, link| starts.push((at, link)));
        starts.push((sentence.len(), Link::Free));
        starts
            .windows(2)
            .map(|pair| (trim_marks(sentence, (pair[0].0, pair[1].0)), pair[0].1))
            .map(|((start, end), link)| (&sentence[start..end], link))
            .filter(|(clause, _)| !clause.is_empty())
            .collect()
    }

    #[test]
    fn sentences_come_apart_at_their_joints() {
        use Link::{Comma, Free, Tied};
        for (sentence, expected) in [
            (
                "By the way, I signed up for a class (in Lisbon), but it costs 1,200 euros.",
                vec![
                    ("By the way", Free),
                    ("I signed up for a class (in Lisbon)", Free),
                    ("but it costs 1,200 euros.", Free),
                ],
            ),
            (
                "I keep things that remind me of home, like my hand-painted bowl.",
                vec![
                    ("I keep things that remind me of home", Free),
                    ("like my hand-painted bowl.", Tied),
                ],
            ),
            (
                "We made it with coconut milk, vanilla extract, and a pinch of salt.",
                vec![
                    ("We made it with coconut milk", Free),
                    ("vanilla extract", Comma),
                    ("and a pinch of salt.", Comma),
                ],
            ),
            (
                "The train was late because the bridge at Olten was closed.",
                vec![
                    ("The train was late", Free),
                    ("because the bridge at Olten was closed.", Tied),
                ],
            ),
            (
                "我们昨天晚上去了山上的那个小村子，孩子们第一次看到了雪",
                vec![("我们昨天晚上去了山上的那个小村子", Free), ("孩子们第一次看到了雪", Free)],
            ),
            ("Short, but whole", vec![("Short, but whole", Free)]),
        ] {
            assert_eq!(clauses(sentence), expected);
        }
    }
}
