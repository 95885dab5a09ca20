//! Ends captured sessions that were idle for a day, and reopens those that go on. Nobody tells when
//! a transcript is finished. Sessions that came in another way are left alone.

use super::Agent;
use super::claude_code::is_uuid;
use super::title::Titled;
use crate::Oneiro;
use crate::sessions::COMPRESSION;
use oneiro_model::{ChangeKind, MessageId, Result, Span, Timestamp};
use oneiro_store::open_sessions::{OpenBefore, OpenSession};
use oneiro_store::{Tx, changes, messages, open_sessions, session_updates, sessions};

/// How long nothing is said before a session counts as ended.
const IDLE: Span = Span::days(1);

/// The reason that such a session ended for.
const END_REASON: &str = "idle";

/// Sessions of one transaction.
const BATCH: usize = 256;

/// How often idle sessions are looked for.
const INTERVAL: Span = Span::seconds(3_600);

/// The source of sessions in which an agent works for another.
const SUBAGENT: &str = "subagent";

impl Oneiro {
    /// Ends the idle sessions of transcripts, at most once an hour; what fails is tried again then.
    pub(crate) fn end_idle_transcripts(&self) {
        let now = self.now();
        {
            let Ok(mut last) = self.idle_ended_at.lock() else { return };
            if last.is_some_and(|last| now >= last && now < last.plus(INTERVAL)) {
                return;
            }
            *last = Some(now);
        }
        for source in Agent::ALL.map(Agent::as_str).into_iter().chain([SUBAGENT]) {
            if let Err(error) = self.end_idle_of(source, now) {
                tracing::info!(%error, source, "idle sessions were not ended");
            }
        }
    }

    fn end_idle_of(&self, source: &str, now: Timestamp) -> Result<()> {
        let mut after = 0;
        loop {
            let wanted = OpenBefore { source, moment: now.minus(IDLE), after, limit: BATCH };
            let idle = self.store.read(|tx| open_sessions::open_before(tx, wanted))?;
            let Some(last) = idle.last() else { return Ok(()) };
            after = last.key;
            self.store.write_bulk(|tx| {
                for session in &idle {
                    if let Some(agent) = agent_of(tx, session)? {
                        Titled { key: session.key, id: &session.id, agent }.set_sentence(tx)?;
                        end_if_idle(tx, session.key, now)?;
                    }
                }
                Ok(())
            })?;
        }
    }
}

/// Reopens a session that has ended and got new messages since, unless it goes on elsewhere; and
/// ends it again if these are old too.
pub(super) fn reopen_or_end(tx: &Tx<'_>, key: i64, now: Timestamp) -> Result<()> {
    let Some(session) = sessions::get_without_prompt(tx, key)? else { return Ok(()) };
    if let Some(ended_at) = session.ended_at {
        let reason = session.end_reason.as_deref();
        let goes_on = reason == Some(END_REASON) || session.last_active_at > ended_at;
        if goes_on && reason != Some(COMPRESSION) {
            session_updates::reopen(tx, key)?;
            changes::record(tx, ChangeKind::Reopened, Some(&session.id), now)?;
        }
    }
    end_if_idle(tx, key, now)
}

fn end_if_idle(tx: &Tx<'_>, key: i64, now: Timestamp) -> Result<()> {
    let Some(session) = sessions::get_without_prompt(tx, key)? else { return Ok(()) };
    let end = session.last_active_at.plus(IDLE);
    if session.ended_at.is_some() || end > now {
        return Ok(());
    }
    session_updates::end_if_open(tx, key, END_REASON, end)?;
    changes::record(tx, ChangeKind::Ended, Some(&session.id), now)
}

/// The agent from whose transcript a session was captured. Anybody may name a session's source, so
/// its first message must have the kind of id that capturing gives it.
fn agent_of(tx: &Tx<'_>, session: &OpenSession) -> Result<Option<Agent>> {
    let Some(first) = messages::first_of_session(tx, session.key)? else { return Ok(None) };
    let first = messages::get(tx, MessageId(first))?;
    let Some(id) = first.and_then(|(_, message)| message.external_id) else { return Ok(None) };
    let line = id.split_once('#').map_or(id.as_str(), |(line, _)| line);
    let is_place = line.strip_prefix('@').is_some_and(|at| at.parse::<u64>().is_ok());
    let is_delegate = session.source == SUBAGENT;
    let is_of = |agent: Agent| session.source == agent.as_str();
    Ok(if is_place && (is_of(Agent::Codex) || is_delegate) {
        Some(Agent::Codex)
    } else if is_uuid(line) && (is_of(Agent::ClaudeCode) || is_delegate && is_of_main(session)) {
        Some(Agent::ClaudeCode)
    } else {
        None
    })
}

/// Whether a session is named as work that Claude Code delegates.
fn is_of_main(session: &OpenSession) -> bool {
    let named = session.id.as_str().split_once(':');
    named.is_some_and(|(main, agent)| {
        is_uuid(main) && (agent.starts_with("agent-") || agent == "sidechain")
    })
}
