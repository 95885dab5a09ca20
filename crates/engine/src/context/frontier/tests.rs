//! The rules of the chain, on generated histories.

use super::*;
use proptest::prelude::*;
use std::collections::HashMap;

/// A history in memory: messages of one cell are under a leaf, pairs of neighbours under another
/// summary, and so on.
struct Generated {
    newest_first: Vec<Cost>,
    next: usize,
    children: HashMap<i64, Vec<Piece>>,
    covered: Covered,
}

const LEAF_MESSAGES: usize = 8;

impl Generated {
    /// `covered` messages, the oldest, are under summaries.
    fn new(sizes: &[(i64, bool)], covered: usize) -> Generated {
        let mut total = 0;
        let costs: Vec<Cost> = sizes
            .iter()
            .zip(1..)
            .map(|((tokens, is_turn), seq)| {
                total += tokens;
                let begins = if *is_turn { Begins::Turn } else { Begins::Step };
                let short_tokens = (*tokens).min(200);
                Cost { seq, ordinal: seq, total, tokens: *tokens, short_tokens, begins }
            })
            .collect();
        let mut children = HashMap::new();
        let leaves = costs[..covered.min(costs.len())].chunks_exact(LEAF_MESSAGES);
        let mut level: Vec<Piece> = leaves
            .enumerate()
            .map(|(at, chunk)| {
                let source: i64 = chunk.iter().map(|cost| cost.tokens).sum();
                Piece {
                    key: at as i64 + 1,
                    range: (chunk[0].seq, chunk[LEAF_MESSAGES - 1].seq),
                    tokens: (source / 6).clamp(60, 350),
                    source_tokens: source,
                    message_tokens: source,
                    is_condensed: false,
                }
            })
            .collect();
        let mut roots = Vec::new();
        let mut key = 10_000;
        while !level.is_empty() {
            if level.len() % 2 == 1 {
                roots.extend(level.pop());
            }
            level = level
                .chunks_exact(2)
                .map(|pair| {
                    key += 1;
                    children.insert(key, pair.to_vec());
                    let sum = |of: fn(&Piece) -> i64| pair.iter().map(of).sum::<i64>();
                    Piece {
                        key,
                        range: (pair[0].range.0, pair[1].range.1),
                        tokens: sum(|piece| piece.tokens) * 7 / 10,
                        source_tokens: sum(|piece| piece.tokens),
                        message_tokens: sum(|piece| piece.message_tokens),
                        is_condensed: true,
                    }
                })
                .collect();
        }
        roots.sort_by_key(|piece| piece.range.0);
        let last = roots.last().map_or(0, |piece| piece.range.1);
        let newest_turn = costs.iter().rev().find(|cost| cost.begins == Begins::Turn);
        let covered = Covered {
            uncovered: costs.iter().map(|cost| cost.seq).find(|seq| *seq > last),
            open: costs.iter().map(|cost| cost.seq).find(|seq| *seq > last),
            newest_turn: newest_turn.map(|cost| cost.seq),
            roots,
        };
        let newest_first = costs.into_iter().rev().collect();
        Generated { newest_first, next: 0, children, covered }
    }

    fn choose(&self, tokens: i64) -> Frontier {
        let mut reading = Reading { generated: self, next: self.next };
        choose(&mut reading, self.covered.clone(), room(tokens)).unwrap()
    }
}

struct Reading<'a> {
    generated: &'a Generated,
    next: usize,
}

impl History for Reading<'_> {
    fn older(&mut self) -> Result<Option<Cost>> {
        self.next += 1;
        Ok(self.generated.newest_first.get(self.next - 1).copied())
    }

    fn is_inherited(&self) -> bool {
        false
    }

    fn children(&mut self, key: i64) -> Result<Vec<Piece>> {
        Ok(self.generated.children.get(&key).cloned().unwrap_or_default())
    }
}

fn room(tokens: i64) -> Room {
    Room { tokens, guidance: 100, notice: 40, fresh_share: 25, overview: 1_000 }
}

fn cost(frontier: &Frontier, room: Room) -> i64 {
    let apart = frontier.pieces.iter().skip(frontier.collapsed);
    let guidance = if frontier.pieces.is_empty() { 0 } else { room.guidance };
    frontier.message_tokens
        + frontier.overview
        + apart.map(|piece| piece.tokens).sum::<i64>()
        + guidance
}

/// Sizes of turns as people and agents write them: mostly short, some long.
fn turns() -> impl Strategy<Value = Vec<(i64, bool)>> {
    let size = prop_oneof![4 => 5_i64..80, 4 => 50_i64..400, 1 => 300_i64..2_000];
    prop::collection::vec(size.prop_map(|size| (size, true)), 40..900)
}

/// Tokens of the next older message than those of a frontier.
fn next_step(generated: &Generated, found: &Frontier) -> i64 {
    generated.newest_first.get(found.messages.len()).map_or(0, |cost| cost.tokens)
}

fn sizes() -> impl Strategy<Value = Vec<(i64, bool)>> {
    let size = prop_oneof![6 => 5_i64..120, 2 => 50_i64..400, 1 => 200_i64..3_000];
    prop::collection::vec((size, any::<bool>()), 1..400)
}

proptest! {
    #![proptest_config(oneiro_testkit::proptest_config(256))]

    #[test]
    fn a_frontier_fits_or_is_the_coarsest(sizes in sizes(), tokens in 200_i64..40_000) {
        let generated = Generated::new(&sizes, sizes.len());
        let found = generated.choose(tokens);
        if !found.is_over {
            prop_assert!(cost(&found, room(tokens)) <= tokens);
        }
    }

    #[test]
    fn every_covered_message_is_shown_or_under_one_summary(sizes in sizes(), tokens in 200_i64..40_000) {
        let generated = Generated::new(&sizes, sizes.len());
        let found = generated.choose(tokens);
        let first = found.messages.first().map_or(i64::MAX, |cost| cost.seq);
        let mut next = 1;
        for piece in &found.pieces {
            prop_assert_eq!(piece.range.0, next, "a hole or an overlap before {:?}", piece);
            prop_assert!(piece.range.0 < first, "{:?} is shown in full", piece);
            next = piece.range.1 + 1;
        }
        prop_assert!(next >= first.min(generated.covered.uncovered.unwrap_or(i64::MAX)));
    }

    #[test]
    fn a_larger_budget_shows_every_message_of_a_smaller_one(
        sizes in sizes(),
        tokens in 200_i64..20_000,
        more in 0_i64..20_000,
    ) {
        let generated = Generated::new(&sizes, sizes.len());
        let (small, large) = (generated.choose(tokens), generated.choose(tokens + more));
        prop_assert!(large.messages.len() >= small.messages.len());
        if !small.is_over {
            let in_full = |found: &Frontier| found.messages.len() - found.short;
            prop_assert!(in_full(&large) >= in_full(&small));
        }
    }

    #[test]
    fn a_window_is_filled_or_shows_everything(
        turns in prop::collection::vec(20_i64..150, 40..400),
        tokens in 2_000_i64..40_000,
    ) {
        let sizes: Vec<(i64, bool)> = turns.iter().map(|size| (*size, true)).collect();
        let generated = Generated::new(&sizes, sizes.len() - 1);
        let found = generated.choose(tokens);
        let filled = cost(&found, room(tokens));
        prop_assert!(found.is_complete || filled * 100 >= tokens * 85, "{filled} of {tokens}");
    }

    // What stays empty is less than the next older message would take, unless a summary is unfolded
    // first: to show the message all the same would take it from a larger window.
    #[test]
    fn only_a_step_larger_than_the_rest_leaves_a_window_unfilled(
        sizes in turns(),
        tokens in 700_i64..40_000,
    ) {
        let generated = Generated::new(&sizes, sizes.len() - 1);
        let found = generated.choose(tokens);
        let filled = cost(&found, room(tokens));
        let is_filled = found.is_complete || filled * 100 >= tokens * 85;
        let next = next_step(&generated, &found);
        let unfolds = found.collapsed > 0 || found.pieces.iter().any(|piece| piece.is_condensed);
        prop_assert!(
            is_filled || unfolds || next > tokens - filled,
            "{filled} of {tokens}, the next has {next}"
        );
    }

    // Of a long history, an overview as long as the rest fills what no message fits into.
    #[test]
    fn a_small_window_of_a_long_history_is_filled_whatever_its_turns(
        sizes in prop::collection::vec((5_i64..2_000).prop_map(|size| (size, true)), 600..900),
        tokens in 700_i64..4_000,
    ) {
        let generated = Generated::new(&sizes, sizes.len() - 1);
        let found = generated.choose(tokens);
        let filled = cost(&found, room(tokens));
        prop_assert!(found.is_over || filled * 100 >= tokens * 85, "{filled} of {tokens}");
    }
}

#[test]
fn what_fits_is_shown_whole_without_summaries() {
    let generated = Generated::new(&[(100, true); 64], 64);
    let found = generated.choose(6_400);
    assert!(found.is_complete && found.pieces.is_empty());
    assert_eq!((found.messages.len(), found.short), (64, 0));
}

#[test]
fn the_newest_turn_is_shown_however_large() {
    let mut sizes = vec![(100, true); 64];
    sizes.extend([(5_000, true), (5_000, false)]);
    let found = Generated::new(&sizes, 64).choose(1_000);
    assert!(found.is_over || found.short == 2);
    assert_eq!(found.messages.iter().map(|cost| cost.seq).collect::<Vec<_>>(), [65, 66]);
}

#[test]
fn newer_parts_are_finer() {
    let generated = Generated::new(&[(100, true); 1_024], 1_000);
    let found = generated.choose(6_000);
    let widths: Vec<i64> = found.pieces[found.collapsed..]
        .iter()
        .map(|piece| piece.range.1 - piece.range.0 + 1)
        .collect();
    assert!(widths.is_sorted_by(|older, newer| older >= newer), "{widths:?}");
}
