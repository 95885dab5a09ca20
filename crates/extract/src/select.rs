//! Selects the clauses of an extract: a greedy choice of those that add the most term weight per
//! token.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rustc_hash::FxHashSet;

use crate::conversation::{Clause, Conversation, Dependency, Sentence, Tier};
use crate::lines::Lines;
use crate::terms::TermId;

/// Candidates per token of the target; the others have no chance.
const CANDIDATES_PER_TOKEN: usize = 6;

/// Tokens of the gap before a clause in a line that has others.
const GAP_TOKENS: f32 = 1.0;

/// How much of the tokens before a line its first clause pays for: other clauses follow.
const FIRST_CLAUSE_SHARE: f32 = 0.4;

/// Maximum number of clauses that are selected together because each needs the one before.
const MAX_CHAIN_CLAUSES: u32 = 8;

/// The share of its weight that a term keeps once it is covered.
const REPEATED_TERM_SHARE: f32 = 0.1;

/// The same in sentences that settle something: what is decided was discussed before.
const REPEATED_TERM_SHARE_IN_DECISIONS: f32 = 0.5;

/// The input of a selection.
pub(crate) struct Choice<'a> {
    pub conversation: &'a Conversation,
    /// By term.
    pub weights: &'a [f32],
    /// By sentence.
    pub factors: &'a [f32],
    /// Every line that may be written.
    pub lines: &'a Lines,
    /// The tokens of a clause.
    pub cost: &'a dyn Fn(&Clause) -> usize,
}

/// The clauses selected so far.
pub(crate) struct Selection<'a> {
    choice: Choice<'a>,
    heap: BinaryHeap<Candidate>,
    filling: Vec<Candidate>,
    last: Vec<Candidate>,
    costs: Vec<u32>,
    covered: Vec<bool>,
    chosen: Vec<bool>,
    /// In the order of choice.
    order: Vec<u32>,
    /// By line, its candidates, and how many are chosen.
    candidates_in_line: Vec<Vec<u32>>,
    in_line: Vec<u32>,
    spent: f32,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Candidate {
    density: f32,
    clause: u32,
}

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Candidate) -> Ordering {
        self.density.total_cmp(&other.density).then(other.clause.cmp(&self.clause))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Candidate) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<'a> Selection<'a> {
    /// Nothing chosen yet, for an extract of about this many tokens.
    pub fn new(choice: Choice<'a>, tokens: usize) -> Selection<'a> {
        let count = choice.conversation.clauses.len();
        let mut selection = Selection {
            covered: vec![false; choice.weights.len()],
            costs: vec![0; count],
            chosen: vec![false; count],
            order: Vec::new(),
            heap: BinaryHeap::new(),
            filling: Vec::new(),
            last: Vec::new(),
            candidates_in_line: vec![Vec::new(); choice.lines.count()],
            in_line: vec![0; choice.lines.count()],
            spent: 0.0,
            choice,
        };
        // What is said twice in the same words is a candidate once.
        let mut seen: FxHashSet<&[TermId]> = FxHashSet::default();
        let candidates: Vec<Candidate> = (0_u32..)
            .zip(&selection.choice.conversation.clauses)
            .filter(|(_, clause)| seen.insert(selection.choice.conversation.terms_of(clause)))
            .filter_map(|(clause, _)| {
                let bytes = selection.clause(clause).map_or(0, |clause| clause.end - clause.start);
                let density = selection.gain_of(clause) / (bytes as f32 / 4.0 + GAP_TOKENS);
                (density > 0.0).then_some(Candidate { density, clause })
            })
            .collect();
        let limit = tokens.saturating_mul(CANDIDATES_PER_TOKEN).max(512);
        let of_tier = |wanted: Tier| {
            let has = |candidate: &&Candidate| {
                let clause = selection.clause(candidate.clause);
                clause.is_some_and(|clause| selection.choice.conversation.tier(clause) == wanted)
            };
            shortlist(candidates.iter().filter(has).copied().collect(), limit)
        };
        let (telling, filling, last) =
            (of_tier(Tier::Informative), of_tier(Tier::Filler), of_tier(Tier::Noise));
        (selection.filling, selection.last) = (filling, last);
        selection.add_candidates(telling);
        selection
    }

    /// Lets in what does not say what is spoken of: better than nothing.
    pub fn add_filler(&mut self) {
        let filling = std::mem::take(&mut self.filling);
        self.add_candidates(filling);
    }

    /// Lets in pleasantries, fragments and what machines print by the hundred, where there is
    /// nothing else.
    pub fn add_noise(&mut self) {
        self.add_filler();
        if self.heap.is_empty() {
            let last = std::mem::take(&mut self.last);
            self.add_candidates(last);
        }
    }

    fn add_candidates(&mut self, candidates: Vec<Candidate>) {
        for candidate in candidates {
            self.add_candidate(candidate.clause);
        }
    }

    /// Counts the tokens of a clause and of those that it needs, and adds it.
    fn add_candidate(&mut self, clause: u32) {
        for needed in self.needed(clause) {
            if self.cost_of(needed) == 0 {
                let cost = self.clause(needed).map_or(0, |clause| (self.choice.cost)(clause));
                if let Some(known) = self.costs.get_mut(needed as usize) {
                    *known = cost.max(1) as u32;
                }
            }
        }
        if let Some(candidates_in_line) =
            self.line_of(clause).and_then(|line| self.candidates_in_line.get_mut(line))
        {
            candidates_in_line.push(clause);
        }
        self.push(clause);
    }

    /// The clauses that are chosen with one: itself, and before it those that it needs.
    fn needed(&self, clause: u32) -> std::ops::RangeInclusive<u32> {
        let mut first = clause;
        while self.clause(first).is_some_and(|clause| clause.dependency == Dependency::Previous)
            && clause - first < MAX_CHAIN_CLAUSES
            && let Some(before) = first.checked_sub(1)
        {
            first = before;
        }
        first..=clause
    }

    /// Chooses until this many tokens are spent.
    pub fn fill(&mut self, tokens: usize) {
        let mut too_long = Vec::new();
        while let Some(candidate) = self.heap.pop() {
            if self.is_chosen(candidate.clause) {
                continue;
            }
            let price = self.price(candidate.clause);
            let density = self.density(candidate.clause, price);
            if density < candidate.density {
                if density > 0.0 {
                    self.heap.push(Candidate { density, ..candidate });
                }
                continue;
            }
            if self.spent + price > tokens as f32 {
                too_long.push(candidate);
                // After this many that do not fit, what is left is crumbs.
                if too_long.len() > 64 {
                    break;
                }
                continue;
            }
            self.spent += price;
            self.choose(candidate.clause);
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
        self.heap.peek().map(|candidate| candidate.clause)
    }

    /// The tokens of a clause that was looked at.
    pub fn cost_of(&self, clause: u32) -> usize {
        self.costs.get(clause as usize).copied().unwrap_or_default() as usize
    }

    fn clause(&self, clause: u32) -> Option<&Clause> {
        self.choice.conversation.clauses.get(clause as usize)
    }

    fn push(&mut self, clause: u32) {
        let density = self.density(clause, self.price(clause));
        if density > 0.0 {
            self.heap.push(Candidate { density, clause });
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
            for id in self.choice.conversation.terms_of(&taken) {
                if let Some(covered) = self.covered.get_mut(*id as usize) {
                    *covered = true;
                }
            }
        }
        // Now that its line is there, others in it are others_in_line.
        let line = self.line_of(clause).and_then(|line| self.candidates_in_line.get_mut(line));
        let others_in_line = line.map(std::mem::take).unwrap_or_default();
        for other in others_in_line.into_iter().chain(clause.checked_add(1)) {
            if self.cost_of(other) > 0 && !self.is_chosen(other) {
                self.push(other);
            }
        }
    }

    fn density(&self, clause: u32, price: f32) -> f32 {
        let prefix = self.prefix_tokens(*self.needed(clause).start());
        let price = price - prefix * (1.0 - FIRST_CLAUSE_SHARE);
        let open = self.needed(clause).filter(|needed| !self.is_chosen(*needed));
        open.map(|needed| self.gain_of(needed)).sum::<f32>() / price
    }

    /// What a clause alone would add.
    fn gain_of(&self, clause: u32) -> f32 {
        let Some(clause) = self.clause(clause) else { return 0.0 };
        let factor = self.choice.factors.get(clause.sentence as usize).copied().unwrap_or_default();
        let (mut added, mut again) = (0.0, 0.0);
        for id in self.choice.conversation.terms_of(clause) {
            let weight = self.choice.weights.get(*id as usize).copied().unwrap_or_default();
            match self.covered.get(*id as usize) {
                Some(true) => again += weight,
                _ => added += weight,
            }
        }
        let settles = self.choice.conversation.sentence_of(clause).is_some_and(Sentence::settles);
        factor
            * (added
                + again
                    * if settles { REPEATED_TERM_SHARE_IN_DECISIONS } else { REPEATED_TERM_SHARE })
    }

    /// The tokens of a clause and of those that it needs, and of what has to stand before them.
    fn price(&self, clause: u32) -> f32 {
        let needed = self.needed(clause);
        let own: usize = needed
            .clone()
            .filter(|needed| !self.is_chosen(*needed))
            .map(|needed| self.cost_of(needed))
            .sum();
        own as f32 + self.prefix_tokens(*needed.start())
    }

    /// The tokens of what has to stand before a clause: a gap, or the start of a line.
    fn prefix_tokens(&self, clause: u32) -> f32 {
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
        let sentence = self.choice.conversation.sentence_of(self.clause(clause)?)?;
        self.choice.lines.of_utterance(sentence.utterance)
    }
}

/// The best of many candidates.
fn shortlist(mut candidates: Vec<Candidate>, limit: usize) -> Vec<Candidate> {
    if candidates.len() > limit {
        candidates.select_nth_unstable_by(limit, |a, b| b.cmp(a));
        candidates.truncate(limit);
    }
    candidates
}
