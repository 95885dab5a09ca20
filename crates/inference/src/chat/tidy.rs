//! Takes off what models put around the text they were asked for. It owns no words of its own and
//! must not change any between the first and the last that are kept.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// The text without thoughts before it, without a fence around the whole of it, trimmed.
pub(super) fn tidied(text: &str) -> &str {
    unfenced(without_thoughts(text.trim()).trim()).trim()
}

fn without_thoughts(mut text: &str) -> &str {
    while let Some(thoughts) = text.strip_prefix(OPEN) {
        // Whoever was cut short while thinking has said nothing.
        let Some((_, rest)) = thoughts.split_once(CLOSE) else { return "" };
        text = rest.trim_start();
    }
    // Where a server's template opens the thoughts, the model only closes them. On a line of its
    // own, since a text may well speak of the tag.
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        match line.trim() {
            OPEN => return text,
            CLOSE => return text.get(at..).unwrap_or_default(),
            _ => {}
        }
    }
    text
}

/// What stands inside a fence, if one fence holds the whole text.
fn unfenced(text: &str) -> &str {
    let (Some((first, _)), Some((inside, last))) = (text.split_once('\n'), text.rsplit_once('\n'))
    else {
        return text;
    };
    let ticks = leading_ticks(first);
    // The rest of an opening line names a language; with a tick in it, it is text.
    let opens = ticks >= 3 && !first.get(ticks..).unwrap_or_default().contains('`');
    if !opens || !is_closing(last, ticks) {
        return text;
    }
    // A closing line right after the opening one leaves nothing between them.
    let inside = inside.get(first.len() + 1..).unwrap_or_default();
    let mut depth = 0_usize;
    for line in inside.lines().map(str::trim).filter(|line| leading_ticks(line) >= ticks) {
        depth = match (is_closing(line, ticks), depth) {
            (false, _) => depth + 1,
            // The fence ends before the text does: it was one of several.
            (true, 0) => return text,
            (true, _) => depth - 1,
        };
    }
    inside
}

fn is_closing(line: &str, ticks: usize) -> bool {
    let line = line.trim();
    leading_ticks(line) >= ticks && line.bytes().all(|byte| byte == b'`')
}

fn leading_ticks(line: &str) -> usize {
    line.bytes().take_while(|byte| *byte == b'`').count()
}

#[cfg(test)]
mod tests {
    use super::tidied;

    #[test]
    fn thoughts_before_the_text_are_taken_off() {
        for (text, expected) in [
            ("  plain \n", "plain"),
            ("<think>hm\nhm</think>\n\nThe tea.", "The tea."),
            ("<think>a</think>\n<think>b</think>The tea.", "The tea."),
            ("<think></think>The tea.", "The tea."),
            ("<think>never comes to an end", ""),
            ("hm, the user wants\n</think>\n\nThe tea.", "The tea."),
            ("only thoughts\n</think>", ""),
            ("They spoke of </think> and of <think>.", "They spoke of </think> and of <think>."),
            ("It said:\n<think>\nhm\n</think>\nso.", "It said:\n<think>\nhm\n</think>\nso."),
        ] {
            assert_eq!(tidied(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_fence_around_everything_is_taken_off_and_no_other() {
        for (text, expected) in [
            ("```\nThe tea.\n```", "The tea."),
            ("```markdown\n# Tea\n\nBlue tin.\n```\n", "# Tea\n\nBlue tin."),
            ("<think>x</think>\n```text\nThe tea.\n```", "The tea."),
            ("```md\nrun\n```sh\nls\n```\nthen\n```", "run\n```sh\nls\n```\nthen"),
            ("````\n```\nls\n```\n````", "```\nls\n```"),
            ("```\n```", ""),
            ("```sh\nls\n```\nthen\n```sh\npwd\n```", "```sh\nls\n```\nthen\n```sh\npwd\n```"),
            ("```sh\nls\n```\nlists.", "```sh\nls\n```\nlists."),
            ("```\nnever closed", "```\nnever closed"),
            ("```inline```\nand\n```", "```inline```\nand\n```"),
            ("```", "```"),
            ("é\n```", "é\n```"),
        ] {
            assert_eq!(tidied(text), expected, "{text:?}");
        }
    }
}
