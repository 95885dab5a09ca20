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
/// the message. Either all messages are stored, or none. Unknown roles are refused, and so are
/// messages of the user or the system without content.
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

    /// Appends.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let session = SessionId::new(self.session.clone())?;
        if self.text.is_none() && std::io::stdin().is_terminal() {
            context.output.note("Reading JSONL messages from the terminal; end with Ctrl-D.");
        }
        // Without --create the space must exist before anything is read; with it, the space is created
        // only after the first messages were read and checked.
        let mut opened = if self.create { None } else { Some(context.open()?) };
        if self.stream {
            return self.stream(context, &mut opened, &session);
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
        let appended = self.append(context, &mut opened, &session, messages)?;
        context.output.show(&appended, describe)?;
        opened.iter().for_each(|oneiro| context.after(oneiro));
        Ok(())
    }

    fn append(
        &self,
        context: &Context,
        opened: &mut Option<Oneiro>,
        session: &SessionId,
        messages: Vec<NewMessage>,
    ) -> anyhow::Result<Appended> {
        if let Some(oneiro) = opened {
            return self.append_to(oneiro, session, messages);
        }
        let (oneiro, appended) =
            context.open_to_add(|oneiro| self.append_to(oneiro, session, messages.clone()))?;
        *opened = Some(oneiro);
        Ok(appended)
    }

    fn append_to(
        &self,
        oneiro: &Oneiro,
        session: &SessionId,
        messages: Vec<NewMessage>,
    ) -> anyhow::Result<Appended> {
        Ok(if self.create {
            let create = NewSession { source: Some(self.source.clone()), ..NewSession::default() };
            oneiro.messages().append_or_create(session, messages, create)?
        } else {
            oneiro.messages().append(session, messages)?
        })
    }

    fn stream(
        &self,
        context: &Context,
        opened: &mut Option<Oneiro>,
        session: &SessionId,
    ) -> anyhow::Result<()> {
        let mut lines = Lines::new(std::io::stdin());
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        loop {
            let (batch, rest) = lines.batch();
            if !batch.is_empty() {
                let count = batch.len();
                let appended = self.append(context, opened, session, batch)?;
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
        (appended.duplicates, "already stored"),
        (appended.skipped, "not stored: the session matches a pattern (`oneiro config show`)"),
        (appended.repaired, "lone surrogates replaced"),
        (appended.withheld, "private spans withheld"),
    ];
    for (number, what) in notes.into_iter().filter(|(number, _)| *number > 0) {
        text.push_str(&format!("; {number} {what}"));
    }
    text
}
