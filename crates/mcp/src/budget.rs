//! What is left of an answer's budget of tokens. It must not know what the tokens are spent on.

use oneiro::count::tokens;

/// The tokens left to spend, on the text and on the structured part alike.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    pub(crate) text: usize,
    pub(crate) json: usize,
}

impl Budget {
    /// So many tokens for each part.
    pub(crate) fn tokens(tokens: usize) -> Budget {
        Budget { text: tokens, json: tokens }
    }

    /// What is left for something that costs the same in both parts.
    pub(crate) fn left(&self) -> usize {
        self.text.min(self.json)
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
        self.spend_tokens(tokens(text), tokens(json))
    }

    pub(crate) fn spend_tokens(&mut self, text: usize, json: usize) -> bool {
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
    fn nothing_is_spent_when_one_part_is_too_dear() {
        let mut budget = Budget::tokens(1);
        assert!(!budget.spend("four", "four and five"));
        assert!(budget.spend("four", "five"));
        assert!(!budget.spend("a", ""));
    }
}
