//! Prints what the ranking measured of every hit, one line of JSON per question, for
//! `scripts/fit-ranking`. Reads spaces with their messages and questions on standard input.

use oneiro::{
    NewMessage, NewSession, Oneiro, Options, SearchRequest, SessionId, SpaceName, Target,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::error::Error;
use std::io::Write;

/// Hits per question: the candidates that are scored together.
const HITS: usize = 64;

#[derive(Deserialize)]
struct Space {
    name: String,
    messages: Vec<Message>,
    questions: Vec<Question>,
}

#[derive(Deserialize)]
struct Message {
    session: String,
    id: String,
    message: Value,
}

#[derive(Deserialize)]
struct Question {
    id: String,
    text: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let spaces: Vec<Space> = serde_json::from_reader(std::io::stdin().lock())?;
    let folder = tempfile::tempdir()?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for space in spaces {
        let target =
            Target::parse(&folder.path().to_string_lossy(), Some(&SpaceName::new(&space.name)?))?;
        let words = Some(oneiro_inference::static_words());
        let oneiro = Oneiro::open(&target, Options { words, ..Options::default() })?;
        let mut session = Vec::new();
        let mut messages = space.messages.into_iter().peekable();
        while let Some(message) = messages.next() {
            let id = SessionId::new(message.session.clone())?;
            session.push(NewMessage::from_json(message.message)?.external_id(message.id));
            if messages.peek().is_none_or(|next| next.session != message.session) {
                let create = NewSession::with_id(id.clone());
                oneiro.messages().append_or_create(&id, std::mem::take(&mut session), create)?;
            }
        }
        oneiro.index().catch_up(&mut |_, _| {})?;
        for question in space.questions {
            let request =
                SearchRequest { limit: HITS, explain: true, ..SearchRequest::new(&question.text) };
            let found = oneiro.search().run(&request)?;
            let hits: Vec<Value> = found
                .hits
                .iter()
                .map(|hit| {
                    let parts = hit.trace.iter().flat_map(|trace| &trace.parts);
                    let values: Map<String, Value> =
                        parts.map(|part| (part.name.to_owned(), part.value.into())).collect();
                    json!([hit.external_id, values])
                })
                .collect();
            let evidence: Map<String, Value> = found
                .evidence
                .iter()
                .map(|part| (part.name.to_owned(), part.value.into()))
                .collect();
            let line = json!({
                "id": question.id, "hits": hits, "found": found.found, "evidence": evidence,
            });
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}
