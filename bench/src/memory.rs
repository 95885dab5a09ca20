//! `oneiro bench memory`: learns from conversations by rules, and measures how much of the evidence for
//! their questions memories cite, how much of it packs show, and how much of what was learnt is junk.

use crate::junk::is_junk;
use crate::locomo::{self, Asked, Conversation};
use crate::machine;
use crate::search::percentile;
use oneiro::{
    Durability, Error, ExtractRequest, ListMemories, Memory, MemoryStatus, MessageId, Oneiro,
    Options, Pack, PackKind, PackRequest, Result, SearchRequest, SessionId, SpaceName, Target,
};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::time::Instant;

/// The budgets of the packs.
const BUDGETS: [usize; 2] = [800, 2_000];

/// Hits of a plain search: more than fit into the largest budget.
const HIT_LIMIT: usize = 200;

/// Memories of a page.
const PAGE: usize = 200;

/// Pieces of junk that are shown.
const EXAMPLES_MAX: usize = 12;

/// The configuration.
pub struct MemoryRequest {
    /// The file of conversations.
    pub data: PathBuf,
    /// The folder of the spaces, one per conversation; temporary if absent.
    pub store: Option<String>,
    /// How the engine opens its stores; the benchmark sets durability and models.
    pub options: Options,
}

/// The results. Shares are in percent of the evidence of categories 1 to 4.
#[derive(Debug, Clone, Serialize)]
pub struct MemoryResults {
    /// The machine.
    pub machine: String,
    /// Questions of categories 1 to 4.
    pub questions: usize,
    /// What was learnt.
    pub learnt: LearntMetrics,
    /// By the budget of the packs.
    pub packs: BTreeMap<usize, PackMetrics>,
}

/// What rules learnt.
#[derive(Debug, Clone, Default, Serialize)]
pub struct LearntMetrics {
    /// Active memories.
    pub active: usize,
    /// Candidates.
    pub candidates: usize,
    /// Evidence that an active memory or a candidate cites.
    pub cited: f64,
    /// Junk, in percent of active memories and candidates.
    pub junk: f64,
    /// Some of the junk.
    pub junk_examples: Vec<String>,
    /// Megabytes of text read per second.
    pub mb_per_s: f64,
}

/// What packs of one budget show.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PackMetrics {
    /// Evidence inside the packs.
    pub evidence: f64,
    /// Evidence inside the best hits of a plain search that fill the same budget.
    pub top_hits: f64,
    /// Evidence inside the newest messages that fill the same budget.
    pub newest: f64,
    /// Packs that are empty, in percent.
    pub empty: f64,
    /// Mean tokens of a pack.
    pub tokens: f64,
    /// The median time of a pack.
    pub p50_ms: f64,
    /// The 95th percentile.
    pub p95_ms: f64,
}

/// Runs the benchmark.
pub fn run(request: &MemoryRequest, say: &mut dyn FnMut(&str)) -> Result<MemoryResults> {
    let temporary = tempfile::tempdir().map_err(|error| Error::internal(error.to_string()))?;
    let store = match &request.store {
        Some(store) => store.clone(),
        None => temporary.path().to_string_lossy().into_owned(),
    };
    let options = Options { durability: Durability::Full, llm: None, ..request.options.clone() };
    let mut sums = Sums::default();
    for (number, conversation) in locomo::read(&request.data)?.iter().enumerate() {
        say(&format!("conversation {number}"));
        let space = SpaceName::new(&format!("memory-{number}"))?;
        let oneiro = Oneiro::open(&Target::parse(&store, Some(&space))?, options.clone())?;
        locomo::load(&oneiro, conversation, "")?;
        let learnt = LearntConversation::learn(&oneiro, conversation, &mut sums)?;
        for asked in conversation.questions.iter().filter(|asked| (1..=4).contains(&asked.category))
        {
            learnt.measure(asked, &mut sums)?;
        }
    }
    Ok(sums.results())
}

/// A stored message.
struct StoredTurn {
    id: MessageId,
    turn: String,
    tokens: usize,
}

/// A conversation in its own space, and what was learnt from it.
struct LearntConversation<'a> {
    oneiro: &'a Oneiro,
    /// In the order of the conversation.
    turns: Vec<StoredTurn>,
    /// The turns that a memory cites, by its id.
    cited: HashMap<String, Vec<String>>,
}

impl<'a> LearntConversation<'a> {
    fn learn(oneiro: &'a Oneiro, conversation: &Conversation, sums: &mut Sums) -> Result<Self> {
        let texts: HashMap<&str, String> = (conversation.sessions.iter())
            .flat_map(|talk| &talk.turns)
            .map(|turn| (turn.id.as_str(), format!("{}: {}", turn.speaker, turn.text)))
            .collect();
        let mut turns = Vec::new();
        for talk in &conversation.sessions {
            let id = SessionId::new(format!("session-{}", talk.number))?;
            for message in oneiro.sessions().show(&id, true)?.messages {
                let turn = message.external_id.unwrap_or_default();
                let text = texts.get(turn.as_str()).map_or("", String::as_str);
                turns.push(StoredTurn { id: message.id, tokens: oneiro_count::tokens(text), turn });
            }
        }
        sums.bytes += texts.values().map(String::len).sum::<usize>();
        let started = Instant::now();
        oneiro.learning().extract(&ExtractRequest::default())?;
        sums.seconds += started.elapsed().as_secs_f64();
        let named: HashMap<i64, &str> =
            turns.iter().map(|turn| (turn.id.0, turn.turn.as_str())).collect();
        let mut cited = HashMap::new();
        for memory in believed(oneiro)? {
            sums.count(&memory);
            let turns = memory.citations.iter().filter_map(|citation| citation.message_id);
            let turns = turns.filter_map(|id| named.get(&id.0)).map(|turn| (*turn).to_owned());
            cited.insert(memory.id.to_string(), turns.collect());
        }
        Ok(LearntConversation { oneiro, turns, cited })
    }

    fn measure(&self, asked: &Asked, sums: &mut Sums) -> Result<()> {
        let wanted: HashSet<&str> = asked.evidence.iter().map(String::as_str).collect();
        let share = |there: HashSet<&str>| {
            wanted.intersection(&there).count() as f64 / wanted.len().max(1) as f64
        };
        sums.questions += 1;
        sums.cited += share(self.cited.values().flatten().map(String::as_str).collect());
        let search = SearchRequest { limit: HIT_LIMIT, ..SearchRequest::new(&asked.text) };
        let hits = self.oneiro.search().run(&search)?.hits;
        let found = hits.iter().filter_map(|hit| self.turns.iter().find(|turn| turn.id == hit.id));
        let found: Vec<&StoredTurn> = found.collect();
        for budget in BUDGETS {
            let request = PackRequest { budget, ..PackRequest::new(&asked.text) };
            let started = Instant::now();
            let pack = self.oneiro.packs().make(&request)?;
            let seconds = started.elapsed().as_secs_f64();
            let sum = sums.packs.entry(budget).or_default();
            sum.times.push(seconds * 1_000.0);
            sum.empty += usize::from(pack.items.is_empty());
            sum.tokens += pack.tokens;
            sum.evidence += share(self.turns_in(&pack));
            sum.top_hits += share(within(budget, found.iter().copied()));
            sum.newest += share(within(budget, self.turns.iter().rev()));
        }
        Ok(())
    }

    /// The turns that a pack shows, or that its memories cite.
    fn turns_in(&self, pack: &Pack) -> HashSet<&str> {
        let mut shown = HashSet::new();
        for item in &pack.items {
            match item.kind {
                PackKind::Message => {
                    let found = self.turns.iter().find(|turn| turn.id.to_string() == item.id);
                    shown.extend(found.map(|turn| turn.turn.as_str()));
                }
                _ => {
                    shown.extend(self.cited.get(&item.id).into_iter().flatten().map(String::as_str))
                }
            }
        }
        shown
    }
}

/// Every active memory and every candidate.
fn believed(oneiro: &Oneiro) -> Result<Vec<Memory>> {
    let mut memories = Vec::new();
    for status in [MemoryStatus::Active, MemoryStatus::Candidate] {
        let mut cursor = None;
        loop {
            let request = ListMemories {
                status: Some(status),
                limit: PAGE,
                cursor,
                ..ListMemories::default()
            };
            let page = oneiro.memories().list(&request)?;
            memories.extend(page.items);
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
    }
    Ok(memories)
}

/// The first turns that fit into a budget; one that does not fit is left out.
fn within<'t>(budget: usize, turns: impl Iterator<Item = &'t StoredTurn>) -> HashSet<&'t str> {
    let mut left = budget;
    let mut taken = HashSet::new();
    for turn in turns {
        if turn.tokens < left {
            left -= turn.tokens + 1;
            taken.insert(turn.turn.as_str());
        }
    }
    taken
}

/// Sums over questions.
#[derive(Default)]
struct Sums {
    questions: usize,
    active: usize,
    candidates: usize,
    junk: usize,
    junk_examples: Vec<String>,
    cited: f64,
    bytes: usize,
    seconds: f64,
    packs: BTreeMap<usize, PackSums>,
}

#[derive(Default)]
struct PackSums {
    evidence: f64,
    top_hits: f64,
    newest: f64,
    empty: usize,
    tokens: usize,
    times: Vec<f64>,
}

impl Sums {
    fn count(&mut self, memory: &Memory) {
        match memory.status {
            MemoryStatus::Active => self.active += 1,
            _ => self.candidates += 1,
        }
        if is_junk(&memory.content) {
            self.junk += 1;
            if self.junk_examples.len() < EXAMPLES_MAX {
                self.junk_examples.push(memory.content.clone());
            }
        }
    }

    fn results(self) -> MemoryResults {
        let questions = self.questions.max(1) as f64;
        let rounded = |value: f64| (value * 100.0).round() / 100.0;
        let percent = |sum: f64| rounded(100.0 * sum / questions);
        let packs = self.packs.into_iter().map(|(budget, mut sum)| {
            let metrics = PackMetrics {
                evidence: percent(sum.evidence),
                top_hits: percent(sum.top_hits),
                newest: percent(sum.newest),
                empty: percent(sum.empty as f64),
                tokens: rounded(sum.tokens as f64 / questions),
                p50_ms: percentile(&mut sum.times, 0.5),
                p95_ms: percentile(&mut sum.times, 0.95),
            };
            (budget, metrics)
        });
        let memories = (self.active + self.candidates).max(1) as f64;
        MemoryResults {
            machine: machine::describe(),
            questions: self.questions,
            packs: packs.collect(),
            learnt: LearntMetrics {
                active: self.active,
                candidates: self.candidates,
                cited: percent(self.cited),
                junk: rounded(100.0 * self.junk as f64 / memories),
                junk_examples: self.junk_examples,
                mb_per_s: rounded(self.bytes as f64 / 1e6 / self.seconds.max(1e-9)),
            },
        }
    }
}

/// Formats the metrics for people.
pub fn describe(results: &MemoryResults) -> String {
    let learnt = &results.learnt;
    let mut lines = vec![
        format!("{}, {} questions", results.machine, results.questions),
        format!(
            "learnt: {} active, {} candidates; they cite {:.2} % of the evidence; {:.2} % junk; \
             {:.2} MB/s",
            learnt.active, learnt.candidates, learnt.cited, learnt.junk, learnt.mb_per_s
        ),
    ];
    lines.extend(learnt.junk_examples.iter().map(|example| format!("  junk: {example}")));
    lines.push(
        "budget   pack %   top hits %   newest %   empty %   tokens   p50 ms   p95 ms".to_owned(),
    );
    lines.extend(results.packs.iter().map(|(budget, pack)| {
        format!(
            "{budget:>6} {:>8.2} {:>12.2} {:>10.2} {:>9.2} {:>8.0} {:>8.2} {:>8.2}",
            pack.evidence,
            pack.top_hits,
            pack.newest,
            pack.empty,
            pack.tokens,
            pack.p50_ms,
            pack.p95_ms
        )
    }));
    lines.join("\n")
}
