//! Where a message or a summary stands along a picture: by its time, or by how many messages came
//! before it. It must not know what is drawn there.

use oneiro::{MessageId, SessionId, Summary, SummaryId, Timestamp};
use std::collections::BTreeSet;

/// What the picture runs along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Along {
    /// The time of messages.
    Time,
    /// The order of messages, each as wide as any other.
    Order,
}

/// What is drawn.
#[derive(Debug, Clone, Copy)]
pub struct Drawn<'a> {
    /// The session whose context it is.
    pub session: &'a SessionId,
    /// The summaries, all of them.
    pub nodes: &'a [Summary],
    /// Messages that no summary covers, in their order.
    pub loose: &'a [(MessageId, Timestamp)],
    /// The axis of the request, if it names one; order if all messages have the same time.
    pub along: Option<Along>,
}

/// How wide a picture is.
pub const WIDE: f64 = 1_000.0;

/// What the picture spans, and along what.
pub struct Axis {
    pub along: Along,
    order: Order,
    from: f64,
    span: f64,
}

impl Axis {
    /// An axis from the first to the last of what is drawn.
    pub fn along(drawn: &Drawn<'_>, along: Along) -> Axis {
        let mut axis = Axis { along, order: Order::of(drawn), from: 0.0, span: 1.0 };
        let nodes = drawn.nodes.iter().filter_map(|node| axis.extent(node));
        let loose = drawn.loose.iter().map(|message| axis.place(*message));
        let ends = nodes.flat_map(|(from, to)| [from, to]).chain(loose);
        let ends = ends.fold((f64::MAX, f64::MIN), |(from, to), at| (from.min(at), to.max(at)));
        (axis.from, axis.span) = (ends.0, ends.1 - ends.0);
        axis
    }

    /// Everything is at one place.
    pub fn is_point(&self) -> bool {
        self.span <= 0.0
    }

    /// How far to the right a place is, within the picture.
    pub fn x(&self, at: f64) -> f64 {
        ((at - self.from) / self.span.max(1.0) * WIDE).clamp(0.0, WIDE)
    }

    /// The place of a message.
    pub fn place(&self, (id, at): (MessageId, Timestamp)) -> f64 {
        match self.along {
            Along::Time => at.micros() as f64,
            Along::Order => self.order.rank(id.0),
        }
    }

    fn extent(&self, node: &Summary) -> Option<(f64, f64)> {
        let (first, last) = (node.first_message?, node.last_message?);
        Some((self.place((first, node.earliest_at)), self.place((last, node.latest_at))))
    }

    /// From where to where a summary reaches; one that covers no message is about everything.
    pub fn bar(&self, node: &Summary) -> (f64, f64) {
        let extent = self.extent(node);
        extent.map_or((0.0, WIDE), |(from, to)| (self.x(from), self.x(to)))
    }
}

/// The how-manieth a message is, as far as summaries tell: ids count the messages of a whole space.
struct Order(Vec<Stretch>);

/// Messages of which the first and the last are known, and how many there are.
struct Stretch {
    first: i64,
    last: i64,
    before: f64,
    count: f64,
}

impl Order {
    fn of(drawn: &Drawn<'_>) -> Order {
        let there: BTreeSet<&SummaryId> = drawn.nodes.iter().map(|node| &node.id).collect();
        let lowest = drawn
            .nodes
            .iter()
            .filter(|node| node.children.iter().all(|child| !there.contains(child)));
        let under = lowest.filter_map(|node| {
            Some((node.first_message?.0, node.last_message?.0, node.message_count))
        });
        let loose = drawn.loose.iter().map(|(id, _)| (id.0, id.0, 1));
        let mut all: Vec<(i64, i64, i64)> = under.chain(loose).collect();
        all.sort_unstable();
        let mut before = 0.0;
        let stretch = |(first, last, count): (i64, i64, i64)| {
            let one = Stretch { first, last, before, count: count.max(1) as f64 };
            before += one.count;
            one
        };
        Order(all.into_iter().map(stretch).collect())
    }

    fn rank(&self, id: i64) -> f64 {
        let at = self.0.partition_point(|one| one.first <= id);
        let Some(one) = at.checked_sub(1).and_then(|at| self.0.get(at)) else { return 0.0 };
        let far = (id - one.first) as f64 / (one.last - one.first).max(1) as f64;
        one.before + far.clamp(0.0, 1.0) * (one.count - 1.0)
    }
}
