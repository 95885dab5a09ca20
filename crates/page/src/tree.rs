//! Summaries as a picture: depth against time, each a bar from the first to the last message under
//! it, with what no summary covers as ticks below. It must not know the page around it.

pub use crate::axis::Along;
pub(crate) use crate::axis::Drawn;
use crate::axis::{Axis, WIDE};
use crate::numbers::{counted, number};
use crate::{link, when};
use maud::{Markup, html};
use oneiro::{MessageId, SessionId, Summary, SummaryId, SummaryKind, Timestamp};
use std::collections::BTreeMap;

/// Rows of depths; what is deeper shares the last.
const DEPTHS: i64 = 8;

/// The heights of a row, of a bar in it, and of the row of messages, which the style sheet knows
/// too.
const ROW: i64 = 34;
const BAR: i64 = 20;
const TICKS: i64 = 24;

/// The least a bar is wide: less cannot be hit. Bars that would be narrower and meet are one.
const LEAST: f64 = 8.0;

/// Where bars must be wider than this, nothing stands apart any more.
const APART: f64 = 100.0;

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

impl Bar<'_> {
    fn is_like(&self, node: &Summary) -> bool {
        self.nodes.iter().all(|one| one.in_context == node.in_context)
    }
}

/// A row of the picture, from the top.
struct Row<'a> {
    name: String,
    bars: Vec<Bar<'a>>,
}

/// The axis of the request; otherwise time, unless pauses would leave much of the
/// picture empty and summaries too narrow to tell apart.
fn chosen(drawn: &Drawn<'_>) -> Axis {
    let order = || Axis::along(drawn, Along::Order);
    if drawn.along == Some(Along::Order) {
        return order();
    }
    let time = Axis::along(drawn, Along::Time);
    let bars = |axis: &Axis| count(&rows(drawn, axis));
    let is_crowded = || bars(&time) * 3 < bars(&order()) * 2;
    if !time.is_point() && (drawn.along.is_some() || !is_crowded()) { time } else { order() }
}

/// Whether the picture can run along time, and whether it does.
pub(crate) fn along_time(drawn: &Drawn<'_>) -> (bool, bool) {
    let can = !Axis::along(drawn, Along::Time).is_point();
    (can, chosen(drawn).along == Along::Time)
}

fn count(rows: &[Row<'_>]) -> usize {
    rows.iter().map(|row| row.bars.len()).sum()
}

/// Draws summaries; nothing where there are none.
pub(crate) fn tree(drawn: &Drawn<'_>) -> Markup {
    let axis = chosen(drawn);
    let rows = rows(drawn, &axis);
    let against = if axis.along == Along::Time { "time" } else { "message order" };
    let high = rows.len() as i64 * ROW + TICKS;
    let shown = drawn.nodes.iter().filter(|node| node.in_context).count();
    let bars = count(&rows);
    let ends = [drawn.nodes.iter().map(|node| node.earliest_at).min(), last(drawn)];
    html! {
        figure.plot.tree {
            figcaption {
                span.title { "Summary depth by " (against) }
                ul.key {
                    li.s-now { "top level" }
                    li.s-under { "under another" }
                    li.s-loose { "messages not summarised" }
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
                        "Tree of " (counted(drawn.nodes.len() as i64, "summary")) ", "
                        (number(shown as i64)) " at the top level"
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
                    "Narrow summaries share a bar: "
                    (counted(bars as i64, "bar")) " for " (counted(drawn.nodes.len() as i64, "summary")) "."
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
    let most = BYTES / (BAR_BYTES + link::summaries(drawn.session).len());
    let mut least = LEAST;
    loop {
        let mut rows = Vec::with_capacity(depths.len() + 1);
        if !written.is_empty() {
            rows.push(Row { name: "by hand".to_owned(), bars: bars(&written, axis, least) });
        }
        for (depth, nodes) in depths.iter().rev() {
            rows.push(Row { name: format!("depth {depth}"), bars: bars(nodes, axis, least) });
        }
        if least >= WIDE || count(&rows) <= most {
            return rows;
        }
        least *= 1.25;
    }
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
            // It begins where the one before ends, unless too little of it would be left; what is
            // at the top level stands apart from what is not.
            Some(before) if to - before.to < least && (before.is_like(node) || least > APART) => {
                before.nodes.push(node);
                before.to = before.to.max(to);
            }
            Some(before) => {
                let from = before.to.min(WIDE - least);
                bars.push(Bar { nodes: vec![node], from, to: to.max(from + least) });
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
            title { (tooltip(&bar.nodes)) }
            rect x=(round(bar.from)) y=(top + (ROW - BAR) / 2) width=(round(width)) height=(BAR) {}
        }
    }
}

/// The list of a session's summaries from one on.
pub(crate) fn from(session: &SessionId, first: &SummaryId) -> String {
    format!("{}#nodes", link::query(&link::summaries(session), &[("from", first.as_str())]))
}

fn tooltip(nodes: &[&Summary]) -> String {
    let messages = counted(nodes.iter().map(|node| node.message_count).sum(), "message");
    let now = match nodes.iter().filter(|node| node.in_context).count() {
        0 => "under another",
        all if all == nodes.len() => "top level",
        _ => "some at the top level",
    };
    match nodes {
        [node] => format!(
            "{} to {}: {messages}, {}, {now}",
            when::exact(node.earliest_at),
            when::exact(node.latest_at),
            counted(node.tokens, "token"),
        ),
        many => format!("{} over {messages}, {now}", counted(many.len() as i64, "summary")),
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
            let above = bar.nodes.iter().flat_map(|node| &node.parents);
            let above = above.filter_map(|id| places.get(id)).filter(|place| place.2 < top);
            let mut ends: Vec<_> = above.map(|(from, to, y)| (x.clamp(*from, *to), *y)).collect();
            // For a bar of several summaries, the line straight up is enough.
            ends.sort_by(|one, other| (one.0 - x).abs().total_cmp(&(other.0 - x).abs()));
            ends.dedup();
            ends.truncate(if bar.nodes.len() > 1 { 1 } else { ends.len() });
            for (end, bottom) in ends {
                out.push_str(&format!("M{} {top}L{} {bottom}", round(x), round(end)));
            }
        }
    }
    out
}

/// A tick for every message that no summary covers.
fn ticks(drawn: &Drawn<'_>, axis: &Axis, high: i64) -> String {
    let bin = |message: &(MessageId, Timestamp)| {
        (axis.x(axis.place(*message)) / WIDE * (BINS - 1.0)).round() as i64
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

#[cfg(test)]
mod tests {
    use super::*;
    use oneiro::SummaryLevel;

    fn node(number: u8, (first, last): (i64, i64), in_context: bool) -> Summary {
        let at = |id: i64| Timestamp::from_micros(id * 60_000_000);
        Summary {
            id: SummaryId::from_random([number; 10]),
            session_id: SessionId::new("s").unwrap(),
            kind: SummaryKind::Leaf,
            depth: 0,
            level: SummaryLevel::Extract,
            model: None,
            content: String::new(),
            tokens: 1,
            source_tokens: 2,
            message_count: last - first + 1,
            message_tokens: 2,
            first_message: Some(MessageId(first)),
            last_message: Some(MessageId(last)),
            earliest_at: at(first),
            latest_at: at(last),
            created_at: at(last),
            children: vec![],
            parents: vec![],
            in_context,
        }
    }

    fn placed(nodes: &[Summary], along: Option<Along>) -> Vec<(f64, f64, usize)> {
        let session = SessionId::new("s").unwrap();
        let drawn = Drawn { session: &session, nodes, loose: &[], along };
        let rows = rows(&drawn, &chosen(&drawn));
        let bars = rows.iter().flat_map(|row| &row.bars);
        bars.map(|bar| (bar.from, bar.to, bar.nodes.len())).collect()
    }

    #[test]
    fn bars_stand_where_their_messages_were() {
        let nodes = [node(1, (0, 25), false), node(2, (50, 100), true)];
        assert_eq!(placed(&nodes, Some(Along::Time)), [(0.0, 250.0, 1), (500.0, 1_000.0, 1)]);
        assert_eq!(placed(&nodes, None), placed(&nodes, Some(Along::Time)));
        // Others spoke between: of 77 messages, 26 are under the first.
        let bars = placed(&nodes, Some(Along::Order));
        assert_eq!(bars.iter().map(|bar| bar.1.round()).collect::<Vec<_>>(), [329.0, 1_000.0]);
        assert_eq!(bars[1].0.round(), 342.0);
    }

    #[test]
    fn what_was_said_at_once_runs_along_its_order() {
        let mut nodes = [node(1, (0, 50), false), node(2, (51, 100), true)];
        let now = Timestamp::from_micros(7);
        nodes.iter_mut().for_each(|one| (one.earliest_at, one.latest_at) = (now, now));
        assert_eq!(placed(&nodes, Some(Along::Time)), [(0.0, 500.0, 1), (510.0, 1_000.0, 1)]);
    }

    #[test]
    fn a_long_pause_does_not_crowd_the_picture() {
        let mut nodes: Vec<Summary> =
            (1..9).map(|at| node(at, (i64::from(at) * 9, i64::from(at) * 9 + 8), false)).collect();
        nodes.push(node(9, (900_000, 900_008), true));
        assert_eq!(placed(&nodes, Some(Along::Time)).len(), 2);
        assert_eq!(placed(&nodes, None).len(), 9);
    }

    #[test]
    fn slivers_share_a_bar_but_not_with_what_is_in_the_context() {
        let narrow = [1, 2, 3].map(|at| node(at, (i64::from(at), i64::from(at)), at == 3));
        let nodes: Vec<Summary> =
            narrow.into_iter().chain([node(4, (900, 1_001), false)]).collect();
        let bars = placed(&nodes, Some(Along::Time));
        assert_eq!(bars.iter().map(|bar| bar.2).collect::<Vec<_>>(), [2, 1, 1], "{bars:?}");
        assert!(bars.windows(2).all(|two| two[0].1 <= two[1].0), "{bars:?}");
        assert!(bars.iter().all(|(from, to, _)| to - from >= LEAST), "{bars:?}");
    }

    #[test]
    fn nothing_and_one_moment_can_be_drawn() {
        assert_eq!(placed(&[], None), []);
        let bars = placed(&[node(1, (5, 5), true)], None);
        assert_eq!(bars, [(0.0, LEAST, 1)]);
    }
}
