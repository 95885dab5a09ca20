//! Stored text as HTML that cannot do anything: escaped, with invisible characters made visible. It
//! must not know Markdown.

use maud::{Markup, PreEscaped, html};

/// Text as it stands.
pub fn plain(text: &str) -> Markup {
    let mut out = String::with_capacity(text.len() + 16);
    push(&mut out, text);
    PreEscaped(out)
}

/// Text with what is between `marks` (characters: the first, and the one after the last) marked.
/// Marks that overlap become one, and what lies beyond the text is left out.
pub fn marked(text: &str, marks: &[(usize, usize)]) -> Markup {
    let mut marks: Vec<(usize, usize)> =
        marks.iter().copied().filter(|(from, to)| from < to).collect();
    marks.sort_unstable();
    let mut marks = marks.into_iter().peekable();
    let mut open_until = None;
    let mut out = String::with_capacity(text.len() + 64);
    for (at, letter) in text.chars().enumerate() {
        if open_until == Some(at) {
            out.push_str("</mark>");
            open_until = None;
        }
        while let Some((_, to)) = marks.next_if(|(from, _)| *from <= at) {
            if open_until.is_none() && to > at {
                out.push_str("<mark>");
            }
            // Of marks that overlap, the one that reaches farthest ends them all.
            open_until = open_until.max(Some(to).filter(|to| *to > at));
        }
        push_letter(&mut out, letter);
    }
    if open_until.is_some() {
        out.push_str("</mark>");
    }
    PreEscaped(out)
}

/// Text for places that hold no elements: what turns its direction is left out.
pub fn bare(text: &str) -> String {
    text.chars().filter(|letter| !turns(*letter)).collect()
}

/// The beginning of a text on one line, apart from the direction of what stands around it.
pub fn line(text: &str, chars: usize) -> Markup {
    html! {
        bdi { (plain(&one_line(text, chars))) }
    }
}

/// The beginning of a text on one line.
pub fn one_line(text: &str, chars: usize) -> String {
    let mut out = String::new();
    let mut left = chars;
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        for letter in word.chars() {
            if left == 0 {
                return out.trim_end().to_owned() + "…";
            }
            left -= 1;
            out.push(letter);
        }
        left = left.saturating_sub(1);
    }
    out
}

/// Appends text, escaped.
pub fn push(out: &mut String, text: &str) {
    text.chars().for_each(|letter| push_letter(out, letter));
}

fn push_letter(out: &mut String, letter: char) {
    match letter {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        '\'' => out.push_str("&#39;"),
        '\n' | '\t' => out.push(letter),
        // HTML has no place for these; the pictures of them are safe.
        '\0'..='\u{1F}' => out.push(picture(letter)),
        '\u{7F}' => out.push('\u{2421}'),
        '\u{80}'..='\u{9F}' => out.push('\u{FFFD}'),
        letter if turns(letter) => {
            out.push_str("<span class=\"unseen\">U+");
            out.push_str(&format!("{:04X}", u32::from(letter)));
            out.push_str("</span>");
        }
        other => out.push(other),
    }
}

/// Whether a character turns the direction of what follows, which could make it read as something
/// else.
fn turns(letter: char) -> bool {
    matches!(letter, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

fn picture(control: char) -> char {
    char::from_u32(0x2400 + u32::from(control)).unwrap_or('\u{FFFD}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_text_can_be_markup() {
        let shown = plain("<script>\"a\" & 'b'</script>\0\u{1b}[2J\u{202E}x").0;
        assert_eq!(
            shown,
            "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;\u{2400}\u{241b}[2J\
             <span class=\"unseen\">U+202E</span>x"
        );
    }

    #[test]
    fn marks_count_characters() {
        let cases = [
            ("tea tin", vec![(0, 3)], "<mark>tea</mark> tin"),
            ("tea tin", vec![(4, 7), (0, 3)], "<mark>tea</mark> <mark>tin</mark>"),
            ("日本語", vec![(1, 2)], "日<mark>本</mark>語"),
            ("abcd", vec![(0, 2), (1, 3)], "<mark>abc</mark>d"),
            ("abcd", vec![(0, 4), (1, 2)], "<mark>abcd</mark>"),
            ("abcd", vec![(0, 2), (2, 4)], "<mark>ab</mark><mark>cd</mark>"),
            ("ab", vec![(1, 99), (50, 60)], "a<mark>b</mark>"),
            ("ab", vec![(1, 1), (2, 1)], "ab"),
            ("<b>", vec![(1, 2)], "&lt;<mark>b</mark>&gt;"),
        ];
        for (text, marks, want) in cases {
            assert_eq!(marked(text, &marks).0, want, "{text} {marks:?}");
        }
    }

    #[test]
    fn one_line_is_short_and_whole_letters() {
        assert_eq!(one_line(" a\n b\t c ", 20), "a b c");
        assert_eq!(one_line("éééé", 3), "ééé…");
        assert_eq!(one_line("ab cd", 3), "ab…");
        assert_eq!(one_line("", 3), "");
    }
}
