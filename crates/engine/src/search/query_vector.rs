//! The vector of a query: computed from the built-in word vectors, requested from a remote embedder
//! before the snapshot is opened, or none.

use super::query_terms::SimilarWords;
use crate::index::vector_set_name;
use crate::{Embedder, EmbedderChoice, Oneiro, WordModel};
use oneiro_model::{Query, Result};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a failed embedder is not called again.
const BREAKER_OPEN_TIME: Duration = Duration::from_secs(30);

/// The vector of a query, or why there is none.
pub(super) struct QueryVector {
    pub(super) choice: EmbedderChoice,
    /// The name under which the embedder's vectors are stored, and the vector of the query.
    pub(super) remote: Option<(String, Vec<f32>)>,
    /// The reason why the query has no vector although the space is configured for one.
    pub(super) note: Option<String>,
    /// Whether vectors are compared at all.
    is_enabled: bool,
}

/// When the remote embedder last failed.
#[derive(Default)]
pub(crate) struct Breaker(Mutex<Option<Instant>>);

impl Breaker {
    fn is_open(&self) -> bool {
        let failed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        failed.is_some_and(|at| at.elapsed() < BREAKER_OPEN_TIME)
    }

    fn failed(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }
}

/// The models that a query is analysed with.
pub(super) struct VectorSource<'a> {
    pub(super) words: Option<&'a dyn WordModel>,
    /// Whether word vectors are compared, too.
    pub(super) by_words: bool,
    pub(super) similar_words: &'a SimilarWords,
    pub(super) remote: Option<&'a [f32]>,
}

impl QueryVector {
    /// No vector. The embedder of the space is still needed, because the index cache holds the
    /// vectors of that embedder for later searches.
    pub(super) fn disabled(choice: EmbedderChoice) -> QueryVector {
        QueryVector { choice, remote: None, note: None, is_enabled: false }
    }

    /// The name of the stored vectors to compare, if they are not word vectors.
    pub(super) fn remote_name(&self) -> Option<&str> {
        self.remote.as_ref().map(|(name, _)| name.as_str())
    }

    pub(super) fn vector_source<'a>(&'a self, oneiro: &'a Oneiro) -> VectorSource<'a> {
        VectorSource {
            words: oneiro
                .index
                .words()
                .filter(|_| self.is_enabled && self.choice != EmbedderChoice::None),
            by_words: self.is_enabled && self.choice == EmbedderChoice::Static,
            similar_words: &oneiro.similar_words,
            remote: self.remote.as_ref().map(|(_, vector)| vector.as_slice()),
        }
    }
}

impl Oneiro {
    /// Chooses the vectors of the space and requests the vector of the query if the embedder is
    /// remote. If the embedder fails, the search goes on without vectors.
    pub(super) fn query_vector(&self, query: &Query) -> Result<QueryVector> {
        let choice = self.embedder_choice()?;
        let mut query_vector = QueryVector { choice, remote: None, note: None, is_enabled: true };
        if choice != EmbedderChoice::OpenAi || query.text.trim().is_empty() {
            return Ok(query_vector);
        }
        let Some(embedder) = self.embedder() else {
            query_vector.note = Some(
                "searched by words alone: this space wants vectors of a server, and none is \
                 configured (embedder_url)"
                    .to_owned(),
            );
            return Ok(query_vector);
        };
        let asked =
            if self.breaker.is_open() { None } else { Some(embedder.embed_query(&query.text)) };
        match asked {
            Some(Ok(vector)) => {
                query_vector.remote = Some((vector_set_name(&embedder, vector.len()), vector));
            }
            Some(Err(error)) => {
                self.breaker.failed();
                tracing::warn!(%error, "the embedder did not answer");
                query_vector.note = Some(format!("searched by words alone: {error}"));
            }
            None => {
                let why = "searched by words alone: the embedder did not answer lately";
                query_vector.note = Some(why.to_owned());
            }
        }
        Ok(query_vector)
    }
}
