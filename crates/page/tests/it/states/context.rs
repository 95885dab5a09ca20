//! Made-up summaries and windows.

use super::conversation::{huge, messages};
use super::hostile::{EVIL, evil_messages, evil_session};
use super::made::{ago, frame, main_session};
use oneiro::{
    Cursor, Error, ItemPlace, MessageId, Omitted, Session, Summary, SummaryId, SummaryKind,
    SummaryLevel, Window, WindowItem,
};
use oneiro_page::summaries::{self, SummariesView};
use oneiro_page::summary::{self, SummaryView};
use oneiro_page::window::{self, Outcome, WindowView};
use serde_json::{Value, json};

/// The states of the views of a context, by name.
pub fn all() -> Vec<(&'static str, String)> {
    let short = |typed: &str, outcome| window_of(main_session(), typed, outcome);
    vec![
        ("summaries-empty", summaries::page(&tree_of(main_session(), vec![]))),
        ("summaries", summaries::page(&tree_of(main_session(), tree(16, 4)))),
        ("summaries-many", summaries::page(&tree_of(main_session(), tree(1_200, 4)))),
        ("summary", summary::page(&leaf())),
        ("summary-huge", summary::page(&crowded())),
        ("window", window::page(&short("8000", assembled(12)))),
        ("window-huge", window::page(&short("1000000", assembled(4_000)))),
        ("window-refused", window::page(&short("many", refused()))),
        ("hostile-summaries", summaries::page(&tree_of(evil_session(), evil(tree(600, 3))))),
        ("hostile-summary", summary::page(&evil_summary())),
        ("hostile-window", window::page(&window_of(evil_session(), EVIL, evil_window()))),
    ]
}

pub fn sum(number: u32) -> SummaryId {
    let [a, b, c, d] = number.to_be_bytes();
    SummaryId::from_random([7, 7, 7, 7, 7, 7, a, b, c, d])
}

/// A summary over ten messages for each of its places.
pub fn node(number: u32, depth: i64, (first, last): (i64, i64)) -> Summary {
    let messages = (last - first + 1) * 10;
    Summary {
        id: sum(number),
        session_id: main_session().id,
        kind: if depth == 0 { SummaryKind::Leaf } else { SummaryKind::Condensed },
        depth,
        level: SummaryLevel::Extract,
        model: None,
        content: format!("Mara: part {number} is about the lease test\n- fixed in `lease.rs`"),
        tokens: 400,
        source_tokens: 4_000,
        message_count: messages,
        message_tokens: messages * 120,
        first_message: Some(MessageId(first * 10 + 1)),
        last_message: Some(MessageId(last * 10 + 10)),
        earliest_at: ago(100_000 - first * 60),
        latest_at: ago(100_000 - last * 60 - 50),
        created_at: ago(30),
        children: vec![],
        parents: vec![],
        in_context: false,
    }
}

/// This many leaves, condensed by `fanout` as long as there are enough; the last leaf stands alone.
pub fn tree(leaves: u32, fanout: usize) -> Vec<Summary> {
    let leaf = |at: u32| node(at, 0, (i64::from(at), i64::from(at)));
    let alone = leaves.saturating_sub(1);
    let mut all = vec![leaf(alone)];
    let mut level: Vec<Summary> = (0..alone).map(leaf).collect();
    let mut next = leaves;
    while level.len() >= fanout {
        let mut above = Vec::new();
        for group in level.chunks_mut(fanout) {
            let (first, last) = (group.first().unwrap(), group.last().unwrap());
            let place = |id: Option<MessageId>| (id.unwrap().0 - 1) / 10;
            let places = (place(first.first_message), place(last.last_message));
            let mut one = node(next, first.depth + 1, places);
            one.children = group.iter().map(|child| child.id.clone()).collect();
            group.iter_mut().for_each(|child| child.parents.push(one.id.clone()));
            above.push(one);
            next += 1;
        }
        all.append(&mut level);
        level = above;
    }
    all.append(&mut level);
    for one in &mut all {
        one.in_context = one.parents.is_empty();
    }
    all.sort_by_key(|one| (one.first_message, -one.depth));
    all
}

pub fn tree_of(session: Session, summaries: Vec<Summary>) -> SummariesView {
    let end = summaries.iter().filter_map(|node| node.last_message).max().unwrap_or(MessageId(0)).0;
    SummariesView {
        frame: frame(),
        session,
        loose: (1..400).map(|at| (MessageId(end + at), ago(28_000 - at * 3))).collect(),
        summaries,
        more_loose: false,
        along: None,
        from: None,
    }
}

pub fn leaf() -> SummaryView {
    SummaryView {
        frame: frame(),
        session: main_session(),
        summary: node(3, 0, (10, 10)),
        children: vec![],
        parents: vec![node(4, 1, (8, 12))],
        messages: messages(),
        goes_on: false,
        next: Some(Cursor { order: 112, key: 112 }),
    }
}

/// As much as one page may be asked to show.
fn crowded() -> SummaryView {
    let many = || (0..25).map(|at| node(at, 2, (0, 99))).collect::<Vec<_>>();
    let long = "a long decision about <parts> & \"whole\" things. ".repeat(2_000);
    SummaryView {
        summary: Summary { content: long, ..node(3, 1, (0, 99)) },
        children: many(),
        parents: many(),
        messages: huge(summary::MESSAGES),
        goes_on: true,
        ..leaf()
    }
}

fn item(kind: &'static str, id: Value, place: ItemPlace, tokens: usize) -> WindowItem {
    let why = match place {
        ItemPlace::In => "among the newest that fit".to_owned(),
        _ => "do not fit the budget, and no summary covers them yet".to_owned(),
    };
    let id = Some(id).filter(|id| !id.is_null());
    WindowItem { kind, id, last: None, depth: None, place, tokens, why }
}

/// A window with a summary, a gap, a pin and this many messages.
pub fn assembled(messages: i64) -> Outcome {
    let mut items = vec![
        item("system", Value::Null, ItemPlace::In, 120),
        item("summary", json!(sum(1).as_str()), ItemPlace::In, 400),
        item("messages", json!(1), ItemPlace::Summarised, 4_000),
        item("message", json!(2), ItemPlace::In, 0),
        item("messages", json!(100), ItemPlace::Out, 700),
    ];
    items.extend((0..messages).map(|at| item("message", json!(200 + at), ItemPlace::In, 50)));
    let said: String = (0..messages).map(|at| format!("user: message <{at}> & more\n")).collect();
    let window = Window {
        messages: vec![],
        system: None,
        text: Some(format!("You are careful.\n<summary id=\"{}\">so</summary>\n{said}", sum(1))),
        tokens: 520 + messages as usize * 50,
        budget: 8_000,
        reserve: 0,
        over_budget: (messages > 1_000).then_some(192_520),
        summaries: vec![sum(1)],
        omitted: Omitted {
            messages: 7,
            tokens: 700,
            reason: Some("they do not fit".to_owned()),
            ..Omitted::default()
        },
        prefix_hash: "0".to_owned(),
        broke: None,
        items: Some(items),
    };
    Outcome::Assembled { window: Box::new(window), summarised: 33 }
}

pub fn refused() -> Outcome {
    Outcome::Refused(
        Error::field("budget", "\"many\" is not a number of tokens").remedy("give a whole number"),
    )
}

pub fn window_of(session: Session, typed: &str, outcome: Outcome) -> WindowView {
    WindowView { frame: frame(), session, typed: typed.to_owned(), outcome }
}

fn evil(mut nodes: Vec<Summary>) -> Vec<Summary> {
    for node in &mut nodes {
        (node.content, node.model) = (EVIL.repeat(30), Some(EVIL.to_owned()));
        node.session_id = evil_session().id;
        // Written by hand, about nothing in particular.
        if node.depth == 2 {
            (node.first_message, node.last_message, node.message_count) = (None, None, 0);
        }
    }
    nodes
}

fn evil_summary() -> SummaryView {
    SummaryView {
        session: evil_session(),
        summary: evil(vec![node(3, 0, (10, 10))]).remove(0),
        messages: evil_messages(),
        children: evil(tree(25, 99)),
        parents: evil(tree(25, 99)),
        ..leaf()
    }
}

fn evil_window() -> Outcome {
    let Outcome::Assembled { mut window, summarised } = assembled(40) else { return refused() };
    window.text = Some(EVIL.repeat(2_000));
    window.omitted.reason = Some(EVIL.to_owned());
    for item in window.items.iter_mut().flatten() {
        item.why = EVIL.to_owned();
    }
    Outcome::Assembled { window, summarised }
}
