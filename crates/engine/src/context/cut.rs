//! Where a window begins and which of its items are short: a pure rule over what items cost. The
//! conversation lies along an axis of tokens, ruled by lines a quarter of a budget apart. A step
//! moves a line: items before the form line are short, items two lines earlier are out. The least
//! step that fits is taken, so a window that still fits keeps its beginning, byte for byte.

use oneiro_store::costs::{Begins, Cost};

/// What a window may hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    /// Tokens for messages when none is left out.
    pub(super) whole: i64,
    /// Tokens for messages when some are, and the window has to say so.
    pub(super) cut: i64,
    /// How far the lines are apart.
    pub(super) step: i64,
}

/// What of the items a window shows, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// Index of the first item that is shown.
    pub(super) first: usize,
    /// Index of the first item in full.
    pub(super) full: usize,
    /// Their tokens.
    pub(super) tokens: i64,
    /// The number of the step.
    pub(super) step: i64,
}

/// Whether enough of a context has been gone through, newest first, to know the cut: older items
/// cannot be in.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reach {
    tokens: i64,
    turn: bool,
}

impl Reach {
    /// Takes an item in, and says whether more are wanted.
    pub(super) fn take(&mut self, cost: &Cost, room: Room) -> More {
        self.tokens += cost.short_tokens;
        self.turn |= cost.begins == Begins::Turn;
        match self.tokens <= room.whole.max(0) {
            true => More::Yes,
            false if self.turn => More::No,
            false => More::ForTheTurn,
        }
    }
}

/// Whether more items are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum More {
    /// They may be in.
    Yes,
    /// They would be out.
    No,
    /// Only until the newest turn begins.
    ForTheTurn,
}

/// Where the window before began.
#[derive(Debug, Clone, Copy)]
pub(super) struct Before {
    /// Its first message.
    pub(super) first_seq: i64,
    /// Its first message in full.
    pub(super) full_seq: i64,
    /// The number of its step.
    pub(super) step: i64,
}

/// The cut for items in order. `complete` says that they are all there are; otherwise the oldest of
/// them is out in any case. The window before keeps its beginning while it still fits.
pub(super) fn cut(items: &[Cost], room: Room, complete: bool, before: Option<Before>) -> Cut {
    let step = room.step.max(1);
    let start = |cost: &Cost| cost.total - cost.tokens;
    let newest = newest_turn(items);
    let fits = |cut: &Cut| {
        if cut.first == 0 { complete && cut.tokens <= room.whole } else { cut.tokens <= room.cut }
    };
    if let Some(before) = before {
        let kept = keep(items, before);
        if fits(&kept) && kept.first <= newest {
            return kept;
        }
    }
    let at = |number: i64| {
        let full = items.partition_point(|cost| start(cost) < number * step);
        let first = items.partition_point(|cost| start(cost) < (number - 2) * step);
        let first = match first {
            0 => 0,
            first => step_start(items, first).min(newest),
        };
        measured(items, (first, full.max(first)), number)
    };
    let lines = |cost: Option<&Cost>| cost.map_or(0, |cost| start(cost) / step);
    let low = before.map_or(i64::MIN, |before| before.step + 1).max(lines(items.first()));
    let high = (lines(items.last()) + 3).max(low);
    // While nothing is out the window need not say so and has more room: two searches, each over
    // steps of which a later one never costs more.
    let uncut = lines(items.first()) + 2;
    let whole = least((low, uncut.max(low)), |number| {
        let cut = at(number);
        cut.first > 0 || fits(&cut)
    });
    let found = at(whole);
    if found.first == 0 && fits(&found) {
        return found;
    }
    at(least((whole, high), |number| at(number).first > 0 && fits(&at(number))))
}

/// The least number of a range for which `holds`, or its end.
fn least((mut low, mut high): (i64, i64), holds: impl Fn(i64) -> bool) -> i64 {
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

/// The beginning of the window before, with what came since.
fn keep(items: &[Cost], before: Before) -> Cut {
    let first = items.partition_point(|cost| cost.seq < before.first_seq);
    let full = items.partition_point(|cost| cost.seq < before.full_seq);
    measured(items, (first, full.max(first)), before.step)
}

fn measured(items: &[Cost], (first, full): (usize, usize), step: i64) -> Cut {
    let short = items.get(first..full).unwrap_or_default();
    let whole = items.get(full..).unwrap_or_default();
    let tokens = short.iter().map(|cost| cost.short_tokens).sum::<i64>()
        + whole.iter().map(|cost| cost.tokens).sum::<i64>();
    Cut { first, full, tokens, step }
}

/// Where the newest turn begins; where nobody speaks, the newest step.
fn newest_turn(items: &[Cost]) -> usize {
    let turn = items.iter().rposition(|cost| cost.begins == Begins::Turn);
    let step = items.iter().rposition(|cost| cost.begins != Begins::Nothing);
    turn.or(step).unwrap_or(0)
}

/// The first item from `from` on that may stand first.
fn step_start(items: &[Cost], from: usize) -> usize {
    let rest = items.get(from..).unwrap_or_default();
    from + rest.iter().position(|cost| cost.begins != Begins::Nothing).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests;
