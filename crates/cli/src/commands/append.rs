//! `oneiro append`: messages from standard input become durable rows.

use crate::context::Context;
use crate::input::Lines;
use crate::output::count;
use clap::Args;
use oneiro::{Appended, NewMessage, NewSession, Oneiro, Role, SessionId, SpaceUse};
use std::io::{IsTerminal, Write};

/// Append messages to a session, as JSONL on standard input
///
/// A message is an OpenAI chat message on one line: {"role":"user","content":"..."}. Any field is
/// kept as it is. `external_id` makes an append idempotent within the session, `at` is the time of
/// the message. Either all messages are stored, or none. Unknown roles and empty messages are
/// refused.
#[derive(Debug, Args)]
pub struct AppendArgs {
    /// Complete id of the session
    session: String,
    /// Create the session if it does not exist
    #[arg(long)]
    create: bool,
    /// With --create: source of the session (cli, telegram, cron ...)
    #[arg(long, requires = "create", default_value = "cli")]
    source: String,
    /// Print the id of each message as soon as it is durable
    #[arg(long)]
    stream: bool,
    /// Append this text as one message instead of reading standard input
    #[arg(long, conflicts_with = "stream")]
    text: Option<String>,
    /// With --text: role of the message
    #[arg(long, default_value = "user", requires = "text")]
    role: String,
}

impl AppendArgs {
    /// Without --create the session must exist, and so must its space.
    pub fn space_use(&self) -> SpaceUse {
        if self.create { SpaceUse::CreateMissing } else { SpaceUse::MustExist }
    }

    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let session = SessionId::new(self.session.clone())?;
        if self.text.is_none() && std::io::stdin().is_terminal() {
            context.output.note("Reading JSONL messages from the terminal; end with Ctrl-D.");
        }
        let source = self.create.then(|| self.source.clone());
        let create =
            source.map(|source| NewSession { source: Some(source), ..NewSession::default() });
        // Without --create the space must exist before anything is read; with it, the space is created
        // only after the first messages were read and checked.
        let oneiro = if self.create { None } else { Some(context.open()?) };
        let mut destination = Destination { context, oneiro, session, create };
        if self.stream {
            return stream(&mut destination);
        }
        let messages = match &self.text {
            Some(text) => vec![NewMessage::text(Role::parse(&self.role)?, text.clone())],
            None => {
                let mut lines = Lines::new(std::io::stdin());
                let mut messages = Vec::new();
                while let Some(message) = lines.next()? {
                    messages.push(message);
                }
                messages
            }
        };
        let appended = destination.append(messages)?;
        context.output.show(&appended, describe)?;
        destination.oneiro.iter().for_each(|oneiro| context.after(oneiro));
        Ok(())
    }
}

/// Where messages are appended.
struct Destination<'c> {
    context: &'c Context,
    /// The space, once it is open.
    oneiro: Option<Oneiro>,
    session: SessionId,
    /// The session to create if it does not exist.
    create: Option<NewSession>,
}

impl Destination<'_> {
    fn append(&mut self, messages: Vec<NewMessage>) -> anyhow::Result<Appended> {
        if let Some(oneiro) = &self.oneiro {
            return self.append_to(oneiro, messages);
        }
        let work = |oneiro: &Oneiro| self.append_to(oneiro, messages.clone());
        let (oneiro, appended) = self.context.open_to_add(work)?;
        self.oneiro = Some(oneiro);
        Ok(appended)
    }

    fn append_to(&self, oneiro: &Oneiro, messages: Vec<NewMessage>) -> anyhow::Result<Appended> {
        Ok(match &self.create {
            Some(create) => {
                oneiro.messages().append_or_create(&self.session, messages, create.clone())?
            }
            None => oneiro.messages().append(&self.session, messages)?,
        })
    }
}

fn stream(destination: &mut Destination<'_>) -> anyhow::Result<()> {
    let mut lines = Lines::new(std::io::stdin());
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    loop {
        let (batch, rest) = lines.batch();
        if !batch.is_empty() {
            let count = batch.len();
            let appended = destination.append(batch)?;
            for id in &appended.ids {
                writeln!(out, "{id}")?;
            }
            // A line that a pattern keeps out is answered too: its sender waits.
            for _ in appended.ids.len()..count {
                writeln!(out, "null")?;
            }
            out.flush()?;
        }
        if !rest? {
            return Ok(());
        }
    }
}

fn describe(appended: &Appended) -> String {
    let stored = appended.ids.len() - appended.duplicates;
    let mut text = format!("{} appended", count(stored, "message"));
    if let (Some(first), Some(last)) = (appended.ids.first(), appended.ids.last()) {
        text.push_str(&if first == last {
            format!(", id {first}")
        } else {
            format!(", ids {first} to {last}")
        });
    }
    let notes = [
        (appended.duplicates, appended.duplicates.to_string(), "already stored"),
        (
            appended.skipped,
            appended.skipped.to_string(),
            "not stored: the session matches a pattern (`oneiro config show`)",
        ),
        (appended.repaired, count(appended.repaired, "lone surrogate"), "replaced"),
        (appended.withheld, count(appended.withheld, "private span"), "withheld"),
    ];
    for (_, counted, what) in notes.into_iter().filter(|(number, ..)| *number > 0) {
        text.push_str(&format!("; {counted} {what}"));
    }
    text
}
