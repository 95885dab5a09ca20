//! Recall over transcripts of agents: all of them in one space, compared with plain FTS5.

use super::{RecallRequest, Split};
use crate::agents::{Half, Holder, Kind, Question, Transcript, message_text};
use crate::search::percentile;
use oneiro::{
    Error, Found, NewSession, Oneiro, Result, SearchRequest, SessionId, SpaceName, Target,
};
use rusqlite::{Connection, params};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Instant;

/// Hits that are asked for; those after the tenth only show how far down an answer is.
const HIT_LIMIT: usize = 20;

/// A share of questions in percent, or a mean of 0 to 1 as percent.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Ranks {
    /// The share of the gold messages that are among the first ten hits.
    #[serde(rename = "recall@10")]
    pub recall_10: f64,
    /// The mean reciprocal rank of the first gold message.
    pub mrr: f64,
    /// Questions whose first hit is a gold message.
    pub first_hit: f64,
}

/// The search beside plain FTS5 with an OR of the words.
#[derive(Debug, Clone, Default, Serialize)]
pub struct GroupMetrics {
    /// Questions with an answer.
    pub questions: usize,
    /// Ours.
    #[serde(flatten)]
    pub oneiro: Ranks,
    /// SQLite's, over the same messages.
    pub fts5: Ranks,
}

/// How well `found` of the answers says whether something was found.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Confidence {
    /// Questions with an answer that are called `strong`.
    pub strong: f64,
    /// Of these, those with a gold message among the first three hits.
    pub strong_right: f64,
    /// Questions about things never said that are called `strong`.
    pub never_said_strong: f64,
    /// Questions about things never said.
    pub never_said: usize,
}

/// One question, and where its answer is.
#[derive(Debug, Clone, Serialize)]
pub struct AskedQuestion {
    /// The transcript.
    pub transcript: String,
    /// The transcript's half.
    pub half: Half,
    /// The transcript's domain.
    pub domain: String,
    /// What is asked for.
    pub kind: Kind,
    /// The language of the question.
    pub language: String,
    /// Whether the transcript is in another language.
    pub is_across_languages: bool,
    /// Who holds the answer.
    pub holder: Option<Holder>,
    /// The question.
    pub text: String,
    /// The messages that answer it, as transcript/index.
    pub gold: Vec<String>,
    /// The first three hits.
    pub hits: Vec<String>,
    /// Ranks of the gold messages, from 1; those after the last hit are missing.
    pub ranks: Vec<usize>,
    /// The same with FTS5.
    pub fts5_ranks: Vec<usize>,
    /// What the answer says of how sure it is.
    pub found: Option<String>,
}

/// The results.
#[derive(Debug, Clone, Serialize)]
pub struct AgentRecall {
    /// Transcripts in the space.
    pub transcripts: usize,
    /// Messages in the space.
    pub messages: usize,
    /// All questions with an answer.
    #[serde(flatten)]
    pub all: GroupMetrics,
    /// By half.
    pub by_half: BTreeMap<Half, GroupMetrics>,
    /// By what is asked for.
    pub by_kind: BTreeMap<Kind, GroupMetrics>,
    /// By who holds the answer.
    pub by_holder: BTreeMap<Holder, GroupMetrics>,
    /// By the language of the question.
    pub by_language: BTreeMap<String, GroupMetrics>,
    /// Questions in another language than their transcript.
    pub across_languages: GroupMetrics,
    /// By domain.
    pub by_domain: BTreeMap<String, GroupMetrics>,
    /// How well the answers say whether something was found, by half; empty if they do not say.
    pub found_by_half: BTreeMap<Half, Confidence>,
    /// Median latency.
    pub p50_ms: f64,
    /// 95th percentile latency.
    pub p95_ms: f64,
    /// Every question.
    pub asked: Vec<AskedQuestion>,
}

/// Runs the benchmark.
pub(super) fn run(
    request: &RecallRequest,
    store: &str,
    transcripts: &[Transcript],
    say: &mut dyn FnMut(&str),
) -> Result<AgentRecall> {
    if request.distractors > 0 {
        return Err(Error::field("distractors", "is not available for transcripts")
            .remedy("leave it out, or give locomo10.json"));
    }
    let target = Target::parse(store, Some(&SpaceName::new("agents")?))?;
    let oneiro = Oneiro::open(&target, request.options.clone())?;
    say(&format!("append {} transcripts", transcripts.len()));
    append_transcripts(&oneiro, transcripts)?;
    let fts5 = PlainFts5::of(transcripts)?;
    let is_wanted = |half: Half| match request.split {
        Split::Dev => half == Half::Tune,
        Split::Test => half == Half::HeldOut,
        Split::All => true,
    };
    say("ask their questions");
    let mut asked = Vec::new();
    let mut times = Vec::new();
    for transcript in transcripts.iter().filter(|one| is_wanted(one.half)) {
        for question in &transcript.questions {
            let search = SearchRequest {
                limit: HIT_LIMIT,
                exhaustive: request.exhaustive,
                ..SearchRequest::new(&question.text)
            };
            let started = Instant::now();
            let found = oneiro.search().run(&search)?;
            times.push(started.elapsed().as_secs_f64() * 1_000.0);
            let reference = fts5.search(&question.text)?;
            asked.push(AskedQuestion::new(transcript, question, &found, &reference));
        }
    }
    let answered = || asked.iter().filter(|one| !one.gold.is_empty());
    Ok(AgentRecall {
        transcripts: transcripts.len(),
        messages: transcripts.iter().map(|one| one.messages.len()).sum(),
        all: GroupMetrics::of(answered()),
        by_half: grouped(answered(), |one| Some(one.half)),
        by_kind: grouped(answered(), |one| Some(one.kind)),
        by_holder: grouped(answered(), |one| one.holder),
        by_language: grouped(answered(), |one| Some(one.language.clone())),
        across_languages: GroupMetrics::of(answered().filter(|one| one.is_across_languages)),
        by_domain: grouped(answered(), |one| Some(one.domain.clone())),
        found_by_half: Confidence::by_half(&asked),
        p50_ms: percentile(&mut times, 0.5),
        p95_ms: percentile(&mut times, 0.95),
        asked,
    })
}

fn message_id(transcript: &Transcript, index: usize) -> String {
    format!("{}/{index}", transcript.id)
}

/// Appends every transcript as a session. Repeated appends add nothing.
fn append_transcripts(oneiro: &Oneiro, transcripts: &[Transcript]) -> Result<()> {
    for transcript in transcripts {
        let id = SessionId::new(transcript.id.clone())?;
        let messages = transcript.messages.iter().enumerate();
        let messages = messages
            .map(|(index, message)| message.clone().external_id(message_id(transcript, index)));
        let started_at = transcript.messages.first().and_then(|message| message.at);
        let create = NewSession { started_at, ..NewSession::with_id(id.clone()) };
        oneiro.messages().append_or_create(&id, messages.collect(), create)?;
    }
    oneiro.index().catch_up(&mut |_, _| {})
}

/// The reference: SQLite's FTS5 as it comes, asked for any of the words.
struct PlainFts5(Connection);

impl PlainFts5 {
    fn of(transcripts: &[Transcript]) -> Result<PlainFts5> {
        let raw = Connection::open_in_memory().map_err(fts5_error)?;
        raw.execute_batch("CREATE VIRTUAL TABLE messages USING fts5(id UNINDEXED, text); BEGIN")
            .map_err(fts5_error)?;
        for transcript in transcripts {
            for (index, message) in transcript.messages.iter().enumerate() {
                let sql = "INSERT INTO messages (id, text) VALUES (?1, ?2)";
                let text = message_text(message).unwrap_or_default();
                let id = message_id(transcript, index);
                raw.execute(sql, params![id, text]).map_err(fts5_error)?;
            }
        }
        raw.execute_batch("COMMIT").map_err(fts5_error)?;
        Ok(PlainFts5(raw))
    }

    /// The ids of the hits, best first.
    fn search(&self, question: &str) -> Result<Vec<String>> {
        let words = question.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let any: Vec<String> = words.map(|word| format!("\"{word}\"")).collect();
        // FTS5 refuses an empty expression.
        if any.is_empty() {
            return Ok(Vec::new());
        }
        let sql = "SELECT id FROM messages WHERE messages MATCH ?1 ORDER BY rank LIMIT ?2";
        let mut query = self.0.prepare_cached(sql).map_err(fts5_error)?;
        let rows = query
            .query_map(params![any.join(" OR "), HIT_LIMIT as i64], |row| row.get(0))
            .map_err(fts5_error)?;
        rows.collect::<rusqlite::Result<_>>().map_err(fts5_error)
    }
}

fn fts5_error(error: rusqlite::Error) -> Error {
    Error::internal(format!("plain FTS5: {error}")).because(error)
}

impl AskedQuestion {
    fn new(
        transcript: &Transcript,
        question: &Question,
        found: &Found,
        fts5: &[String],
    ) -> AskedQuestion {
        let hits: Vec<String> =
            found.hits.iter().map(|hit| hit.external_id.clone().unwrap_or_default()).collect();
        let gold: Vec<String> =
            question.gold.iter().map(|index| message_id(transcript, *index)).collect();
        AskedQuestion {
            transcript: transcript.id.clone(),
            half: transcript.half,
            domain: transcript.domain.clone(),
            kind: question.kind,
            language: question.language.clone(),
            is_across_languages: question.language != transcript.language,
            holder: question.holder,
            text: question.text.clone(),
            ranks: ranks(&hits, &gold),
            fts5_ranks: ranks(fts5, &gold),
            gold,
            hits: hits.into_iter().take(3).collect(),
            found: confidence_label(found),
        }
    }

    fn is_strong(&self) -> bool {
        self.found.as_deref() == Some("strong")
    }
}

/// What an answer says of how sure it is, read as a client reads it.
fn confidence_label(found: &Found) -> Option<String> {
    let answer = serde_json::to_value(found).ok()?;
    Some(answer.get("found")?.as_str()?.to_owned())
}

/// The ranks of the gold messages among the hits, from 1.
fn ranks(hits: &[String], gold: &[String]) -> Vec<usize> {
    (1..).zip(hits).filter(|(_, hit)| gold.contains(hit)).map(|(rank, _)| rank).collect()
}

impl Ranks {
    fn of<'a>(all: impl Iterator<Item = (&'a [usize], usize)>) -> Ranks {
        let mut sum = Ranks::default();
        let mut questions = 0;
        for (ranks, gold) in all {
            questions += 1;
            let found = ranks.iter().filter(|rank| **rank <= 10).count();
            sum.recall_10 += found as f64 / gold.max(1) as f64;
            sum.mrr += ranks.first().map_or(0.0, |rank| 1.0 / *rank as f64);
            sum.first_hit += f64::from(u8::from(ranks.first() == Some(&1)));
        }
        Ranks {
            recall_10: percent(sum.recall_10, questions),
            mrr: percent(sum.mrr, questions),
            first_hit: percent(sum.first_hit, questions),
        }
    }
}

/// `sum` of `count` in percent, with one decimal.
fn percent(sum: f64, count: usize) -> f64 {
    (1_000.0 * sum / count.max(1) as f64).round() / 10.0
}

impl GroupMetrics {
    fn of<'a>(asked: impl Iterator<Item = &'a AskedQuestion> + Clone) -> GroupMetrics {
        GroupMetrics {
            questions: asked.clone().count(),
            oneiro: Ranks::of(asked.clone().map(|one| (&one.ranks[..], one.gold.len()))),
            fts5: Ranks::of(asked.map(|one| (&one.fts5_ranks[..], one.gold.len()))),
        }
    }
}

fn grouped<'a, K: Ord>(
    asked: impl Iterator<Item = &'a AskedQuestion>,
    key: impl Fn(&AskedQuestion) -> Option<K>,
) -> BTreeMap<K, GroupMetrics> {
    let mut groups: BTreeMap<K, Vec<&AskedQuestion>> = BTreeMap::new();
    for one in asked {
        if let Some(key) = key(one) {
            groups.entry(key).or_default().push(one);
        }
    }
    groups.into_iter().map(|(key, all)| (key, GroupMetrics::of(all.into_iter()))).collect()
}

impl Confidence {
    fn by_half(asked: &[AskedQuestion]) -> BTreeMap<Half, Confidence> {
        let mut halves: BTreeMap<Half, Vec<&AskedQuestion>> = BTreeMap::new();
        for one in asked.iter().filter(|one| one.found.is_some()) {
            halves.entry(one.half).or_default().push(one);
        }
        halves.into_iter().map(|(half, asked)| (half, Confidence::of(&asked))).collect()
    }

    fn of(asked: &[&AskedQuestion]) -> Confidence {
        let count = |wanted: &dyn Fn(&AskedQuestion) -> bool| {
            asked.iter().filter(|one| wanted(one)).count()
        };
        let strong = count(&|one| one.is_strong());
        let never_said = count(&|one| one.gold.is_empty());
        let never_said_strong = count(&|one| one.is_strong() && one.gold.is_empty());
        let right =
            count(&|one| one.is_strong() && one.ranks.first().is_some_and(|rank| *rank <= 3));
        let answered_strong = strong - never_said_strong;
        Confidence {
            strong: percent(answered_strong as f64, asked.len() - never_said),
            strong_right: percent(right as f64, answered_strong),
            never_said_strong: percent(never_said_strong as f64, never_said),
            never_said,
        }
    }
}

/// Formats the metrics for people.
pub(super) fn describe(recall: &AgentRecall) -> String {
    let mut lines = vec![
        format!("{} transcripts, {} messages, one space", recall.transcripts, recall.messages),
        "                        oneiro              FTS5, any word".to_owned(),
        "               asked    r@10   mrr first    r@10   mrr first".to_owned(),
        line("all", &recall.all),
    ];
    add_group(&mut lines, &recall.by_half);
    add_group(&mut lines, &recall.by_kind);
    add_group(&mut lines, &recall.by_holder);
    add_group(&mut lines, &recall.by_language);
    lines.push(line("other language", &recall.across_languages));
    add_group(&mut lines, &recall.by_domain);
    lines.push(String::new());
    for (half, one) in &recall.found_by_half {
        lines.push(format!(
            "{:<14} strong {:.1} %, of these right in the first three {:.1} %; of {} questions \
             about things never said {:.1} % strong",
            label(half),
            one.strong,
            one.strong_right,
            one.never_said,
            one.never_said_strong
        ));
    }
    lines.push(format!("p50 {:.2} ms, p95 {:.2} ms", recall.p50_ms, recall.p95_ms));
    lines.join("\n")
}

fn line(name: &str, group: &GroupMetrics) -> String {
    let (ours, fts5) = (&group.oneiro, &group.fts5);
    format!(
        "{name:<14} {:>5}   {:>5.1} {:>5.1} {:>5.1}   {:>5.1} {:>5.1} {:>5.1}",
        group.questions,
        ours.recall_10,
        ours.mrr,
        ours.first_hit,
        fts5.recall_10,
        fts5.mrr,
        fts5.first_hit
    )
}

fn add_group(lines: &mut Vec<String>, groups: &BTreeMap<impl Serialize, GroupMetrics>) {
    lines.push(String::new());
    lines.extend(groups.iter().map(|(key, group)| line(&label(key), group)));
}

/// The name of a group as JSON has it.
fn label(key: &impl Serialize) -> String {
    match serde_json::to_value(key) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(gold: &[&str], ranks: &[usize], found: Option<&str>) -> AskedQuestion {
        AskedQuestion {
            transcript: "tea".into(),
            half: Half::Tune,
            domain: "household".into(),
            kind: Kind::Value,
            language: "en".into(),
            is_across_languages: false,
            holder: None,
            text: "which temperature?".into(),
            gold: gold.iter().map(|id| (*id).to_owned()).collect(),
            hits: Vec::new(),
            ranks: ranks.to_vec(),
            fts5_ranks: Vec::new(),
            found: found.map(str::to_owned),
        }
    }

    #[test]
    fn confidence_counts_strong_answers_that_are_right_and_those_to_things_never_said() {
        let questions = [
            asked(&["tea/0"], &[2], Some("strong")),
            asked(&["tea/0"], &[4], Some("strong")),
            asked(&["tea/0"], &[1], Some("weak")),
            asked(&["tea/0"], &[], Some("none")),
            asked(&[], &[], Some("strong")),
            asked(&[], &[], Some("none")),
        ];
        let confidence = &Confidence::by_half(&questions)[&Half::Tune];
        assert_eq!(confidence.strong, 50.0);
        assert_eq!(confidence.strong_right, 50.0);
        assert_eq!(confidence.never_said_strong, 50.0);
        assert_eq!(confidence.never_said, 2);
    }

    #[test]
    fn answers_that_do_not_say_how_sure_they_are_have_no_confidence() {
        assert!(Confidence::by_half(&[asked(&["tea/0"], &[1], None)]).is_empty());
    }

    #[test]
    fn ranks_count_the_share_of_gold_in_ten_hits_and_the_first_of_it() {
        let group = GroupMetrics::of([asked(&["a", "b"], &[2, 11], None)].iter());
        assert_eq!((group.oneiro.recall_10, group.oneiro.mrr), (50.0, 50.0));
        assert_eq!((group.oneiro.first_hit, group.fts5.recall_10), (0.0, 0.0));
    }
}
