//! By whose vectors one search compares meanings: those of words, made here; those of a model
//! elsewhere, asked for before the snapshot is opened; or nobody's.

use super::question::Kin;
use crate::index::kept_as;
use crate::{Embedder, EmbedderChoice, Oneiro, WordModel};
use oneiro_model::{Query, Result};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a model that did not answer is left alone.
const REST: Duration = Duration::from_secs(30);

/// By whose vectors meanings are compared.
pub(super) struct Meaning {
    pub(super) choice: EmbedderChoice,
    /// The vector of the question by a model elsewhere, and the name its vectors are kept under.
    pub(super) elsewhere: Option<(String, Vec<f32>)>,
    /// Why there is none, when there should be.
    pub(super) note: Option<String>,
    /// Whether the question is compared by meaning at all.
    is_asked: bool,
}

/// When a model elsewhere last failed to answer.
#[derive(Default)]
pub(crate) struct Breaker(Mutex<Option<Instant>>);

impl Breaker {
    fn is_open(&self) -> bool {
        let failed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        failed.is_some_and(|at| at.elapsed() < REST)
    }

    fn failed(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }
}

/// What a question is read with.
pub(super) struct Asking<'a> {
    pub(super) words: Option<&'a dyn WordModel>,
    /// Whether the vectors of words are compared as well.
    pub(super) by_words: bool,
    pub(super) kin: &'a Kin,
    pub(super) elsewhere: Option<&'a [f32]>,
}

impl Meaning {
    /// Nobody's, in a space that has chosen its vectors: what is kept of the index between searches
    /// is kept with them, whoever reads it first.
    pub(super) fn unasked(choice: EmbedderChoice) -> Meaning {
        Meaning { choice, elsewhere: None, note: None, is_asked: false }
    }

    /// The name of the vectors that count, when they are not those of words.
    pub(super) fn kept_as(&self) -> Option<&str> {
        self.elsewhere.as_ref().map(|(name, _)| name.as_str())
    }

    pub(super) fn asking<'a>(&'a self, oneiro: &'a Oneiro) -> Asking<'a> {
        Asking {
            words: oneiro
                .index
                .words()
                .filter(|_| self.is_asked && self.choice != EmbedderChoice::None),
            by_words: self.is_asked && self.choice == EmbedderChoice::Static,
            kin: &oneiro.kin,
            elsewhere: self.elsewhere.as_ref().map(|(_, vector)| vector.as_slice()),
        }
    }
}

impl Oneiro {
    /// Finds out by whose vectors to compare, and asks for that of the query if it comes from
    /// elsewhere. A model that does not answer costs the search its vectors, nothing else.
    pub(super) fn meaning(&self, query: &Query) -> Result<Meaning> {
        let choice = self.embedder_choice()?;
        let mut meaning = Meaning { choice, elsewhere: None, note: None, is_asked: true };
        if choice != EmbedderChoice::OpenAi || query.text.trim().is_empty() {
            return Ok(meaning);
        }
        let Some(embedder) = self.embedder() else {
            meaning.note = Some(
                "searched by words alone: this space wants vectors of a server, and none is \
                 configured (embedder_url)"
                    .to_owned(),
            );
            return Ok(meaning);
        };
        let asked = match self.breaker.is_open() {
            true => None,
            false => Some(embedder.ask(&query.text)),
        };
        match asked {
            Some(Ok(vector)) => {
                meaning.elsewhere = Some((kept_as(&embedder, vector.len()), vector));
            }
            Some(Err(error)) => {
                self.breaker.failed();
                tracing::warn!(%error, "the embedder did not answer");
                meaning.note = Some(format!("searched by words alone: {error}"));
            }
            None => {
                let why = "searched by words alone: the embedder did not answer lately";
                meaning.note = Some(why.to_owned());
            }
        }
        Ok(meaning)
    }
}
