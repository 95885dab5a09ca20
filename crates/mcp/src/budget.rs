//! The token budget of an answer.

use oneiro::count::tokens;

/// The tokens left for the text and for the structured content.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    pub(crate) text: usize,
    pub(crate) json: usize,
}

impl Budget {
    /// The same number of tokens for each part.
    pub(crate) fn tokens(tokens: usize) -> Budget {
        Budget { text: tokens, json: tokens }
    }

    /// The smaller of the two.
    pub(crate) fn left(&self) -> usize {
        self.text.min(self.json)
    }

    /// Moves a part of the budget into a budget of its own.
    pub(crate) fn set_aside(&mut self, part: Budget) -> Budget {
        let aside = Budget { text: part.text.min(self.text), json: part.json.min(self.json) };
        self.text -= aside.text;
        self.json -= aside.json;
        aside
    }

    /// Spends on both parts, or on neither if one does not fit; returns whether it did.
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
    fn nothing_is_spent_when_one_part_does_not_fit() {
        let mut budget = Budget::tokens(1);
        assert!(!budget.spend("four", "four and five"));
        assert!(budget.spend("four", "five"));
        assert!(!budget.spend("a", ""));
    }
}
