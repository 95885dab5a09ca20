//! Chooses what a window shows: the newest messages, and summaries in place of what does not fit. A
//! pure rule over tokens.
//!
//! A history has one chain of states, from the coarsest to the finest: each shows one more step of
//! messages or unfolds one more summary into those it covers. The chain does not depend on the
//! budget, and a window is the last state of it that fits. So a larger budget shows every message
//! that a smaller one shows, and a window does not depend on the windows before it.

use oneiro_model::Result;
use oneiro_store::costs::{Begins, Cost};
use std::collections::HashSet;
use std::rc::Rc;

/// An unfolding adds at most this part of what a window shows: one in two. Otherwise a budget just
/// below the next state would leave a large part of the window empty.
const UNFOLD_PARTS: i64 = 2;

/// Tokens of a summary that is shown as a handle, without its text.
const HANDLE_TOKENS: i64 = 60;

/// Length of an overview, in percent of the summaries it stands in for.
const OVERVIEW_PERCENT: i64 = 60;

/// An overview takes at most this part of a small room, one in two, before it gets what is left.
const OVERVIEW_PARTS: i64 = 2;

/// The length of an overview is a multiple of this many tokens, so that windows of nearly the same
/// room share one.
const OVERVIEW_STEP: i64 = 64;

/// A summary that a window may show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) key: i64,
    /// The first and the last message under it.
    pub(super) range: (i64, i64),
    /// Its tokens in a window.
    pub(super) tokens: i64,
    /// Tokens of the summaries or messages right under it.
    pub(super) source_tokens: i64,
    /// Tokens of all messages under it.
    pub(super) message_tokens: i64,
    /// Whether it covers other summaries.
    pub(super) is_condensed: bool,
}

/// Where a choice reads from, no further than the budget reaches.
pub(super) trait History {
    /// The next older live message, from the newest on. Inherited messages follow the session's own
    /// and have lower ids.
    fn older(&mut self) -> Result<Option<Cost>>;
    /// Whether the last message read was inherited from a session that this one continues.
    fn is_inherited(&self) -> bool;
    /// The summaries right under one, oldest first.
    fn children(&mut self, key: i64) -> Result<Vec<Piece>>;
}

/// The room of a window, and how it is shared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    /// Tokens for summaries and messages.
    pub(super) tokens: i64,
    /// Tokens of the text around summaries, if there are any.
    pub(super) guidance: i64,
    /// Tokens that name what is left out, if anything is.
    pub(super) notice: i64,
    /// Percentage of messages below which they go before finer summaries.
    pub(super) fresh_share: i64,
    /// Tokens of an overview in a room that is large enough.
    pub(super) overview: i64,
}

/// The summaries of a session and what they leave uncovered.
#[derive(Debug, Clone, Default)]
pub(super) struct Covered {
    /// The roots, oldest first.
    pub(super) roots: Vec<Piece>,
    /// The first message that none of them covers.
    pub(super) uncovered: Option<i64>,
    /// The first message after the newest summary.
    pub(super) open: Option<i64>,
    /// Where the newest turn begins; without it the newest step is shown in any case, unless it is
    /// inherited.
    pub(super) newest_turn: Option<i64>,
}

/// What a window shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Frontier {
    /// The messages, oldest first.
    pub(super) messages: Vec<Cost>,
    /// How many of them, the oldest, are in their short form.
    pub(super) short: usize,
    /// Tokens of the messages in these forms.
    pub(super) message_tokens: i64,
    /// The summaries, oldest first.
    pub(super) pieces: Vec<Piece>,
    /// How many of these, the oldest, one overview stands in for.
    pub(super) collapsed: usize,
    /// The length of that overview, in tokens.
    pub(super) overview: i64,
    /// Whether even the coarsest state does not fit.
    pub(super) is_over: bool,
    /// Whether every message is shown.
    pub(super) is_complete: bool,
}

/// The last state of the chain that fits the room; the first if none does.
pub(super) fn choose(history: &mut dyn History, covered: Covered, room: Room) -> Result<Frontier> {
    let mut chain = Chain::begin(history, covered, room)?;
    let mut best = chain.fits().then(|| chain.state.clone());
    let coarsest = chain.state.clone();
    while chain.message_tokens() <= room.tokens && chain.advance()? {
        if chain.fits() {
            best = Some(chain.state.clone());
        }
    }
    let has_room = best.is_some();
    chain.state = best.unwrap_or(coarsest);
    if has_room {
        chain.unfold_into_rest()?;
    }
    let is_over = chain.cost_with(0) > room.tokens;
    // Whether the oldest message shown is the oldest there is.
    chain.message_at(chain.state.count)?;
    Ok(chain.into_frontier(is_over))
}

/// Tokens of messages, newest first, with the oldest part in short form.
#[derive(Default)]
struct Messages {
    costs: Vec<Cost>,
    /// Running totals of the tokens, in full and in short form.
    full: Vec<i64>,
    short: Vec<i64>,
    /// Whether there are no older ones.
    is_complete: bool,
}

impl Messages {
    fn push(&mut self, cost: Cost) {
        let last = |sums: &[i64]| sums.last().copied().unwrap_or(0);
        self.full.push(last(&self.full) + cost.tokens);
        self.short.push(last(&self.short) + cost.short_tokens);
        self.costs.push(cost);
    }

    /// Tokens of the newest `count` messages in full.
    fn full_tokens(&self, count: usize) -> i64 {
        count.checked_sub(1).and_then(|last| self.full.get(last)).copied().unwrap_or(0)
    }

    fn short_tokens(&self, count: usize) -> i64 {
        count.checked_sub(1).and_then(|last| self.short.get(last)).copied().unwrap_or(0)
    }

    /// How many of the newest `count` messages are in full: the newer half, by their tokens.
    fn in_full(&self, count: usize) -> usize {
        let half = self.full_tokens(count) / 2;
        self.full.partition_point(|sum| *sum <= half).clamp(count.min(1), count)
    }

    /// Tokens of the newest `count` messages if `in_full` of them are in full.
    fn tokens(&self, count: usize, in_full: usize) -> i64 {
        self.full_tokens(in_full) + self.short_tokens(count) - self.short_tokens(in_full)
    }
}

/// A state of the chain.
#[derive(Clone)]
struct State {
    /// How many messages it shows.
    count: usize,
    /// The summaries of what it does not show.
    pieces: Rc<Vec<Piece>>,
    /// How many of these, the oldest, an overview stands in for.
    collapsed: usize,
    /// Tokens of messages under the newest summary that are shown.
    shown_under_newest: i64,
}

/// An unfolding that may come next.
#[derive(Clone, Copy)]
struct Unfolding {
    what: Unfold,
    /// Tokens that it adds at most.
    added: i64,
    /// Tokens of messages under the summary per token of distance from the newest message, in
    /// millionths: what is large and near comes first.
    priority: i128,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Unfold {
    /// The newest summary of the overview is shown by itself.
    Overview(usize),
    /// A summary is replaced by those under it.
    Piece(i64),
}

struct Chain<'a> {
    history: &'a mut dyn History,
    uncovered: Option<i64>,
    open: Option<i64>,
    room: Room,
    messages: Messages,
    state: State,
}

impl<'a> Chain<'a> {
    /// The coarsest state: the newest turn, and an overview of everything before it.
    fn begin(history: &'a mut dyn History, covered: Covered, room: Room) -> Result<Chain<'a>> {
        let Covered { roots, uncovered, open, newest_turn } = covered;
        let is_leaf = |piece: &Piece| !piece.is_condensed;
        let collapsed = if roots.iter().all(is_leaf) && roots.len() < 2 { 0 } else { roots.len() };
        let state = State { count: 0, pieces: Rc::new(roots), collapsed, shown_under_newest: 0 };
        let messages = Messages::default();
        let mut chain = Chain { history, uncovered, open, room, messages, state };
        if chain.message_at(0)?.is_some() && chain.history.is_inherited() {
            return Ok(chain);
        }
        while chain.show_step()? {
            let oldest = chain.messages.costs.last().map_or(0, |cost| cost.seq);
            if newest_turn.is_none_or(|turn| oldest <= turn) {
                break;
            }
        }
        Ok(chain)
    }

    /// Moves to the next state; false at the finest.
    fn advance(&mut self) -> Result<bool> {
        // What has no summary yet goes before finer summaries.
        if self.open.is_some_and(|open| open < self.first_shown()) {
            return self.show_step();
        }
        let total = self.message_tokens() + self.piece_tokens();
        let eligible = |unfolding: &Unfolding| unfolding.added * UNFOLD_PARTS <= total;
        let next = self.best_unfolding(eligible);
        let share = self.room.fresh_share;
        let is_due = |unfolding: &Unfolding| {
            let finer = self.piece_tokens() + unfolding.added;
            self.message_tokens() * (100 - share) >= finer * share
        };
        match next {
            Some(unfolding) if is_due(&unfolding) => self.unfold(unfolding.what).map(|()| true),
            Some(unfolding) => Ok(self.show_step()? || self.unfold(unfolding.what).map(|()| true)?),
            None => self.show_step(),
        }
    }

    /// Shows the next older step; false if all are shown.
    fn show_step(&mut self) -> Result<bool> {
        let mut shown = false;
        while let Some(cost) = self.message_at(self.state.count)? {
            shown = true;
            self.state.count += 1;
            self.show_message(cost);
            if cost.begins != Begins::Nothing {
                break;
            }
        }
        Ok(shown)
    }

    /// The message at a place, from the newest on. States are left and entered again, so it may
    /// have been read before.
    fn message_at(&mut self, place: usize) -> Result<Option<Cost>> {
        if place == self.messages.costs.len() && !self.messages.is_complete {
            match self.history.older()? {
                Some(cost) => self.messages.push(cost),
                None => self.messages.is_complete = true,
            }
        }
        Ok(self.messages.costs.get(place).copied())
    }

    /// Drops the summaries of which every message is shown.
    fn show_message(&mut self, cost: Cost) {
        let is_shown = |piece: &Piece| piece.range.0 >= cost.seq;
        if let Some(newest) = self.state.pieces.last() {
            if newest.range.1 >= cost.seq {
                self.state.shown_under_newest += cost.tokens;
            }
            if is_shown(newest) {
                let pieces = Rc::make_mut(&mut self.state.pieces);
                while pieces.last().is_some_and(is_shown) {
                    pieces.pop();
                }
                self.state.shown_under_newest = 0;
                self.limit_collapsed();
            }
        }
    }

    /// An overview that loses summaries stands in for two or more, or for none.
    fn limit_collapsed(&mut self) {
        let pieces = self.state.pieces.len();
        if self.state.collapsed > pieces {
            self.state.collapsed = if pieces < 2 { 0 } else { pieces };
        }
    }

    /// The unfolding that comes first among those wanted.
    fn best_unfolding(&self, wanted: impl Fn(&Unfolding) -> bool) -> Option<Unfolding> {
        let (pieces, collapsed) = (&self.state.pieces, self.state.collapsed);
        let mut distance = i128::from(self.messages.full_tokens(self.state.count));
        let mut shown = self.state.shown_under_newest;
        let mut best: Option<Unfolding> = None;
        let mut consider = |unfolding: Unfolding| {
            let is_better = best.is_none_or(|best| unfolding.priority > best.priority);
            if is_better && wanted(&unfolding) {
                best = Some(unfolding);
            }
        };
        let priority =
            |tokens: i64, distance: i128| i128::from(tokens) * 1_000_000 / (distance + 1);
        for piece in pieces.iter().skip(collapsed).rev() {
            let left = (piece.message_tokens - shown).max(0);
            shown = 0;
            if piece.is_condensed {
                consider(Unfolding {
                    what: Unfold::Piece(piece.key),
                    added: piece.source_tokens - piece.tokens,
                    priority: priority(left, distance),
                });
            }
            distance += i128::from(left);
        }
        if let Some(newest) = collapsed.checked_sub(1).and_then(|last| pieces.get(last)) {
            let under = pieces.iter().take(collapsed).map(|piece| piece.message_tokens).sum();
            let fewer = one_less(collapsed);
            let rest = pieces.iter().take(collapsed - 1).skip(fewer).map(|piece| piece.tokens);
            let limit = self.room.overview;
            let added = newest.tokens + rest.sum::<i64>() + self.overview_tokens(fewer, limit)
                - self.overview_tokens(collapsed, limit);
            let what = Unfold::Overview(collapsed);
            consider(Unfolding { what, added, priority: priority(under, distance) });
        }
        best
    }

    fn unfold(&mut self, what: Unfold) -> Result<()> {
        let key = match what {
            Unfold::Overview(_) => {
                self.state.collapsed = one_less(self.state.collapsed);
                return Ok(());
            }
            Unfold::Piece(key) => key,
        };
        let children = self.history.children(key)?;
        let first = self.first_shown();
        let pieces = Rc::make_mut(&mut self.state.pieces);
        let Some(at) = pieces.iter().position(|piece| piece.key == key) else { return Ok(()) };
        let is_newest = at + 1 == pieces.len();
        let (dropped, kept): (Vec<Piece>, Vec<Piece>) =
            children.into_iter().partition(|child| child.range.0 >= first);
        pieces.splice(at..=at, kept);
        if is_newest {
            let dropped: i64 = dropped.iter().map(|child| child.message_tokens).sum();
            self.state.shown_under_newest = (self.state.shown_under_newest - dropped).max(0);
        }
        Ok(())
    }

    /// Spends what is left of the room on finer summaries.
    fn unfold_into_rest(&mut self) -> Result<()> {
        let mut tried = HashSet::new();
        loop {
            let left = self.room.tokens - self.cost();
            let next = self.best_unfolding(|unfolding| {
                unfolding.added <= left && !tried.contains(&unfolding.what)
            });
            let Some(unfolding) = next else { return Ok(()) };
            tried.insert(unfolding.what);
            let before = self.state.clone();
            self.unfold(unfolding.what)?;
            if !self.fits() {
                self.state = before;
            }
        }
    }

    /// The oldest message that is shown.
    fn first_shown(&self) -> i64 {
        let oldest = self.state.count.checked_sub(1).and_then(|at| self.messages.costs.get(at));
        oldest.map_or(i64::MAX, |cost| cost.seq)
    }

    fn message_tokens(&self) -> i64 {
        let count = self.state.count;
        self.messages.tokens(count, self.messages.in_full(count))
    }

    /// Tokens of the summaries in a room that is large enough: the order of the chain follows from
    /// these, so it is the same for every room.
    fn piece_tokens(&self) -> i64 {
        self.apart_tokens() + self.overview_tokens(self.state.collapsed, self.room.overview)
    }

    /// Tokens of the summaries beside the overview.
    fn apart_tokens(&self) -> i64 {
        let apart = self.state.pieces.iter().skip(self.state.collapsed);
        apart.map(|piece| piece.tokens).sum()
    }

    /// Tokens of the overview of the oldest summaries.
    fn overview_tokens(&self, collapsed: usize, limit: i64) -> i64 {
        overview_tokens(self.covered_tokens(collapsed), collapsed, limit)
    }

    fn covered_tokens(&self, collapsed: usize) -> i64 {
        self.state.pieces.iter().take(collapsed).map(|piece| piece.tokens).sum()
    }

    /// The cost in this room. A larger room has at least as many tokens more as its overview.
    fn cost(&self) -> i64 {
        self.cost_with(self.room.overview.min(self.room.tokens / OVERVIEW_PARTS))
    }

    /// The cost with an overview of at most `limit` tokens.
    fn cost_with(&self, limit: i64) -> i64 {
        let is_omitting = self.uncovered.is_some_and(|seq| seq < self.first_shown());
        let guidance = is_omitting || !self.state.pieces.is_empty();
        self.message_tokens()
            + self.apart_tokens()
            + self.overview_tokens(self.state.collapsed, limit)
            + if guidance { self.room.guidance } else { 0 }
            + if is_omitting { self.room.notice } else { 0 }
    }

    fn fits(&self) -> bool {
        self.cost() <= self.room.tokens
    }

    fn into_frontier(self, is_over: bool) -> Frontier {
        let count = self.state.count;
        let is_complete = self.messages.is_complete && count == self.messages.costs.len();
        let around = self.cost_with(0) - self.message_tokens();
        // Where everything is shown, or nothing but the newest turn, the forms take what fits.
        let in_full = if is_complete || is_over {
            let fits = |in_full: &usize| {
                around + self.messages.tokens(count, *in_full) <= self.room.tokens
            };
            (0..=count).rev().find(fits).unwrap_or(0)
        } else {
            self.messages.in_full(count)
        };
        let left = self.room.tokens - around - self.messages.tokens(count, in_full);
        // The overview is made after the choice, and gets what is left.
        let spare = left + self.overview_tokens(self.state.collapsed, 0);
        let overview =
            self.overview_tokens(self.state.collapsed, spare / OVERVIEW_STEP * OVERVIEW_STEP);
        let mut messages: Vec<Cost> = self.messages.costs.iter().take(count).copied().collect();
        messages.reverse();
        Frontier {
            message_tokens: self.messages.tokens(count, in_full),
            messages,
            short: count - in_full,
            pieces: self.state.pieces.as_ref().clone(),
            collapsed: self.state.collapsed,
            overview,
            is_over: left < 0,
            is_complete,
        }
    }
}

/// How many summaries an overview stands in for after the newest of them is shown by itself: two or
/// more, or none.
fn one_less(collapsed: usize) -> usize {
    if collapsed <= 2 { 0 } else { collapsed - 1 }
}

/// The length of an overview over `pieces` summaries of `covered` tokens together. Never shorter
/// than their handles, which are shown where the overview cannot be made.
pub(super) fn overview_tokens(covered: i64, pieces: usize, target: i64) -> i64 {
    if pieces == 0 {
        return 0;
    }
    (covered * OVERVIEW_PERCENT / 100).min(target).max(HANDLE_TOKENS * pieces as i64)
}

#[cfg(test)]
mod tests;
