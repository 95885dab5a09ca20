//! LoCoMo: long conversations of two people, with questions and the turns that answer them. Passed
//! as a file, never shipped.

use crate::dataset;
use oneiro::{NewMessage, NewSession, Oneiro, Result, Role, SessionId, Timestamp};
use serde_json::Value;
use std::collections::HashSet;
use std::path::Path;

/// One conversation with its questions.
pub(crate) struct Conversation {
    pub(crate) sessions: Vec<Talk>,
    pub(crate) questions: Vec<Asked>,
}

/// One sitting of a conversation.
pub(crate) struct Talk {
    pub(crate) number: usize,
    pub(crate) at: Timestamp,
    pub(crate) turns: Vec<Turn>,
}

/// One turn.
pub(crate) struct Turn {
    pub(crate) id: String,
    pub(crate) speaker: String,
    pub(crate) text: String,
}

/// One question, and the turns with its answer.
pub(crate) struct Asked {
    pub(crate) text: String,
    /// The answer; for a question without one, the wrong answer that it suggests.
    pub(crate) answer: String,
    pub(crate) category: u64,
    pub(crate) evidence: Vec<String>,
}

/// Reads the file.
pub(crate) fn read(path: &Path) -> Result<Vec<Conversation>> {
    parse(path, &dataset::read_list(path)?)
}

/// Reads the conversations of the file `path`.
pub(crate) fn parse(path: &Path, samples: &[Value]) -> Result<Vec<Conversation>> {
    let read = |(number, sample): (usize, &Value)| {
        let problem = || format!("conversation {number} is not in the form of LoCoMo");
        conversation(sample).ok_or_else(|| dataset::invalid(path, problem()))
    };
    samples.iter().enumerate().map(read).collect()
}

/// Appends a conversation: one session per sitting, the speaker as `name`. Repeated loads add
/// nothing.
pub(crate) fn load(oneiro: &Oneiro, conversation: &Conversation, prefix: &str) -> Result<()> {
    for talk in &conversation.sessions {
        let id = SessionId::new(format!("{prefix}session-{}", talk.number))?;
        let messages = talk.turns.iter().map(|turn| {
            let mut message = NewMessage::text(Role::User, &turn.text);
            message.body.insert("name".to_owned(), turn.speaker.as_str().into());
            message.at(talk.at).external_id(format!("{prefix}{}", turn.id))
        });
        let create = NewSession { started_at: Some(talk.at), ..NewSession::with_id(id.clone()) };
        oneiro.messages().append_or_create(&id, messages.collect(), create)?;
    }
    oneiro.index().catch_up(&mut |_, _| {})
}

fn conversation(sample: &Value) -> Option<Conversation> {
    let talks = sample.get("conversation")?.as_object()?;
    let mut sessions = Vec::new();
    for number in 1..=talks.len() {
        let Some(turns) = talks.get(&format!("session_{number}")).and_then(Value::as_array) else {
            continue;
        };
        let at = talks.get(&format!("session_{number}_date_time"))?.as_str()?;
        let turns = turns.iter().map(turn).collect::<Option<Vec<_>>>()?;
        sessions.push(Talk { number, at: date(at)?, turns });
    }
    let known: HashSet<&str> =
        sessions.iter().flat_map(|talk| &talk.turns).map(|turn| turn.id.as_str()).collect();
    let asked = |question: &Value| {
        let evidence = question.get("evidence")?.as_array()?.iter().filter_map(Value::as_str);
        let mut turns: Vec<String> = evidence.flat_map(turns_named).collect();
        turns.retain(|turn| known.contains(turn.as_str()));
        turns.dedup();
        Some(Asked {
            text: question.get("question")?.as_str()?.to_owned(),
            answer: match question.get("answer").or(question.get("adversarial_answer")) {
                Some(Value::String(answer)) => answer.clone(),
                Some(other) => other.to_string(),
                None => String::new(),
            },
            category: question.get("category")?.as_u64()?,
            evidence: turns,
        })
    };
    let questions = sample.get("qa")?.as_array()?.iter().filter_map(asked);
    let questions = questions.filter(|asked| !asked.evidence.is_empty()).collect();
    Some(Conversation { sessions, questions })
}

fn turn(turn: &Value) -> Option<Turn> {
    let text = |name: &str| turn.get(name).and_then(Value::as_str);
    let said = text("text")?;
    Some(Turn {
        id: text("dia_id")?.to_owned(),
        speaker: text("speaker")?.to_owned(),
        text: match text("blip_caption") {
            Some(caption) => format!("{said}\n{caption}"),
            None => said.to_owned(),
        },
    })
}

/// The turns that a piece of evidence names. Some name several, some have stray characters.
fn turns_named(evidence: &str) -> Vec<String> {
    let mut found = Vec::new();
    for piece in evidence.split('D').skip(1) {
        let mut numbers =
            piece.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
        if let (Some(session), Some(turn)) = (numbers.next(), numbers.next()) {
            found.push(format!("D{session}:{turn}"));
        }
    }
    found
}

/// Parses "1:56 pm on 8 May, 2023".
fn date(text: &str) -> Option<Timestamp> {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let (time, day) = text.split_once(" on ")?;
    let (clock, half) = time.trim().split_once(' ')?;
    let (hour, minute) = clock.split_once(':')?;
    let hour = hour.parse::<u32>().ok()? % 12 + if half.trim() == "pm" { 12 } else { 0 };
    let mut parts = day.split([' ', ',']).filter(|part| !part.is_empty());
    let day: u32 = parts.next()?.parse().ok()?;
    let name = parts.next()?;
    let month = MONTHS.iter().position(|month| *month == name)? + 1;
    let year = parts.next()?;
    Timestamp::parse(&format!("{year}-{month:02}-{day:02}T{hour:02}:{minute}:00Z")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_evidence_are_read_as_they_come() {
        assert_eq!(date("1:56 pm on 8 May, 2023"), Timestamp::parse("2023-05-08T13:56:00Z").ok());
        assert_eq!(
            date("12:09 am on 13 September, 2023"),
            Timestamp::parse("2023-09-13T00:09:00Z").ok()
        );
        assert_eq!(turns_named("D8:6; D9:17"), ["D8:6", "D9:17"]);
        assert_eq!(turns_named("D:11:26"), ["D11:26"]);
        assert_eq!(turns_named("D"), [""; 0]);
    }
}
