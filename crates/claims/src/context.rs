//! Where a clause stands, and which words in it and around it forbid a claim.

use crate::clause::{Clause, Join};
use crate::patterns::{Rule, RuleBook};
use crate::referent::Referent;
use crate::secrets::has_secret;
use crate::sentence::Sentence;

/// Where a clause stands.
pub(crate) struct Context<'c> {
    pub sentence: &'c Sentence,
    pub book: &'static RuleBook,
    pub clauses: &'c [Clause],
    /// Which of the clauses it is.
    pub at: usize,
    /// Whether the line is surely the speaker's own.
    pub own: bool,
    /// Whom the sentence before spoke of.
    pub referent: Option<&'c Referent>,
}

impl Context<'_> {
    pub fn is_pronoun(&self, at: usize) -> bool {
        let word = self.sentence.word(at);
        self.book.she.matches(word) || self.book.he.matches(word)
    }

    /// Whether the words around a match say that it is not a statement of the speaker.
    pub fn is_forbidden(&self, rule: &Rule, (from, to): (usize, usize)) -> bool {
        let Context { sentence, book, clauses, at, .. } = self;
        let Some(clause) = clauses.get(*at) else { return true };
        let folded = sentence.fold_of((clause.from, to));
        let place =
            sentence.tokens.get(from).zip(to.checked_sub(1).and_then(|it| sentence.tokens.get(it)));
        let is_quoted = place.is_none_or(|(first, last)| {
            sentence.quoted.iter().any(|(start, end)| *start < last.end && *end > first.start)
        });
        let fold_of = |clause: &Clause| sentence.fold_of((clause.from, clause.to));
        let earlier = clauses.iter().take(*at);
        let next = clauses.get(at + 1).filter(|next| next.join == Join::Subordinate);
        let is_conditional = !rule.conditional
            && (book.conditions.matches(folded)
                || earlier.clone().any(|clause| book.conditions.matches(fold_of(clause)))
                || next.is_some_and(|next| book.conditions.start(fold_of(next)) == Some(0)));
        let others = clauses.iter().enumerate().filter(|(other, _)| other != at);
        let is_reported =
            others.map(|(_, clause)| fold_of(clause)).any(|words| book.speech.matches(words));
        is_quoted
            || is_conditional
            || is_reported
            || book.vetoes.matches(folded)
            || book.jokes.matches(&sentence.folded)
            || !rule.momentary && book.transient.matches(folded)
            || has_secret(&sentence.folded)
            || has_markup(sentence, from, to)
    }
}

/// Whether words look like markup, code or an address.
fn has_markup(sentence: &Sentence, from: usize, to: usize) -> bool {
    let folded = sentence.fold_of((from, to));
    ["://", "</", "=>", "==", "{", "}", "();", "&&", "||"].iter().any(|sign| folded.contains(sign))
        || folded.starts_with('<')
}
