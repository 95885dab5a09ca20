//! `oneiro bench context --data`: compacts conversations to a fraction of their size and measures
//! for every question whether the turns that answer it are still in the window, or how many
//! expansions reach them.

mod guide;
mod metrics;
mod view;

use crate::junk::Junk;
use crate::locomo::{self, Conversation};
use crate::machine;
use crate::search::percentile;
use metrics::{TracedEvidence, TracedQuestion};
use oneiro::{
    CompactRequest, Durability, Error, NewMessage, NewSession, Oneiro, Options, Result, Role,
    SessionId, SpaceName, Target, Window, WindowRequest,
};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::time::Instant;
use view::{StoredTurn, WindowView};

pub use metrics::{EvidenceMetrics, Steps, describe};

/// The configuration.
pub struct EvidenceRequest {
    /// The file of conversations.
    pub data: PathBuf,
    /// A conversation is compacted to its size divided by this.
    pub part: usize,
    /// How the engine opens its stores; the benchmark sets durability and models.
    pub options: Options,
}

/// The results.
#[derive(Debug, Clone, Serialize)]
pub struct Evidence {
    /// The machine.
    pub machine: String,
    /// The number of conversations.
    pub conversations: usize,
    /// The divisor of the size.
    pub part: usize,
    /// Tokens of all conversations.
    pub tokens: usize,
    /// Tokens of all windows.
    pub window_tokens: usize,
    /// Summaries in the windows.
    pub summaries: usize,
    /// The depth of the deepest summary.
    pub depth: i64,
    /// Megabytes of text compacted per second.
    pub compact_mb_per_s: f64,
    /// The median time of a window.
    pub window_p50_ms: f64,
    /// What the summaries say that they should not.
    pub junk: Junk,
    /// Over categories 1 to 4.
    #[serde(flatten)]
    pub metrics: EvidenceMetrics,
    /// By category; 5 has the questions without an answer.
    pub by_category: BTreeMap<u64, EvidenceMetrics>,
}

/// A budget that every conversation fits in.
const UNLIMITED_BUDGET: usize = 10_000_000;

/// Runs the benchmark.
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
        let held = LoadedConversation::load(&oneiro, conversation)?;
        asked.extend(held.trace_questions(conversation, request.part, &mut sums)?);
    }
    let of = |wanted: &dyn Fn(u64) -> bool| {
        EvidenceMetrics::of(asked.iter().filter(|one| wanted(one.category)))
    };
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
        window_p50_ms: percentile(&mut sums.windows, 0.5),
        junk: sums.junk,
        metrics: of(&|category| (1..=4).contains(&category)),
        by_category: categories.into_iter().map(|one| (one, of(&|other| other == one))).collect(),
    })
}

/// Sums over conversations.
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

/// A conversation in its own space, with all sittings in one session.
struct LoadedConversation<'a> {
    oneiro: &'a Oneiro,
    id: SessionId,
    /// The stored turns, in order.
    stored: Vec<StoredTurn>,
}

impl<'a> LoadedConversation<'a> {
    /// The first speaker is the user, the other the assistant, because a window is a chat.
    fn load(oneiro: &'a Oneiro, conversation: &Conversation) -> Result<LoadedConversation<'a>> {
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
                stored.push(StoredTurn {
                    message,
                    turn: turn.id.clone(),
                    text: turn.text.clone(),
                    speaker: turn.speaker.clone(),
                    tokens: 0,
                });
            }
        }
        view::count(oneiro, &id, &mut stored)?;
        Ok(LoadedConversation { oneiro, id, stored })
    }

    /// Compacts, assembles the window, and traces every piece of evidence.
    fn trace_questions(
        &self,
        conversation: &Conversation,
        part: usize,
        sums: &mut Sums,
    ) -> Result<Vec<TracedQuestion>> {
        let all = self.window(UNLIMITED_BUDGET)?;
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
        let view = WindowView::of(self.oneiro, &self.id, &window, &self.stored)?;
        sums.depth = sums.depth.max(view.depth);
        view.named.iter().for_each(|named| sums.junk.add(&named.content));
        let newest = view::truncate(&self.stored, 0, budget);
        let both_ends = view::truncate(&self.stored, budget / 2, budget - budget / 2);
        let mut guide = guide::Guide::of(&view, &[&newest, &both_ends]);
        let by_turn: HashMap<&str, &StoredTurn> =
            self.stored.iter().map(|one| (one.turn.as_str(), one)).collect();
        let trace = |question: &locomo::Asked| {
            let order = guide.order(&question.text);
            let evidence = question.evidence.iter().filter_map(|turn| by_turn.get(turn.as_str()));
            let traced = evidence.map(|stored| {
                let shown = view.shows(stored);
                let pages = if shown { Some(0) } else { view.pages_until(&stored.turn) };
                TracedEvidence {
                    shown,
                    pages,
                    guided: if shown { Some(0) } else { view.guided(&order, &stored.turn) },
                    newest: newest.turns.contains(&stored.turn),
                    both_ends: both_ends.turns.contains(&stored.turn),
                }
            });
            let evidence = traced.collect();
            TracedQuestion {
                category: question.category,
                evidence,
                answer: guide.answer(&question.answer),
            }
        };
        Ok(conversation.questions.iter().map(trace).collect())
    }

    fn window(&self, budget: usize) -> Result<Window> {
        let request =
            WindowRequest { budget, peek: true, explain: true, ..WindowRequest::default() };
        self.oneiro.context().window(&self.id, &request)
    }
}
