//! `oneiro session new`.

use crate::context::Context;
use crate::request::request;
use clap::Args;
use oneiro::{Error, NewSession};
use serde_json::Value;

/// Create a session, or fill missing fields of an existing one
#[derive(Debug, Args)]
pub struct NewArgs {
    /// Id of the session [default: generated]
    #[arg(long)]
    id: Option<String>,
    /// Source of the conversation (cli, telegram, cron ...)
    #[arg(long, default_value = "cli")]
    source: String,
    /// A title, unique in the space
    #[arg(long)]
    title: Option<String>,
    /// Parent session
    #[arg(long, value_name = "SESSION")]
    parent: Option<String>,
    /// Relation to the parent: continuation, branch, delegate or reset
    #[arg(long, requires = "parent")]
    lineage: Option<String>,
    /// User that the agent talks to
    #[arg(long, value_name = "USER")]
    user_id: Option<String>,
    /// The model
    #[arg(long)]
    model: Option<String>,
    /// Settings of the model, as JSON
    #[arg(long, value_name = "JSON")]
    model_config: Option<String>,
    /// The system prompt, or @FILE to read it from a file
    #[arg(long, value_name = "TEXT|@FILE")]
    system_prompt: Option<String>,
    /// Project
    #[arg(long)]
    project: Option<String>,
    /// The working directory
    #[arg(long)]
    cwd: Option<String>,
    /// Further metadata, as a JSON object
    #[arg(long, value_name = "JSON")]
    metadata: Option<String>,
    /// Start: a time, a date, or an age such as 3d
    #[arg(long, value_name = "TIME")]
    started_at: Option<String>,
}

impl NewArgs {
    /// Creates the session.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let config = self.model_config.as_deref().map(|text| json("model-config", text));
        let metadata = self.metadata.as_deref().map(|text| json("metadata", text));
        let fields = serde_json::json!({
            "id": self.id,
            "source": self.source,
            "user_id": self.user_id,
            "model": self.model,
            "model_config": config.transpose()?,
            "system_prompt": self.system_prompt.map(text_or_file).transpose()?,
            "parent_id": self.parent,
            "lineage": self.lineage,
            "title": self.title,
            "project": self.project,
            "cwd": self.cwd,
            "metadata": metadata.transpose()?,
            "started_at": self.started_at,
        });
        let (oneiro, session) = context.open_to_add(|oneiro| {
            let session: NewSession = request(oneiro, fields.clone())?;
            Ok(oneiro.sessions().create(session)?)
        })?;
        context.output.show(&session, super::describe)?;
        context.after(&oneiro);
        Ok(())
    }
}

fn json(field: &'static str, text: &str) -> oneiro::Result<Value> {
    oneiro::json::parse_text(text)
        .map(|repaired| repaired.value)
        .map_err(|error| Error::field(field, error.message()).remedy("give JSON in quotes"))
}

fn text_or_file(text: String) -> oneiro::Result<String> {
    match text.strip_prefix('@') {
        Some(path) => std::fs::read_to_string(path)
            .map_err(|error| Error::field("system-prompt", format!("{path}: {error}"))),
        None => Ok(text),
    }
}
