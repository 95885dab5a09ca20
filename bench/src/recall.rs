//! `oneiro bench recall`: appends conversations, searches for their questions, and measures how
//! much of the evidence is found.

mod agents;

use crate::locomo::{self, Asked, Conversation};
use crate::search::percentile;
use crate::{agents as transcripts, dataset, distractors};
use oneiro::{Error, Found, Oneiro, Options, Result, SearchRequest, SpaceName, Target};
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::time::Instant;

pub use agents::{AgentRecall, AskedQuestion, Confidence, GroupMetrics, Ranks};

/// Whose questions to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// For tuning weights: conversations 0, 2, 4, 6, 8; transcripts of the half `tune`.
    Dev,
    /// For reporting; nothing may be tuned on them: 1, 3, 5, 7, 9; the half `held_out`.
    Test,
    /// All of them.
    All,
}

/// The configuration.
pub struct RecallRequest {
    /// The file of conversations or transcripts.
    pub data: PathBuf,
    /// Whose questions to ask.
    pub split: Split,
    /// The folder of the spaces, one per conversation; temporary if absent.
    pub store: Option<String>,
    /// Score everything that matches, to see what the limits cost.
    pub exhaustive: bool,
    /// Generated messages to add; with any, all conversations share one space.
    pub distractors: usize,
    /// How the engine opens its stores.
    pub options: Options,
}

/// Recall in percent.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RecallMetrics {
    /// Questions asked.
    pub questions: usize,
    /// Evidence among the first five hits.
    #[serde(rename = "recall@5")]
    pub recall_5: f64,
    /// Evidence among the first ten hits.
    #[serde(rename = "recall@10")]
    pub recall_10: f64,
    /// Evidence among the first twenty hits.
    #[serde(rename = "recall@20")]
    pub recall_20: f64,
    /// The mean reciprocal rank of the first piece of evidence.
    pub mrr: f64,
    /// NDCG of the first ten hits.
    #[serde(rename = "ndcg@10")]
    pub ndcg_10: f64,
    /// Sessions with evidence among the first five distinct sessions.
    #[serde(rename = "session_recall@5")]
    pub session_recall_5: f64,
}

/// The results.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Recall {
    /// Of LoCoMo's conversations.
    Conversations(ConversationRecall),
    /// Of transcripts of agents.
    Agents(Box<AgentRecall>),
}

/// The results for LoCoMo's conversations.
#[derive(Debug, Clone, Serialize)]
pub struct ConversationRecall {
    /// Over categories 1 to 4.
    #[serde(flatten)]
    pub figures: RecallMetrics,
    /// By category; 5 has the questions without an answer.
    pub by_category: BTreeMap<u64, RecallMetrics>,
    /// Median latency.
    pub p50_ms: f64,
    /// 95th percentile latency.
    pub p95_ms: f64,
}

const HIT_LIMIT: usize = 20;

/// Runs the benchmark that fits the data.
pub fn run(request: &RecallRequest, say: &mut dyn FnMut(&str)) -> Result<Recall> {
    let temporary = tempfile::tempdir().map_err(|error| Error::internal(error.to_string()))?;
    let store = match &request.store {
        Some(store) => store.clone(),
        None => temporary.path().to_string_lossy().into_owned(),
    };
    let list = dataset::read_list(&request.data)?;
    if transcripts::is_transcripts(&list) {
        let data = transcripts::parse(&request.data, list)?;
        let measured = agents::run(request, &store, &data, say)?;
        return Ok(Recall::Agents(Box::new(measured)));
    }
    let data = locomo::parse(&request.data, &list)?;
    run_conversations(request, &store, &data, say).map(Recall::Conversations)
}

fn run_conversations(
    request: &RecallRequest,
    store: &str,
    data: &[Conversation],
    say: &mut dyn FnMut(&str),
) -> Result<ConversationRecall> {
    let mut asked: Vec<(u64, RecallMetrics)> = Vec::new();
    let mut times = Vec::new();
    let shared = match request.distractors {
        0 => None,
        count => {
            let space = SpaceName::new("locomo-all")?;
            let target = Target::parse(store, Some(&space))?;
            let oneiro = Oneiro::open(&target, request.options.clone())?;
            // A space that was filled before is reused.
            if oneiro.stats()?.messages == 0 {
                say("distractors");
                distractors::add(&oneiro, data, count)?;
            }
            Some(oneiro)
        }
    };
    for (number, conversation) in data.iter().enumerate() {
        let wanted = match request.split {
            Split::Dev => number % 2 == 0,
            Split::Test => number % 2 == 1,
            Split::All => true,
        };
        if !wanted {
            continue;
        }
        say(&format!("conversation {number}"));
        let oneiro = match &shared {
            Some(oneiro) => oneiro.clone(),
            None => {
                let space = SpaceName::new(&format!("locomo-{number}"))?;
                Oneiro::open(&Target::parse(store, Some(&space))?, request.options.clone())?
            }
        };
        let prefix = if shared.is_some() { format!("{number}/") } else { String::new() };
        locomo::load(&oneiro, conversation, &prefix)?;
        for question in &conversation.questions {
            let search = SearchRequest {
                limit: HIT_LIMIT,
                exhaustive: request.exhaustive,
                ..SearchRequest::new(&question.text)
            };
            let started = Instant::now();
            let found = oneiro.search().run(&search)?;
            times.push(started.elapsed().as_secs_f64() * 1_000.0);
            asked.push((question.category, measure(question, &prefix, &found)));
        }
    }
    let mut by_category: BTreeMap<u64, Vec<&RecallMetrics>> = BTreeMap::new();
    for (category, figures) in &asked {
        by_category.entry(*category).or_default().push(figures);
    }
    let answerable = asked.iter().filter(|(category, _)| (1..=4).contains(category));
    Ok(ConversationRecall {
        figures: mean(answerable.map(|(_, figures)| figures)),
        by_category: by_category
            .into_iter()
            .map(|(category, figures)| (category, mean(figures.into_iter())))
            .collect(),
        p50_ms: percentile(&mut times, 0.5),
        p95_ms: percentile(&mut times, 0.95),
    })
}

fn measure(asked: &Asked, prefix: &str, found: &Found) -> RecallMetrics {
    let id = |id: Option<&String>| id.and_then(|id| id.strip_prefix(prefix).map(str::to_owned));
    let ids: Vec<String> =
        (found.hits.iter()).map(|hit| id(hit.external_id.as_ref()).unwrap_or_default()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let wanted: HashSet<&str> = asked.evidence.iter().map(String::as_str).collect();
    let recall = |first: usize| {
        let there = ids.iter().take(first).filter(|id| wanted.contains(**id)).count();
        there as f64 / wanted.len().max(1) as f64
    };
    let first = ids.iter().position(|id| wanted.contains(id));
    let gain = |rank: usize| 1.0 / ((rank + 2) as f64).log2();
    let gained: f64 = (0..ids.len().min(10))
        .filter(|rank| ids.get(*rank).is_some_and(|id| wanted.contains(id)))
        .map(gain)
        .sum();
    let ideal: f64 = (0..wanted.len().min(10)).map(gain).sum();
    let mut sessions: Vec<&str> = Vec::new();
    for session in ids.iter().filter_map(|id| id.split(':').next()) {
        if !sessions.contains(&session) {
            sessions.push(session);
        }
    }
    let of: HashSet<&str> = wanted.iter().filter_map(|id| id.split(':').next()).collect();
    let there = sessions.iter().take(5).filter(|session| of.contains(**session)).count();
    RecallMetrics {
        questions: 1,
        recall_5: recall(5),
        recall_10: recall(10),
        recall_20: recall(20),
        mrr: first.map_or(0.0, |rank| 1.0 / (rank + 1) as f64),
        ndcg_10: if ideal > 0.0 { gained / ideal } else { 0.0 },
        session_recall_5: there as f64 / of.len().max(1) as f64,
    }
}

fn mean<'f>(all: impl Iterator<Item = &'f RecallMetrics>) -> RecallMetrics {
    let mut sum = RecallMetrics::default();
    for one in all {
        sum.questions += one.questions;
        sum.recall_5 += one.recall_5;
        sum.recall_10 += one.recall_10;
        sum.recall_20 += one.recall_20;
        sum.mrr += one.mrr;
        sum.ndcg_10 += one.ndcg_10;
        sum.session_recall_5 += one.session_recall_5;
    }
    let percent = |value: f64| (10_000.0 * value / sum.questions.max(1) as f64).round() / 100.0;
    RecallMetrics {
        questions: sum.questions,
        recall_5: percent(sum.recall_5),
        recall_10: percent(sum.recall_10),
        recall_20: percent(sum.recall_20),
        mrr: percent(sum.mrr),
        ndcg_10: percent(sum.ndcg_10),
        session_recall_5: percent(sum.session_recall_5),
    }
}

/// Formats the metrics for people.
pub fn describe(recall: &Recall) -> String {
    match recall {
        Recall::Conversations(recall) => describe_conversations(recall),
        Recall::Agents(recall) => agents::describe(recall),
    }
}

fn describe_conversations(recall: &ConversationRecall) -> String {
    let line = |name: &str, f: &RecallMetrics| {
        format!(
            "{name:<12} {:>5} {:>7.2} {:>7.2} {:>7.2} {:>7.2} {:>7.2} {:>7.2}",
            f.questions, f.recall_5, f.recall_10, f.recall_20, f.mrr, f.ndcg_10, f.session_recall_5
        )
    };
    let mut lines = vec![
        "category     asked     r@5    r@10    r@20     mrr  ndcg10  sess@5".to_owned(),
        line("1 to 4", &recall.figures),
    ];
    lines.extend(recall.by_category.iter().map(|(number, f)| line(&number.to_string(), f)));
    lines.push(format!("p50 {:.2} ms, p95 {:.2} ms", recall.p50_ms, recall.p95_ms));
    lines.join("\n")
}
