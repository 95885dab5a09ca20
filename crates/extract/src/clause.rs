//! Sentences to clauses: the pieces that an extract keeps or leaves out. It owns where a sentence
//! may be taken apart; it must not know what the pieces are worth.

use oneiro_text::entries;
use rustc_hash::FxHashSet;
use std::sync::LazyLock;

/// Sentences of so few bytes stay whole.
const SHORTEST: usize = 40;

/// Bytes of what stands before a colon, or between parentheses, for it to be a clause of its own.
const LEADS_ON: usize = 32;

/// Whether a clause begins with the first word of a text: one that does wherever it stands, or one
/// that does when a subject follows: "and we", not "salt and pepper".
fn opens(text: &str) -> bool {
    let Some((word, rest)) = text.split_once(' ') else { return false };
    match word {
        "because" | "which" | "when" | "while" | "although" | "weil" | "denn" | "parce"
        | "porque" | "потому" => true,
        "and" | "but" | "so" | "und" | "aber" | "et" | "mais" | "y" | "pero" | "но" => {
            let next = rest.split(' ').next().unwrap_or_default();
            SUBJECTS.contains(next) || next == "I" || next.starts_with("I'")
        }
        _ => false,
    }
}

/// Words after "and" or "but" that begin a clause of their own.
static SUBJECTS: LazyLock<FxHashSet<&str>> =
    LazyLock::new(|| entries(include_str!("../assets/subjects.txt")).collect());

/// Hands out where each clause of a sentence begins, after its start, in order.
pub(crate) fn cuts(sentence: &str, mut each: impl FnMut(usize)) {
    if sentence.len() < SHORTEST {
        return;
    }
    let bytes = sentence.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let follows = |offset: usize, wanted: u8| bytes.get(at + offset) == Some(&wanted);
        match byte {
            b',' | b';' if follows(1, b' ') => each(at + 2),
            // What leads on with few words is nothing without what it leads to.
            b':' if follows(1, b' ') && at >= LEADS_ON => each(at + 2),
            b'(' if at > 0 => {
                let inside = bytes.iter().skip(at).position(|byte| *byte == b')');
                if let Some(length) = inside.filter(|length| *length >= LEADS_ON) {
                    each(at);
                    each(at + length + 1);
                }
            }
            b'-' if follows(1, b' ') && at > 0 && bytes.get(at - 1) == Some(&b' ') => each(at + 2),
            b' ' if sentence.get(at + 1..).is_some_and(opens) => each(at + 1),
            // The first byte of what is beyond ASCII; the marks looked for begin with these three.
            0xd8 | 0xe2 | 0xe3 | 0xef => {
                let letter = sentence.get(at..).and_then(|rest| rest.chars().next());
                if let Some('،' | '؛' | '，' | '；' | '：' | '、' | '—' | '–') = letter {
                    each(at + letter.map_or(1, char::len_utf8));
                }
            }
            _ => {}
        }
    }
}

/// A range without the space and the marks at its ends that lead on to another clause.
pub(crate) fn bare(text: &str, (start, end): (usize, usize)) -> (usize, usize) {
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

    fn clauses(sentence: &str) -> Vec<&str> {
        let mut starts = vec![0];
        cuts(sentence, |at| starts.push(at));
        starts.push(sentence.len());
        starts
            .windows(2)
            .map(|pair| bare(sentence, (pair[0], pair[1])))
            .map(|(start, end)| &sentence[start..end])
            .filter(|clause| !clause.is_empty())
            .collect()
    }

    #[test]
    fn sentences_come_apart_at_their_joints() {
        assert_eq!(
            clauses("By the way, I signed up for a class (in Lisbon), but it costs 1,200 euros."),
            ["By the way", "I signed up for a class (in Lisbon)", "but it costs 1,200 euros."]
        );
        assert_eq!(
            clauses("我们昨天晚上去了山上的那个小村子，孩子们第一次看到了雪"),
            ["我们昨天晚上去了山上的那个小村子", "孩子们第一次看到了雪"]
        );
        assert_eq!(clauses("Short, but whole"), ["Short, but whole"]);
    }
}
