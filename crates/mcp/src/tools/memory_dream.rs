//! `memory_dream`: consolidates what was learnt, or says what it would change; and what dreams did and why.

use super::{Answer, Call, Hints, Profile, Tool, never};
use crate::TokenRole;
use crate::arguments::{Given, input_schema};
use crate::recalled;
use oneiro::contract::Request;
use oneiro::views::Dreams;
use oneiro::{
    Dream, DreamRequest, DreamVerdict, Error, ExplainedCandidate, ListCandidates, PageOf, Result,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Maximum tokens of an answer.
const ANSWER_TOKENS: usize = 2_000;

/// Dreams and waiting candidates that are listed.
const MAX_LISTED: usize = 10;

/// What to do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    #[default]
    Run,
    List,
    Show,
    Explain,
}

/// The arguments of a call.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Arguments {
    action: Action,
    /// Whether to change anything; otherwise it only tells what it would change.
    apply: bool,
    #[schemars(length(max = 200))]
    id: Option<String>,
}

impl Request for Arguments {}

pub(super) const TOOL: Tool = Tool {
    name: "memory_dream",
    title: "Dream",
    description: "Consolidate memory when the user asks: what earned a place in MEMORY.md, what is \
                  superseded or retired. A dry run unless apply. Or list dreams, show one, explain a \
                  candidate. Only the user undoes.",
    input,
    output,
    hints: Hints { read_only: false, idempotent: false, ..Hints::READ_ONLY },
    role: TokenRole::Write,
    profile: Profile::Host,
    may_call_model: never,
    run,
};

fn input() -> Value {
    input_schema::<Arguments>(&[
        ("apply", "Change MEMORY.md".to_owned()),
        ("id", "dream to show; candidate or words to explain".to_owned()),
    ])
}

fn output() -> Value {
    let text = json!({"type": "string"});
    json!({
        "type": "object",
        "properties": {
            "ids": {"type": "array", "items": text},
            "outcome": text, "dream_id": text, "counts": {"type": "object"},
        },
        "required": ["ids"],
    })
}

fn run(call: &Call) -> Result<Answer> {
    let given = Given::<Arguments>::read(&call.arguments)?.request;
    let dreams = call.caller.oneiro.dreams();
    match given.action {
        Action::Run => dream(dreams, given.apply),
        Action::List => list(dreams),
        Action::Show => show(dreams, named(&given)?),
        Action::Explain => explain(dreams, named(&given)?),
    }
}

fn named(request: &Arguments) -> Result<&str> {
    let id = request.id.as_deref().map(str::trim).filter(|id| !id.is_empty());
    id.ok_or_else(|| Error::field("id", "is missing").remedy("take one from action list"))
}

fn dream(dreams: Dreams<'_>, apply: bool) -> Result<Answer> {
    let run = dreams.run(&DreamRequest { apply: Some(apply), ..DreamRequest::default() })?;
    let dream = run.dream.as_ref();
    let ids: Vec<_> = dream.map(|detail| &detail.dream.id).into_iter().collect();
    let structured = json!({
        "ids": ids,
        "outcome": run.outcome,
        "dream_id": dream.map(|detail| &detail.dream.id),
        "counts": dream.map(|detail| &detail.dream.counts),
    });
    let diary = dream.map(|detail| detail.diary.clone()).unwrap_or_default();
    Ok(Answer::text(format!("{}: {}\n\n{diary}", run.outcome.as_str(), run.reason), structured))
}

/// The last dreams, and the candidates that wait.
fn list(dreams: Dreams<'_>) -> Result<Answer> {
    let page = dreams.list(&PageOf { limit: MAX_LISTED, ..PageOf::default() })?;
    let waiting = ListCandidates {
        decision: Some(DreamVerdict::Waiting),
        limit: MAX_LISTED,
        ..ListCandidates::default()
    };
    let waiting = dreams.candidates(&waiting)?;
    let ids: Vec<&str> = page.items.iter().map(|dream| dream.id.as_str()).collect();
    let ids: Vec<&str> =
        ids.into_iter().chain(waiting.items.iter().map(|one| one.id.as_str())).collect();
    let candidates = waiting.items.iter().map(|one| {
        recalled::one_line(&format!("{} waits: {} ({})", one.id, one.claim, one.reason))
    });
    let lines: Vec<String> = page.items.iter().map(dream_line).chain(candidates).collect();
    if lines.is_empty() {
        return Ok(Answer::text("No dreams yet.".to_owned(), json!({"ids": ids})));
    }
    Ok(Answer::text(recalled::delimit_within(&lines, ANSWER_TOKENS), json!({"ids": ids})))
}

fn dream_line(dream: &Dream) -> String {
    let counts = &dream.counts;
    let effect = match (dream.undone_at, dream.apply) {
        (Some(_), _) => "undone",
        (None, true) => "applied",
        (None, false) => "dry run",
    };
    format!(
        "{} {} {} ({effect}): {} promoted, {} superseded, {} retired, {} waiting",
        dream.id,
        dream.period.unwrap_or(dream.started_at).minute_text(),
        dream.outcome.as_str(),
        counts.promoted,
        counts.superseded,
        counts.retired,
        counts.waiting
    )
}

fn show(dreams: Dreams<'_>, id: &str) -> Result<Answer> {
    let detail = dreams.show(id)?;
    let news = detail.decisions.iter().filter(|decision| !decision.holds_still());
    let news = news.map(|one| {
        recalled::one_line(&format!(
            "{} {}: {} ({})",
            one.candidate_id,
            one.decision.as_str(),
            one.claim,
            one.reason
        ))
    });
    let lines: Vec<String> = std::iter::once(dream_line(&detail.dream)).chain(news).collect();
    let structured = json!({
        "ids": [detail.dream.id],
        "outcome": detail.dream.outcome,
        "dream_id": detail.dream.id,
        "counts": detail.dream.counts,
    });
    Ok(Answer::text(recalled::delimit_within(&lines, ANSWER_TOKENS), structured))
}

fn explain(dreams: Dreams<'_>, name: &str) -> Result<Answer> {
    let explained = dreams.explain(name)?;
    let lines = explained_lines(&explained);
    let structured = json!({"ids": [explained.candidate.id]});
    Ok(Answer::text(recalled::delimit_within(&lines, ANSWER_TOKENS), structured))
}

fn explained_lines(explained: &ExplainedCandidate) -> Vec<String> {
    let candidate = &explained.candidate;
    let (evidence, thresholds) = (&candidate.evidence, &explained.thresholds);
    let gate = candidate.gate.map(|gate| format!(", gate {}", gate.as_str()));
    let mut lines = vec![
        recalled::one_line(&format!(
            "{} ({}): {}",
            candidate.id, candidate.memory_id, candidate.claim
        )),
        format!(
            "{}{}: {}",
            candidate.decision.as_str(),
            gate.unwrap_or_default(),
            candidate.reason
        ),
        format!(
            "{} recalls by {} prompts on {} days; {} by {} are needed; score {:.3} of {:.3}",
            evidence.recalls,
            evidence.prompts,
            evidence.days,
            thresholds.min_recall_count,
            thresholds.min_unique_queries,
            candidate.score,
            thresholds.min_score
        ),
    ];
    if let Some(promotion) = &explained.promotion {
        let (at, dream) = (promotion.at.minute_text(), &promotion.dream_id);
        lines.push(format!("promoted {at} by {dream}: {}", promotion.reason));
    }
    if let Some(line) = &explained.line {
        lines.push(recalled::one_line(&format!("{}: {}", line.note, line.text)));
    }
    lines
}
