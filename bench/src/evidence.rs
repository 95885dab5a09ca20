//! `oneiro bench context --data`: conversations are compacted to a part of their size, and for every
//! question it is looked up whether the turns that answer it are still in the window, or reached by
//! expanding what the window names, and in how many steps.

mod figures;
mod guide;
mod view;

use crate::junk::Junk;
use crate::locomo::{self, Conversation};
use crate::machine;
use crate::search::share;
use figures::{Asked, Traced};
use oneiro::{
    CompactRequest, Durability, Error, NewMessage, NewSession, Oneiro, Options, Result, Role,
    SessionId, SpaceName, Target, Window, WindowRequest,
};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::time::Instant;
use view::{Stored, View};

pub use figures::{Figures, Steps, describe};

/// What to measure.
pub struct EvidenceRequest {
    /// The file of conversations.
    pub data: PathBuf,
    /// A conversation is compacted to one part in so many of its tokens.
    pub part: usize,
    /// How the engine opens its stores; durability and models are as the benchmark needs them.
    pub options: Options,
}

/// What was measured.
#[derive(Debug, Clone, Serialize)]
pub struct Evidence {
    /// On what.
    pub machine: String,
    /// Conversations read.
    pub conversations: usize,
    /// Of their tokens, one part in so many was left.
    pub part: usize,
    /// Tokens of all conversations.
    pub tokens: usize,
    /// Tokens of all windows.
    pub window_tokens: usize,
    /// Summaries that the windows show.
    pub summaries: usize,
    /// How deep the deepest of them is.
    pub depth: i64,
    /// Text compacted per second, in millions of bytes.
    pub compact_mb_per_s: f64,
    /// Half of the windows took no longer.
    pub window_p50_ms: f64,
    /// What the summaries say that they should not.
    pub junk: Junk,
    /// Over categories 1 to 4.
    #[serde(flatten)]
    pub figures: Figures,
    /// The same by category; 5 holds the questions that have no answer.
    pub by_category: BTreeMap<u64, Figures>,
}

/// A budget that any conversation fits.
const EVERYTHING: usize = 10_000_000;

/// Measures.
pub fn run(request: &EvidenceRequest, say: &mut dyn FnMut(&str)) -> Result<Evidence> {
    let folder = tempfile::tempdir().map_err(|error| Error::internal(error.to_string()))?;
    let store = folder.path().to_string_lossy().into_owned();
    let options = Options { durability: Durability::Full, llm: None, ..request.options.clone() };
    let data = locomo::read(&request.data)?;
    let mut asked = Vec::new();
    let mut sums = Sums::default();
    for (number, conversation) in data.iter().enumerate() {
        say(&format!("conversation {number}"));
        let space = SpaceName::new(&format!("evidence-{number}"))?;
        let oneiro = Oneiro::open(&Target::parse(&store, Some(&space))?, options.clone())?;
        let held = Held::load(&oneiro, conversation)?;
        asked.extend(held.ask(conversation, request.part, &mut sums)?);
    }
    let of =
        |wanted: &dyn Fn(u64) -> bool| Figures::of(asked.iter().filter(|one| wanted(one.category)));
    let categories: HashSet<u64> = asked.iter().map(|one| one.category).collect();
    Ok(Evidence {
        machine: machine::describe(),
        conversations: data.len(),
        part: request.part,
        tokens: sums.tokens,
        window_tokens: sums.window_tokens,
        summaries: sums.summaries,
        depth: sums.depth,
        compact_mb_per_s: (sums.bytes as f64 / 1e4 / sums.seconds.max(1e-9)).round() / 100.0,
        window_p50_ms: share(&mut sums.windows, 0.5),
        junk: sums.junk,
        figures: of(&|category| (1..=4).contains(&category)),
        by_category: categories.into_iter().map(|one| (one, of(&|other| other == one))).collect(),
    })
}

/// What is summed up over conversations.
#[derive(Default)]
struct Sums {
    tokens: usize,
    window_tokens: usize,
    summaries: usize,
    depth: i64,
    bytes: usize,
    seconds: f64,
    windows: Vec<f64>,
    junk: Junk,
}

/// A conversation in a space of its own, all sittings in one session.
struct Held<'a> {
    oneiro: &'a Oneiro,
    id: SessionId,
    /// What was stored, in order.
    stored: Vec<Stored>,
}

impl<'a> Held<'a> {
    /// Who speaks first is the person, the other the agent: a window has to be one of a chat.
    fn load(oneiro: &'a Oneiro, conversation: &Conversation) -> Result<Held<'a>> {
        let id = SessionId::new("conversation")?;
        oneiro.sessions().create(NewSession::with_id(id.clone()))?;
        let mut stored = Vec::new();
        let turns = conversation.sessions.iter().flat_map(|talk| &talk.turns);
        let person = turns.clone().next().map(|turn| turn.speaker.as_str());
        for talk in &conversation.sessions {
            let message = |turn: &locomo::Turn| {
                let is_person = person == Some(turn.speaker.as_str());
                let role = if is_person { Role::User } else { Role::Assistant };
                let mut message = NewMessage::text(role, &turn.text);
                message.body.insert("name".to_owned(), turn.speaker.as_str().into());
                message.at(talk.at).external_id(&turn.id)
            };
            let appended =
                oneiro.messages().append(&id, talk.turns.iter().map(message).collect())?;
            for (turn, message) in talk.turns.iter().zip(appended.ids) {
                stored.push(Stored {
                    message,
                    turn: turn.id.clone(),
                    text: turn.text.clone(),
                    speaker: turn.speaker.clone(),
                    tokens: 0,
                });
            }
        }
        view::count(oneiro, &id, &mut stored)?;
        Ok(Held { oneiro, id, stored })
    }

    /// Compacts, assembles the window, and follows every piece of evidence.
    fn ask(&self, conversation: &Conversation, part: usize, sums: &mut Sums) -> Result<Vec<Asked>> {
        let all = self.window(EVERYTHING)?;
        let budget = (all.tokens / part.max(1)).max(1);
        let started = Instant::now();
        let request = CompactRequest { until: Some(budget), redo: false };
        self.oneiro.context().compact(&self.id, &request)?;
        sums.seconds += started.elapsed().as_secs_f64();
        sums.bytes += self.stored.iter().map(|one| one.text.len()).sum::<usize>();
        let started = Instant::now();
        let window = self.window(budget)?;
        sums.windows.push(started.elapsed().as_secs_f64() * 1_000.0);
        sums.tokens += all.tokens;
        sums.window_tokens += window.tokens;
        sums.summaries += window.summaries.len();
        let view = View::of(self.oneiro, &self.id, (&window, &self.stored))?;
        sums.depth = sums.depth.max(view.depth);
        view.named.iter().for_each(|named| sums.junk.add(&named.content));
        let newest = view::truncated(&self.stored, (0, budget));
        let both_ends = view::truncated(&self.stored, (budget / 2, budget - budget / 2));
        let mut guide = guide::Guide::of(&view, &[&newest, &both_ends]);
        let by_turn: HashMap<&str, &Stored> =
            self.stored.iter().map(|one| (one.turn.as_str(), one)).collect();
        let trace = |question: &locomo::Asked| {
            let order = guide.order(&question.text);
            let evidence = question.evidence.iter().filter_map(|turn| by_turn.get(turn.as_str()));
            let traced = evidence.map(|stored| {
                let shown = view.shows(stored);
                let pages = if shown { Some(0) } else { view.pages_until(&stored.turn) };
                Traced {
                    shown,
                    pages,
                    guided: if shown { Some(0) } else { view.guided(&order, &stored.turn) },
                    newest: newest.turns.contains(&stored.turn),
                    both_ends: both_ends.turns.contains(&stored.turn),
                }
            });
            let evidence = traced.collect();
            Asked { category: question.category, evidence, answer: guide.answer(&question.answer) }
        };
        Ok(conversation.questions.iter().map(trace).collect())
    }

    fn window(&self, budget: usize) -> Result<Window> {
        let request =
            WindowRequest { budget, peek: true, explain: true, ..WindowRequest::default() };
        self.oneiro.context().window(&self.id, &request)
    }
}
