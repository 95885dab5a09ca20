//! Charges the token usage of each answer once, however many lines report it.

use super::claude_code::usage_of;
use super::reader::ReportedUsage;
use oneiro_model::{Result, SessionId, Timestamp, Usage, UsageKey};
use oneiro_store::usage::Charge;
use oneiro_store::{Tx, messages, usage};
use serde_json::Value;
use std::collections::HashMap;

/// Answers remembered to a session: lines of one answer stand close together.
const ANSWERS_PER_SESSION: usize = 32;

/// What has been charged for the latest answers of each session.
#[derive(Debug, Clone, Default)]
pub(super) struct ChargedUsage(HashMap<i64, Vec<(String, Usage)>>);

impl ChargedUsage {
    /// Loads what was charged for the latest stored answers of a session, once.
    pub(super) fn load(&mut self, tx: &Tx<'_>, session: (i64, &SessionId)) -> Result<()> {
        if self.0.contains_key(&session.0) {
            return Ok(());
        }
        let charged = self.0.entry(session.0).or_default();
        for message in
            messages::recent_assistant(tx, session.into(), ANSWERS_PER_SESSION)?.iter().rev()
        {
            let id = message.body.get("message_id").and_then(Value::as_str);
            if let (Some(id), Some(Value::Object(used))) = (id, message.body.get("usage")) {
                raise(charged, id, usage_of(used));
            }
        }
        Ok(())
    }

    /// Charges what one line adds to what its answer was charged before. A line that was stored
    /// already adds nothing.
    pub(super) fn charge(
        &mut self,
        tx: &Tx<'_>,
        (key, at): (i64, Timestamp),
        (used, is_new): (&ReportedUsage, bool),
    ) -> Result<()> {
        let (account, added) = match used {
            ReportedUsage::Answer { id, model, usage } => {
                let added = raise(self.0.entry(key).or_default(), id, *usage);
                (account(model), if is_new { added } else { Usage::default() })
            }
            ReportedUsage::Total { model, usage } => (account(model), uncharged(tx, key, usage)?),
        };
        if added == Usage::default() {
            return Ok(());
        }
        usage::add(tx, key, Charge { account: &account, used: &added, first_at: at, last_at: at })
    }
}

fn account(model: &str) -> UsageKey {
    // A name that no account can hold is charged to the one without a name.
    let account = UsageKey { model: model.to_owned(), ..UsageKey::default() };
    if account.check().is_ok() { account } else { UsageKey::default() }
}

/// Raises what was charged for an answer to `usage`; answers by how much.
fn raise(charged: &mut Vec<(String, Usage)>, id: &str, usage: Usage) -> Usage {
    let before = match charged.iter_mut().find(|(known, _)| known == id) {
        Some((_, before)) => before,
        None => {
            if charged.len() >= ANSWERS_PER_SESSION {
                charged.remove(0);
            }
            charged.push((id.to_owned(), Usage::default()));
            match charged.last_mut() {
                Some((_, before)) => before,
                None => return Usage::default(),
            }
        }
    };
    let added = difference(&usage, before);
    *before = Usage {
        api_calls: before.api_calls + added.api_calls,
        input_tokens: before.input_tokens + added.input_tokens,
        output_tokens: before.output_tokens + added.output_tokens,
        cache_read_tokens: before.cache_read_tokens + added.cache_read_tokens,
        cache_write_tokens: before.cache_write_tokens + added.cache_write_tokens,
        reasoning_tokens: before.reasoning_tokens + added.reasoning_tokens,
        ..*before
    };
    added
}

/// What a session has used uncharged what its accounts hold; the total counts no calls, so each rise
/// is one.
fn uncharged(tx: &Tx<'_>, key: i64, total: &Usage) -> Result<Usage> {
    let mut held = Usage::default();
    for row in usage::of_session(tx, key)?.iter().filter(|row| row.key.task.is_empty()) {
        held.input_tokens += row.input_tokens;
        held.output_tokens += row.output_tokens;
        held.cache_read_tokens += row.cache_read_tokens;
        held.cache_write_tokens += row.cache_write_tokens;
        held.reasoning_tokens += row.reasoning_tokens;
    }
    let added = difference(total, &held);
    Ok(if added == Usage::default() { added } else { Usage { api_calls: 1, ..added } })
}

fn difference(now: &Usage, before: &Usage) -> Usage {
    Usage {
        api_calls: (now.api_calls - before.api_calls).max(0),
        input_tokens: (now.input_tokens - before.input_tokens).max(0),
        output_tokens: (now.output_tokens - before.output_tokens).max(0),
        cache_read_tokens: (now.cache_read_tokens - before.cache_read_tokens).max(0),
        cache_write_tokens: (now.cache_write_tokens - before.cache_write_tokens).max(0),
        reasoning_tokens: (now.reasoning_tokens - before.reasoning_tokens).max(0),
        ..Usage::default()
    }
}
