//! Oneiro, the memory of AI agents: the library people use. [`Oneiro`] is the handle, and [`views`]
//! are its capabilities, a module each. It reads no environment, prints nothing and knows no
//! surface; time, ids and everything else from outside come in through the ports.
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
mod changes;
mod check;
mod context;
mod erase;
mod history;
mod holder;
pub mod host;
mod index;
mod jobs;
mod model_calls;
mod ports;
mod search;
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
pub use check::Checked;
pub use context::{PROMPTS, Prompts};
pub use oneiro_count as count;
pub use oneiro_model::host::{Durability, PageRequest};
pub use oneiro_model::*;
pub use oneiro_store::{Engine, Target, WriteFigures, is_single_space};
pub use ports::{
    Clock, Embedder, Ids, Llm, LlmAnswer, LlmRequest, RandomIds, SystemClock, WordModel,
};
pub use sessions::{Stretch, StretchFrom, StretchRequest};
pub use settings::{EmbedderChoice, OtherSessions, SETTINGS, Setting, SettingValue};
pub use spaces::list_spaces;
pub use transcripts::{
    Agent, CaptureRequest, Captured, DamagedLine, TranscriptFile, Transcripts, find_transcripts,
};
pub use transfer::{
    ForeignStore, HermesCounts, HermesDifference, HermesImported, ImportFile, ImportLimits,
    NotKept, TransferProgress, foreign_store,
};

use oneiro_store::Store;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How a space is opened.
#[derive(Clone)]
pub struct Options {
    /// What an acknowledged write survives.
    pub durability: Durability,
    /// How long a writer waits for other processes before it answers `busy`.
    pub busy_timeout: Duration,
    /// How long a statement may run on a PostgreSQL server.
    pub statement_timeout: Duration,
    /// How many reads may run at once.
    pub readers: usize,
    /// Refuse to create a store that does not exist.
    pub must_exist: bool,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
    /// Where random ids come from.
    pub ids: Arc<dyn Ids>,
    /// The model of words that searches by meaning use; without one, words alone count.
    pub words: Option<Arc<dyn WordModel>>,
    /// A model elsewhere, for spaces whose setting `embedder` asks for it.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// A model that writes summaries; without one they are extracts.
    pub llm: Option<Arc<dyn Llm>>,
    /// What the model is told.
    pub prompts: Prompts,
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
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
            words: None,
            embedder: None,
            llm: None,
            prompts: Prompts::default(),
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

/// One space, opened. Cheap to clone; threads and processes may share the space freely.
#[derive(Clone)]
pub struct Oneiro {
    store: Store,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    settings: Arc<Mutex<Option<settings::Cached>>>,
    holder: Arc<str>,
    index: Arc<index::Index>,
    kin: Arc<search::Kin>,
    breaker: Arc<search::Breaker>,
    scratch: Arc<search::Scratch>,
    llm: Option<Arc<dyn Llm>>,
    model_calls: Arc<model_calls::ModelCalls>,
    /// Stops the long work of this clone.
    cancel: Cancel,
    prompts: Arc<Prompts>,
    prompt_costs: Arc<Mutex<HashMap<[u8; 32], i64>>>,
    /// The newest message of sessions when a job was last left for them.
    compacted_at: Arc<Mutex<HashMap<i64, i64>>>,
    /// Held by whoever erases.
    erasing: Arc<Mutex<()>>,
    /// The minute in which idle sessions were last looked for.
    looked_for_idle: Arc<Mutex<Option<i64>>>,
}

impl Oneiro {
    /// Opens a space, creating it if it does not exist.
    pub fn open(target: &Target, options: Options) -> Result<Oneiro> {
        let store = Store::open(target, &options.for_store(), options.clock.now())
            .map_err(|error| transfer::name_foreign(target, error))?;
        Ok(Oneiro::over(store, options))
    }

    /// Wraps a store that is open already; tests hand in one that fails as planned.
    #[doc(hidden)]
    pub fn over(store: Store, options: Options) -> Oneiro {
        let holder = SessionId::from_random(options.ids.random());
        let index = index::Index::new(index::Folder {
            store: store.clone(),
            clock: Arc::clone(&options.clock),
            words: options.words,
            embedder: options.embedder,
        });
        Oneiro {
            store,
            index: Arc::new(index),
            kin: Arc::default(),
            breaker: Arc::default(),
            scratch: Arc::default(),
            llm: options.llm,
            model_calls: Arc::default(),
            cancel: Cancel::new(),
            prompts: Arc::new(options.prompts),
            prompt_costs: Arc::default(),
            compacted_at: Arc::default(),
            erasing: Arc::default(),
            looked_for_idle: Arc::default(),
            clock: options.clock,
            ids: options.ids,
            settings: Arc::default(),
            holder: holder::new_holder(holder.as_str()).into(),
        }
    }

    /// A clone of this handle whose long work (compaction, indexing, calls to models) ends early with
    /// an error once `cancel` is set.
    #[must_use]
    pub fn with_cancel(&self, cancel: Cancel) -> Oneiro {
        Oneiro { cancel, ..self.clone() }
    }

    /// A clone of this handle through which somebody acts; what it changes is recorded with it.
    #[must_use]
    pub fn acting_as(&self, actor: Actor) -> Oneiro {
        Oneiro { store: self.store.acting_as(Arc::new(actor)), ..self.clone() }
    }

    /// Where the space is kept.
    pub fn target(&self) -> &Target {
        self.store.target()
    }

    /// The store below, for tests and benchmarks.
    #[doc(hidden)]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The time, as this handle's clock tells it.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }
}
