//! Oneiro, memory for AI agents: the library. [`Oneiro`] is the handle, and [`views`] are its
//! capabilities, one module each. It does not read the environment or print; time, ids and models
//! come in through the ports.
//!
//! ```
//! use oneiro::{NewMessage, NewSession, Oneiro, Options, Role, SessionId, Target};
//!
//! # fn main() -> oneiro::Result<()> {
//! # let folder = tempfile::tempdir().map_err(|e| oneiro::Error::internal(e.to_string()))?;
//! # let place = folder.path().to_string_lossy().into_owned();
//! let oneiro = Oneiro::open(&Target::parse(&place, None)?, Options::default())?;
//! let id = SessionId::new("monday")?;
//! oneiro.sessions().create(NewSession::with_id(id.clone()))?;
//! let message = NewMessage::text(Role::User, "the tea is in the blue tin");
//! let said = oneiro.messages().append(&id, vec![message])?;
//! assert_eq!(said.ids.len(), 1);
//! assert_eq!(oneiro.sessions().show(&id, false)?.messages.len(), 1);
//! # Ok(())
//! # }
//! ```

mod activity;
mod append;
mod background;
mod backup;
mod cancel;
mod capture;
mod change_words;
mod changes;
mod context;
mod doctor;
mod dreams;
mod echo;
mod erase;
mod history;
pub mod host;
mod index;
mod jobs;
mod learning;
mod lease_holder;
mod memories;
mod model_calls;
mod notes;
mod operations;
mod packs;
mod ports;
mod projects;
mod search;
mod secrets;
mod sessions;
mod settings;
mod spaces;
mod stats;
mod tokens;
mod transcripts;
mod transfer;
pub mod views;

pub use append::CreateMissing;
pub use background::{Background, BackgroundMonitor, LaneStatus, OpenSpaces};
pub use backup::Progress;
pub use cancel::Cancel;
pub use capture::{CaptureSource, CaptureTrigger, found_projects};
pub use context::{Leaving, LeavingHook, PROMPTS, Prompts};
pub use doctor::Checked;
pub use dreams::{DreamIssue, Severity};
pub use memories::{Compared, compare_statements};
pub use notes::without_blocked;
pub use oneiro_count as count;
pub use oneiro_model::host::{Durability, PageRequest};
pub use oneiro_model::*;
pub use oneiro_store::{CommitStats, Engine, Target, is_single_space};
pub use ports::{
    Clock, Embedder, Ids, Llm, LlmRequest, LlmResponse, RandomIds, SystemClock, WordModel,
};
pub use secrets::redact_secrets;
pub use sessions::{Stretch, StretchFrom, StretchRequest};
pub use settings::{EmbedderChoice, OtherSessions, SETTINGS, Setting, SettingValue};
pub use spaces::{ScratchSpace, list_spaces};
pub use transcripts::{
    Agent, CaptureRequest, Captured, DamagedLine, ExcludedFolders, ProjectFolder, ReadFrom,
    TranscriptFile, Transcripts, find_transcripts,
};
pub use transfer::{
    ForeignStore, HermesCounts, HermesDifference, HermesImported, ImportFile, ImportLimits,
    NotKept, TransferProgress, foreign_store,
};

use oneiro_store::Store;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Options for opening a space.
#[derive(Clone)]
pub struct Options {
    /// Which failures an acknowledged write survives.
    pub durability: Durability,
    /// How long a writer waits for other processes before it fails with `busy`.
    pub busy_timeout: Duration,
    /// Statement timeout on PostgreSQL.
    pub statement_timeout: Duration,
    /// Maximum number of concurrent reads.
    pub readers: usize,
    /// Fail if the store does not exist, instead of creating it.
    pub must_exist: bool,
    /// The time zone that a new space gets, by its name in the database of IANA; UTC if absent.
    pub timezone: Option<String>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of random ids.
    pub ids: Arc<dyn Ids>,
    /// Word vectors for semantic search; without them, searches use words only.
    pub words: Option<Arc<dyn WordModel>>,
    /// A remote embedder, for spaces whose `embedder` setting requires one.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// A model that writes summaries; without one, summaries are extracts.
    pub llm: Option<Arc<dyn Llm>>,
    /// Prompts for the model.
    pub prompts: Prompts,
    /// Called before messages leave a window.
    pub leaving_hook: Option<Arc<dyn LeavingHook>>,
}

impl Default for Options {
    fn default() -> Options {
        let store = oneiro_store::Options::default();
        Options {
            durability: store.durability,
            busy_timeout: store.busy_timeout,
            statement_timeout: store.statement_timeout,
            readers: store.readers,
            must_exist: store.must_exist,
            timezone: None,
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
            words: None,
            embedder: None,
            llm: None,
            prompts: Prompts::default(),
            leaving_hook: None,
        }
    }
}

impl Options {
    fn for_store(&self) -> oneiro_store::Options {
        oneiro_store::Options {
            durability: self.durability,
            busy_timeout: self.busy_timeout,
            statement_timeout: self.statement_timeout,
            readers: self.readers,
            must_exist: self.must_exist,
            ..oneiro_store::Options::default()
        }
    }
}

/// How long a read waits for other writers to store what it computed: several times longer than
/// another process takes to commit. What is not stored is computed again.
pub(crate) const CACHE_WRITE_WAIT: Duration = Duration::from_millis(100);

/// How long a read waits for other writers to store what is not computed again by the next read, such
/// as that something was asked for.
pub(crate) const RECORD_WRITE_WAIT: Duration = Duration::from_secs(2);

/// An open space. Cheap to clone; threads and processes may share a space.
#[derive(Clone)]
pub struct Oneiro {
    store: Store,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    settings: Arc<Mutex<Option<settings::Cached>>>,
    holder: Arc<str>,
    index: Arc<index::Index>,
    similar_words: Arc<search::SimilarWords>,
    known_texts: Arc<search::KnownTexts>,
    breaker: Arc<search::Breaker>,
    scratch: Arc<search::Scratch>,
    llm: Option<Arc<dyn Llm>>,
    model_calls: Arc<model_calls::ModelCalls>,
    /// Cancels long work of this clone.
    cancel: Cancel,
    prompts: Arc<Prompts>,
    leaving_hook: Option<Arc<dyn LeavingHook>>,
    prompt_costs: Arc<Mutex<HashMap<[u8; 32], i64>>>,
    /// The newest message of each session when its last compaction was queued.
    compacted_at: Arc<Mutex<HashMap<i64, i64>>>,
    /// Sessions for which this process has made all summaries that their windows lacked.
    prepared: Arc<Mutex<HashSet<i64>>>,
    /// Held during an erasure.
    erasing: Arc<Mutex<()>>,
    /// The minute in which idle sessions were last queued.
    idle_checked_at: Arc<Mutex<Option<i64>>>,
    /// The minute in which it was last asked whether a dream is due.
    dream_checked_at: Arc<Mutex<Option<i64>>>,
    /// The words of active memories, as of the last operation.
    usage_matcher: Arc<Mutex<Arc<learning::UsageMatcher>>>,
    /// When idle sessions of transcripts were last ended.
    idle_ended_at: Arc<Mutex<Option<Timestamp>>>,
}

impl Oneiro {
    /// Opens a space, creating it if it does not exist.
    pub fn open(target: &Target, options: Options) -> Result<Oneiro> {
        let store = Store::open(target, &options.for_store(), options.clock.now())
            .map_err(|error| transfer::name_foreign(target, error))?;
        let timezone = options.timezone.clone().filter(|_| store.is_new());
        let oneiro = Oneiro::over(store, options);
        if let Some(timezone) = timezone {
            // A name that this build does not know leaves the default.
            let set = oneiro.settings().set("timezone", Some(timezone.into()));
            let _ = set.inspect_err(|error| tracing::warn!(%error, "the space uses UTC"));
        }
        Ok(oneiro)
    }

    /// Wraps an open store; used by tests with fault injection.
    #[doc(hidden)]
    pub fn over(store: Store, options: Options) -> Oneiro {
        let holder = SessionId::from_random(options.ids.random());
        let index = index::Index::new(index::Indexer {
            store: store.clone(),
            clock: Arc::clone(&options.clock),
            words: options.words,
            embedder: options.embedder,
        });
        Oneiro {
            store,
            index: Arc::new(index),
            similar_words: Arc::default(),
            known_texts: Arc::default(),
            breaker: Arc::default(),
            scratch: Arc::default(),
            llm: options.llm,
            model_calls: Arc::default(),
            cancel: Cancel::new(),
            prompts: Arc::new(options.prompts),
            leaving_hook: options.leaving_hook,
            prompt_costs: Arc::default(),
            compacted_at: Arc::default(),
            prepared: Arc::default(),
            erasing: Arc::default(),
            idle_checked_at: Arc::default(),
            dream_checked_at: Arc::default(),
            usage_matcher: Arc::default(),
            idle_ended_at: Arc::default(),
            clock: options.clock,
            ids: options.ids,
            settings: Arc::default(),
            holder: lease_holder::new_lease_holder(holder.as_str()).into(),
        }
    }

    /// A clone of this handle whose long work (compaction, indexing, model calls) ends early with
    /// an error once `cancel` is set.
    #[must_use]
    pub fn with_cancel(&self, cancel: Cancel) -> Oneiro {
        Oneiro { cancel, ..self.clone() }
    }

    /// A clone of this handle that acts as `actor`, which is recorded with its changes.
    #[must_use]
    pub fn acting_as(&self, actor: Actor) -> Oneiro {
        Oneiro { store: self.store.acting_as(Arc::new(actor)), ..self.clone() }
    }

    /// A clone of this handle whose writes wait at most this long for other writers: for work beside
    /// a read, which is done later if somebody else writes.
    #[must_use]
    pub fn with_max_write_wait(&self, wait: Duration) -> Oneiro {
        Oneiro { store: self.store.with_max_write_wait(wait), ..self.clone() }
    }

    /// A clone of this handle with another clock and other ids, for what happened at another time.
    #[must_use]
    pub fn with_clock(&self, clock: Arc<dyn Clock>, ids: Arc<dyn Ids>) -> Oneiro {
        Oneiro { clock, ids, ..self.clone() }
    }

    /// The location of the space.
    pub fn target(&self) -> &Target {
        self.store.target()
    }

    /// The underlying store, for tests and benchmarks.
    #[doc(hidden)]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The current time of this handle's clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }
}
