//! Records which memories a search brought up, as evidence of what people ask for. Only a prompt that a
//! person typed counts: an agent's own query proves nothing.

use crate::Oneiro;
use crate::memories::{RecalledMemory, TypedPrompt, record_recalled, typed_text, with_asked_words};
use oneiro_model::{ActorKind, Confidence, Found, Memory, Result, Role, SearchRequest};
use oneiro_store::{Tx, message_rows, sessions};
use oneiro_text::{Analyzer, is_filler};
use std::collections::BTreeSet;

/// Newest messages of a session among which its user's last one is looked for.
const PROMPT_SCAN_MESSAGES: usize = 64;

/// The least relevance of the first memory of a sure answer.
const FIRST_OF_SURE: f64 = 0.5;

/// The words of a prompt that carry meaning.
struct PromptWords {
    words: Vec<String>,
    analyzer: Analyzer,
}

impl PromptWords {
    fn new(prompt: &str) -> PromptWords {
        let mut analyzer = Analyzer::default();
        let words = content_words(&mut analyzer, prompt).into_iter().collect();
        PromptWords { words, analyzer }
    }

    /// The share of the words that a memory has. Whom it is about does not count: all that is known of
    /// somebody has that word.
    fn share(&mut self, memory: &Memory) -> f64 {
        let about =
            content_words(&mut self.analyzer, memory.subject.as_deref().unwrap_or_default());
        let own = content_words(&mut self.analyzer, &with_asked_words(&memory.content));
        let asked: Vec<&String> = self.words.iter().filter(|word| !about.contains(*word)).collect();
        let met = asked.iter().filter(|word| own.contains(**word)).count();
        met as f64 / asked.len().max(1) as f64
    }
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
            let mut words = PromptWords::new(&prompt.text);
            // What the agent made of the prompt: it may name the thing by another word.
            let mut query = PromptWords::new(&request.query);
            let named = named_subjects(&memories, [&prompt.text, &request.query]);
            let is_sure = asked_for.found == Confidence::Strong;
            let recalled = memories.iter().enumerate().map(|(place, memory)| {
                // The first memory of a sure answer was asked for, in whatever words.
                let least = if place == 0 && is_sure { FIRST_OF_SURE } else { 0.0 };
                let share = words.share(memory).max(query.share(memory)).max(least);
                let is_other = memory
                    .subject
                    .as_ref()
                    .is_some_and(|subject| !named.is_empty() && !named.contains(subject.as_str()));
                let relevance = if is_other { 0.0 } else { share };
                RecalledMemory { id: memory.id.clone(), relevance }
            });
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
            let prompt = TypedPrompt { text: request.query.clone(), at: self.now() };
            return Ok(is_person.then_some(prompt));
        };
        let Some(key) = sessions::key(tx, id)? else { return Ok(None) };
        let source = sessions::get_without_prompt(tx, key)?.map(|session| session.source);
        if self.settings_in(tx)?.is_of_machine(id, source.as_deref().unwrap_or_default()) {
            return Ok(None);
        }
        let newest = message_rows::session_before(tx, key, i64::MAX, PROMPT_SCAN_MESSAGES)?;
        let last = newest.into_iter().find(|row| row.role == Role::User);
        let prompt = last.map(|row| TypedPrompt { text: typed_text(&row.body), at: row.at });
        Ok(prompt.filter(|prompt| !prompt.text.trim().is_empty()))
    }
}
