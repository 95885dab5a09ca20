//! Selects the summaries and messages of a window from a stored session: as the window before had
//! them, or as the history alone makes them.

use super::counting::Uncounted;
use super::frontier::{Covered, Frontier, History, Piece, Room, choose};
use super::inherited::{Inherited, InheritedRange};
use super::outline::{NewestFirst, Outline, live_uncounted, newest_turn};
use super::preamble::ShownSummary;
use oneiro_model::{Result, SessionId, SummaryKind};
use oneiro_store::Tx;
use oneiro_store::contexts::{Epoch, WindowMark};
use oneiro_store::costs::{Cost, RangeTotals};
use oneiro_store::summaries::{self, Node};

/// What a window shows.
pub(super) struct Selection {
    /// The messages, oldest first.
    pub(super) messages: Vec<Cost>,
    /// Which of them belong to sessions that this one continues, newest first.
    pub(super) inherited: Vec<InheritedRange>,
    /// Messages from here on are the session's own.
    pub(super) own_from: i64,
    /// How many of them, the oldest, are in their short form.
    pub(super) short: usize,
    /// Tokens of the messages in these forms.
    pub(super) message_tokens: i64,
    /// The summaries, oldest first.
    pub(super) summaries: Vec<ShownSummary>,
    /// The messages that are neither shown nor covered.
    pub(super) left_out: RangeTotals,
    /// Whether every message is shown.
    pub(super) is_complete: bool,
    /// The overview that should be shown, which does not exist yet.
    pub(super) wants_overview: Option<WantedOverview>,
}

/// An overview that a window lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WantedOverview {
    /// The summaries that it stands in for, oldest first.
    pub(super) children: Vec<i64>,
    /// Its length, in tokens.
    pub(super) target: i64,
}

/// Selects from one snapshot of a session.
pub(super) struct Selector<'a, 't> {
    tx: &'a Tx<'t>,
    session: (i64, &'a SessionId),
    /// Messages whose tokens are not stored, oldest first.
    tail: Vec<Uncounted>,
    /// Tokens that each message costs beside its own.
    extra: i64,
}

impl<'a, 't> Selector<'a, 't> {
    pub(super) fn read(
        tx: &'a Tx<'t>,
        session: (i64, &'a SessionId),
        extra: i64,
    ) -> Result<Selector<'a, 't>> {
        Ok(Selector { tx, session, tail: live_uncounted(tx, session)?, extra })
    }

    /// The beginning of the window before with what came since; `None` if it no longer fits, if a
    /// summary of it was removed, or if summaries were made for what it left out.
    pub(super) fn keep(
        &self,
        mark: &WindowMark,
        epoch: &Epoch,
        room: Room,
    ) -> Result<Option<Selection>> {
        if mark.omits && mark.epoch != epoch.number {
            return Ok(None);
        }
        let mut summaries = Vec::with_capacity(mark.frontier.len());
        for in_mark in &mark.frontier {
            let Some(summary) = ShownSummary::from_mark(self.tx, *in_mark)? else {
                return Ok(None);
            };
            summaries.push(summary);
        }
        let left_out = if mark.omits {
            self.left_out(&Outline::read(self.tx, self.session)?, mark.first_seq)?
        } else {
            RangeTotals::default()
        };
        let around = if summaries.is_empty() && !mark.omits { 0 } else { room.guidance }
            + if mark.omits { room.notice } else { 0 };
        let rest =
            room.tokens - around - summaries.iter().map(|summary| summary.tokens).sum::<i64>();
        let (mut messages, mut message_tokens) = (Vec::new(), 0);
        let mut history = self.history();
        while let Some(cost) = history.older()?.filter(|cost| cost.seq >= mark.first_seq) {
            let is_short = cost.seq < mark.full_seq;
            message_tokens += if is_short { cost.short_tokens } else { cost.tokens };
            if message_tokens > rest {
                return Ok(None);
            }
            messages.push(cost);
        }
        messages.reverse();
        let short = messages.partition_point(|cost: &Cost| cost.seq < mark.full_seq);
        Ok(Some(Selection {
            is_complete: summaries.is_empty() && !mark.omits,
            messages,
            inherited: history.into_inherited(),
            own_from: mark.first_seq,
            short,
            message_tokens,
            summaries,
            left_out,
            wants_overview: None,
        }))
    }

    /// The best that fits the room.
    pub(super) fn choose(&self, room: Room) -> Result<Selection> {
        let outline = Outline::read(self.tx, self.session)?;
        let roots = outline.roots.iter().filter(|node| node.kind != SummaryKind::Written);
        let covered = Covered {
            roots: roots.map(|node| self.piece(node)).collect(),
            uncovered: outline.gaps.first().map(|gap| gap.all.first),
            open: outline
                .gaps
                .last()
                .filter(|gap| gap.between.1 == i64::MAX)
                .map(|gap| gap.all.first),
            newest_turn: newest_turn(self.tx, self.session.0, &self.tail)?,
        };
        let own_from = outline.roots.iter().map(|node| node.last_seq + 1).max().unwrap_or(0);
        let mut history = self.history();
        let frontier = choose(&mut history, covered, room)?;
        let first = frontier.messages.first().map_or(i64::MAX, |cost| cost.seq);
        let left_out = self.left_out(&outline, first)?;
        let (summaries, wants_overview) = self.summaries(&frontier)?;
        Ok(Selection {
            messages: frontier.messages,
            inherited: history.into_inherited(),
            own_from,
            short: frontier.short,
            message_tokens: frontier.message_tokens,
            left_out,
            is_complete: frontier.is_complete && summaries.is_empty(),
            summaries,
            wants_overview,
        })
    }

    /// The summaries of a frontier with their text, and what an overview is wanted for.
    fn summaries(
        &self,
        frontier: &Frontier,
    ) -> Result<(Vec<ShownSummary>, Option<WantedOverview>)> {
        let keys: Vec<i64> = frontier.pieces.iter().map(|piece| piece.key).collect();
        let (collapsed, apart) = keys.split_at(frontier.collapsed.min(keys.len()));
        let (mut shown, mut wants_overview) = (Vec::new(), None);
        let mut named = 0;
        if !collapsed.is_empty() {
            let wanted = WantedOverview { children: collapsed.to_vec(), target: frontier.overview };
            let found = overview_of(self.tx, self.session.0, &wanted)?;
            if found.as_ref().is_none_or(|found| found.overview_target != wanted.target) {
                wants_overview = Some(wanted);
            }
            match found {
                Some(overview) => shown.push(overview),
                None => {
                    shown.extend(self.nodes(collapsed)?);
                    named = shown.len();
                }
            }
        }
        shown.extend(self.nodes(apart)?);
        // Where not even the coarsest state fits, summaries are named without their text.
        let without_text = if frontier.is_over { shown.len() } else { named };
        let shown = shown.into_iter().enumerate().map(|(at, node)| {
            if at < without_text {
                ShownSummary::handle(node)
            } else {
                ShownSummary::with_text(node)
            }
        });
        Ok((shown.collect(), wants_overview))
    }

    fn nodes(&self, keys: &[i64]) -> Result<Vec<Node>> {
        let nodes = keys.iter().map(|key| summaries::get(self.tx, *key));
        Ok(nodes.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    /// What no summary covers and the window does not show: everything uncovered before `first`.
    fn left_out(&self, outline: &Outline, first: i64) -> Result<RangeTotals> {
        let mut all = RangeTotals::default();
        for gap in &outline.gaps {
            let (after, before) = gap.between;
            if after >= first {
                break;
            }
            let some = if before <= first {
                gap.all
            } else {
                outline.together(self.tx, (after, first))?
            };
            if some.messages > 0 {
                all.first = if all.messages == 0 { some.first } else { all.first };
                all.last = some.last;
                all.messages += some.messages;
                all.tokens += some.tokens;
            }
        }
        Ok(all)
    }

    fn history(&self) -> StoredHistory<'_, 't> {
        let newest_first = NewestFirst::new(self.tx, self.session.0, &self.tail);
        let inherited = Inherited::new(self.tx, self.session.0);
        StoredHistory { selector: self, newest_first, inherited, is_inherited: false }
    }

    fn piece(&self, node: &Node) -> Piece {
        Piece {
            key: node.key,
            range: (node.first_seq, node.last_seq),
            tokens: node.tokens,
            source_tokens: node.source_tokens,
            message_tokens: node.message_tokens,
            is_condensed: node.kind == SummaryKind::Condensed,
        }
    }
}

/// The overview of these summaries that was made for this length; otherwise the longest that fits.
pub(super) fn overview_of(
    tx: &Tx<'_>,
    session_key: i64,
    wanted: &WantedOverview,
) -> Result<Option<Node>> {
    let mut children = wanted.children.clone();
    children.sort_unstable();
    let mut best: Option<Node> = None;
    for overview in summaries::overviews(tx, session_key)? {
        if overview.tokens > wanted.target || summaries::child_keys(tx, overview.key)? != children {
            continue;
        }
        if overview.overview_target == wanted.target {
            return Ok(Some(overview));
        }
        if best.as_ref().is_none_or(|best| best.tokens < overview.tokens) {
            best = Some(overview);
        }
    }
    Ok(best)
}

/// A session in the store, as a choice reads it.
struct StoredHistory<'a, 't> {
    selector: &'a Selector<'a, 't>,
    newest_first: NewestFirst<'a, 't>,
    inherited: Inherited<'a, 't>,
    is_inherited: bool,
}

impl StoredHistory<'_, '_> {
    fn into_inherited(self) -> Vec<InheritedRange> {
        self.inherited.into_ranges()
    }
}

impl History for StoredHistory<'_, '_> {
    fn older(&mut self) -> Result<Option<Cost>> {
        let extra = self.selector.extra;
        let mut cost = None;
        if !self.is_inherited {
            cost = self.newest_first.next()?;
        }
        if cost.is_none() {
            self.is_inherited = true;
            cost = self.inherited.next()?;
        }
        Ok(cost.map(|cost| Cost {
            tokens: cost.tokens + extra,
            short_tokens: cost.short_tokens + extra,
            ..cost
        }))
    }

    fn is_inherited(&self) -> bool {
        self.is_inherited
    }

    fn children(&mut self, key: i64) -> Result<Vec<Piece>> {
        let children = summaries::children_without_content(self.selector.tx, key)?;
        Ok(children.iter().map(|node| self.selector.piece(node)).collect())
    }
}
