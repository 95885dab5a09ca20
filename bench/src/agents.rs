//! Transcripts of agents at work, with questions about them and the messages that answer.
//!
//! A file is a list of transcripts, as `crates/testkit/assets/agents.json`:
//!
//! ```json
//! {"id": "cert-renewal", "domain": "operations", "language": "en", "half": "held_out",
//!  "messages": [{"role": "user", "at": "2026-02-10T18:06:38Z", "content": "..."}],
//!  "questions": [{"text": "...", "kind": "cause", "language": "en", "holder": "assistant",
//!                 "gold": [4]}]}
//! ```
//!
//! Every transcript is one session, and all sessions share one space, as they do for a user: a
//! question must find its answer among all transcripts. Messages are chat messages as `append`
//! reads them, in order. `gold` has the indexes of the messages that answer the question, counted
//! from 0; of several statements of one value it names the newest, and it names the answer rather
//! than an earlier message that asks the same. Questions of the kind `never_said` have no answer in
//! any transcript. `half` says what a transcript is for: weights are fitted on `tune`, and
//! `held_out` is only reported.

use crate::dataset::invalid;
use oneiro::{NewMessage, Result, Role};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashSet;
use std::path::Path;

/// One transcript with its questions.
pub(crate) struct Transcript {
    pub(crate) id: String,
    pub(crate) domain: String,
    pub(crate) language: String,
    pub(crate) half: Half,
    pub(crate) messages: Vec<NewMessage>,
    pub(crate) questions: Vec<Question>,
}

/// What a transcript is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Half {
    /// For fitting weights.
    Tune,
    /// For reporting alone.
    HeldOut,
}

/// What a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A statement, in other words than its own.
    Paraphrase,
    /// How something is done.
    How,
    /// Why something happened.
    Cause,
    /// What was decided.
    Decision,
    /// A number, a date or a name.
    Value,
    /// A value that a later message corrected.
    Correction,
    /// What a person said that they want, own or prefer.
    Preference,
    /// Who said something.
    WhoSaid,
    /// Which version changed something.
    Version,
    /// What came out.
    Outcome,
    /// Something that takes several messages.
    Multi,
    /// A question that the transcript also asks.
    AskedTwice,
    /// Something that no transcript says.
    NeverSaid,
}

/// Who wrote the messages that answer a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holder {
    /// A person.
    User,
    /// The assistant.
    Assistant,
    /// A tool.
    Tool,
    /// Several of them.
    Several,
}

/// One question.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) kind: Kind,
    pub(crate) language: String,
    /// Absent for things that were never said.
    pub(crate) holder: Option<Holder>,
    /// Indexes of the messages that answer it.
    pub(crate) gold: Vec<usize>,
}

/// A transcript as it is written; messages are read by the engine's own rules.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTranscript {
    id: String,
    domain: String,
    language: String,
    half: Half,
    messages: Vec<Value>,
    questions: Vec<Question>,
}

/// Whether a list holds transcripts rather than LoCoMo's conversations.
pub(crate) fn is_transcripts(list: &[Value]) -> bool {
    list.first().is_some_and(|first| first.get("conversation").is_none())
}

/// Reads transcripts, and refuses what cannot be measured, by transcript and question.
pub(crate) fn parse(path: &Path, list: Vec<Value>) -> Result<Vec<Transcript>> {
    let mut ids = HashSet::new();
    let mut transcripts = Vec::new();
    for (number, value) in list.into_iter().enumerate() {
        let place = match value.get("id").and_then(Value::as_str) {
            Some(id) => format!("transcript {id:?}"),
            None => format!("transcript {number}"),
        };
        let transcript =
            transcript(value).map_err(|problem| invalid(path, format!("{place}: {problem}")))?;
        if !ids.insert(transcript.id.clone()) {
            return Err(invalid(path, format!("{place}: its id is used twice")));
        }
        transcripts.push(transcript);
    }
    Ok(transcripts)
}

fn transcript(value: Value) -> std::result::Result<Transcript, String> {
    let raw: RawTranscript = serde_json::from_value(value).map_err(|error| error.to_string())?;
    let mut messages = Vec::new();
    for (index, message) in raw.messages.into_iter().enumerate() {
        let message = NewMessage::from_json(message)
            .map_err(|error| format!("message {index}: {}", error.message()))?;
        if message.at.is_none() {
            return Err(format!("message {index}: at is missing"));
        }
        messages.push(message);
    }
    for question in &raw.questions {
        check(question, &messages)
            .map_err(|problem| format!("question {:?}: {problem}", question.text))?;
    }
    Ok(Transcript {
        id: raw.id,
        domain: raw.domain,
        language: raw.language,
        half: raw.half,
        messages,
        questions: raw.questions,
    })
}

fn check(question: &Question, messages: &[NewMessage]) -> std::result::Result<(), String> {
    let is_answered = question.kind != Kind::NeverSaid;
    if is_answered == question.gold.is_empty() {
        return Err("gold is empty for the kind never_said, and only for it".into());
    }
    let mut holder = None;
    for &index in &question.gold {
        let Some(message) = messages.get(index) else {
            return Err(format!("gold {index}: there are {} messages", messages.len()));
        };
        let Some(text) = message_text(message) else {
            return Err(format!("gold {index}: the message has no text"));
        };
        if text.trim() == question.text.trim() {
            return Err(format!("gold {index}: the message is the question itself"));
        }
        let role = match message.role {
            Role::User => Holder::User,
            Role::Assistant => Holder::Assistant,
            Role::Tool => Holder::Tool,
            _ => return Err(format!("gold {index}: its role is neither user, assistant nor tool")),
        };
        holder =
            Some(if holder.is_none_or(|holder| holder == role) { role } else { Holder::Several });
    }
    if holder == question.holder {
        Ok(())
    } else {
        Err(format!("holder is {:?}, its gold is held by {holder:?}", question.holder))
    }
}

/// The text of a message, if it has any.
pub(crate) fn message_text(message: &NewMessage) -> Option<&str> {
    message.body.get("content").and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeMap;

    fn parse_text(text: &str) -> Result<Vec<Transcript>> {
        parse(Path::new("agents.json"), serde_json::from_str(text).unwrap())
    }

    fn shipped() -> Vec<Transcript> {
        parse_text(oneiro_testkit::AGENTS).unwrap()
    }

    /// How many of something each half has.
    fn by_half<T: Ord>(all: impl Iterator<Item = (T, Half)>) -> BTreeMap<T, [usize; 2]> {
        let mut counts: BTreeMap<T, [usize; 2]> = BTreeMap::new();
        for (one, half) in all {
            counts.entry(one).or_default()[usize::from(half == Half::HeldOut)] += 1;
        }
        counts
    }

    fn questions(all: &[Transcript]) -> impl Iterator<Item = (&Question, Half)> {
        all.iter().flat_map(|one| one.questions.iter().map(|question| (question, one.half)))
    }

    #[test]
    fn the_shipped_set_has_enough_of_everything() {
        let all = shipped();
        assert!(all.len() >= 40, "{} transcripts", all.len());
        assert!(all.iter().all(|one| (12..=70).contains(&one.messages.len())));
        let answered = questions(&all).filter(|(one, _)| one.kind != Kind::NeverSaid).count();
        assert!(answered >= 170, "{answered} questions with an answer");
        let never_said = questions(&all).count() - answered;
        assert!(never_said >= 40, "{never_said} questions without an answer");
        let texts: HashSet<&str> = questions(&all).map(|(one, _)| one.text.as_str()).collect();
        assert_eq!(texts.len(), questions(&all).count(), "a question is there twice");
        let asks_in_other_language = |one: &&Transcript| {
            one.questions.iter().any(|question| question.language != one.language)
        };
        assert!(all.iter().filter(asks_in_other_language).count() >= 12);
    }

    #[test]
    fn both_halves_of_the_shipped_set_have_every_kind_holder_language_and_domain() {
        let all = shipped();
        let kinds = by_half(questions(&all).map(|(one, half)| (one.kind, half)));
        assert_eq!(kinds.len(), 13);
        assert!(kinds.values().flatten().all(|count| *count >= 4), "{kinds:?}");
        let holders = by_half(questions(&all).map(|(one, half)| (one.holder, half)));
        assert_eq!(holders.len(), 5);
        assert!(holders.values().flatten().all(|count| *count >= 3), "{holders:?}");
        let languages = by_half(questions(&all).map(|(one, half)| (&one.language, half)));
        assert_eq!(
            languages.keys().map(|one| one.as_str()).collect::<Vec<_>>(),
            ["de", "en", "es", "ja", "pt", "zh"]
        );
        assert!(languages.values().flatten().all(|count| *count >= 8), "{languages:?}");
        let domains = by_half(all.iter().map(|one| (&one.domain, one.half)));
        assert_eq!(
            domains.keys().map(|one| one.as_str()).collect::<Vec<_>>(),
            ["business", "coding", "household", "operations", "research"]
        );
        assert!(domains.values().all(|[tune, held]| tune.abs_diff(*held) <= 1), "{domains:?}");
        let written_in = by_half(all.iter().map(|one| (&one.language, one.half)));
        assert!(written_in.values().all(|[tune, held]| tune == held), "{written_in:?}");
        let halves = by_half(questions(&all).map(|(_, half)| ((), half)));
        let [tune, held_out] = halves[&()];
        assert!(tune.abs_diff(held_out) * 10 <= tune, "{tune} and {held_out} questions");
    }

    #[test]
    fn errors_name_the_transcript_and_what_is_wrong_with_it() {
        let message = json!({"role": "user", "at": "2026-01-01T00:00:00Z", "content": "tea"});
        let question = |gold: Value, holder: &str, kind: &str| {
            json!({"text": "what to drink?", "kind": kind, "language": "en", "holder": holder,
                   "gold": gold})
        };
        let with = |messages: Value, question: Value| {
            let one = json!({"id": "shop", "domain": "household", "language": "en",
                "half": "tune", "messages": messages, "questions": [question]});
            parse_text(&json!([one]).to_string())
        };
        let error = |messages: Value, question: Value| {
            with(messages, question).err().unwrap().message().to_owned()
        };
        assert!(with(json!([message]), question(json!([0]), "user", "value")).is_ok());
        for (found, expected) in [
            (error(json!([message]), question(json!([3]), "user", "value")), "gold 3: there are 1"),
            (error(json!([message]), question(json!([0]), "tool", "value")), "holder is Some(Tool"),
            (error(json!([message]), question(json!([]), "user", "value")), "gold is empty for"),
            (error(json!([message]), question(json!([0]), "user", "whim")), "unknown variant `whi"),
            (error(json!([{}]), question(json!([0]), "user", "value")), "message 0: role"),
        ] {
            assert!(found.contains("agents.json: transcript \"shop\": "), "{found}");
            assert!(found.contains(expected), "{found}");
        }
    }
}
