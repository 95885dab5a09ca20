//! What setup can import from an agent, and what it imported: transcripts, or a database.

use crate::agents::AgentRow;
use crate::commands::import::hermes::{self, HermesReport};
use crate::commands::import::{ImportChoices, ImportMode, ImportReport, TranscriptSet};
use crate::context::Context;
use crate::output::count;
use oneiro::{Error, Oneiro, ReadFrom};
use serde_json::Value;
use std::path::PathBuf;

/// What an agent has that can be imported.
pub enum ImportOffer {
    Transcripts(TranscriptSet),
    Hermes(PathBuf),
}

/// What was imported, or would be.
pub enum ImportOutcome {
    Transcripts(ImportReport),
    Hermes(HermesReport),
    Failed(Error),
}

impl ImportOffer {
    /// What an agent has.
    pub fn of(agent: &AgentRow) -> oneiro::Result<Option<ImportOffer>> {
        if let Some(path) = agent.database() {
            return Ok(Some(ImportOffer::Hermes(path)));
        }
        let Some(transcripts) = agent.transcripts() else { return Ok(None) };
        let set = TranscriptSet::of_agent(transcripts)?;
        Ok((!set.files.is_empty()).then_some(ImportOffer::Transcripts(set)))
    }

    /// What the person is asked.
    pub fn question(&self, title: &str) -> String {
        match self {
            ImportOffer::Transcripts(set) => {
                format!("Import {} of {title}?", count(set.files.len(), "transcript"))
            }
            ImportOffer::Hermes(path) => {
                format!("Import the sessions of {title} from {}?", path.display())
            }
        }
    }

    /// Imports it, or counts what an import would bring.
    pub fn import(&self, context: &Context, oneiro: &Oneiro, dry_run: bool) -> ImportOutcome {
        match self {
            ImportOffer::Transcripts(set) => {
                let (choices, from) = (ImportChoices::Keep, ReadFrom::Reached);
                let mode = ImportMode { choices, from, dry_run };
                ImportOutcome::Transcripts(set.import(context, oneiro, mode))
            }
            ImportOffer::Hermes(path) => match hermes::import(context, oneiro, (path, dry_run)) {
                Ok(report) => ImportOutcome::Hermes(report),
                Err(error) => ImportOutcome::Failed(error),
            },
        }
    }
}

impl ImportOutcome {
    /// Messages that are new.
    pub fn messages(&self) -> usize {
        match self {
            ImportOutcome::Transcripts(report) => report.captured.messages,
            ImportOutcome::Hermes(report) => report.done.messages,
            ImportOutcome::Failed(_) => 0,
        }
    }

    /// For people.
    pub fn describe(&self, dry_run: bool) -> String {
        match self {
            ImportOutcome::Transcripts(report) => report.describe(dry_run),
            ImportOutcome::Hermes(report) if dry_run => {
                format!("{}\n  `oneiro import hermes` imports them", report.describe())
            }
            ImportOutcome::Hermes(report) => report.describe(),
            ImportOutcome::Failed(error) => format!("not imported: {}", error.message()),
        }
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        match self {
            ImportOutcome::Transcripts(report) => report.json(),
            ImportOutcome::Hermes(report) => report.json(),
            ImportOutcome::Failed(_) => Value::Null,
        }
    }

    /// Why something could not be imported.
    pub fn error(self) -> Option<Error> {
        match self {
            ImportOutcome::Transcripts(report) => report.failed.into_iter().next(),
            ImportOutcome::Hermes(report) => report.check(),
            ImportOutcome::Failed(error) => Some(error),
        }
    }
}
