//! Draws the lineage of a session as a graph: continuations, branches, subagents and resets.

use crate::link;
use crate::numbers::counted;
use crate::text::line;
use maud::{Markup, html};
use oneiro::{Lineage, SessionId};
use std::collections::{BTreeMap, BTreeSet};

/// A session of a lineage.
#[derive(Debug, Clone)]
pub struct Relative {
    /// The session.
    pub id: SessionId,
    /// Its title.
    pub title: Option<String>,
    /// The session it descends from.
    pub parent: Option<SessionId>,
    /// How it descends.
    pub lineage: Option<Lineage>,
    /// Messages in it.
    pub message_count: i64,
}

/// Sessions that are drawn; the others are counted.
const ROWS: usize = 24;

/// Lanes beside each other; deeper sessions share the last.
const LANES: usize = 6;

/// Pixels of a lane, and of a row.
const LANE_WIDTH: usize = 18;
const ROW_HEIGHT: usize = 40;

struct Row<'a> {
    member: &'a Relative,
    lane: usize,
    /// It continues its parent, in the same lane.
    is_continuation: bool,
    is_root: bool,
}

/// Draws the lineage of `current`, each session after its parent; nothing for a session without
/// relatives.
pub fn lineage_graph(members: &[Relative], current: &SessionId) -> Option<Markup> {
    if members.len() < 2 {
        return None;
    }
    let rows = rows(members);
    let here = rows.iter().position(|row| row.member.id == *current).unwrap_or(0);
    let first = here.saturating_sub(ROWS / 2).min(rows.len().saturating_sub(ROWS));
    let lines = lines(&rows);
    let lanes = rows.iter().map(|row| row.lane).max().unwrap_or(0) + 1;
    let shown = rows.iter().zip(&lines).skip(first).take(ROWS);
    let after = rows.len().saturating_sub(first + ROWS);
    Some(html! {
        ol.lineage {
            @if first > 0 {
                li.rest { (counted(first as i64, "session")) " earlier" }
            }
            @for (row, lines) in shown { (row_markup(row, lines, (lanes, row.member.id == *current))) }
            @if after > 0 {
                li.rest { (counted(after as i64, "session")) " more" }
            }
        }
    })
}

fn row_markup(row: &Row<'_>, lines: &Lines, (lanes, is_current): (usize, bool)) -> Markup {
    let member = row.member;
    let title = member.title.as_deref().unwrap_or(member.id.as_str());
    let how = match member.lineage {
        _ if row.is_root => "",
        Some(Lineage::Continuation) => "continues",
        Some(Lineage::Branch) | None => "branch",
        Some(Lineage::Delegate) => "subagent",
        Some(Lineage::Reset) => "reset",
    };
    html! {
        li aria-current=[is_current.then_some("true")] {
            (graph(row, lines, lanes))
            @if is_current {
                strong { (line(title, 80)) }
                span.note { "this session" }
            } @else {
                a href=(link::session(&member.id)) { (line(title, 80)) }
            }
            @if !how.is_empty() && !is_current {
                span.note { (how) }
            }
            span.note.size { (counted(member.message_count, "message")) }
        }
    }
}

fn graph(row: &Row<'_>, lines: &Lines, lanes: usize) -> Markup {
    let x = |lane: usize| lane * LANE_WIDTH + LANE_WIDTH / 2;
    let (middle, here) = (ROW_HEIGHT / 2, x(row.lane));
    html! {
        svg width=(lanes * LANE_WIDTH)
            height=(ROW_HEIGHT)
            viewBox={ "0 0 " (lanes * LANE_WIDTH) " " (ROW_HEIGHT) }
            aria-hidden="true"
            focusable="false"
        {
            @for (lane, (above, below)) in lines.above.iter().zip(lines.below).enumerate() {
                @if lane != row.lane && *above && below {
                    path d={ "M" (x(lane)) " 0V" (ROW_HEIGHT) } {}
                }
                @if lane == row.lane && row.is_continuation {
                    path d={ "M" (x(lane)) " 0V" (middle) } {}
                }
                @if lane == row.lane && below {
                    path d={ "M" (x(lane)) " " (middle) "V" (ROW_HEIGHT) } {}
                }
            }
            @if !row.is_root && !row.is_continuation {
                @let from = x(row.lane.saturating_sub(1));
                path d={ "M" (from) " 0Q" (from) " " (middle) " " (here) " " (middle) } {}
            }
            circle cx=(here) cy=(middle) r="4.5" {}
        }
    }
}

/// Which lanes have a line that enters a row from above, and leaves it below.
struct Lines {
    above: [bool; LANES],
    below: [bool; LANES],
}

fn lines(rows: &[Row<'_>]) -> Vec<Lines> {
    let mut wanted = [false; LANES];
    let mut all = Vec::with_capacity(rows.len());
    for row in rows.iter().rev() {
        let below = wanted;
        wanted.iter_mut().skip(row.lane + 1).for_each(|lane| *lane = false);
        let from = if row.is_continuation { row.lane } else { row.lane.saturating_sub(1) };
        // A lane that begins here has nothing above, unless it is shared at the edge.
        if let Some(own) = wanted.get_mut(row.lane).filter(|_| !row.is_continuation) {
            *own = false;
        }
        if let Some(lane) = wanted.get_mut(from).filter(|_| !row.is_root) {
            *lane = true;
        }
        all.push(Lines { above: wanted, below });
    }
    all.reverse();
    all
}

/// Sessions in the order they are drawn: branches before continuations. A session that is its own
/// ancestor is drawn once.
fn rows(members: &[Relative]) -> Vec<Row<'_>> {
    let ids: BTreeSet<&SessionId> = members.iter().map(|member| &member.id).collect();
    let mut children: BTreeMap<Option<&SessionId>, Vec<&Relative>> = BTreeMap::new();
    for member in members {
        let parent = member.parent.as_ref().filter(|parent| ids.contains(parent));
        children.entry(parent).or_default().push(member);
    }
    let mut drawn = BTreeSet::new();
    let mut out = Vec::new();
    let roots = children.get(&None).into_iter().flatten().copied();
    // A lineage in a ring has no root: the first session stands in for it.
    for root in roots.chain(members) {
        let mut waiting = vec![(root, 0, true)];
        while let Some((member, lane, is_root)) = waiting.pop() {
            if !drawn.insert(&member.id) {
                continue;
            }
            let is_continuation = !is_root && member.lineage == Some(Lineage::Continuation);
            out.push(Row { member, lane, is_continuation, is_root });
            let below = children.get(&Some(&member.id)).into_iter().flatten();
            let (continuations, others): (Vec<&Relative>, Vec<&Relative>) =
                below.partition(|child| child.lineage == Some(Lineage::Continuation));
            waiting.extend(continuations.into_iter().rev().map(|child| (child, lane, false)));
            let beside = (lane + 1).min(LANES - 1);
            waiting.extend(others.into_iter().rev().map(|child| (child, beside, false)));
        }
    }
    out
}
