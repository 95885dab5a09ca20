//! Harness text: what the program around an agent writes into a user message, such as reminders,
//! command tags and hook output. The content stays as it was sent; the `harness` field of the
//! message says which stretches of it the person did not write.

use serde_json::{Map, Value, json};

/// The field of a message that lists its harness text.
const HARNESS_FIELD: &str = "harness";

/// A stretch of harness text. It counts characters, as the highlights of a search do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HarnessSpan<'a> {
    /// What it is: `reminder`, `command`, `command_output`, `environment` and so on.
    pub kind: &'a str,
    /// The block of the content it is in; 0 for content that is a string.
    pub block: usize,
    /// The first character.
    pub from: usize,
    /// The character after the last.
    pub to: usize,
}

impl<'a> HarnessSpan<'a> {
    /// The spans that a message lists. A field of another shape belongs to somebody else and lists
    /// none.
    pub fn all(body: &'a Map<String, Value>) -> Vec<HarnessSpan<'a>> {
        let listed = body.get(HARNESS_FIELD).and_then(Value::as_array);
        listed.into_iter().flatten().filter_map(HarnessSpan::read).collect()
    }

    fn read(span: &'a Value) -> Option<HarnessSpan<'a>> {
        let number = |name| span.get(name)?.as_u64().and_then(|n| usize::try_from(n).ok());
        Some(HarnessSpan {
            kind: span.get("kind")?.as_str()?,
            block: number("block").unwrap_or(0),
            from: number("from")?,
            to: number("to")?,
        })
    }

    /// Lists spans in a message, in place of those it had.
    pub fn set_all(body: &mut Map<String, Value>, spans: &[HarnessSpan<'_>]) {
        let spans = spans.iter().map(|span| match span.block {
            0 => json!({"kind": span.kind, "from": span.from, "to": span.to}),
            block => json!({"kind": span.kind, "block": block, "from": span.from, "to": span.to}),
        });
        body.insert(HARNESS_FIELD.to_owned(), spans.collect());
    }

    /// Takes the list away, where the content it counts in is cut.
    pub fn remove_all(body: &mut Map<String, Value>) {
        body.shift_remove(HARNESS_FIELD);
    }
}

/// A text in pieces that make it up again: each with the kind of harness text it is, or `None` for
/// words that were said. Spans that do not fit the text are ignored, all of them.
pub(crate) fn pieces<'a>(
    text: &'a str,
    spans: impl Iterator<Item = HarnessSpan<'a>>,
) -> Vec<(Option<&'a str>, &'a str)> {
    let whole = vec![(None, text)];
    let (mut pieces, mut rest, mut at) = (Vec::new(), text, 0);
    for span in spans {
        let cut = || {
            let (words, after) = split_chars(rest, span.from.checked_sub(at)?)?;
            let (marked, after) = split_chars(after, span.to.checked_sub(span.from)?)?;
            Some((words, marked, after))
        };
        let Some((words, marked, after)) = cut() else { return whole };
        pieces.extend([(None, words), (Some(span.kind), marked)]);
        (rest, at) = (after, span.to);
    }
    pieces.push((None, rest));
    pieces.retain(|(_, piece)| !piece.is_empty());
    if pieces.is_empty() { whole } else { pieces }
}

/// The first `count` characters of a text and the rest of it, unless it is shorter.
fn split_chars(text: &str, count: usize) -> Option<(&str, &str)> {
    let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    ends.into_iter().nth(count).and_then(|end| text.split_at_checked(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(from: usize, to: usize) -> HarnessSpan<'static> {
        HarnessSpan { kind: "reminder", block: 0, from, to }
    }

    #[test]
    fn the_pieces_of_a_text_make_it_up_again() {
        for (text, spans, want) in [
            ("[é] wörd", vec![span(0, 4)], vec![(Some("reminder"), "[é] "), (None, "wörd")]),
            ("日本[x]", vec![span(2, 5)], vec![(None, "日本"), (Some("reminder"), "[x]")]),
            ("all", vec![span(0, 3)], vec![(Some("reminder"), "all")]),
            ("", vec![], vec![(None, "")]),
        ] {
            let found = pieces(text, spans.into_iter());
            assert_eq!(found, want);
            assert_eq!(found.iter().map(|(_, piece)| *piece).collect::<String>(), text);
        }
    }

    #[test]
    fn spans_that_do_not_fit_the_text_are_ignored() {
        for spans in [vec![span(0, 9)], vec![span(2, 1)], vec![span(0, 2), span(1, 3)]] {
            assert_eq!(pieces("four", spans.into_iter()), [(None, "four")]);
        }
    }

    #[test]
    fn a_field_of_another_shape_lists_no_spans() {
        for other in [json!("claude"), json!(["x"]), json!([{"kind": 5, "from": 0, "to": 1}])] {
            let body = Map::from_iter([(HARNESS_FIELD.to_owned(), other)]);
            assert!(HarnessSpan::all(&body).is_empty());
        }
    }
}
