//! How many tokens a text costs, without a tokenizer, and how to cut one to a budget. It must not
//! know what the text is.

/// What one character costs, in quarters of a token: four letters of ASCII are a token, a letter of
/// another alphabet is half of one, a character of a script without spaces is one, and whatever is
/// rarer (emoji, ancient scripts) is two. Tokenizers differ; this errs to the dear side.
fn quarters_of(letter: char) -> usize {
    match letter.len_utf8() {
        1 => 1,
        2 => 2,
        3 => 4,
        _ => 8,
    }
}

/// What a text costs in quarters of a token; the cost of a whole is the sum of its parts.
pub(crate) fn quarters(text: &str) -> usize {
    text.chars().map(quarters_of).sum()
}

/// About how many tokens a text costs.
pub fn tokens(text: &str) -> usize {
    quarters(text).div_ceil(4)
}

/// The beginning of a text that costs no more than `most` quarters; `None` if all of it does.
pub(crate) fn cut(text: &str, most: usize) -> Option<&str> {
    let mut cost = 0;
    for (place, letter) in text.char_indices() {
        cost += quarters_of(letter);
        if cost > most {
            return Some(text.get(..place).unwrap_or_default());
        }
    }
    None
}

/// The end of a text that costs no more than `most` quarters.
pub(crate) fn cut_to_end(text: &str, most: usize) -> &str {
    let mut cost = 0;
    for (place, letter) in text.char_indices().rev() {
        cost += quarters_of(letter);
        if cost > most {
            return text.get(place + letter.len_utf8()..).unwrap_or_default();
        }
    }
    text
}

/// What is left to spend, on the text and on the structured part alike, in quarters of a token.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    pub(crate) text: usize,
    pub(crate) json: usize,
}

impl Budget {
    /// So many tokens for each part.
    pub(crate) fn tokens(tokens: usize) -> Budget {
        Budget { text: tokens * 4, json: tokens * 4 }
    }

    /// Takes a part of it out, for something else.
    pub(crate) fn set_aside(&mut self, part: Budget) -> Budget {
        let aside = Budget { text: part.text.min(self.text), json: part.json.min(self.json) };
        self.text -= aside.text;
        self.json -= aside.json;
        aside
    }

    /// Spends on both if there is enough for both.
    pub(crate) fn spend(&mut self, text: &str, json: &str) -> bool {
        self.spend_quarters(quarters(text), quarters(json))
    }

    pub(crate) fn spend_quarters(&mut self, text: usize, json: usize) -> bool {
        let fits = text <= self.text && json <= self.json;
        if fits {
            self.text -= text;
            self.json -= json;
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_is_four_to_a_token_and_han_one_each() {
        assert_eq!(tokens(""), 0);
        assert_eq!(tokens("four"), 1);
        assert_eq!(tokens("five5"), 2);
        assert_eq!(tokens("漢字"), 2);
        assert_eq!(tokens("да"), 1);
        assert_eq!(tokens("🦀"), 2);
    }

    #[test]
    fn a_cut_keeps_characters_whole_and_the_budget() {
        assert_eq!(cut("abcd", 4), None);
        assert_eq!(cut("abcde", 4), Some("abcd"));
        assert_eq!(cut("漢字漢字", 9), Some("漢字"));
        assert_eq!(cut("🦀", 7), Some(""));
        assert_eq!(cut_to_end("abcd", 4), "abcd");
        assert_eq!(cut_to_end("abcde", 4), "bcde");
        assert_eq!(cut_to_end("字漢字", 9), "漢字");
    }

    #[test]
    fn nothing_is_spent_when_one_part_is_too_dear() {
        let mut budget = Budget::tokens(1);
        assert!(!budget.spend("four", "fives"));
        assert!(budget.spend("four", "four"));
        assert!(!budget.spend("a", ""));
    }
}
