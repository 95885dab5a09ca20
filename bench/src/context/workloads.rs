//! The workloads of seahorse's own benchmark, on disk with durable commits: small sessions, as an
//! agent has them most of the time.

use super::said::{Made, Said};
use super::{Times, beside};
use crate::processes::target;
use crate::raw::{Raw, RawRow, tokens};
use oneiro::{
    CompactRequest, ContextScope, Error, GrepRequest, NewMessage, NewSession, Oneiro, Options,
    Result, Role, SessionId, WindowRequest,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Calls of a workload that writes.
const WRITES: usize = 300;

/// Calls of one that reads.
const READS: usize = 200;

/// Measures each.
pub(super) fn run(
    (folder, options): (&Path, &Options),
    say: &mut dyn FnMut(&str),
) -> Result<BTreeMap<&'static str, Times>> {
    let small = Small { folder, options };
    let mut found = BTreeMap::new();
    let mut add = |name: &'static str, times: Times| {
        found.insert(name, times);
    };
    say("ingest");
    add("ingest_single_message", small.ingest_single()?);
    add("ingest_batch_messages", small.new_sessions(("batch", 10), WRITES)?);
    add("bootstrap_empty", small.new_sessions(("empty", 0), WRITES)?);
    add("bootstrap_100", small.new_sessions(("hundred", 100), 60)?);
    add("bootstrap_500", small.new_sessions(("five-hundred", 500), 30)?);
    say("assemble");
    add("assemble_messages_only", small.assemble(&shape("only", (0, 0, 0), (100, 8, 50_000)))?);
    add(
        "assemble_with_summaries",
        small.assemble(&shape("some", (10, 1_500, 500), (20, 60, 10_000)))?,
    );
    add(
        "assemble_budget_eviction",
        small.assemble(&shape("many", (50, 900, 300), (32, 8, 5_000)))?,
    );
    say("search");
    let (words, substring) = small.search_summaries()?;
    add("search_summaries_word", words);
    add("search_summaries_substring", substring);
    add("search_messages", small.search_messages()?);
    say("session store");
    add("store_add_message", small.add_message()?);
    add("store_get_history_100", small.history(100)?);
    add("store_get_history_1000", small.history(1_000)?);
    Ok(found)
}

/// What a session is like when its window is assembled.
struct Shape {
    name: &'static str,
    /// Leaf summaries.
    leaves: usize,
    /// Tokens of messages under each, and of the leaf itself.
    chunk: usize,
    target: usize,
    /// Messages after them, and the words of each.
    messages: usize,
    words: usize,
    budget: usize,
}

fn shape(
    name: &'static str,
    (leaves, chunk, target): (usize, usize, usize),
    (messages, words, budget): (usize, usize, usize),
) -> Shape {
    Shape { name, leaves, chunk, target, messages, words, budget }
}

struct Small<'a> {
    folder: &'a Path,
    options: &'a Options,
}

impl Small<'_> {
    fn open(&self, name: &str) -> Result<(Oneiro, Raw)> {
        let file = |end: &str| self.folder.join(format!("{name}{end}"));
        let oneiro = Oneiro::open(&target(&file(".db"))?, self.options.clone())?;
        Ok((oneiro, Raw::open(&file("-raw.db"))?))
    }

    fn ingest_single(&self) -> Result<Times> {
        let (oneiro, raw) = self.open("single")?;
        let id = SessionId::new("growing")?;
        oneiro.sessions().create(NewSession::with_id(id.clone()))?;
        let session = raw.session("growing")?;
        let mut said = Said::new(1);
        let made: Vec<Made> = (0..=WRITES).map(|_| said.words(10)).collect();
        let bodies: Vec<String> = made.iter().map(Made::body).collect();
        beside(
            WRITES,
            |n| oneiro.messages().append(&id, vec![one(&made, n)?.message()?]).map(|_| ()),
            |n| insert(&raw, session, one(&bodies, n)?),
        )
    }

    /// New sessions, each with its messages in one call.
    fn new_sessions(&self, (name, messages): (&str, usize), count: usize) -> Result<Times> {
        let (oneiro, raw) = self.open(name)?;
        let mut said = Said::new(2);
        let made: Vec<Made> = (0..messages).map(|_| said.words(10)).collect();
        let bodies: Vec<String> = made.iter().map(Made::body).collect();
        beside(
            count,
            |n| {
                let id = SessionId::new(format!("{name}-{n}"))?;
                let session = NewSession::with_id(id.clone());
                match messages {
                    0 => oneiro.sessions().create(session).map(|_| ()),
                    _ => oneiro
                        .messages()
                        .append_or_create(&id, appended(&made)?, session)
                        .map(|_| ()),
                }
            },
            |n| raw.session_with(&format!("{name}-{n}"), &bodies).map(|_| ()),
        )
    }

    /// A session of a shape, compacted as far as that needs, and its raw twin.
    fn shaped(&self, shape: &Shape) -> Result<(Oneiro, Raw, SessionId)> {
        let (oneiro, raw) = self.open(shape.name)?;
        let id = SessionId::new(shape.name)?;
        oneiro.sessions().create(NewSession::with_id(id.clone()))?;
        let mut said = Said::new(3);
        if shape.leaves > 0 {
            for (name, value) in [
                ("leaf_chunk_tokens", shape.chunk),
                ("leaf_target_tokens", shape.target),
                ("leaf_min_fanout", 2),
                ("condensed_min_fanout", 1_000),
                ("fresh_tail_turns", 1),
            ] {
                oneiro.settings().set(name, Some(Value::from(value)))?;
            }
            let mut leaves = 0;
            // A leaf comes of each round but the first few; many more rounds mean none ever will.
            for _ in 0..shape.leaves * 4 + 8 {
                let words = shape.chunk / 60 + 1;
                let made: Vec<Made> = (0..words / 2).map(|_| said.words(60)).collect();
                oneiro.messages().append(&id, appended(&made)?)?;
                oneiro.context().compact(&id, &CompactRequest::default())?;
                leaves = oneiro.context().summaries(&id)?.len();
                if leaves >= shape.leaves {
                    break;
                }
            }
            if leaves < shape.leaves {
                return Err(Error::internal(format!("only {leaves} leaves were made")));
            }
        }
        let made: Vec<Made> = (0..shape.messages).map(|_| said.words(shape.words)).collect();
        oneiro.messages().append(&id, appended(&made)?)?;
        Ok((oneiro, raw, id))
    }

    /// Windows of a shape, beside reading as many rows and taking them apart. They are peeks: a
    /// context over its budget would be compacted, and be another after the first of them.
    fn assemble(&self, shape: &Shape) -> Result<Times> {
        let (oneiro, raw, id) = self.shaped(shape)?;
        let request =
            WindowRequest { budget: shape.budget, peek: true, ..WindowRequest::default() };
        let window = oneiro.context().window(&id, &request)?;
        let rows = window.messages.len() + window.summaries.len();
        let mut said = Said::new(3);
        let session = raw.session_with(
            shape.name,
            &(0..rows.max(shape.messages)).map(|_| said.words(60).body()).collect::<Vec<_>>(),
        )?;
        beside(
            READS,
            |_| {
                oneiro
                    .context()
                    .window(&id, &request)
                    .map(|window| drop(std::hint::black_box(window)))
            },
            |_| raw.newest(session, rows).map(|_| ()),
        )
    }

    /// A word, and a part of one, in a hundred summaries.
    fn search_summaries(&self) -> Result<(Times, Times)> {
        let (oneiro, raw, id) = self.shaped(&shape("summaries", (100, 900, 300), (8, 8, 5_000)))?;
        let summaries = oneiro.context().summaries(&id)?;
        let session = raw.session("summaries")?;
        let contents: Vec<&str> = summaries.iter().map(|one| one.content.as_str()).collect();
        let tokens: Vec<String> = contents.iter().map(|text| tokens(text)).collect();
        let row = |(body, tokens)| RawRow { session, external_id: None, body, tokens };
        let rows = contents.iter().zip(&tokens);
        let rows: Vec<RawRow<'_>> =
            rows.map(|(body, tokens)| row((*body, Some(tokens.as_str())))).collect();
        raw.insert(&rows, usize::MAX)?;
        let long = |text: &&str| text.split(' ').find(|word| word.len() > 5).map(str::to_owned);
        let words: Vec<String> =
            contents.iter().filter_map(long).map(|word| letters(&word)).collect();
        let grep = |pattern: String| {
            let summaries_alone = GrepRequest { messages: false, ..grep(&id, pattern) };
            oneiro.search().grep(&summaries_alone).map(|_| ())
        };
        let words_found = beside(
            READS,
            |n| grep(around(&words, n)?.clone()),
            |n| raw.search_all(around(&words, n)?).map(|_| ()),
        )?;
        let part = |n: usize| Ok(around(&words, n)?.get(1..).unwrap_or_default().to_owned());
        let parts_found = beside(
            READS,
            |n| grep(format!("/{}/", part(n)?)),
            |n| raw.scan(session, &pattern(&part(n)?)?).map(|_| ()),
        )?;
        Ok((words_found, parts_found))
    }

    fn search_messages(&self) -> Result<Times> {
        let (oneiro, raw) = self.open("messages")?;
        let id = SessionId::new("messages")?;
        let mut said = Said::new(4);
        let made: Vec<Made> = (0..500).map(|_| said.words(60)).collect();
        oneiro.messages().append_or_create(
            &id,
            appended(&made)?,
            NewSession::with_id(id.clone()),
        )?;
        oneiro.index().catch_up(&mut |_, _| {})?;
        let session = raw.session("messages")?;
        let bodies: Vec<(String, String)> =
            made.iter().map(|made| (made.body(), tokens(made.content()))).collect();
        let row = |(body, tokens)| RawRow { session, external_id: None, body, tokens };
        let rows: Vec<RawRow<'_>> = bodies
            .iter()
            .map(|(body, tokens)| row((body.as_str(), Some(tokens.as_str()))))
            .collect();
        raw.insert(&rows, usize::MAX)?;
        let words: Vec<String> = made.iter().map(|made| two_words(made.content())).collect();
        beside(
            READS,
            |n| {
                let request = GrepRequest { summaries: false, ..grep(&id, around(&words, n)?) };
                oneiro.search().grep(&request).map(|_| ())
            },
            |n| raw.search_all(around(&words, n)?).map(|_| ()),
        )
    }

    fn add_message(&self) -> Result<Times> {
        let (oneiro, raw) = self.open("store")?;
        let id = SessionId::new("growing")?;
        let session = raw.session("growing")?;
        let mut said = Said::new(5);
        let made: Vec<Made> = (0..=WRITES).map(|_| said.words(10)).collect();
        let bodies: Vec<String> = made.iter().map(Made::body).collect();
        beside(
            WRITES,
            |n| {
                let message = NewMessage::text(Role::User, one(&made, n)?.content());
                let session = NewSession::with_id(id.clone());
                oneiro.messages().append_or_create(&id, vec![message], session).map(|_| ())
            },
            |n| insert(&raw, session, one(&bodies, n)?),
        )
    }

    fn history(&self, messages: usize) -> Result<Times> {
        let (oneiro, raw) = self.open(&format!("history-{messages}"))?;
        let id = SessionId::new("history")?;
        let mut said = Said::new(6);
        let made: Vec<Made> = (0..messages).map(|_| said.words(10)).collect();
        oneiro.messages().append_or_create(
            &id,
            appended(&made)?,
            NewSession::with_id(id.clone()),
        )?;
        let session =
            raw.session_with("history", &made.iter().map(Made::body).collect::<Vec<_>>())?;
        beside(
            READS,
            |_| {
                oneiro
                    .sessions()
                    .show(&id, false)
                    .map(|history| drop(std::hint::black_box(history)))
            },
            |_| raw.newest(session, messages).map(|_| ()),
        )
    }
}

/// Messages as the engine takes them.
pub(super) fn appended(made: &[Made]) -> Result<Vec<NewMessage>> {
    made.iter().map(Made::message).collect()
}

/// A grep within a session's lineage.
pub(super) fn grep(id: &SessionId, pattern: impl Into<String>) -> GrepRequest {
    GrepRequest {
        pattern: pattern.into(),
        scope: ContextScope::Lineage(id.clone()),
        messages: true,
        summaries: true,
        roles: Vec::new(),
        project: None,
        since: None,
        until: None,
        limit: 20,
    }
}

/// Two of the longer words of a text.
pub(super) fn two_words(text: &str) -> String {
    let words: Vec<String> =
        text.split(' ').filter(|word| word.len() > 4).take(2).map(letters).collect();
    words.join(" ")
}

fn letters(word: &str) -> String {
    word.chars().filter(char::is_ascii_alphanumeric).collect()
}

pub(super) fn pattern(text: &str) -> Result<regex::Regex> {
    regex::Regex::new(text).map_err(|error| Error::internal(error.to_string()))
}

fn insert(raw: &Raw, session: i64, body: &str) -> Result<()> {
    raw.insert(&[RawRow { session, external_id: None, body, tokens: None }], 1)
}

fn one<T>(all: &[T], index: usize) -> Result<&T> {
    all.get(index).ok_or_else(|| Error::internal("the benchmark has too few of something"))
}

/// One of some, over and over.
pub(super) fn around<T>(all: &[T], index: usize) -> Result<&T> {
    one(all, index % all.len().max(1))
}
