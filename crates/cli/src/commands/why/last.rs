//! What the last answer was shown: the lines of its pack with their sources, and keys to fix a line.

use super::WhyArgs;
use crate::commands::hook::project_of_folder;
use crate::commands::memory::{show_changed, text};
use crate::commands::review::prompt;
use crate::context::Context;
use crate::output::{ago, one_line};
use crate::request::request;
use oneiro::{ExplainedPack, MemoryPatch, Oneiro, PackKind, Result, Timestamp, WhyPackRequest};
use serde_json::json;
use std::io::IsTerminal;

/// Columns of a name.
const NAME_COLUMNS: usize = 60;

impl WhyArgs {
    pub(super) fn explain_last(&self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let explained = self.last_pack(&oneiro)?;
        if explained.lines.is_empty() {
            context.output.note("Nothing was shown in the last 30 days.");
        }
        context.output.show(&explained, |explained| describe(explained, oneiro.now()))?;
        let at_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        if context.output.json || !at_terminal || explained.lines.is_empty() {
            return Ok(());
        }
        fix(context, &oneiro, &explained)
    }

    fn last_pack(&self, oneiro: &Oneiro) -> Result<ExplainedPack> {
        let last = |project: Option<String>| {
            let fields = json!({"session": self.session, "project": project});
            oneiro.packs().why(&request::<WhyPackRequest>(oneiro, fields)?)
        };
        if self.session.is_some() || self.project.is_some() {
            return last(self.project.clone());
        }
        let here = std::env::current_dir().ok();
        if let Some(project) = project_of_folder(oneiro, here.as_deref())? {
            let explained = last(Some(project))?;
            if explained.pack.is_some() {
                return Ok(explained);
            }
        }
        last(None)
    }
}

/// The lines with their sources, numbered from 1.
fn describe(explained: &ExplainedPack, now: Timestamp) -> String {
    let Some(pack) = &explained.pack else { return String::new() };
    let mut head = format!("{}, {}, {} tokens", pack.id, ago(pack.created_at, now), pack.tokens);
    let session = pack.session_id.as_ref().map(ToString::to_string);
    for (name, value) in [("session", &session), ("project", &pack.project)] {
        if let Some(value) = value {
            head.push_str(&format!(", {name} {}", one_line(value, NAME_COLUMNS)));
        }
    }
    let mut blocks = vec![head];
    for (index, line) in explained.lines.iter().enumerate() {
        blocks.push(format!("{}. {}", index + 1, text::why(&line.why, now)));
    }
    blocks.join("\n\n")
}

/// Asks which line is wrong and what to do about it, until nothing is typed.
fn fix(context: &Context, oneiro: &Oneiro, explained: &ExplainedPack) -> anyhow::Result<()> {
    loop {
        let number = prompt("Number of a line to fix, or Enter to leave")?;
        if number.is_empty() || number == "q" {
            return Ok(());
        }
        let line = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let Some(line) = line.and_then(|index| explained.lines.get(index)) else { continue };
        if line.item.kind != PackKind::Memory {
            context
                .output
                .note("Only memories can be changed here. `oneiro state set` sets a fact.");
            continue;
        }
        let key = prompt("[e]dit [s]upersede [f]orget [c]onfirm, or Enter")?;
        if let Err(error) = change(context, oneiro, (&line.item.id, &key)) {
            context.output.note(&format!("{error}"));
        }
    }
}

/// Does what a key says to a memory.
fn change(context: &Context, oneiro: &Oneiro, (id, key): (&str, &str)) -> anyhow::Result<()> {
    let memories = oneiro.memories();
    let changed = match key {
        "e" | "s" => {
            let content = prompt("New statement")?;
            if content.is_empty() {
                return Ok(());
            }
            let fields = json!({"content": content});
            if key == "e" {
                memories.edit(id, request::<MemoryPatch>(oneiro, fields)?)?
            } else {
                memories.supersede(id, request(oneiro, fields)?)?
            }
        }
        "f" => memories.forget(id, None)?,
        "c" => memories.confirm(id, None)?,
        _ => return Ok(()),
    };
    show_changed(context, &changed)
}
