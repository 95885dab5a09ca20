//! Strips what models put around the text they were asked for: reasoning before it, a code fence
//! around it. The text itself is not changed.

const THINK_START: &str = "<think>";
const THINK_END: &str = "</think>";
/// Shorter runs of backticks are inline code.
const MIN_FENCE_TICKS: usize = 3;

/// The text without reasoning before it and without a code fence around all of it, trimmed.
pub(super) fn unwrap_text(text: &str) -> &str {
    strip_fence(strip_reasoning(text.trim()).trim()).trim()
}

fn strip_reasoning(mut text: &str) -> &str {
    while let Some(reasoning) = text.strip_prefix(THINK_START) {
        // Without an end, the output was cut before the text began.
        let Some((_, rest)) = reasoning.split_once(THINK_END) else { return "" };
        text = rest.trim_start();
    }
    // If the server's template starts the reasoning, the model only ends it. Only a line of its own
    // counts, since the text may mention the tag.
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        end += line.len();
        match line.trim() {
            THINK_START => return text,
            THINK_END => return text.get(end..).unwrap_or_default(),
            _ => {}
        }
    }
    text
}

/// The content of a code fence, if one fence contains the whole text.
fn strip_fence(text: &str) -> &str {
    let (Some((first, _)), Some((inside, last))) = (text.split_once('\n'), text.rsplit_once('\n'))
    else {
        return text;
    };
    let ticks = leading_ticks(first);
    // After the ticks comes the name of a language; a tick in it makes the line inline code.
    let opens = ticks >= MIN_FENCE_TICKS && !first.get(ticks..).unwrap_or_default().contains('`');
    if !opens || !is_closing(last, ticks) {
        return text;
    }
    // Out of range if the fence is empty.
    let inside = inside.get(first.len() + 1..).unwrap_or_default();
    let mut open_fences = 0_usize;
    for line in inside.lines().map(str::trim).filter(|line| leading_ticks(line) >= ticks) {
        if !is_closing(line, ticks) {
            open_fences += 1;
        } else if open_fences > 0 {
            open_fences -= 1;
        } else {
            // The first fence ends before the text does: it is one of several.
            return text;
        }
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
    use super::unwrap_text;

    #[test]
    fn reasoning_before_the_text_is_stripped() {
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
            assert_eq!(unwrap_text(text), expected, "{text:?}");
        }
    }

    #[test]
    fn only_a_fence_around_the_whole_text_is_stripped() {
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
            assert_eq!(unwrap_text(text), expected, "{text:?}");
        }
    }
}
