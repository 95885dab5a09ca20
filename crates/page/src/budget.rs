//! How much of each long text a page shows, so that the whole of it stays quick. It must not know
//! what the texts say.

/// The most that a page shows of one text before it is cut.
pub const TEXT_BYTES: usize = 12_000;

/// The most lines and bytes of a tool's result.
pub const RESULT: (usize, usize) = (30, 2_000);

/// Bytes of HTML of a page of messages, and what each message takes beside its texts.
const PAGE_BYTES: usize = 82_000;
const FRAME_BYTES: usize = 430;

/// The least of any text.
const LEAST_BYTES: usize = 300;

/// What one text may take when they share a page with this many messages: the short ones as much as
/// they need, the long ones the same each.
pub fn share(costs: Vec<usize>, messages: usize) -> usize {
    share_beside(costs, messages, 0)
}

/// The same where other things take so much of the page.
pub fn share_beside(mut costs: Vec<usize>, messages: usize, taken: usize) -> usize {
    costs.sort_unstable();
    let taken = taken.saturating_add(messages.saturating_mul(FRAME_BYTES));
    let mut left = PAGE_BYTES.saturating_sub(taken);
    let mut count = costs.len();
    for cost in costs {
        let each = left / count.max(1);
        if cost > each {
            return each.clamp(LEAST_BYTES, TEXT_BYTES);
        }
        left -= cost;
        count -= 1;
    }
    TEXT_BYTES
}

/// What a text takes in HTML, about.
pub fn cost(text: &str) -> usize {
    text.bytes().map(byte_cost).sum()
}

fn byte_cost(byte: u8) -> usize {
    if matches!(byte, b'<' | b'>' | b'&' | b'"' | b'\'') { 6 } else { 1 }
}

/// The beginning of a text that takes so much, ending with a line or a word where one ends near;
/// `None` when all of it fits.
pub fn cut(text: &str, room: usize) -> Option<&str> {
    let mut left = room;
    let mut end = text.len();
    for (at, letter) in text.char_indices() {
        let takes = if letter.is_ascii() { byte_cost(letter as u8) } else { letter.len_utf8() };
        if takes > left {
            end = at;
            break;
        }
        left -= takes;
    }
    let kept = text.get(..end).filter(|kept| kept.len() < text.len())?;
    let near = |at: &usize| *at >= kept.len() - kept.len() / 5;
    let at = kept.rfind('\n').filter(near).or_else(|| kept.rfind(' ').filter(near));
    at.map_or(Some(kept), |at| kept.get(..at))
}

/// The first lines of a text; `None` when there are no more.
pub fn first_lines(text: &str, lines: usize) -> Option<&str> {
    let (at, _) = text.match_indices('\n').nth(lines.saturating_sub(1))?;
    text.get(..at).filter(|_| !text.get(at..).unwrap_or_default().trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_are_whole_and_long_ones_share() {
        assert_eq!(share(vec![], 0), TEXT_BYTES);
        assert_eq!(share(vec![100; 100], 100), TEXT_BYTES, "all of them fit");
        let each = share([vec![100; 90], vec![50_000; 10]].concat(), 100);
        assert_eq!(each, (PAGE_BYTES - 100 * FRAME_BYTES - 9_000) / 10);
        assert_eq!(share(vec![1 << 20; 10_000], 10_000), LEAST_BYTES);
    }

    #[test]
    fn texts_are_cut_between_letters_and_near_words() {
        assert_eq!(cut("tea", 3), None);
        assert_eq!(cut("日本語", 4), Some("日"));
        assert_eq!(cut("aaaaaaaaaaaaa bbbb", 15), Some("aaaaaaaaaaaaa"));
        assert_eq!(cut("<<<<", 12), Some("<<"), "what is escaped takes more");
        let long = "x".repeat(1 << 20);
        assert_eq!(cut(&long, 100).map(str::len), Some(100));
        assert_eq!(first_lines("a\nb\nc", 2), Some("a\nb"));
        assert_eq!(first_lines("a\nb\n", 2), None);
        assert_eq!(first_lines("a\nb", 2), None);
    }
}
