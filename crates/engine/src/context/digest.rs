//! A session condensed around a question, by a model or as an extract, and kept until the session
//! goes on.

use super::lines::line;
use super::summarise::{Line, Source, summarise};
use crate::Llm;
use crate::sessions::key_of;
use crate::views::Context;
use oneiro_model::{Error, Result, SessionDigest, SessionId};
use oneiro_store::digests::{self, Digest, DigestKey};
use oneiro_store::message_rows::{self, Include, Position};
use oneiro_store::messages::{self, PageRequest};
use oneiro_store::{SessionRef, segments, visibility};

/// The tokens a digest may have.
const DIGEST_TOKENS: usize = 400;

/// What of a session a model may be handed.
const INPUT_TOKENS: usize = 24_000;

/// Messages of a session that are read for a digest: the newest, where it is longer.
const MESSAGES_READ_MAX: usize = 4_000;

/// A digest restarts after this many erasures in a row.
const RETRIES_MAX: usize = 4;

impl Context<'_> {
    /// Condenses a session around a question.
    pub fn digest(&self, id: &SessionId, question: &str) -> Result<SessionDigest> {
        let asked = blake3::hash(question.trim().to_lowercase().as_bytes());
        let (key, head, there) = self.oneiro.store.read(|tx| {
            let key = key_of(tx, id)?;
            let head = visibility::head(tx, key)?.map_or(0, |head| head.0);
            Ok((
                key,
                head,
                digests::get(tx, DigestKey { session_key: key, question: asked.as_bytes(), head })?,
            ))
        })?;
        if let Some(digest) = there {
            return Ok(answer(digest));
        }
        // What is erased while a model writes must not come back by its words.
        for _ in 0..RETRIES_MAX {
            let (generation, lines) = self.lines_of((key, id))?;
            let source = Source {
                prompt: "question",
                lines: &lines,
                prior: &[],
                question: Some(question),
                target: DIGEST_TOKENS,
                input_tokens: INPUT_TOKENS,
            };
            let model = self.oneiro.model();
            let model = model.as_ref().map(|llm| (llm as &dyn Llm, self.oneiro.prompts.as_ref()));
            let condensed = summarise(&source, model);
            self.oneiro.cancel.check()?;
            let digest = Digest {
                content: condensed.content,
                level: condensed.level,
                model: condensed.model,
            };
            let (kept, now) = (digest.clone(), self.oneiro.now());
            let kept = self.oneiro.store.write_derived(|tx| {
                if segments::state(tx)?.generation != generation {
                    return Ok(false);
                }
                digests::put(
                    tx,
                    DigestKey { session_key: key, question: asked.as_bytes(), head },
                    &kept,
                    now,
                )
                .map(|()| true)
            });
            match kept {
                Ok(false) => continue,
                Ok(true) => {}
                Err(error) => tracing::info!(%error, "a digest was not kept"),
            }
            return Ok(answer(digest));
        }
        Err(Error::conflict(format!("session {:?} changes all the time", id.as_str()))
            .remedy("ask again when the erasures are done"))
    }

    /// What was said in a session, the newest of it, and as of which erasure.
    fn lines_of(&self, (key, id): (i64, &SessionId)) -> Result<(i64, Vec<Line>)> {
        self.oneiro.store.read(|tx| {
            let count = messages::count_of_session(tx, key)?;
            let after = if count > MESSAGES_READ_MAX as i64 {
                message_rows::session_ids_before(
                    tx,
                    Position::end(key),
                    Include::Live,
                    MESSAGES_READ_MAX,
                )?
                .last()
                .map_or(0, |seq| seq - 1)
            } else {
                0
            };
            let all = PageRequest { after, hidden: false, limit: usize::MAX };
            let lines = messages::page(tx, SessionRef { key, id }, all)?.iter().map(line).collect();
            Ok((segments::state(tx)?.generation, lines))
        })
    }
}

fn answer(digest: Digest) -> SessionDigest {
    SessionDigest { content: digest.content, level: digest.level, model: digest.model }
}
