//! `<private>` spans, withheld before anything is stored: the one exception to fidelity.

use serde_json::Value;

/// What stands in a stored text where a private span was.
pub const PRIVATE_MARKER: &str = "<private withheld/>";

/// Replaces every closed `<private>..</private>` span in the strings of `value`; answers how many.
/// An opening tag that is never closed is ordinary text: markup about privacy is not a span.
pub fn withhold(value: &mut Value) -> usize {
    match value {
        Value::String(text) => match withhold_text(text) {
            Some((replaced, count)) => {
                *text = replaced;
                count
            }
            None => 0,
        },
        Value::Array(items) => items.iter_mut().map(withhold).sum(),
        Value::Object(fields) => fields.values_mut().map(withhold).sum(),
        _ => 0,
    }
}

/// The text without its private spans, and how many there were; `None` when there are none.
pub(crate) fn withhold_text(text: &str) -> Option<(String, usize)> {
    let mut out = String::new();
    let mut count = 0;
    let mut rest = text;
    while let Some((before, after)) = split_tag(rest, "<private") {
        let Some((_, tail)) = split_tag(after, "</private") else { break };
        out.push_str(before);
        out.push_str(PRIVATE_MARKER);
        count += 1;
        rest = tail;
    }
    out.push_str(rest);
    (count > 0).then_some((out, count))
}

/// What stands before and after the first `tag`, whatever its case and the space before its `>`.
fn split_tag<'t>(text: &'t str, tag: &str) -> Option<(&'t str, &'t str)> {
    let is_tag = |start: usize| {
        let name = text.get(start..start + tag.len())?;
        let after = text.get(start + tag.len()..)?;
        let end = after.trim_ascii_start().strip_prefix('>')?;
        name.eq_ignore_ascii_case(tag).then_some((text.get(..start)?, end))
    };
    text.match_indices('<').find_map(|(start, _)| is_tag(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn closed_spans_are_withheld_wherever_they_stand() {
        let mut value = json!({
            "content": [{"type": "text", "text": "a <private>pin 1234</private> b <private>x</private>"}],
            "note": "an open <private> tag stays",
            "case": "<PRIVATE >x</Private>",
        });
        assert_eq!(withhold(&mut value), 3);
        assert_eq!(
            value,
            json!({
                "content": [{"type": "text", "text": format!("a {PRIVATE_MARKER} b {PRIVATE_MARKER}")}],
                "note": "an open <private> tag stays",
                "case": PRIVATE_MARKER,
            })
        );
    }
}
