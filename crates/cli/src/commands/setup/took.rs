//! What setup imports of an agent: transcripts, or a database.

use crate::agents::AgentRow;
use crate::commands::import::hermes::{self, Moved};
use crate::commands::import::{Found, Taken};
use crate::context::Context;
use crate::output::count;
use oneiro::{Error, Oneiro};
use serde_json::Value;
use std::path::PathBuf;

/// What an agent has that can be imported.
pub enum Offer {
    Transcripts(Found),
    Hermes(PathBuf),
}

/// What became of it.
pub enum Took {
    Transcripts(Taken),
    Hermes(Moved),
    Nothing(Error),
}

impl Offer {
    /// What an agent has.
    pub fn of(agent: &AgentRow) -> oneiro::Result<Option<Offer>> {
        if let Some(path) = agent.database() {
            return Ok(Some(Offer::Hermes(path)));
        }
        let Some(transcripts) = agent.transcripts else { return Ok(None) };
        let found = Found::at_home(transcripts)?;
        Ok((!found.files.is_empty()).then_some(Offer::Transcripts(found)))
    }

    /// What the person is asked.
    pub fn question(&self, title: &str) -> String {
        match self {
            Offer::Transcripts(found) => {
                format!("Import {} of {title}?", count(found.files.len(), "transcript"))
            }
            Offer::Hermes(path) => {
                format!("Import the sessions of {title} from {}?", path.display())
            }
        }
    }

    /// Imports it, or counts what that would bring.
    pub fn take(&self, context: &Context, oneiro: &Oneiro, dry_run: bool) -> Took {
        match self {
            Offer::Transcripts(found) => Took::Transcripts(found.capture(context, oneiro, dry_run)),
            Offer::Hermes(path) => match hermes::import(context, oneiro, (path, dry_run)) {
                Ok(moved) => Took::Hermes(moved),
                Err(error) => Took::Nothing(error),
            },
        }
    }
}

impl Took {
    /// Messages that are new.
    pub fn messages(&self) -> usize {
        match self {
            Took::Transcripts(taken) => taken.captured.messages,
            Took::Hermes(moved) => moved.done.messages,
            Took::Nothing(_) => 0,
        }
    }

    /// For people.
    pub fn describe(&self, dry_run: bool) -> String {
        match self {
            Took::Transcripts(taken) => taken.describe(dry_run),
            Took::Hermes(moved) => match dry_run {
                true => format!("{}\n  `oneiro import hermes` imports them", moved.describe()),
                false => moved.describe(),
            },
            Took::Nothing(error) => format!("not taken: {}", error.message()),
        }
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        match self {
            Took::Transcripts(taken) => taken.json(),
            Took::Hermes(moved) => moved.json(),
            Took::Nothing(_) => Value::Null,
        }
    }

    /// Why something could not be taken.
    pub fn error(self) -> Option<Error> {
        match self {
            Took::Transcripts(taken) => taken.failed.into_iter().next(),
            Took::Hermes(moved) => moved.check(),
            Took::Nothing(error) => Some(error),
        }
    }
}
