//! Summaries as a picture: depth against time, each a bar from the first to the last message under
//! it, with what no summary covers as ticks below. It must not know the page around it.

use crate::figures::{counted, number, summaries};
use crate::{link, when};
use maud::{Markup, html};
use oneiro::{MessageId, SessionId, Summary, SummaryId, SummaryKind, Timestamp};
use std::collections::BTreeMap;

/// What the picture runs along.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Along {
    /// When things were said.
    #[default]
    Time,
    /// The order in which they were said, each message as wide as any other.
    Order,
}

/// What is drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drawn<'a> {
    /// The session whose context it is.
    pub session: &'a SessionId,
    /// The summaries, all of them.
    pub nodes: &'a [Summary],
    /// Messages that no summary covers, in their order.
    pub loose: &'a [(MessageId, Timestamp)],
    /// What to run along; order in any case where all was said at once.
    pub along: Along,
}

/// Rows of depths; what is deeper shares the last.
const DEPTHS: i64 = 8;

/// The picture's width, and the heights of a row, of a bar in it, and of the row of messages, which
/// the style sheet knows too.
const WIDE: f64 = 1_000.0;
const ROW: i64 = 34;
const BAR: i64 = 20;
const TICKS: i64 = 24;

/// The least a bar is wide: less cannot be hit. Bars that would be narrower and meet are one.
const LEAST: f64 = 8.0;

/// Bytes that the bars may take, and that one takes besides its address.
const BYTES: usize = 36_000;
const BAR_BYTES: usize = 260;

/// Places for ticks.
const BINS: f64 = 250.0;

/// Summaries that are drawn as one bar.
struct Bar<'a> {
    nodes: Vec<&'a Summary>,
    from: f64,
    to: f64,
}

/// A row of the picture, from the top.
struct Row<'a> {
    name: String,
    bars: Vec<Bar<'a>>,
}

/// What the picture spans, and along what.
struct Axis {
    along: Along,
    from: f64,
    span: f64,
}

impl Axis {
    fn of(drawn: &Drawn<'_>) -> Axis {
        let ends = |along: Along| {
            let nodes = drawn.nodes.iter().filter_map(|node| extent(node, along));
            let loose = drawn.loose.iter().map(|said| place(*said, along));
            let ends = nodes.flat_map(|(from, to)| [from, to]).chain(loose);
            ends.fold((f64::MAX, f64::MIN), |(from, to), at| (from.min(at), to.max(at)))
        };
        let (mut along, (mut from, mut to)) = (drawn.along, ends(drawn.along));
        if along == Along::Time && to <= from {
            along = Along::Order;
            (from, to) = ends(along);
        }
        Axis { along, from, span: (to - from).max(1.0) }
    }

    fn x(&self, at: f64) -> f64 {
        ((at - self.from) / self.span * WIDE).clamp(0.0, WIDE)
    }

    /// From where to where a summary reaches; one that covers no message is about everything.
    fn bar(&self, node: &Summary) -> (f64, f64) {
        match extent(node, self.along) {
            Some((from, to)) => (self.x(from), self.x(to)),
            None => (0.0, WIDE),
        }
    }
}

fn extent(node: &Summary, along: Along) -> Option<(f64, f64)> {
    let (first, last) = (node.first_message?, node.last_message?);
    Some((place((first, node.earliest_at), along), place((last, node.latest_at), along)))
}

fn place((id, at): (MessageId, Timestamp), along: Along) -> f64 {
    match along {
        Along::Time => at.micros() as f64,
        Along::Order => id.0 as f64,
    }
}

/// Whether the picture can run along time at all.
pub(crate) fn has_times(drawn: &Drawn<'_>) -> bool {
    Axis::of(&Drawn { along: Along::Time, ..*drawn }).along == Along::Time
}

/// Draws summaries; nothing where there are none.
pub(crate) fn tree(drawn: &Drawn<'_>) -> Markup {
    let axis = Axis::of(drawn);
    let rows = rows(drawn, &axis);
    let against = if axis.along == Along::Time { "time" } else { "order" };
    let high = rows.len() as i64 * ROW + TICKS;
    let shown = drawn.nodes.iter().filter(|node| node.in_context).count();
    let bars: usize = rows.iter().map(|row| row.bars.len()).sum();
    let ends = [drawn.nodes.iter().map(|node| node.earliest_at).min(), last(drawn)];
    html! {
        figure.plot.tree {
            figcaption {
                span.title { "Depth against " (against) }
                ul.key {
                    li.s-now { "in the context now" }
                    li.s-under { "folded away" }
                    li.s-loose { "messages as they are" }
                }
            }
            div.forest {
                ol.depths aria-hidden="true" {
                    @for row in &rows {
                        li { (row.name) }
                    }
                    li { "messages" }
                }
                svg role="group"
                    aria-label={
                        "The tree of " (summaries(drawn.nodes.len() as i64)) ", "
                        (number(shown as i64)) " in the context now"
                    }
                    height=(high)
                    viewBox={ "0 0 1000 " (high) }
                    preserveAspectRatio="none"
                {
                    path.lines d=(lines(&rows)) {}
                    path.ground d={ "M0 " (high - TICKS / 2) "H1000" } {}
                    path.ticks d=(ticks(drawn, &axis, high)) {}
                    @for (at, row) in rows.iter().enumerate() {
                        @for bar in &row.bars { (link_to(drawn.session, bar, at as i64 * ROW)) }
                    }
                }
            }
            div.ends aria-hidden="true" {
                @for end in ends.into_iter().flatten() {
                    span { (when::exact(end)) }
                }
            }
            @if bars < drawn.nodes.len() {
                p.caption {
                    "Summaries too narrow to tell apart share a bar: "
                    (number(bars as i64)) " bars for " (number(drawn.nodes.len() as i64)) "."
                }
            }
        }
    }
}

fn last(drawn: &Drawn<'_>) -> Option<Timestamp> {
    let loose = drawn.loose.last().map(|(_, at)| *at);
    drawn.nodes.iter().map(|node| node.latest_at).max().max(loose)
}

/// What was written by hand about everything, then every depth, the deepest first.
fn rows<'a>(drawn: &Drawn<'a>, axis: &Axis) -> Vec<Row<'a>> {
    let (by_depth, written): (Vec<&Summary>, Vec<&Summary>) =
        drawn.nodes.iter().partition(|node| node.first_message.is_some());
    let mut depths: BTreeMap<i64, Vec<&Summary>> = BTreeMap::new();
    for node in by_depth {
        depths.entry(node.depth.clamp(0, DEPTHS - 1)).or_default().push(node);
    }
    let count = depths.len() + usize::from(!written.is_empty());
    let takes = BAR_BYTES + link::summaries(drawn.session).len();
    let least = LEAST.max(WIDE * (takes * count) as f64 / BYTES as f64);
    let mut rows = Vec::with_capacity(count);
    if !written.is_empty() {
        rows.push(Row { name: "by hand".to_owned(), bars: bars(&written, axis, least) });
    }
    for (depth, nodes) in depths.iter().rev() {
        rows.push(Row { name: format!("depth {depth}"), bars: bars(nodes, axis, least) });
    }
    rows
}

/// The bars of a row, from the left, none narrower than `least` and none over another's beginning.
fn bars<'a>(nodes: &[&'a Summary], axis: &Axis, least: f64) -> Vec<Bar<'a>> {
    let mut placed: Vec<(f64, f64, &Summary)> = nodes
        .iter()
        .map(|node| (axis.bar(node), *node))
        .map(|((a, b), node)| (a, b, node))
        .collect();
    placed.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
    let mut bars: Vec<Bar<'a>> = Vec::new();
    for (from, to, node) in placed {
        let from = from.min(WIDE - least).max(0.0);
        match bars.last_mut().filter(|before| from < before.to) {
            // It begins where the one before ends, unless too little of it would be left.
            Some(before) if to - before.to < least => {
                before.nodes.push(node);
                before.to = before.to.max(to);
            }
            Some(before) => {
                let from = before.to;
                bars.push(Bar { nodes: vec![node], from, to });
            }
            None => bars.push(Bar { nodes: vec![node], from, to: to.max(from + least) }),
        }
    }
    bars
}

fn link_to(session: &SessionId, bar: &Bar<'_>, top: i64) -> Markup {
    let now = bar.nodes.iter().any(|node| node.in_context);
    let hand = bar.nodes.iter().all(|node| node.kind == SummaryKind::Written);
    // A little is left between neighbours.
    let width = (bar.to - bar.from - 1.5).max(2.0);
    let href = match bar.nodes.as_slice() {
        [node] => link::summary(session, &node.id),
        [first, ..] => from(session, &first.id),
        [] => String::new(),
    };
    html! {
        a.now[now].hand[hand] href=(href) {
            title { (told(&bar.nodes)) }
            rect x=(round(bar.from)) y=(top + (ROW - BAR) / 2) width=(round(width)) height=(BAR) {}
        }
    }
}

/// The list of a session's summaries from one on.
pub(crate) fn from(session: &SessionId, first: &SummaryId) -> String {
    format!("{}#nodes", link::query(&link::summaries(session), &[("from", first.as_str())]))
}

fn told(nodes: &[&Summary]) -> String {
    let messages = counted(nodes.iter().map(|node| node.message_count).sum(), "message");
    let now = match nodes.iter().filter(|node| node.in_context).count() {
        0 => "folded away",
        all if all == nodes.len() => "in the context now",
        _ => "some in the context now",
    };
    match nodes {
        [node] => format!(
            "{} to {}: {messages}, {}, {now}",
            when::exact(node.earliest_at),
            when::exact(node.latest_at),
            counted(node.tokens, "token"),
        ),
        many => format!("{} over {messages}, {now}", summaries(many.len() as i64)),
    }
}

/// Lines from every summary up to those that cover it.
fn lines(rows: &[Row<'_>]) -> String {
    let mut places = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        for bar in &row.bars {
            let bottom = at as i64 * ROW + (ROW + BAR) / 2;
            places.extend(bar.nodes.iter().map(|node| (&node.id, (bar.from, bar.to, bottom))));
        }
    }
    let mut out = String::new();
    for (at, row) in rows.iter().enumerate() {
        let top = at as i64 * ROW + (ROW - BAR) / 2;
        for bar in &row.bars {
            let x = (bar.from + bar.to) / 2.0;
            let mut above: Vec<_> = bar.nodes.iter().flat_map(|node| &node.parents).collect();
            above.dedup();
            let above = above.iter().filter_map(|id| places.get(id));
            for (from, to, bottom) in above.filter(|(_, _, bottom)| *bottom < top) {
                let end = x.clamp(*from, *to);
                out.push_str(&format!("M{} {top}L{} {bottom}", round(x), round(end)));
            }
        }
    }
    out
}

/// A tick for every place at which something was said that no summary covers.
fn ticks(drawn: &Drawn<'_>, axis: &Axis, high: i64) -> String {
    let bin = |said: &(MessageId, Timestamp)| {
        (axis.x(place(*said, axis.along)) / WIDE * (BINS - 1.0)).round() as i64
    };
    let mut bins: Vec<i64> = drawn.loose.iter().map(bin).collect();
    bins.sort_unstable();
    bins.dedup();
    let x = |bin: i64| round(2.0 + bin as f64 / (BINS - 1.0) * (WIDE - 4.0));
    bins.into_iter().map(|bin| format!("M{} {}V{}", x(bin), high - TICKS + 5, high - 5)).collect()
}

fn round(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
