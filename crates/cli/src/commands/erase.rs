//! `oneiro erase`: remove for good, and prove it.

use crate::context::Context;
use crate::output::{bytes, count};
use crate::request::request;
use clap::Args;
use oneiro::{EraseRequest, EraseTarget, Erased, SessionId};
use serde_json::json;

/// Erase a session or a message for good, and prove it
///
/// Removes the rows and payloads, rewrites the files so that no trace is left, and searches their
/// raw bytes for what was erased. Copies of the store are out of reach and are named.
#[derive(Debug, Args)]
pub struct EraseArgs {
    /// The whole id of a session, or a message: its id, or its place (monday#3)
    id: String,
    /// The id is a session's
    #[arg(long, conflicts_with = "message")]
    session: bool,
    /// The id is a message's
    #[arg(long)]
    message: bool,
    /// Do not ask; without a terminal nobody is asked
    #[arg(long, short)]
    yes: bool,
}

impl EraseArgs {
    /// Erases.
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
        let what = match &target {
            EraseTarget::Session(id) => format!("session {id}"),
            EraseTarget::Message(id) => format!("message {id}"),
        };
        if !context.output.confirm(&format!("Erase {what} for good?"), self.yes)? {
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
        .remedy("end other processes that use the store, then run `oneiro jobs run`")
        .into()),
    }
}

fn describe(erased: &Erased) -> String {
    let proof = &erased.proof;
    let mut lines = vec![format!(
        "Erased {}: {}, {}.",
        erased.id,
        count(erased.messages as usize, "message"),
        count(erased.payloads as usize, "payload")
    )];
    lines.push(match proof.searched {
        true => format!(
            "Looked for {} pieces of it in {}: {} found{}.",
            proof.pieces,
            bytes(proof.bytes as i64),
            proof.found,
            match proof.said_elsewhere {
                0 => String::new(),
                said => format!(" ({said} are also said in what is kept)"),
            }
        ),
        false => "The server's files could not be searched from here.".to_owned(),
    });
    if proof.searched && proof.not_searched > 0 {
        lines.push(format!(
            "{} pieces were not looked for: too short, or too many.",
            proof.not_searched
        ));
    }
    if proof.said_elsewhere > 0 {
        lines.push(
            "`oneiro session list --all` shows what is kept: branches hold copies.".to_owned(),
        );
    }
    if !erased.out_of_reach.is_empty() {
        lines.push("Out of reach, and possibly holding it still:".to_owned());
        lines.extend(erased.out_of_reach.iter().map(|place| format!("  {place}")));
    }
    lines.join("\n")
}
