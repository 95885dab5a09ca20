//! Which clauses an extract has: those that cover the most weight of terms for their tokens. It
//! owns the choice; it must not know how the extract is written.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rustc_hash::FxHashSet;

use crate::lines::Lines;
use crate::reading::{Clause, Reading, Sentence, Stands, Tier};
use crate::terms::TermId;

/// Clauses looked at in earnest for each token that may be spent; others have no chance.
const SHORTLIST: usize = 6;

/// Tokens of the gap before a clause in a line that has others.
const GAP_TOKENS: f32 = 1.0;

/// The share of what a new line begins with that its first clause has to be worth: others follow.
const FIRST_OF_LINE: f32 = 0.4;

/// Clauses in a row that need the one before, at most: a sentence without end is not read back to
/// its start.
const LONGEST_CHAIN: u32 = 8;

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
    /// Every line that may be written.
    pub lines: &'a Lines,
    /// The tokens of a clause.
    pub cost: &'a dyn Fn(&Clause) -> usize,
}

/// The clauses chosen so far, the best first.
pub(crate) struct Selection<'a> {
    choice: Choice<'a>,
    heap: BinaryHeap<Offer>,
    filling: Vec<Offer>,
    last: Vec<Offer>,
    costs: Vec<u32>,
    covered: Vec<bool>,
    chosen: Vec<bool>,
    /// In the order of choice.
    order: Vec<u32>,
    /// By line, what is offered of it, and how many are chosen.
    offered: Vec<Vec<u32>>,
    in_line: Vec<u32>,
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
            filling: Vec::new(),
            last: Vec::new(),
            offered: vec![Vec::new(); choice.lines.count()],
            in_line: vec![0; choice.lines.count()],
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
                let density = selection.gain_of(clause) / (bytes as f32 / 4.0 + GAP_TOKENS);
                (density > 0.0).then_some(Offer { density, clause })
            })
            .collect();
        let most = tokens.saturating_mul(SHORTLIST).max(512);
        let of_tier = |wanted: Tier| {
            let has = |offer: &&Offer| {
                let clause = selection.clause(offer.clause);
                clause.is_some_and(|clause| selection.choice.reading.tier(clause) == wanted)
            };
            shortlist(offers.iter().filter(has).copied().collect(), most)
        };
        let (telling, filling, last) =
            (of_tier(Tier::Telling), of_tier(Tier::Filling), of_tier(Tier::Last));
        (selection.filling, selection.last) = (filling, last);
        selection.admit(telling);
        selection
    }

    /// Lets in what does not say what is spoken of: better than nothing.
    pub fn widen(&mut self) {
        let filling = std::mem::take(&mut self.filling);
        self.admit(filling);
    }

    /// Lets in pleasantries, fragments and what machines print by the hundred, where there is
    /// nothing else.
    pub fn widen_to_all(&mut self) {
        self.widen();
        if self.heap.is_empty() {
            let last = std::mem::take(&mut self.last);
            self.admit(last);
        }
    }

    fn admit(&mut self, offers: Vec<Offer>) {
        for offer in offers {
            self.enter(offer.clause);
        }
    }

    /// Counts the tokens of a clause and of those that it needs, and offers it.
    fn enter(&mut self, clause: u32) {
        for needed in self.needed(clause) {
            if self.cost_of(needed) == 0 {
                let cost = self.clause(needed).map_or(0, |clause| (self.choice.cost)(clause));
                if let Some(known) = self.costs.get_mut(needed as usize) {
                    *known = cost.max(1) as u32;
                }
            }
        }
        if let Some(offered) = self.line_of(clause).and_then(|line| self.offered.get_mut(line)) {
            offered.push(clause);
        }
        self.offer(clause);
    }

    /// The clauses that are chosen with one: itself, and before it those that it needs.
    fn needed(&self, clause: u32) -> std::ops::RangeInclusive<u32> {
        let mut first = clause;
        while self.clause(first).is_some_and(|clause| clause.stands == Stands::AfterPrevious)
            && clause - first < LONGEST_CHAIN
            && let Some(before) = first.checked_sub(1)
        {
            first = before;
        }
        first..=clause
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
        if let Some(count) = self.line_of(clause).and_then(|line| self.in_line.get_mut(line)) {
            *count = count.saturating_sub(1);
        }
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
        for needed in self.needed(clause) {
            if self.is_chosen(needed) {
                continue;
            }
            let Some(&taken) = self.clause(needed) else { continue };
            if let Some(chosen) = self.chosen.get_mut(needed as usize) {
                *chosen = true;
            }
            if let Some(count) = self.line_of(needed).and_then(|line| self.in_line.get_mut(line)) {
                *count += 1;
            }
            self.order.push(needed);
            for id in self.choice.reading.terms_of(&taken) {
                if let Some(covered) = self.covered.get_mut(*id as usize) {
                    *covered = true;
                }
            }
        }
        // Now that its line is there, others in it are cheaper.
        let line = self.line_of(clause).and_then(|line| self.offered.get_mut(line));
        let cheaper = line.map(std::mem::take).unwrap_or_default();
        for other in cheaper.into_iter().chain(clause.checked_add(1)) {
            if self.cost_of(other) > 0 && !self.is_chosen(other) {
                self.offer(other);
            }
        }
    }

    fn density(&self, clause: u32, price: f32) -> f32 {
        let lead = self.lead(*self.needed(clause).start());
        let price = price - lead * (1.0 - FIRST_OF_LINE);
        let open = self.needed(clause).filter(|needed| !self.is_chosen(*needed));
        open.map(|needed| self.gain_of(needed)).sum::<f32>() / price
    }

    /// What a clause alone would add.
    fn gain_of(&self, clause: u32) -> f32 {
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

    /// The tokens of a clause and of those that it needs, and of what has to stand before them.
    fn price(&self, clause: u32) -> f32 {
        let needed = self.needed(clause);
        let own: usize = needed
            .clone()
            .filter(|needed| !self.is_chosen(*needed))
            .map(|needed| self.cost_of(needed))
            .sum();
        own as f32 + self.lead(*needed.start())
    }

    /// The tokens of what has to stand before a clause: a gap, or the start of a line.
    fn lead(&self, clause: u32) -> f32 {
        let before = clause.checked_sub(1).filter(|before| self.is_chosen(*before));
        let line = self.line_of(clause);
        let is_beside = before.is_some_and(|before| self.line_of(before) == line);
        let Some(line) = line.filter(|_| !is_beside && !self.is_chosen(clause)) else { return 0.0 };
        if self.in_line.get(line).is_some_and(|count| *count > 0) {
            GAP_TOKENS
        } else {
            self.choice.lines.start_tokens(line)
        }
    }

    fn line_of(&self, clause: u32) -> Option<usize> {
        let sentence = self.choice.reading.sentence_of(self.clause(clause)?)?;
        self.choice.lines.of_utterance(sentence.utterance)
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
