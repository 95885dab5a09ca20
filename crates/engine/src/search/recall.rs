//! Records which memories a search brought up, as evidence of what people ask for. Only a prompt that a
//! person typed counts: an agent's own query proves nothing.

use crate::Oneiro;
use crate::memories::{
    RecalledMemory, TypedPrompt, USER_SUBJECT, record_recalled, typed_text, with_asked_words,
};
use oneiro_model::{ActorKind, Confidence, Found, Memory, Result, Role, SearchRequest};
use oneiro_store::{Tx, message_rows, sessions};
use oneiro_text::{Analyzer, is_filler};
use std::collections::BTreeSet;

/// Newest messages of a session among which its user's last one is looked for.
const PROMPT_SCAN_MESSAGES: usize = 64;

/// The least relevance of what was asked for in other words: the first memory of a sure answer, and those that
/// meet the question best.
const ASKED_IN_OTHER_WORDS: f64 = 0.5;

/// If more memories than this meet a question equally well, its words tell none of them from the others.
const BEST_MEMORIES_MAX: usize = 3;

/// The words that carry meaning in a prompt and in what the agent made of it, which may name the thing by
/// another word.
struct AskedFor {
    prompt: BTreeSet<String>,
    query: BTreeSet<String>,
    analyzer: Analyzer,
}

/// How well a memory meets what was asked for.
struct Match {
    /// The larger share of the words of the prompt and of the query that it has.
    share: f64,
    /// The words of both that it has.
    words: usize,
}

impl AskedFor {
    fn new(prompt: &str, query: &str) -> AskedFor {
        let mut analyzer = Analyzer::default();
        AskedFor {
            prompt: content_words(&mut analyzer, prompt),
            query: content_words(&mut analyzer, query),
            analyzer,
        }
    }

    /// How well a memory meets it. Whom the memory is about does not count: all that is known of somebody has
    /// that word.
    fn compare(&mut self, memory: &Memory) -> Match {
        let analyzer = &mut self.analyzer;
        let about = content_words(analyzer, memory.subject.as_deref().unwrap_or_default());
        let own = content_words(analyzer, &with_asked_words(&memory.content));
        let share = |words: &BTreeSet<String>| {
            let asked = words.difference(&about).count();
            let met = words.difference(&about).filter(|word| own.contains(*word)).count();
            met as f64 / asked.max(1) as f64
        };
        let met = self.prompt.union(&self.query).filter(|word| own.contains(*word));
        Match {
            share: share(&self.prompt).max(share(&self.query)),
            words: met.filter(|word| !about.contains(*word)).count(),
        }
    }
}

/// How relevant each memory is to what was asked for, in the order of the ranking.
fn relevances(memories: &[&Memory], asked: &mut AskedFor, is_sure: bool) -> Vec<f64> {
    let matches: Vec<Match> = memories.iter().map(|memory| asked.compare(memory)).collect();
    let most = matches.iter().map(|one| one.words).max().unwrap_or_default();
    let best = matches.iter().filter(|one| one.words == most).count();
    let tells_apart = most > 0 && best <= BEST_MEMORIES_MAX;
    let relevance = |(place, one): (usize, &Match)| {
        let is_first = place == 0 && is_sure;
        let is_best = tells_apart && one.words == most;
        if is_first || is_best { one.share.max(ASKED_IN_OTHER_WORDS) } else { one.share }
    };
    matches.iter().enumerate().map(relevance).collect()
}

/// Whether somebody speaks of themselves.
fn is_first_person(text: &str) -> bool {
    let mut is_found = false;
    Analyzer::default().tokens(text, |token| {
        is_found |= oneiro_text::is_first_person(token.norm);
    });
    is_found
}

/// Those whom memories are about and whom the words name: what is known of others was not asked for.
fn named_subjects<'m>(memories: &[&'m Memory], texts: [&str; 2]) -> BTreeSet<&'m str> {
    let mut analyzer = Analyzer::default();
    let mut words = BTreeSet::new();
    texts.iter().for_each(|text| words.extend(content_words(&mut analyzer, text)));
    let subjects = memories.iter().filter_map(|memory| memory.subject.as_deref());
    let is_named = |subject: &&str| {
        let name = content_words(&mut analyzer, subject);
        !name.is_empty() && name.is_subset(&words)
    };
    subjects.filter(is_named).collect()
}

fn content_words(analyzer: &mut Analyzer, text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    analyzer.tokens(text, |token| {
        if !token.stop && !is_filler(token.norm) {
            words.insert(token.term.to_owned());
        }
    });
    words
}

impl Oneiro {
    /// Records which memories the person's prompt asked for. A search is answered even if nothing can be
    /// written.
    pub(super) fn record_recall(&self, request: &SearchRequest, found: &Found) {
        let is_recalled =
            |memory: &&Memory| memory.status.is_standing() && memory.suspended_by.is_none();
        let asked_for = &found.asked_for;
        let memories: Vec<&Memory> = asked_for.memories.iter().filter(is_recalled).collect();
        if memories.is_empty() || request.known_at.is_some() {
            return;
        }
        let recorded = self.store.read(|tx| self.prompt_of(tx, request)).and_then(|prompt| {
            let Some(prompt) = prompt else { return Ok(()) };
            let named = named_subjects(&memories, [&prompt.text, &request.query]);
            // "Where do I live?" asks for the speaker's home and for nobody else's.
            let is_own = |about: &str| about == USER_SUBJECT || prompt.is_by(about);
            let asks_own = named.is_empty()
                && is_first_person(&prompt.text)
                && memories.iter().any(|memory| memory.subject.as_deref().is_some_and(is_own));
            let is_of_other = |memory: &&Memory| match memory.subject.as_deref() {
                Some(about) if named.is_empty() => asks_own && !is_own(about),
                Some(about) => !named.contains(about),
                None => false,
            };
            let (others, memories): (Vec<&Memory>, Vec<&Memory>) =
                memories.iter().copied().partition(is_of_other);
            let mut asked = AskedFor::new(&prompt.text, &request.query);
            let is_sure = asked_for.found == Confidence::Strong;
            let relevances = relevances(&memories, &mut asked, is_sure);
            let relevances = relevances.into_iter().chain(std::iter::repeat(0.0));
            let recalled = memories.iter().chain(&others).zip(relevances);
            let recalled = recalled
                .map(|(memory, relevance)| RecalledMemory { id: memory.id.clone(), relevance });
            record_recalled(self, recalled.collect(), prompt)
        });
        if let Err(error) = recorded {
            tracing::info!(%error, "a recall was not recorded");
        }
    }

    /// What the person typed that a search is made for.
    fn prompt_of(&self, tx: &Tx<'_>, request: &SearchRequest) -> Result<Option<TypedPrompt>> {
        let Some(id) = &request.for_session else {
            let is_person = self.store.actor().kind == ActorKind::Person;
            let prompt = TypedPrompt { text: request.query.clone(), at: self.now(), speaker: None };
            return Ok(is_person.then_some(prompt));
        };
        let Some(key) = sessions::key(tx, id)? else { return Ok(None) };
        let session = sessions::get_without_prompt(tx, key)?;
        let source = session.as_ref().map(|session| session.source.as_str());
        if self.settings_in(tx)?.is_of_machine(id, source.unwrap_or_default()) {
            return Ok(None);
        }
        let user = session.and_then(|session| session.user_id);
        let newest = message_rows::session_before(tx, key, i64::MAX, PROMPT_SCAN_MESSAGES)?;
        let last = newest.into_iter().find(|row| row.role == Role::User);
        let prompt = last.map(|row| {
            let name = row.body.get("name").and_then(serde_json::Value::as_str).map(str::trim);
            let name = name.filter(|name| !name.is_empty()).map(str::to_owned);
            TypedPrompt { text: typed_text(&row.body), at: row.at, speaker: name.or(user) }
        });
        Ok(prompt.filter(|prompt| !prompt.text.trim().is_empty()))
    }
}
