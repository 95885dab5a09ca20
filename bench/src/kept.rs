//! `oneiro bench context --work`: transcripts of agents at work are compacted to a part of their
//! size, and it is looked up how many decisions, corrections and outcomes of a list made by hand
//! are still in the summaries.

use crate::junk::Junk;
use crate::machine;
use oneiro::{
    CompactRequest, Durability, Error, ListSessions, NewMessage, NewSession, Oneiro, Options,
    Result, Role, SessionId, SpaceName, Target, Visibility, WindowRequest,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;

/// What to measure.
pub struct KeptRequest<'a> {
    /// The file of transcripts.
    pub data: PathBuf,
    /// A transcript is compacted to one part in this many of its tokens.
    pub part: usize,
    /// How the engine opens its stores; durability and models are as the benchmark needs them.
    pub options: Options,
    /// Fills a space with the demonstration.
    pub fill_demo: &'a dyn Fn(&Oneiro) -> Result<()>,
}

/// A transcript, and what a summary of it should keep.
#[derive(Debug, Deserialize)]
struct Case {
    name: String,
    #[serde(default)]
    messages: Vec<Value>,
    /// Instead of messages: the sessions of a project of the demonstration, one after the other.
    demo_project: Option<String>,
    /// Each a list of phrases that all have to be there.
    keep: Vec<Vec<String>>,
}

/// What was measured.
#[derive(Debug, Clone, Serialize)]
pub struct Kept {
    /// On what.
    pub machine: String,
    /// Of the tokens, one part in this many was left.
    pub part: usize,
    /// Statements that should be kept.
    pub statements: usize,
    /// How many of them are, in percent.
    pub kept_percent: f64,
    /// What the summaries say that they should not.
    pub junk: Junk,
    /// Each transcript.
    pub transcripts: Vec<Transcript>,
}

/// What was measured of one transcript.
#[derive(Debug, Clone, Serialize)]
pub struct Transcript {
    /// Its name in the file.
    pub name: String,
    /// Its tokens in a window.
    pub tokens: usize,
    /// Those of its summaries.
    pub summary_tokens: i64,
    /// Statements that should be kept.
    pub statements: usize,
    /// How many of them are.
    pub kept: usize,
    /// The phrases that are missing.
    pub missing: Vec<String>,
}

/// A budget that any transcript fits.
const EVERYTHING: usize = 10_000_000;

/// Tokens of a context that are no part of its summaries: what explains them, and the newest turn.
const AROUND_SUMMARIES_TOKENS: usize = 150;

/// Measures.
pub fn run(request: &KeptRequest<'_>, say: &mut dyn FnMut(&str)) -> Result<Kept> {
    let bad = |why: String| Error::field("work", format!("{}: {why}", request.data.display()));
    let bytes = std::fs::read(&request.data).map_err(|error| bad(error.to_string()))?;
    let cases: Vec<Case> =
        serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string()))?;
    let folder = tempfile::tempdir().map_err(|error| Error::internal(error.to_string()))?;
    let spaces = Spaces {
        store: folder.path().to_string_lossy().into_owned(),
        options: Options { durability: Durability::Full, llm: None, ..request.options.clone() },
    };
    let mut junk = Junk::default();
    let mut transcripts = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        say(&case.name);
        let messages = match &case.demo_project {
            Some(project) => spaces.demo_messages(project, request.fill_demo)?,
            None => {
                case.messages.iter().cloned().map(NewMessage::from_json).collect::<Result<_>>()?
            }
        };
        let compacted = spaces.compacted(&format!("work-{number}"), messages, request.part)?;
        compacted.summaries.iter().for_each(|summary| junk.add(summary));
        transcripts.push(compacted.transcript(case));
    }
    let statements = transcripts.iter().map(|one| one.statements).sum::<usize>();
    let kept = transcripts.iter().map(|one| one.kept).sum::<usize>();
    Ok(Kept {
        machine: machine::describe(),
        part: request.part,
        statements,
        kept_percent: (1e3 * kept as f64 / statements.max(1) as f64).round() / 10.0,
        junk,
        transcripts,
    })
}

/// Where transcripts are stored, each in a space of its own.
struct Spaces {
    store: String,
    options: Options,
}

/// A transcript under summaries.
struct Compacted {
    tokens: usize,
    summary_tokens: i64,
    summaries: Vec<String>,
}

impl Spaces {
    fn open(&self, space: &str) -> Result<Oneiro> {
        let space = SpaceName::new(space)?;
        Oneiro::open(&Target::parse(&self.store, Some(&space))?, self.options.clone())
    }

    /// The messages of a project of the demonstration, in order.
    fn demo_messages(
        &self,
        project: &str,
        fill_demo: &dyn Fn(&Oneiro) -> Result<()>,
    ) -> Result<Vec<NewMessage>> {
        let oneiro = self.open("demo")?;
        fill_demo(&oneiro)?;
        let request = ListSessions {
            limit: 1_000,
            all: true,
            id_prefix: Some(format!("demo-{project}")),
            ..ListSessions::default()
        };
        let mut messages = Vec::new();
        for session in oneiro.sessions().list(&request)?.items {
            messages.extend(oneiro.sessions().show(&session.id, false)?.messages);
        }
        messages.retain(|message| message.visibility == Visibility::Live);
        messages.sort_by_key(|message| (message.at, message.id));
        Ok(messages
            .into_iter()
            .map(|message| {
                let mut new = NewMessage::text(message.role, "");
                new.body = message.body;
                new.at(message.at)
            })
            .collect())
    }

    /// Puts messages under summaries of one part in this many of their tokens.
    fn compacted(&self, space: &str, messages: Vec<NewMessage>, part: usize) -> Result<Compacted> {
        let oneiro = self.open(space)?;
        let id = SessionId::new("work")?;
        oneiro.sessions().create(NewSession::with_id(id.clone()))?;
        oneiro.messages().append(&id, messages)?;
        let window = WindowRequest { budget: EVERYTHING, peek: true, ..WindowRequest::default() };
        let tokens = oneiro.context().window(&id, &window)?.tokens;
        // The newest turn is never summarised.
        oneiro.messages().append(&id, vec![NewMessage::text(Role::User, "Next.")])?;
        for (name, value) in [
            ("leaf_chunk_tokens", tokens * 2),
            ("leaf_target_tokens", tokens / part.max(1)),
            ("leaf_min_fanout", 2),
            ("fresh_tail_turns", 1),
        ] {
            oneiro.settings().set(name, Some(Value::from(value)))?;
        }
        let until = tokens / part.max(1) + AROUND_SUMMARIES_TOKENS;
        oneiro.context().compact(&id, &CompactRequest { until: Some(until), redo: false })?;
        let summaries = oneiro.context().summaries(&id)?;
        Ok(Compacted {
            tokens,
            summary_tokens: summaries.iter().map(|one| one.tokens).sum(),
            summaries: summaries.into_iter().map(|one| one.content).collect(),
        })
    }
}

impl Compacted {
    fn transcript(&self, case: &Case) -> Transcript {
        let text = self.summaries.join("\n").to_lowercase();
        let is_kept = |phrases: &&Vec<String>| {
            phrases.iter().all(|phrase| text.contains(&phrase.to_lowercase()))
        };
        let missing = case.keep.iter().filter(|phrases| !is_kept(phrases));
        let missing: Vec<String> = missing.map(|phrases| phrases.join(", ")).collect();
        Transcript {
            name: case.name.clone(),
            tokens: self.tokens,
            summary_tokens: self.summary_tokens,
            statements: case.keep.len(),
            kept: case.keep.len() - missing.len(),
            missing,
        }
    }
}

/// The metrics as people read them.
pub fn describe(kept: &Kept) -> String {
    let mut lines = vec![format!(
        "kept at one part in {}: {:.1} % of {} statements",
        kept.part, kept.kept_percent, kept.statements
    )];
    lines.extend(kept.transcripts.iter().map(|one| {
        let missing = if one.missing.is_empty() {
            String::new()
        } else {
            format!("   missing: {}", one.missing.join("; "))
        };
        format!(
            "{:<16} {:>6} tokens in {:>5}   {:>2} of {:>2}{missing}",
            one.name, one.tokens, one.summary_tokens, one.kept, one.statements
        )
    }));
    lines.push(kept.junk.describe());
    lines.join("\n")
}
