//! Accounts of tokens and costs over HTTP.

use crate::call::{Answer, Call};
use oneiro::{Result, Usage, UsageKey};
use serde_json::json;

pub(super) fn list(call: &Call) -> Result<Answer> {
    let accounts = call.oneiro()?.usage(&call.session()?)?;
    Answer::ok(&json!({ "items": accounts, "next": null }))
}

pub(super) fn add(call: &Call) -> Result<Answer> {
    let mut fields = call.fields()?;
    let mut text = |name| fields.text(name).map(Option::unwrap_or_default);
    let key = UsageKey {
        model: text("model")?,
        provider: text("provider")?,
        base_url: text("base_url")?,
        billing_mode: text("billing_mode")?,
        task: text("task")?,
    };
    let mut count = |name| Ok::<_, oneiro::Error>(fields.int(name, (0, i64::MAX))?.unwrap_or(0));
    let used = Usage {
        api_calls: count("api_calls")?,
        input_tokens: count("input_tokens")?,
        output_tokens: count("output_tokens")?,
        cache_read_tokens: count("cache_read_tokens")?,
        cache_write_tokens: count("cache_write_tokens")?,
        reasoning_tokens: count("reasoning_tokens")?,
        ..Usage::default()
    };
    let mut dollars = |name| Usage::nanousd(name, fields.number(name)?.unwrap_or(0.0));
    let used = Usage {
        estimated_cost_nanousd: dollars("estimated_cost_usd")?,
        actual_cost_nanousd: dollars("actual_cost_usd")?,
        ..used
    };
    fields.end()?;
    Answer::ok(&call.oneiro()?.add_usage(&call.session()?, key, used)?)
}
