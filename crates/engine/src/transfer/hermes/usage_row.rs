//! Converts rows of hermes's model usage.

use super::session_row::Source;
use super::value::{self, NUMBER_REPAIR, Repairs};
use oneiro_model::{Result, Timestamp, Usage, UsageKey};
use oneiro_store::{ColumnText, ForeignRow, ForeignRows, ForeignValue};
use std::ops::ControlFlow;

/// One account of a session.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Account {
    pub(super) key: UsageKey,
    pub(super) used: Usage,
    pub(super) first_at: Option<Timestamp>,
    pub(super) last_at: Option<Timestamp>,
}

/// Maximum bytes of one field of a key.
const KEY_BYTES: usize = 512;

/// A valid count.
pub(super) fn amount(value: ForeignValue<'_>) -> Option<i64> {
    let count = value::whole_number(value)?;
    let used = Usage { api_calls: count, ..Usage::default() };
    used.check().is_ok().then_some(count)
}

/// Dollars in billionths, if they are valid.
pub(super) fn cost(name: &'static str, value: ForeignValue<'_>) -> Option<i64> {
    let dollars = match value {
        ForeignValue::Int(dollars) => dollars as f64,
        ForeignValue::Real(dollars) => dollars,
        _ => return None,
    };
    let cost = Usage::nanousd(name, dollars).ok()?;
    let used = Usage { actual_cost_nanousd: cost, ..Usage::default() };
    used.check().is_ok().then_some(cost)
}

/// The accounts of a session.
pub(super) fn accounts(
    source: Source<'_>,
    session: &[u8],
    repairs: &mut Repairs,
) -> Result<Vec<Account>> {
    let columns = &source.layout.usage;
    let mut found: Vec<Account> = Vec::new();
    if !columns.has("session_id") || !columns.has("model") {
        return Ok(found);
    }
    let rows = ForeignRows {
        table: "session_model_usage",
        columns: &columns.names,
        from: None,
        equals: Some(ColumnText { column: "session_id", text: session }),
    };
    source.file.each(rows, |row| {
        let account = read(source, row, repairs);
        // Keys that differ only in removed characters are one account.
        match found.iter_mut().find(|other| other.key == account.key) {
            Some(other) => other.used = sum(other.used, account.used),
            None => found.push(account),
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

fn read(source: Source<'_>, row: &ForeignRow<'_>, repairs: &mut Repairs) -> Account {
    let columns = &source.layout.usage;
    let mut text = |name: &str| {
        let text = value::text(columns.get(row, name), repairs).unwrap_or_default();
        let mut text = text.replace('\0', "");
        text.truncate(text.floor_char_boundary(KEY_BYTES));
        text
    };
    let key = UsageKey {
        model: text("model"),
        provider: text("billing_provider"),
        base_url: text("billing_base_url"),
        billing_mode: text("billing_mode"),
        task: text("task"),
    };
    let mut number = |value: ForeignValue<'_>, read: Option<i64>| match value {
        ForeignValue::Null => 0,
        _ => read.unwrap_or_else(|| {
            repairs.count(NUMBER_REPAIR);
            0
        }),
    };
    let mut count = |name: &str| {
        let value = columns.get(row, name);
        number(value, amount(value))
    };
    let mut used = Usage {
        api_calls: count("api_call_count"),
        input_tokens: count("input_tokens"),
        output_tokens: count("output_tokens"),
        cache_read_tokens: count("cache_read_tokens"),
        cache_write_tokens: count("cache_write_tokens"),
        reasoning_tokens: count("reasoning_tokens"),
        ..Usage::default()
    };
    let mut dollars = |name: &'static str| {
        let value = columns.get(row, name);
        number(value, cost(name, value))
    };
    used.estimated_cost_nanousd = dollars("estimated_cost_usd");
    used.actual_cost_nanousd = dollars("actual_cost_usd");
    let mut time = |name: &str| value::parse_time(columns.get(row, name), repairs).at;
    Account { key, used, first_at: time("first_seen"), last_at: time("last_seen") }
}

/// Usage as an array.
pub(super) fn usage_numbers(used: &Usage) -> [i64; 8] {
    [
        used.api_calls,
        used.input_tokens,
        used.output_tokens,
        used.cache_read_tokens,
        used.cache_write_tokens,
        used.reasoning_tokens,
        used.estimated_cost_nanousd,
        used.actual_cost_nanousd,
    ]
}

/// Usage since the last import. Negative if hermes reset its counters.
pub(super) fn difference(used: &Usage, known: [i64; 8]) -> Usage {
    let now = usage_numbers(used);
    let mut left = [0; 8];
    for (to, (now, known)) in left.iter_mut().zip(now.into_iter().zip(known)) {
        *to = now - known;
    }
    usage_from_numbers(left)
}

fn sum(one: Usage, other: Usage) -> Usage {
    difference(&one, usage_numbers(&other).map(|number| -number))
}

fn usage_from_numbers(usage_numbers: [i64; 8]) -> Usage {
    let [
        api_calls,
        input_tokens,
        output_tokens,
        cache_read_tokens,
        cache_write_tokens,
        reasoning_tokens,
        estimated_cost_nanousd,
        actual_cost_nanousd,
    ] = usage_numbers;
    Usage {
        api_calls,
        input_tokens,
        output_tokens,
        cache_read_tokens,
        cache_write_tokens,
        reasoning_tokens,
        estimated_cost_nanousd,
        actual_cost_nanousd,
    }
}
