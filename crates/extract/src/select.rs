//! Which clauses an extract has: those that cover the most weight of terms for their tokens. It
//! owns the choice; it must not know how the extract is written.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rustc_hash::FxHashSet;

use crate::reading::{Clause, Reading, Sentence};
use crate::terms::TermId;

/// Clauses looked at in earnest for each token that may be spent; others have no chance.
const SHORTLIST: usize = 6;

/// Tokens before a clause that is alone: a speaker, a line, or a gap on both sides.
const NEW_LINE: f32 = 3.4;

/// Tokens before a clause that stands beside one of the same speaker.
const SAME_LINE: f32 = 1.0;

/// What is left of the worth of a term that is already in.
const AGAIN: f32 = 0.1;

/// The same in a sentence that settles something: what is decided was spoken of before.
const SETTLED_AGAIN: f32 = 0.5;

/// What there is to choose from.
pub(crate) struct Choice<'a> {
    pub reading: &'a Reading,
    /// By term.
    pub weights: &'a [f32],
    /// By sentence.
    pub factors: &'a [f32],
    /// Whether two utterances have the same speaker.
    pub same_speaker: &'a dyn Fn(u32, u32) -> bool,
    /// The tokens of a clause.
    pub cost: &'a dyn Fn(&Clause) -> usize,
}

/// The clauses chosen so far, the best first.
pub(crate) struct Selection<'a> {
    choice: Choice<'a>,
    heap: BinaryHeap<Offer>,
    rest: Vec<Offer>,
    costs: Vec<u32>,
    covered: Vec<bool>,
    chosen: Vec<bool>,
    /// In the order they were chosen.
    pub order: Vec<u32>,
    spent: f32,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Offer {
    density: f32,
    clause: u32,
}

impl Eq for Offer {}

impl Ord for Offer {
    fn cmp(&self, other: &Offer) -> Ordering {
        self.density.total_cmp(&other.density).then(other.clause.cmp(&self.clause))
    }
}

impl PartialOrd for Offer {
    fn partial_cmp(&self, other: &Offer) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<'a> Selection<'a> {
    /// Nothing chosen yet, for an extract of about so many tokens.
    pub fn new(choice: Choice<'a>, tokens: usize) -> Selection<'a> {
        let count = choice.reading.clauses.len();
        let mut selection = Selection {
            covered: vec![false; choice.weights.len()],
            costs: vec![0; count],
            chosen: vec![false; count],
            order: Vec::new(),
            heap: BinaryHeap::new(),
            rest: Vec::new(),
            spent: 0.0,
            choice,
        };
        // What is said twice in the same words is offered once.
        let mut met: FxHashSet<&[TermId]> = FxHashSet::default();
        let offers: Vec<Offer> = (0_u32..)
            .zip(&selection.choice.reading.clauses)
            .filter(|(_, clause)| met.insert(selection.choice.reading.terms_of(clause)))
            .filter_map(|(clause, _)| {
                let bytes = selection.clause(clause).map_or(0, |clause| clause.end - clause.start);
                let density = selection.gain(clause) / (bytes as f32 / 4.0 + NEW_LINE);
                (density > 0.0).then_some(Offer { density, clause })
            })
            .collect();
        let (worth, rest): (Vec<Offer>, Vec<Offer>) = offers.into_iter().partition(|offer| {
            selection
                .clause(offer.clause)
                .is_some_and(|clause| selection.choice.reading.tells(clause))
        });
        let most = tokens.saturating_mul(SHORTLIST).max(512);
        selection.rest = shortlist(rest, most);
        for offer in shortlist(worth, most) {
            selection.enter(offer.clause);
        }
        selection
    }

    /// Lets in what does not say what is spoken of, and what machines print: better than nothing.
    pub fn widen(&mut self) {
        for offer in std::mem::take(&mut self.rest) {
            self.enter(offer.clause);
        }
    }

    /// Counts the tokens of a clause, and offers it.
    fn enter(&mut self, clause: u32) {
        let cost = self.clause(clause).map_or(0, |clause| (self.choice.cost)(clause));
        if let Some(known) = self.costs.get_mut(clause as usize) {
            *known = cost.max(1) as u32;
        }
        self.offer(clause);
    }

    /// Chooses until so many tokens are spent.
    pub fn fill(&mut self, tokens: usize) {
        let mut too_long = Vec::new();
        while let Some(offer) = self.heap.pop() {
            if self.is_chosen(offer.clause) {
                continue;
            }
            let price = self.price(offer.clause);
            let density = self.density(offer.clause, price);
            if density < offer.density {
                if density > 0.0 {
                    self.heap.push(Offer { density, ..offer });
                }
                continue;
            }
            if self.spent + price > tokens as f32 {
                too_long.push(offer);
                // After so many that do not fit, what is left is crumbs.
                if too_long.len() > 64 {
                    break;
                }
                continue;
            }
            self.spent += price;
            self.choose(offer.clause);
        }
        self.heap.extend(too_long);
    }

    /// Takes back what was chosen last.
    pub fn drop_last(&mut self) -> Option<u32> {
        let clause = self.order.pop()?;
        if let Some(chosen) = self.chosen.get_mut(clause as usize) {
            *chosen = false;
        }
        Some(clause)
    }

    pub fn is_chosen(&self, clause: u32) -> bool {
        self.chosen.get(clause as usize).copied().unwrap_or_default()
    }

    /// The best clause by itself, whatever its length.
    pub fn best(&self) -> Option<u32> {
        self.heap.peek().map(|offer| offer.clause)
    }

    /// The tokens of a clause that was looked at.
    pub fn cost_of(&self, clause: u32) -> usize {
        self.costs.get(clause as usize).copied().unwrap_or_default() as usize
    }

    fn clause(&self, clause: u32) -> Option<&Clause> {
        self.choice.reading.clauses.get(clause as usize)
    }

    fn offer(&mut self, clause: u32) {
        let density = self.density(clause, self.price(clause));
        if density > 0.0 {
            self.heap.push(Offer { density, clause });
        }
    }

    fn choose(&mut self, clause: u32) {
        let Some(&taken) = self.clause(clause) else { return };
        if let Some(chosen) = self.chosen.get_mut(clause as usize) {
            *chosen = true;
        }
        self.order.push(clause);
        for id in self.choice.reading.terms_of(&taken) {
            if let Some(covered) = self.covered.get_mut(*id as usize) {
                *covered = true;
            }
        }
        // Beside it, others have become cheaper.
        for near in [clause.wrapping_sub(1), clause + 1] {
            if self.cost_of(near) > 0 && !self.is_chosen(near) {
                self.offer(near);
            }
        }
    }

    fn density(&self, clause: u32, price: f32) -> f32 {
        self.gain(clause) / price
    }

    /// What a clause would add.
    fn gain(&self, clause: u32) -> f32 {
        let Some(clause) = self.clause(clause) else { return 0.0 };
        let factor = self.choice.factors.get(clause.sentence as usize).copied().unwrap_or_default();
        let (mut added, mut again) = (0.0, 0.0);
        for id in self.choice.reading.terms_of(clause) {
            let weight = self.choice.weights.get(*id as usize).copied().unwrap_or_default();
            match self.covered.get(*id as usize) {
                Some(true) => again += weight,
                _ => added += weight,
            }
        }
        let settles = self.choice.reading.sentence_of(clause).is_some_and(Sentence::settles);
        factor * (added + again * if settles { SETTLED_AGAIN } else { AGAIN })
    }

    /// Its tokens, and those of what has to stand before it.
    fn price(&self, clause: u32) -> f32 {
        let own = self.cost_of(clause) as f32;
        let Some(taken) = self.clause(clause) else { return own };
        let by = |clause: &Clause| {
            self.choice.reading.sentence_of(clause).map(|sentence| sentence.utterance)
        };
        let mut lead = NEW_LINE;
        for near in [clause.checked_sub(1), clause.checked_add(1)].into_iter().flatten() {
            let Some(neighbour) = self.clause(near).filter(|_| self.is_chosen(near)) else {
                continue;
            };
            if neighbour.sentence == taken.sentence {
                return own;
            }
            if let (Some(one), Some(other)) = (by(neighbour), by(taken))
                && (one == other || (self.choice.same_speaker)(one, other))
            {
                lead = SAME_LINE;
            }
        }
        own + lead
    }
}

/// The best of many offers.
fn shortlist(mut offers: Vec<Offer>, most: usize) -> Vec<Offer> {
    if offers.len() > most {
        offers.select_nth_unstable_by(most, |a, b| b.cmp(a));
        offers.truncate(most);
    }
    offers
}
