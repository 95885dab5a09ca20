//! `oneiro session search`.

use super::list;
use crate::commands::search::show::{head, session_head, tier, who};
use crate::commands::search::{Order, query};
use crate::context::Context;
use crate::output::{one_line, plain};
use crate::places::Places;
use crate::request::request;
use crate::style::Style;
use clap::Args;
use oneiro::{
    Conversation, MESSAGE_WINDOW, Oneiro, SessionDigest, SessionFound, SessionSearchRequest,
    ShownMessage, Sort, SummaryLevel, Timestamp,
};
use serde_json::json;

/// Columns of a message of which only the beginning is shown.
const LINE_WIDTH: usize = 96;

/// Find conversations, scroll in one, read one, or see which were active lately; same as `oneiro
/// search --around`, `oneiro search --summarise`, `oneiro session show` and `oneiro session list`
///
/// With a query: the best hit of each conversation, with the messages around it and how the
/// session opened and ended; a conversation whose title has every word of the query comes first.
/// Sessions of the sources cron and heartbeat come after those of people, and those of tool and
/// subagent are left out unless --source names them. With --around: the messages around a
/// message. With --read: a session, of a long one the beginning and the end. With nothing:
/// the conversations that were active lately.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// What to search for, as in `oneiro search`; several arguments are one query
    #[arg(conflicts_with_all = ["session", "around", "read"])]
    query: Vec<String>,
    /// Scroll in this session, or in one of its lineage
    #[arg(long, value_name = "SESSION", requires = "around")]
    session: Option<String>,
    /// Show the messages around this one: its id with --session, or its place (monday#3)
    #[arg(long, value_name = "MESSAGE", conflicts_with = "read")]
    around: Option<String>,
    /// Read this session
    #[arg(long, value_name = "SESSION")]
    read: Option<String>,
    /// The session one is in: neither it nor any other of its lineage is shown
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["session", "read"])]
    current: Option<String>,
    /// Messages to each side of a hit or of --around
    #[arg(long, value_name = "N", default_value_t = MESSAGE_WINDOW.default)]
    window: usize,
    /// Only hits of this role; may be repeated [default: user and assistant]
    #[arg(long)]
    role: Vec<String>,
    /// Only in sessions of this source; may be repeated
    #[arg(long)]
    source: Vec<String>,
    /// Not in sessions of this source; may be repeated
    #[arg(long, value_name = "SOURCE")]
    exclude_source: Vec<String>,
    /// Only in sessions of this project
    #[arg(long, conflicts_with_all = ["session", "read"])]
    project: Option<String>,
    /// The order of conversations
    #[arg(long, value_enum, default_value_t = Order::Relevance)]
    sort: Order,
    /// Maximum number of conversations [default: 3 conversations with a query, 10 without]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Condense each conversation around the query: by the model, where one is configured, or as an
    /// extract
    #[arg(long, visible_alias = "summarize", requires = "query")]
    summarise: bool,
}

impl SearchArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let request = self.request(&oneiro)?;
        run(context, &oneiro, &request)
    }

    fn request(self, oneiro: &Oneiro) -> anyhow::Result<SessionSearchRequest> {
        let query = (!self.query.is_empty()).then(|| query(&self.query)).transpose()?;
        Ok(request(
            oneiro,
            json!({
                "query": query,
                "session": self.read.or(self.session),
                "around": self.around,
                "window": self.window,
                "limit": self.limit,
                "exclude_lineage": self.current,
                "sort": Sort::from(self.sort),
                "roles": self.role,
                "sources": self.source,
                "exclude_sources": self.exclude_source,
                "project": self.project,
                "summarise": self.summarise,
            }),
        )?)
    }
}

/// Runs a request and prints what is found.
pub fn run(
    context: &Context,
    oneiro: &Oneiro,
    request: &SessionSearchRequest,
) -> anyhow::Result<()> {
    let now = oneiro.now();
    let found = oneiro.search().sessions(request)?;
    let is_empty = match &found {
        SessionFound::Discover { conversations, .. } => conversations.is_empty(),
        SessionFound::Browse { sessions } => sessions.is_empty(),
        SessionFound::Scroll { .. } | SessionFound::Read { .. } => false,
    };
    let note = match &found {
        SessionFound::Discover { note, .. } | SessionFound::Scroll { note, .. } => note.clone(),
        _ => None,
    };
    if !is_empty || context.output.json {
        let places = places(oneiro, &found)?;
        context.output.show(&found, |found| describe(found, &places, now, context.style))?;
    } else {
        context.output.note("Nothing found.");
    }
    match note {
        Some(note) => context.output.note(&format!("note: {note}")),
        None if is_empty => context.output.note(
            "hint: try other words or fewer filters; `oneiro session list` lists conversations",
        ),
        None => {}
    }
    context.after(oneiro);
    Ok(())
}

/// The places of all messages that are shown.
fn places(oneiro: &Oneiro, found: &SessionFound) -> oneiro::Result<Places> {
    let ids = |messages: &[ShownMessage]| messages.iter().map(|one| one.id).collect::<Vec<_>>();
    match found {
        SessionFound::Discover { conversations, .. } => {
            let messages = conversations.iter().flat_map(|one| {
                let all = [&one.opening, &one.window, &one.closing];
                all.into_iter().flatten().map(|message| (&one.session.id, message.id))
            });
            Places::new(oneiro, messages)
        }
        SessionFound::Scroll { session_id, messages, .. } => {
            Places::in_session(oneiro, session_id, ids(messages))
        }
        SessionFound::Read { session, messages, .. } => {
            Places::in_session(oneiro, &session.id, ids(messages))
        }
        SessionFound::Browse { .. } => Ok(Places::default()),
    }
}

fn describe(found: &SessionFound, places: &Places, now: Timestamp, style: Style) -> String {
    match found {
        SessionFound::Discover { conversations, .. } => {
            let texts: Vec<String> =
                conversations.iter().map(|found| conversation(found, places, style)).collect();
            texts.join("\n\n\n")
        }
        SessionFound::Scroll { session_id, messages, before, after, .. } => {
            let mut parts = vec![style.bold(&one_line(session_id.as_str(), 80))];
            parts.extend(left_out(*before, "earlier", style));
            parts.extend(messages.iter().map(|message| message_block(message, places, style)));
            parts.extend(left_out(*after, "later", style));
            parts.join("\n\n")
        }
        SessionFound::Read { session, messages, omitted } => {
            let mut parts = vec![super::describe(session)];
            parts.extend(messages.iter().map(|message| message_block(message, places, style)));
            // The gap is where the ids jump: after the first twenty of a long session.
            if let Some(gap) = left_out(*omitted, "in between", style) {
                parts.insert(parts.len().min(21), gap);
            }
            parts.join("\n\n")
        }
        SessionFound::Browse { sessions } => list::sessions(sessions, now),
    }
}

fn conversation(found: &Conversation, places: &Places, style: Style) -> String {
    let session = &found.session;
    let title =
        session_head(session.display_name(), Some(session.last_active_at), &session.id, style);
    let how = match (&found.hit, found.titled) {
        (_, true) => "title",
        (Some(hit), false) => tier(hit.tier),
        (None, false) => "",
    };
    let source = one_line(&session.source, 16);
    let mut lines = vec![format!("{title}  {source}  {}", style.dim(how))];
    if let Some(root) = &found.root_id {
        lines.push(style.dim(&format!("  began as {}", one_line(root.as_str(), 48))));
    }
    if let Some(digest) = &found.digest {
        lines.extend(condensed(digest, style));
    }
    let short = |message: &ShownMessage| format!("  {}", style.dim(&line(message, places)));
    lines.extend(found.opening.iter().map(short));
    let gap = |outside: i64, shown: usize, place: &str| {
        left_out(outside - shown as i64, place, style).map(|text| format!("  {text}"))
    };
    lines.extend(gap(found.before, found.opening.len(), "earlier"));
    for message in &found.window {
        match (&found.hit, message.anchor) {
            (Some(hit), true) => {
                let head =
                    head(&places.label(hit.id), who(&hit.role, hit.name.as_deref()), hit.at, style);
                lines.push(format!("> {head}"));
                lines.push(format!("    {}", style.marked(&hit.snippet, &hit.highlights)));
            }
            _ => lines.push(format!("  {}", line(message, places))),
        }
    }
    lines.extend(gap(found.after, found.closing.len(), "later"));
    lines.extend(found.closing.iter().map(short));
    lines.join("\n")
}

/// A conversation condensed around the query, and by whom.
fn condensed(digest: &SessionDigest, style: Style) -> Vec<String> {
    let by = match (&digest.model, digest.level) {
        (Some(model), _) => format!("condensed by {}", one_line(model, 60)),
        (None, SummaryLevel::Extract) => "condensed, as an extract".to_owned(),
        (None, _) => "condensed".to_owned(),
    };
    let words = plain(digest.content.trim());
    let mut lines = vec![format!("  {}", style.dim(&by))];
    lines.extend(words.lines().map(|line| format!("  | {line}").trim_end().to_owned()));
    lines
}

/// A message on one line.
fn line(message: &ShownMessage, places: &Places) -> String {
    let who = who(&message.role, message.name.as_deref());
    let label = places.label(message.id);
    one_line(&format!("{label}  {who}: {}", message.text), LINE_WIDTH)
}

/// A message with its complete text.
fn message_block(message: &ShownMessage, places: &Places, style: Style) -> String {
    let who = who(&message.role, message.name.as_deref());
    let mark = if message.anchor { "> " } else { "" };
    let head = head(&places.label(message.id), who, message.at, style);
    format!("{mark}{head}\n{}", plain(&message.text))
}

fn left_out(count: i64, place: &str, style: Style) -> Option<String> {
    (count > 0).then(|| style.dim(&format!("... {count} more {place}")))
}
