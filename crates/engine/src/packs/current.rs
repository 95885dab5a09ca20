//! Leaves out what no longer holds though nobody learnt it: what a newer statement replaced, and plans whose
//! days have passed. Sentences are judged one by one, so that a message keeps what still holds.

use super::asked_time::AskedTime;
use super::excerpt::{BEST_CHARS, OTHER_CHARS, excerpt};
use super::gather::{BEST_MESSAGES, Gathered};
use super::line::{Line, MessageParts};
use super::prompt::Prompt;
use super::relevance::RelevanceScorer;
use super::source::{Source, shown_sources, source_of_memory, speaker_of};
use crate::Oneiro;
use crate::change_words::Statement;
use crate::memories::compare_statements;
use oneiro_model::{
    HitKind, MessageId, OmitReason, PackKind, PackRequest, Relation, Result, Role, SearchRequest,
};
use oneiro_store::message_rows::{self};
use oneiro_store::{Tx, sessions};
use rustc_hash::{FxHashMap, FxHashSet};

/// Pairs of statements that are compared by rules in one pack.
const COMPARED_MAX: usize = 128;

/// Words of a statement that is compared by rules: a longer one tells a story.
const COMPARED_WORDS_MAX: usize = 16;

/// Words that changes are searched for.
const CHANGE_QUERY_WORDS: usize = 16;

/// Shown lines whose words changes are searched for.
const CHANGE_QUERY_LINES: usize = 6;

/// Messages that are found by these words.
const CHANGES_MAX: usize = 30;

/// Newest messages of the session that asks among which a change is looked for.
const OWN_MESSAGES: usize = 30;

/// Messages after one in which it is corrected without saying what: its answer, the correction.
const CORRECTED_WITHIN: usize = 3;

/// Messages that are looked behind for such a correction, and for what repeats an old value.
const LOOKED_BEHIND: usize = 20;
const REPEATED_WITHIN: i64 = 4;

/// Why a sentence is left out, and the newer source that replaced it.
#[derive(Clone, Copy)]
struct Dropped {
    reason: OmitReason,
    newer: Option<usize>,
}

/// What a pack was asked for, and what was found for it.
pub(super) struct Asked<'a> {
    pub(super) request: &'a PackRequest,
    pub(super) prompt: &'a Prompt,
    pub(super) time: &'a AskedTime,
    pub(super) gathered: &'a Gathered<'a>,
}

impl Oneiro {
    /// Leaves out what no longer holds, and shows in its place what replaced it.
    pub(super) fn keep_current(
        &self,
        asked: &Asked<'_>,
        mut lines: Vec<Line>,
        scorer: &mut RelevanceScorer<'_>,
    ) -> Result<Vec<Line>> {
        let Asked { time, gathered, .. } = *asked;
        let sources = self.store.read(|tx| shown_sources(tx, &lines, gathered))?;
        let mut newer = self.newer_sources(asked, &sources)?;
        let mut judge = Judge::new(&newer);
        let mut dropped: Vec<Vec<Option<Dropped>>> = Vec::with_capacity(sources.len());
        for source in &sources {
            dropped.push(judge.judge(source, time));
        }
        self.store.read(|tx| drop_corrected(tx, &sources, &mut dropped, &mut newer))?;
        drop_repeated(&sources, &mut dropped, &newer);
        let mut replaced_by: FxHashMap<String, Vec<usize>> = FxHashMap::default();
        for (source, dropped) in sources.iter().zip(&dropped) {
            let Some(line) =
                lines.iter_mut().find(|line| line.kind == source.kind && line.id == source.id)
            else {
                continue;
            };
            let Some(first) = dropped.iter().flatten().next() else {
                show_days(line, source, time);
                continue;
            };
            let newer = dropped.iter().flatten().filter_map(|dropped| dropped.newer);
            replaced_by.entry(source.id.clone()).or_default().extend(newer);
            let kept =
                source.sentences.iter().zip(dropped).filter(|(_, dropped)| dropped.is_none());
            let kept: Vec<&str> =
                kept.filter_map(|((range, _), _)| source.text.get(range.clone())).collect();
            let kept = kept.join(" ");
            if source.kind == PackKind::Memory || scorer.score(&kept, None).matched_words == 0 {
                line.omit = Some(first.reason);
                continue;
            }
            let rank =
                gathered.messages.hits.iter().position(|hit| hit.id.to_string() == source.id);
            let is_best = rank.is_some_and(|rank| rank < BEST_MESSAGES);
            let said = excerpt(&kept, if is_best { BEST_CHARS } else { OTHER_CHARS }, scorer);
            line.say(&said);
            show_days(line, source, time);
        }
        Ok(with_replacements(lines, &replaced_by, &newer, scorer))
    }

    /// What may replace the shown lines: statements that were found, changes that are found by the words of
    /// the lines, and the newest messages of the session that asks.
    fn newer_sources(&self, asked: &Asked<'_>, shown: &[Source]) -> Result<Vec<Source>> {
        let Asked { request, prompt, gathered, .. } = *asked;
        let mut newer: Vec<Source> = Vec::new();
        let Some(oldest) = shown.iter().map(|source| source.at).min() else { return Ok(newer) };
        let mut known = FxHashSet::default();
        let mut add = |newer: &mut Vec<Source>, source: Source| {
            if source.is_stated && known.insert((source.kind.as_str(), source.id.clone())) {
                newer.push(source);
            }
        };
        for hit in gathered.messages.hits.iter().filter(|hit| hit.role == Role::User) {
            add(&mut newer, Source::of_hit(hit, gathered.speaker(hit)));
        }
        let mut query = prompt.text.clone();
        let statements = shown.iter().filter(|source| source.is_stated).take(CHANGE_QUERY_LINES);
        let words = statements.flat_map(|source| &source.sentences);
        for word in words.flat_map(|(_, statement)| statement.searched()).take(CHANGE_QUERY_WORDS) {
            query.push(' ');
            query.push_str(word);
        }
        let found = self.search_words(&SearchRequest {
            kinds: vec![HitKind::Message],
            project: request.project.clone(),
            exclude_lineage: request.session.clone(),
            roles: vec![Role::User],
            since: Some(oldest),
            until: request.at,
            limit: CHANGES_MAX,
            ..SearchRequest::new(query)
        })?;
        self.store.read(|tx| {
            let mut speakers = FxHashMap::default();
            for hit in &found.hits {
                add(&mut newer, Source::of_hit(hit, &speaker_of(tx, hit, &mut speakers)?));
            }
            for hit in gathered.memories.memories.iter().filter(|hit| gathered.holds(hit)) {
                if let Some(source) = source_of_memory(tx, hit)? {
                    add(&mut newer, source);
                }
            }
            if let Some(session) = &request.session
                && let Some(key) = sessions::key(tx, session)?
            {
                let user = sessions::get_without_prompt(tx, key)?.and_then(|it| it.user_id);
                for row in message_rows::session_before(tx, key, i64::MAX, OWN_MESSAGES)? {
                    if let Some(source) = Source::of_row(&row, session, user.as_deref()) {
                        add(&mut newer, source);
                    }
                }
            }
            Ok(())
        })?;
        Ok(newer)
    }
}

/// Finds the newer statement that replaces an older one.
struct Judge<'n> {
    newer: &'n [Source],
    /// Statements with a topic, as (source, sentence).
    by_topic: FxHashMap<String, Vec<(usize, usize)>>,
    /// Statements of people about themselves.
    own: Vec<(usize, usize)>,
    compared: usize,
}

impl<'n> Judge<'n> {
    fn new(newer: &'n [Source]) -> Judge<'n> {
        let mut judge =
            Judge { newer, by_topic: FxHashMap::default(), own: Vec::new(), compared: 0 };
        for (number, source) in newer.iter().enumerate() {
            for (at, (_, statement)) in source.sentences.iter().enumerate() {
                for key in statement.keys() {
                    judge.by_topic.entry(key).or_default().push((number, at));
                }
                if statement.is_own && is_plain(statement) {
                    judge.own.push((number, at));
                }
            }
        }
        judge
    }

    /// Why each sentence of a source is left out.
    fn judge(&mut self, source: &Source, time: &AskedTime) -> Vec<Option<Dropped>> {
        let mut dropped = Vec::with_capacity(source.sentences.len());
        for (range, statement) in &source.sentences {
            let text = source.text.get(range.clone()).unwrap_or_default();
            let is_passed = source.kind == PackKind::Message && time.has_passed(text, source.at);
            let replaced = self.replacement(source, statement);
            dropped.push(match replaced {
                Some(newer) => Some(Dropped { reason: OmitReason::Superseded, newer: Some(newer) }),
                None => is_passed.then_some(Dropped { reason: OmitReason::Ended, newer: None }),
            });
        }
        dropped
    }

    /// The newer source that replaces a statement.
    fn replacement(&mut self, source: &Source, statement: &Statement) -> Option<usize> {
        let mut candidates: Vec<(usize, usize)> = Vec::new();
        for key in statement.keys() {
            candidates.extend(self.by_topic.get(&key).into_iter().flatten());
        }
        if statement.is_own {
            candidates.extend(&self.own);
        }
        let mut known = FxHashSet::default();
        candidates.retain(|candidate| known.insert(*candidate));
        for (number, at) in candidates {
            let Some(newer) = self.newer.get(number) else { continue };
            let Some((_, other)) = newer.sentences.get(at) else { continue };
            if newer.is_after(source)
                && newer.is_about_same(other, (source, statement))
                && (other.tells_change_of(statement) || self.contradicts(other, statement))
            {
                return Some(number);
            }
        }
        None
    }

    /// Whether the rules of statements see a contradiction.
    fn contradicts(&mut self, newer: &Statement, older: &Statement) -> bool {
        if newer.is_open || !is_plain(newer) || !is_plain(older) || self.compared >= COMPARED_MAX {
            return false;
        }
        self.compared += 1;
        compare_statements(&older.text, &newer.text).relation == Relation::Contradicts
    }
}

fn is_plain(statement: &Statement) -> bool {
    statement.text.split_whitespace().count() <= COMPARED_WORDS_MAX
}

/// Drops what the person corrected in their next message without saying what: "no, 8181".
fn drop_corrected(
    tx: &Tx<'_>,
    sources: &[Source],
    dropped: &mut [Vec<Option<Dropped>>],
    newer: &mut Vec<Source>,
) -> Result<()> {
    for (source, dropped) in sources.iter().zip(dropped).take(LOOKED_BEHIND) {
        let Some((session, seq)) = &source.said_in else { continue };
        let Some(key) = sessions::key(tx, session)? else { continue };
        let after = message_rows::session_after(tx, key, *seq, CORRECTED_WITHIN)?;
        let Some(next) = after.into_iter().find(|row| row.role == Role::User) else { continue };
        let Some(mut next) = Source::of_row(&next, session, source.speaker.as_deref()) else {
            continue;
        };
        let Some((_, correction)) = next.sentences.first() else { continue };
        let corrected =
            source.sentences.iter().zip(dropped.iter_mut()).filter(|(older, dropped)| {
                dropped.is_none() && correction.corrects_value_of(&older.1)
            });
        let mut is_any = false;
        for (_, dropped) in corrected {
            let newer = Some(newer.len());
            *dropped = Some(Dropped { reason: OmitReason::Superseded, newer });
            is_any = true;
        }
        if is_any {
            next.is_shown = true;
            newer.push(next);
        }
    }
    Ok(())
}

/// Drops what an answer repeats of a value that was replaced since.
fn drop_repeated(sources: &[Source], dropped: &mut [Vec<Option<Dropped>>], newer: &[Source]) {
    let mut old: Vec<(usize, usize, Vec<String>)> = Vec::new();
    for (number, source) in sources.iter().enumerate().filter(|(_, source)| source.seq > 0) {
        let judged = dropped.get(number).into_iter().flatten();
        for ((_, statement), dropped) in source.sentences.iter().zip(judged) {
            let Some(by) = dropped.and_then(|dropped| dropped.newer) else { continue };
            let Some(replacement) = newer.get(by) else { continue };
            let keeps = |value: &&String| {
                replacement.sentences.iter().any(|(_, newer)| newer.values.contains(value))
            };
            let gone = statement.values.iter().filter(|value| !keeps(value)).cloned().collect();
            old.push((number, by, gone));
        }
    }
    for (number, by, values) in old {
        let (Some(source), Some(replacement)) = (sources.get(number), newer.get(by)) else {
            continue;
        };
        for (answer, dropped) in sources.iter().zip(dropped.iter_mut()) {
            let is_answer = !answer.is_stated
                && answer.session == source.session
                && (source.seq..=source.seq + REPEATED_WITHIN).contains(&answer.seq)
                && replacement.is_after(answer);
            if !is_answer {
                continue;
            }
            for ((_, statement), dropped) in answer.sentences.iter().zip(dropped.iter_mut()) {
                if statement.values.iter().any(|value| values.contains(value)) {
                    let reason = OmitReason::Superseded;
                    *dropped = dropped.or(Some(Dropped { reason, newer: None }));
                }
            }
        }
    }
}

/// Writes days in place of "tomorrow".
fn show_days(line: &mut Line, source: &Source, time: &AskedTime) {
    if source.kind == PackKind::Message
        && let Some(resolved) = time.resolved(&line.statement, source.at)
    {
        line.say(&resolved);
    }
}

/// The lines with what replaced them before them.
fn with_replacements(
    mut lines: Vec<Line>,
    replaced_by: &FxHashMap<String, Vec<usize>>,
    newer: &[Source],
    scorer: &mut RelevanceScorer<'_>,
) -> Vec<Line> {
    let mut placed: Vec<Line> = Vec::with_capacity(lines.len());
    let ids: Vec<String> = lines.iter().map(|line| line.id.clone()).collect();
    for id in ids {
        for source in replaced_by.get(&id).into_iter().flatten().filter_map(|at| newer.get(*at)) {
            let found = lines.iter().position(|line| line.id == source.id);
            if let Some(found) = found {
                let mut line = lines.remove(found);
                if line.omit == Some(OmitReason::Irrelevant) {
                    line.omit = None;
                }
                placed.push(line);
            } else if source.is_shown && !placed.iter().any(|line| line.id == source.id) {
                placed.extend(line_of(source, scorer));
            }
        }
        if let Some(found) = lines.iter().position(|line| line.id == id) {
            placed.push(lines.remove(found));
        }
    }
    placed
}

/// The line of a message that was not found by the prompt.
fn line_of(source: &Source, scorer: &mut RelevanceScorer<'_>) -> Option<Line> {
    let session = source.session.as_ref()?;
    let said = excerpt(&source.text, BEST_CHARS, scorer);
    let who = source.speaker.as_deref().unwrap_or(Role::User.as_str());
    let parts = MessageParts { id: MessageId(source.seq), session_id: session, at: source.at, who };
    Some(Line::of_message(&parts, &said))
}
