//! Token usage and costs: one row per session, model, provider and task, and totals per session.

use crate::Tx;
use crate::aggregates::Table;
use crate::backend::Row;
use oneiro_model::{Result, Timestamp, Usage, UsageKey, UsageRow};

statements! {
    ADD = "INSERT INTO usage (session_key, model, provider, base_url, billing_mode, task, \
           api_calls, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, \
           reasoning_tokens, estimated_cost_nanousd, actual_cost_nanousd, first_at, last_at) \
           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16) \
           ON CONFLICT (session_key, model, provider, base_url, billing_mode, task) DO UPDATE SET \
           api_calls = usage.api_calls + excluded.api_calls, \
           input_tokens = usage.input_tokens + excluded.input_tokens, \
           output_tokens = usage.output_tokens + excluded.output_tokens, \
           cache_read_tokens = usage.cache_read_tokens + excluded.cache_read_tokens, \
           cache_write_tokens = usage.cache_write_tokens + excluded.cache_write_tokens, \
           reasoning_tokens = usage.reasoning_tokens + excluded.reasoning_tokens, \
           estimated_cost_nanousd = usage.estimated_cost_nanousd + excluded.estimated_cost_nanousd, \
           actual_cost_nanousd = usage.actual_cost_nanousd + excluded.actual_cost_nanousd, \
           last_at = excluded.last_at";
    ADD_TO_SESSION = "UPDATE sessions SET api_call_count = api_call_count + ?2, \
           input_tokens = input_tokens + ?3, output_tokens = output_tokens + ?4, \
           cache_read_tokens = cache_read_tokens + ?5, \
           cache_write_tokens = cache_write_tokens + ?6, \
           reasoning_tokens = reasoning_tokens + ?7, \
           estimated_cost_nanousd = estimated_cost_nanousd + ?8, \
           actual_cost_nanousd = actual_cost_nanousd + ?9 WHERE key = ?1";
    SET_ON_SESSION = "UPDATE sessions SET api_call_count = ?2, input_tokens = ?3, \
           output_tokens = ?4, cache_read_tokens = ?5, cache_write_tokens = ?6, \
           reasoning_tokens = ?7, estimated_cost_nanousd = ?8, actual_cost_nanousd = ?9 \
           WHERE key = ?1";
    FILL_MODEL = "UPDATE sessions SET model = CAST(?2 AS TEXT) WHERE key = ?1 AND model IS NULL \
                  AND CAST(?2 AS TEXT) <> ''";
    OF_SESSION = "SELECT model, provider, base_url, billing_mode, task, api_calls, input_tokens, \
           output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, \
           estimated_cost_nanousd, actual_cost_nanousd, first_at, last_at FROM usage \
           WHERE session_key = ?1 ORDER BY model, provider, base_url, billing_mode, task";
}

pub(crate) const TABLES: &[Table] = &[Table {
    name: "usage",
    columns: "session_key, model, provider, base_url, billing_mode, task, api_calls, input_tokens, \
                  output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, \
                  estimated_cost_nanousd, actual_cost_nanousd, first_at, last_at",
}];

/// What a session used on an account.
#[derive(Debug, Clone, Copy)]
pub struct Charge<'a> {
    /// The account.
    pub account: &'a UsageKey,
    /// Tokens, calls and costs.
    pub used: &'a Usage,
    /// The time of the first use.
    pub first_at: Timestamp,
    /// The time of the last use.
    pub last_at: Timestamp,
}

/// Adds to an account. The conversation's own use (no task) is also added to the session's
/// totals; work on the side is not, and never changes the session's model.
pub fn add(tx: &Tx<'_>, session_key: i64, charge: Charge<'_>) -> Result<()> {
    add_to_account(tx, session_key, charge)?;
    let Charge { account, used, .. } = charge;
    if account.task.is_empty() {
        totals(tx, ADD_TO_SESSION, session_key, used)?;
        tx.execute(FILL_MODEL, &[session_key.into(), (&account.model).into()])?;
    }
    Ok(())
}

/// Adds to an account, and not to the totals of the session.
pub fn add_to_account(tx: &Tx<'_>, session_key: i64, charge: Charge<'_>) -> Result<()> {
    let Charge { account: key, used, first_at, last_at } = charge;
    let values = [
        session_key.into(),
        (&key.model).into(),
        (&key.provider).into(),
        (&key.base_url).into(),
        (&key.billing_mode).into(),
        (&key.task).into(),
        used.api_calls.into(),
        used.input_tokens.into(),
        used.output_tokens.into(),
        used.cache_read_tokens.into(),
        used.cache_write_tokens.into(),
        used.reasoning_tokens.into(),
        used.estimated_cost_nanousd.into(),
        used.actual_cost_nanousd.into(),
        first_at.micros().into(),
        last_at.micros().into(),
    ];
    tx.execute(ADD, &values).map(|_| ())
}

/// Sets the session's totals, for hosts that count for themselves; the accounts stay.
pub fn set_totals(tx: &Tx<'_>, session_key: i64, used: &Usage) -> Result<()> {
    totals(tx, SET_ON_SESSION, session_key, used)
}

/// Adds to the session's totals alone.
pub fn add_totals(tx: &Tx<'_>, session_key: i64, used: &Usage) -> Result<()> {
    totals(tx, ADD_TO_SESSION, session_key, used)
}

fn totals(tx: &Tx<'_>, sql: &str, session_key: i64, used: &Usage) -> Result<()> {
    let values = [
        session_key.into(),
        used.api_calls.into(),
        used.input_tokens.into(),
        used.output_tokens.into(),
        used.cache_read_tokens.into(),
        used.cache_write_tokens.into(),
        used.reasoning_tokens.into(),
        used.estimated_cost_nanousd.into(),
        used.actual_cost_nanousd.into(),
    ];
    tx.execute(sql, &values).map(|_| ())
}

/// The accounts of a session.
pub fn of_session(tx: &Tx<'_>, session_key: i64) -> Result<Vec<UsageRow>> {
    tx.all(OF_SESSION, &[session_key.into()], read)
}

fn read(row: &dyn Row) -> Result<UsageRow> {
    Ok(UsageRow {
        key: UsageKey {
            model: row.text(0)?.to_owned(),
            provider: row.text(1)?.to_owned(),
            base_url: row.text(2)?.to_owned(),
            billing_mode: row.text(3)?.to_owned(),
            task: row.text(4)?.to_owned(),
        },
        api_calls: row.int(5)?,
        input_tokens: row.int(6)?,
        output_tokens: row.int(7)?,
        cache_read_tokens: row.int(8)?,
        cache_write_tokens: row.int(9)?,
        reasoning_tokens: row.int(10)?,
        estimated_cost_usd: row.int(11)? as f64 / 1e9,
        actual_cost_usd: row.int(12)? as f64 / 1e9,
        first_at: Timestamp::from_micros(row.int(13)?),
        last_at: Timestamp::from_micros(row.int(14)?),
    })
}
