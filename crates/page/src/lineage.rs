//! A session's family, drawn: who continues whom, where ways part, what was handed to others. It
//! must not know what was said.

use crate::figures::counted;
use crate::link;
use crate::text::line;
use maud::{Markup, html};
use oneiro::{Lineage, SessionId};
use std::collections::{BTreeMap, BTreeSet};

/// A member of a family.
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

/// Members that are drawn; the others are counted.
const ROWS: usize = 24;

/// Lanes beside each other; what is deeper shares the last.
const LANES: usize = 6;

/// Pixels of a lane, and of a row.
const WIDE: usize = 18;
const HIGH: usize = 40;

struct Row<'a> {
    member: &'a Relative,
    lane: usize,
    /// It goes on in the lane of its parent.
    goes_on: bool,
    is_root: bool,
}

/// Draws the family of `current`, each member after the one it descends from; nothing for a session
/// without relatives.
pub fn drawing(members: &[Relative], current: &SessionId) -> Option<Markup> {
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
                li.rest { (counted(first as i64, "session")) " before" }
            }
            @for (row, lines) in shown { (one(row, lines, (lanes, row.member.id == *current))) }
            @if after > 0 {
                li.rest { (counted(after as i64, "session")) " more" }
            }
        }
    })
}

fn one(row: &Row<'_>, lines: &Lines, (lanes, is_current): (usize, bool)) -> Markup {
    let member = row.member;
    let title = member.title.as_deref().unwrap_or(member.id.as_str());
    let how = match member.lineage {
        _ if row.is_root => "",
        Some(Lineage::Continuation) => "continues",
        Some(Lineage::Branch) | None => "branch",
        Some(Lineage::Delegate) => "delegate",
        Some(Lineage::Reset) => "fresh start",
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
    let x = |lane: usize| lane * WIDE + WIDE / 2;
    let (middle, here) = (HIGH / 2, x(row.lane));
    html! {
        svg width=(lanes * WIDE)
            height=(HIGH)
            viewBox={ "0 0 " (lanes * WIDE) " " (HIGH) }
            aria-hidden="true"
            focusable="false"
        {
            @for (lane, (above, below)) in lines.above.iter().zip(lines.below).enumerate() {
                @if lane != row.lane && *above && below {
                    path d={ "M" (x(lane)) " 0V" (HIGH) } {}
                }
                @if lane == row.lane && row.goes_on {
                    path d={ "M" (x(lane)) " 0V" (middle) } {}
                }
                @if lane == row.lane && below {
                    path d={ "M" (x(lane)) " " (middle) "V" (HIGH) } {}
                }
            }
            @if !row.is_root && !row.goes_on {
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
        let from = if row.goes_on { row.lane } else { row.lane.saturating_sub(1) };
        // A lane that begins here has nothing above, unless it is shared at the edge.
        if let Some(own) = wanted.get_mut(row.lane).filter(|_| !row.goes_on) {
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

/// Members in the order they are drawn: what branches off before what goes on. Whoever names
/// itself as an ancestor is drawn once.
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
    // A family in a ring has no root: it begins with whoever comes first.
    for root in roots.chain(members) {
        let mut waiting = vec![(root, 0, true)];
        while let Some((member, lane, is_root)) = waiting.pop() {
            if !drawn.insert(&member.id) {
                continue;
            }
            let goes_on = !is_root && member.lineage == Some(Lineage::Continuation);
            out.push(Row { member, lane, goes_on, is_root });
            let below = children.get(&Some(&member.id)).into_iter().flatten();
            let (on, off): (Vec<&Relative>, Vec<&Relative>) =
                below.partition(|child| child.lineage == Some(Lineage::Continuation));
            waiting.extend(on.into_iter().rev().map(|child| (child, lane, false)));
            let beside = (lane + 1).min(LANES - 1);
            waiting.extend(off.into_iter().rev().map(|child| (child, beside, false)));
        }
    }
    out
}
