//! `<private>` spans, withheld before anything is stored: the one exception to fidelity.

use serde_json::Value;

/// What stands in a stored text where a private span was.
pub const PRIVATE_MARKER: &str = "<private withheld/>";

const OPEN: &str = "<private>";
const CLOSE: &str = "</private>";

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

fn withhold_text(text: &str) -> Option<(String, usize)> {
    let mut out = String::new();
    let mut count = 0;
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPEN) {
        let Some((_, tail)) = after.split_once(CLOSE) else { break };
        out.push_str(before);
        out.push_str(PRIVATE_MARKER);
        count += 1;
        rest = tail;
    }
    out.push_str(rest);
    (count > 0).then_some((out, count))
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
        });
        assert_eq!(withhold(&mut value), 2);
        assert_eq!(
            value,
            json!({
                "content": [{"type": "text", "text": format!("a {PRIVATE_MARKER} b {PRIVATE_MARKER}")}],
                "note": "an open <private> tag stays",
            })
        );
    }
}
