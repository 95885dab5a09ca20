//! `oneiro erase`: remove for good, and prove it.

use super::session::delete;
use crate::context::Context;
use crate::output::{bytes, count, one_line};
use crate::request::request;
use clap::Args;
use oneiro::{EraseRequest, EraseTarget, Erased, Oneiro, SessionId, ShowMemory};
use serde_json::json;

/// Erase a session, a message or a memory without a trace, and verify it
///
/// Removes the rows and payloads, and the memories that rest on erased messages alone, rewrites the files so that no trace is left, and searches their
/// raw bytes for what was erased. Copies of the store cannot be reached and are listed.
#[derive(Debug, Args)]
pub struct EraseArgs {
    /// Complete id of a session or a memory, or a message: its id, or its place (monday#3)
    id: String,
    /// The id is that of a session
    #[arg(long, conflicts_with = "message")]
    session: bool,
    /// The id is that of a message
    #[arg(long)]
    message: bool,
    /// Skip confirmation; required when not at a terminal
    #[arg(long, short)]
    yes: bool,
}

impl EraseArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let target = match (self.session, self.message) {
            (true, _) => EraseTarget::Session(SessionId::new(self.id)?),
            (_, true) => {
                let request = request::<EraseRequest>(&oneiro, json!({"message": self.id}))?;
                oneiro.erase_requested(&request)?
            }
            _ => oneiro.erase_target(&self.id)?,
        };
        // What does not exist is refused by the engine, with what to do about it.
        if let Some(what) = what_goes(&oneiro, &target)?
            && !context.output.confirm_removal(&what, self.yes)?
        {
            return Ok(());
        }
        show(context, &oneiro.erase(&target)?)
    }
}

/// Shows what was erased; an error when traces of it are left.
pub fn show(context: &Context, erased: &Erased) -> anyhow::Result<()> {
    context.output.show(erased, describe)?;
    match erased.proof.found {
        0 => Ok(()),
        found => Err(oneiro::Error::internal(format!(
            "{found} pieces of the erased text are still in the files"
        ))
        .remedy("stop other processes that use the store, then run `oneiro jobs run`")
        .into()),
    }
}

/// What is about to be erased, in words; `None` when it does not exist.
fn what_goes(oneiro: &Oneiro, target: &EraseTarget) -> oneiro::Result<Option<String>> {
    Ok(match target {
        EraseTarget::Session(id) => delete::what_goes(oneiro, id)?,
        EraseTarget::Message(id) => {
            let message = oneiro.messages().find_many(&[*id])?.into_iter().next().flatten();
            message.map(|message| {
                let who = message.role.as_str();
                format!("message {id} ({who}) of session {}", message.session_id)
            })
        }
        EraseTarget::Note(name) => Some(format!("the note {name} with its whole history")),
        EraseTarget::Memory(id) => {
            let memory = oneiro.memories().show(id.as_str(), &ShowMemory::default()).ok();
            memory.map(|view| format!("memory {id}: {}", one_line(&view.memory.content, 60)))
        }
    })
}

fn describe(erased: &Erased) -> String {
    let proof = &erased.proof;
    let mut lines = vec![format!(
        "Erased {}: {}, {}, {}.",
        erased.id,
        count(erased.messages as usize, "message"),
        count(erased.memories as usize, "memory"),
        count(erased.payloads as usize, "payload")
    )];
    lines.push(if proof.searched {
        format!(
            "Searched {} for {} of it: {} found{}.",
            bytes(proof.bytes as i64),
            count(proof.pieces, "fragment"),
            proof.found,
            match proof.said_elsewhere {
                0 => String::new(),
                1 => " (1 also appears in other sessions)".to_owned(),
                elsewhere => format!(" ({elsewhere} also appear in other sessions)"),
            }
        )
    } else {
        "The server's files cannot be searched from here.".to_owned()
    });
    if proof.searched && proof.not_searched > 0 {
        lines.push(format!(
            "{} not searched for: too short, or too many.",
            match proof.not_searched {
                1 => "1 fragment was".to_owned(),
                many => format!("{many} fragments were"),
            }
        ));
    }
    if proof.said_elsewhere > 0 {
        lines.push(
            "`oneiro session list --all` lists other sessions: branches contain copies.".to_owned(),
        );
    }
    if !erased.out_of_reach.is_empty() {
        lines.push("Copies that may still contain it:".to_owned());
        lines.extend(erased.out_of_reach.iter().map(|place| format!("  {place}")));
    }
    lines.join("\n")
}
