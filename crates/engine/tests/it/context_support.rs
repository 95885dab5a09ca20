//! What the tests of contexts share: a model that answers by script, messages of every kind, and
//! the laws that hold of any session at any time.

use crate::support::{Fixed, assert_sound, clock, content, id as sid, ids, target};
use oneiro::{
    CompactRequest, Compacted, ContextScope, Durability, EXPAND_TOKENS, ExpandRequest, ExpandWhat,
    ItemPlace, Llm, LlmRequest, LlmResponse, Message, NewMessage, Oneiro, Options, Result, Role,
    SessionId, Summary, SummaryId, SummaryKind, Window, WindowRequest,
};
use oneiro_testkit::{TestSpace, words};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// What a model was asked.
#[derive(Debug, Clone)]
pub struct Asked {
    pub purpose: String,
    pub instructions: String,
    pub input: String,
    pub temperature: f32,
}

type Answer = dyn Fn(usize, &Asked) -> Result<String> + Send + Sync;

/// A model that answers as told and remembers what it was asked.
pub struct Scripted {
    pub asked: Mutex<Vec<Asked>>,
    answer: Box<Answer>,
}

impl Scripted {
    pub fn new(
        answer: impl Fn(usize, &Asked) -> Result<String> + Send + Sync + 'static,
    ) -> Arc<Scripted> {
        Arc::new(Scripted { asked: Mutex::default(), answer: Box::new(answer) })
    }

    /// One that condenses: the first words of what it is given.
    pub fn good() -> Arc<Scripted> {
        Scripted::new(|_, asked| Ok(gist(asked)))
    }

    pub fn calls(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

/// A short text in the words of what was asked.
pub fn gist(asked: &Asked) -> String {
    let segment = asked.input.split("<segment>").nth(1).unwrap_or(&asked.input);
    let words: Vec<&str> = segment.split_whitespace().take(24).collect();
    words.join(" ")
}

impl Llm for Scripted {
    fn id(&self) -> &str {
        "scripted"
    }

    fn complete(&self, request: &LlmRequest<'_>) -> Result<LlmResponse> {
        let asked = Asked {
            purpose: request.purpose.to_owned(),
            instructions: request.instructions.to_owned(),
            input: request.input.to_owned(),
            temperature: request.temperature,
        };
        let number = {
            let mut all = self.asked.lock().unwrap();
            all.push(asked.clone());
            all.len()
        };
        (self.answer)(number, &asked).map(|text| LlmResponse { text, ..LlmResponse::default() })
    }
}

/// A handle with a model.
pub fn open_llm(space: &TestSpace, llm: Arc<dyn Llm>) -> Fixed {
    open_options(space, Options { llm: Some(llm), ..Options::default() })
}

/// A handle with a clock and ids of its own, and otherwise as told.
pub fn open_options(space: &TestSpace, options: Options) -> Fixed {
    let clock = clock();
    let options = Options {
        durability: Durability::Normal,
        clock: Arc::clone(&clock) as _,
        ids: ids(),
        ..options
    };
    let oneiro = Oneiro::open(&target(space), options).unwrap();
    model_writes_leaves(&oneiro);
    Fixed { oneiro, clock }
}

/// Has the model write every summary, however small.
pub fn model_writes_leaves(oneiro: &Oneiro) {
    let settings = oneiro.settings().list().unwrap();
    let is_set =
        |one: &oneiro::SettingValue| one.name == "model_chunk_tokens" && one.value == json!(1);
    if !settings.iter().any(is_set) {
        oneiro.settings().set("model_chunk_tokens", Some(json!(1))).unwrap();
    }
}

/// About this many tokens of plain sentences, different for every seed.
pub fn prose(seed: u64, tokens: usize) -> String {
    let words = words(seed + 1, (tokens / 2).max(1));
    let words: Vec<&str> = words.split(' ').collect();
    words.chunks(12).map(|chunk| format!("{}.", chunk.join(" "))).collect::<Vec<_>>().join(" ")
}

pub fn json_message(value: Value) -> NewMessage {
    NewMessage::from_json(value).unwrap()
}

pub fn user(text: impl Into<String>) -> NewMessage {
    NewMessage::text(Role::User, text)
}

pub fn agent(text: impl Into<String>) -> NewMessage {
    NewMessage::text(Role::Assistant, text)
}

/// An agent that calls tools beside a word of its own.
pub fn calls(ids: &[&str], text: &str) -> NewMessage {
    let call = |id: &&str| {
        json!({"id": id, "type": "function",
               "function": {"name": "read_file", "arguments": format!("{{\"path\":\"src/{id}.rs\"}}")}})
    };
    json_message(json!({"role": "assistant", "content": text,
                        "tool_calls": ids.iter().map(call).collect::<Vec<_>>()}))
}

pub fn result(id: &str, text: impl Into<String>) -> NewMessage {
    json_message(json!({"role": "tool", "tool_call_id": id, "content": text.into()}))
}

/// A picture without a word.
pub fn picture() -> NewMessage {
    json_message(json!({"role": "user", "content": [
        {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{}", "iVBORw0KGgo".repeat(40))}}]}))
}

pub fn begin(oneiro: &Oneiro, name: &str, said: Vec<NewMessage>) -> SessionId {
    let id = sid(name);
    oneiro.sessions().create(oneiro::NewSession::with_id(id.clone())).unwrap();
    oneiro.host().append(&id, said, None).unwrap();
    id
}

pub fn peek(oneiro: &Oneiro, id: &SessionId, budget: usize) -> Window {
    let request = WindowRequest { budget, peek: true, explain: true, ..WindowRequest::default() };
    oneiro.context().window(id, &request).unwrap()
}

pub fn until(oneiro: &Oneiro, id: &SessionId, tokens: usize) -> Compacted {
    oneiro.context().compact(id, &CompactRequest { until: Some(tokens), redo: false }).unwrap()
}

pub fn live(oneiro: &Oneiro, id: &SessionId) -> Vec<Message> {
    oneiro.sessions().show(id, false).unwrap().messages
}

/// Everything under something, page by page, each message once.
pub fn expand_all(
    oneiro: &Oneiro,
    id: &SessionId,
    what: &ExpandWhat,
    tokens: usize,
) -> Vec<Message> {
    let (mut found, mut cursor) = (Vec::new(), None);
    loop {
        let scope = ContextScope::Lineage(id.clone());
        let request = ExpandRequest { what: what.clone(), scope, tokens, cursor };
        let page = oneiro.context().expand(&request).unwrap();
        assert!(
            page.tokens <= tokens || page.messages.len() == 1,
            "{} messages",
            page.messages.len()
        );
        assert!(!page.messages.is_empty() || page.next.is_none(), "an empty page that goes on");
        found.extend(page.messages);
        cursor = page.next;
        if cursor.is_none() {
            let seqs: Vec<i64> = found.iter().map(|message| message.id.0).collect();
            assert!(seqs.is_sorted_by(|a, b| a < b), "out of order or twice: {seqs:?}");
            return found;
        }
    }
}

/// The messages that a window shows among the newest, by id.
pub fn shown_in(window: &Window) -> BTreeSet<i64> {
    let items = window.items.as_ref().expect("asked to explain").iter();
    let shown = items.filter(|item| item.kind == "message" && item.place == ItemPlace::In);
    shown.filter_map(|item| item.id.as_ref().and_then(Value::as_i64)).collect()
}

/// Every message that a window leads to, by summaries and by what it names as left out.
fn behind(oneiro: &Oneiro, id: &SessionId, window: &Window) -> Vec<Message> {
    let mut found = Vec::new();
    for summary in &window.summaries {
        let what = ExpandWhat::Summary(summary.to_string());
        found.extend(expand_all(oneiro, id, &what, EXPAND_TOKENS));
    }
    if let (Some(first), Some(last)) = (window.omitted.first, window.omitted.last) {
        let range = ExpandWhat::Range(first.into(), last.into());
        found.extend(expand_all(oneiro, id, &range, EXPAND_TOKENS));
    }
    found
}

/// Every message that a window shows or leads to.
pub fn in_reach(oneiro: &Oneiro, id: &SessionId, window: &Window) -> BTreeSet<i64> {
    let behind = behind(oneiro, id, window).into_iter().map(|message| message.id.0);
    behind.chain(shown_in(window)).collect()
}

/// The contents of everything in reach of a window.
pub fn words_in_reach(oneiro: &Oneiro, id: &SessionId, budget: usize) -> BTreeSet<String> {
    let window = peek(oneiro, id, budget);
    let scope = ContextScope::Lineage(id.clone());
    let word = |seq: i64| match oneiro.context().look_up(&seq.to_string(), &scope).unwrap() {
        oneiro::LookedUp::Message(message) => content(&message),
        other => panic!("{other:?}"),
    };
    let own: BTreeMap<i64, String> =
        live(oneiro, id).iter().map(|message| (message.id.0, content(message))).collect();
    let shown = shown_in(&window).into_iter();
    let shown = shown.map(|seq| own.get(&seq).cloned().unwrap_or_else(|| word(seq)));
    let behind = behind(oneiro, id, &window);
    behind.iter().map(content).chain(shown).collect()
}

/// The laws of a context in which nothing was taken back: it loses nothing, and its newest turn is
/// under no summary.
pub fn assert_context_rules(oneiro: &Oneiro, id: &SessionId) {
    let covered = assert_nothing_lost(oneiro, id);
    let live = live(oneiro, id);
    let newest = live.iter().rposition(|m| m.role == Role::User && !content(m).is_empty());
    for message in newest.map_or(&live[live.len()..], |newest| &live[newest..]) {
        assert!(!covered.contains(&message.id.0), "{} of the newest turn", message.id);
    }
}

/// The laws of any context: nothing live is out of reach at any budget; summaries are smaller than
/// what they cover, and cover it once and in order. Answers what is covered.
pub fn assert_nothing_lost(oneiro: &Oneiro, id: &SessionId) -> BTreeSet<i64> {
    assert_sound(oneiro);
    let live = live(oneiro, id);
    for budget in [500, 5_000, 1_000_000] {
        let window = peek(oneiro, id, budget);
        let found = in_reach(oneiro, id, &window);
        let lost: Vec<i64> =
            live.iter().map(|m| m.id.0).filter(|seq| !found.contains(seq)).collect();
        assert!(
            lost.is_empty(),
            "budget {budget}: {lost:?} are out of reach: {:?}",
            window.omitted
        );
    }
    let summaries = oneiro.context().summaries(id).unwrap();
    let own: Vec<&Summary> = summaries.iter().filter(|s| s.session_id == *id).collect();
    let shown: Vec<&&Summary> =
        own.iter().filter(|s| s.in_context && s.kind != SummaryKind::Written).collect();
    for pair in shown.windows(2) {
        assert!(pair[0].last_message < pair[1].first_message, "overlap or out of order");
    }
    let at: BTreeMap<i64, usize> = live.iter().enumerate().map(|(at, m)| (m.id.0, at)).collect();
    let mut covered = BTreeSet::new();
    for node in own.iter().filter(|s| s.kind != SummaryKind::Written) {
        assert!(node.tokens < node.source_tokens, "{} is not smaller", node.id);
        let what = ExpandWhat::Summary(node.id.to_string());
        let under = expand_all(oneiro, id, &what, 1_000_000);
        assert_eq!(under.len() as i64, node.message_count, "{}", node.id);
        assert_eq!(under.first().map(|m| m.id), node.first_message);
        assert_eq!(under.last().map(|m| m.id), node.last_message);
        if node.kind == SummaryKind::Condensed {
            // Only an overview stands in for a single root, where that does not fit.
            let is_root = |id: &SummaryId| summaries.iter().any(|s| s.id == *id && s.in_context);
            let is_overview = !node.in_context && node.children.iter().all(is_root);
            let is_enough = node.children.len() > 1 || is_overview;
            assert!(is_enough, "{} condenses one alone", node.id);
            continue;
        }
        for message in &under {
            assert!(covered.insert(message.id.0), "{} is under two leaves", message.id);
        }
        let places: Vec<usize> = under.iter().map(|m| at[&m.id.0]).collect();
        assert!(places.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{} has a hole", node.id);
        assert_pairs_kept(&live, (places[0], places[places.len() - 1]));
    }
    covered
}

/// A leaf from one place to another parts no call from results that follow it.
fn assert_pairs_kept(live: &[Message], (first, last): (usize, usize)) {
    for (at, message) in live.iter().enumerate() {
        let Some(calls) = message.body.get("tool_calls").and_then(Value::as_array) else {
            continue;
        };
        // An id may come again: a call has the first result of its id, and no later one.
        let mut ids: BTreeSet<&str> = calls.iter().filter_map(|call| call["id"].as_str()).collect();
        let results = live[at + 1..].iter().take_while(|m| m.role == Role::Tool);
        let inside = |at: usize| first <= at && at <= last;
        for (offset, result) in results.enumerate() {
            let call = result.body.get("tool_call_id").and_then(Value::as_str).unwrap_or_default();
            if ids.remove(call) {
                let parted = inside(at) != inside(at + 1 + offset);
                assert!(!parted, "call {call} is parted from its result");
            }
        }
    }
}

/// What a statement changes by hand.
pub fn by_hand(oneiro: &Oneiro, sql: &str) -> Vec<i64> {
    oneiro.store().write_bulk(|tx| tx.raw(sql)).unwrap_or_else(|error| panic!("{sql}: {error}"))
}
