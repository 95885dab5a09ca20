//! Gives an agent the lines of memory that a session or a prompt needs, as additional context.

use super::open_for_reading;
use crate::context::Context;
use oneiro::{Oneiro, PackRequest, ProjectFolder, Result, SessionId};
use serde_json::{Value, json};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Tokens at the start of a session, and for a prompt.
const START_TOKENS: usize = 800;
const PROMPT_TOKENS: usize = 300;

/// Files that the host loads by itself.
const HOST_FILES: [&str; 4] = ["CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", ".claude/CLAUDE.md"];

/// The most that is read of such a file.
const HOST_FILE_BYTES: u64 = 256 << 10;

/// The name under which lines are recorded as served.
const CLIENT: &str = "claude-code";

/// An event to which the host adds what a hook prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    SessionStart,
    Prompt,
}

impl Moment {
    /// The moment of an event, if context can be added to it.
    pub(super) fn of(event: &Value) -> Option<Moment> {
        match event.get("hook_event_name").and_then(Value::as_str)? {
            "SessionStart" => Some(Moment::SessionStart),
            "UserPromptSubmit" => Some(Moment::Prompt),
            _ => None,
        }
    }

    fn event_name(self) -> &'static str {
        match self {
            Moment::SessionStart => "SessionStart",
            Moment::Prompt => "UserPromptSubmit",
        }
    }
}

/// What the host is to add, if anything is relevant.
pub(super) fn additional_context(
    context: &Context,
    moment: Moment,
    event: &Value,
) -> Result<Option<Value>> {
    let text = |name: &str| event.get(name).and_then(Value::as_str).filter(|it| !it.is_empty());
    let prompt = text("prompt").map(str::trim);
    if moment == Moment::Prompt && prompt.is_none_or(|prompt| prompt.starts_with('/')) {
        return Ok(None);
    }
    let Some(oneiro) = open_for_reading(context)? else { return Ok(None) };
    let folder = text("cwd").map(PathBuf::from);
    if folder.as_deref().is_some_and(|folder| oneiro.capture().is_private(folder).unwrap_or(true)) {
        return Ok(None);
    }
    let session = text("session_id").map(SessionId::new).transpose()?;
    let is_emptied = matches!(text("source"), Some("compact" | "clear"));
    if let Some(session) = session.as_ref().filter(|_| moment == Moment::SessionStart && is_emptied)
    {
        oneiro.packs().allow_again(session)?;
    }
    let root = folder.as_deref().map(git_root);
    let pack = oneiro.packs().make(&PackRequest {
        prompt: prompt.filter(|_| moment == Moment::Prompt).map(str::to_owned),
        project: project(&oneiro, folder.as_deref(), root.as_deref())?,
        session,
        client: Some(CLIENT.to_owned()),
        budget: if moment == Moment::Prompt { PROMPT_TOKENS } else { START_TOKENS },
        new_only: true,
        host_texts: host_texts(folder.as_deref(), root.as_deref()),
        ..PackRequest::starting()
    })?;
    let is_something = !pack.text.is_empty();
    Ok(is_something.then(|| {
        json!({"hookSpecificOutput": {
            "hookEventName": moment.event_name(), "additionalContext": pack.text,
        }})
    }))
}

/// The project of a folder: a registered one, or the name under which its sessions are captured.
fn project(oneiro: &Oneiro, folder: Option<&Path>, root: Option<&Path>) -> Result<Option<String>> {
    let Some(folder) = folder else { return Ok(None) };
    let resolved = ProjectFolder::resolve(folder).name();
    for name in [Some(resolved), root.map(|root| root.to_string_lossy().into_owned())] {
        let Some(name) = name else { continue };
        if let Some(project) = oneiro.projects().find(&name)? {
            return Ok(Some(project.name));
        }
    }
    oneiro.projects().name_of_folder(&folder.to_string_lossy()).map(Some)
}

/// The project of a folder, as a hook would choose it.
pub fn project_of_folder(oneiro: &Oneiro, folder: Option<&Path>) -> Result<Option<String>> {
    project(oneiro, folder, folder.map(git_root).as_deref())
}

/// The folder above with a `.git`, or the folder itself.
fn git_root(folder: &Path) -> PathBuf {
    let root = folder.ancestors().find(|folder| folder.join(".git").exists());
    root.unwrap_or(folder).to_path_buf()
}

/// The texts of the files that the host loads by itself.
fn host_texts(folder: Option<&Path>, root: Option<&Path>) -> Vec<String> {
    let mut texts = Vec::new();
    let folders = [folder, root.filter(|root| Some(*root) != folder)];
    for folder in folders.into_iter().flatten() {
        for name in HOST_FILES {
            let Ok(file) = std::fs::File::open(folder.join(name)) else { continue };
            let mut bytes = Vec::new();
            if file.take(HOST_FILE_BYTES).read_to_end(&mut bytes).is_ok() {
                texts.push(String::from_utf8_lossy(&bytes).into_owned());
            }
        }
    }
    texts
}
