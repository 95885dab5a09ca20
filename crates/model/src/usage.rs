//! Token and cost accounts of a session, per model and task.

use crate::contract::Request;
use crate::{Error, Result, Timestamp, id::check_text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which account of a session is charged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UsageKey {
    /// The model, empty when unknown.
    pub model: String,
    /// Who bills, empty when unknown.
    pub provider: String,
    /// The provider's address, empty when unknown.
    pub base_url: String,
    /// How it bills (api, subscription ...), empty when unknown.
    pub billing_mode: String,
    /// What the tokens were for; empty for the conversation itself.
    pub task: String,
}

impl UsageKey {
    /// Refuses text that an engine could not hold.
    pub fn check(&self) -> Result<()> {
        check_key("model", &self.model)?;
        check_key("provider", &self.provider)?;
        check_key("base_url", &self.base_url)?;
        check_key("billing_mode", &self.billing_mode)?;
        check_key("task", &self.task)
    }
}

/// The most bytes of one text of a key: five of them make an index row.
const KEY_BYTES: usize = 512;

fn check_key(field: &'static str, text: &str) -> Result<()> {
    check_text(field, text)?;
    if text.len() > KEY_BYTES {
        Err(Error::field(field, format!("is longer than {KEY_BYTES} bytes")))
    } else {
        Ok(())
    }
}

/// What was used. Costs are billionths of a US dollar, so that sums are exact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Calls of the model.
    pub api_calls: i64,
    /// Input tokens.
    pub input_tokens: i64,
    /// Output tokens.
    pub output_tokens: i64,
    /// Input tokens read from the provider's cache.
    pub cache_read_tokens: i64,
    /// Input tokens written to the provider's cache.
    pub cache_write_tokens: i64,
    /// Tokens spent on reasoning.
    pub reasoning_tokens: i64,
    /// Estimated cost.
    pub estimated_cost_nanousd: i64,
    /// Cost by the provider's account.
    pub actual_cost_nanousd: i64,
}

impl Usage {
    /// Refuses negative amounts, and those that would overflow a sum.
    pub fn check(&self) -> Result<()> {
        let amounts = [
            ("api_calls", self.api_calls),
            ("input_tokens", self.input_tokens),
            ("output_tokens", self.output_tokens),
            ("cache_read_tokens", self.cache_read_tokens),
            ("cache_write_tokens", self.cache_write_tokens),
            ("reasoning_tokens", self.reasoning_tokens),
            ("estimated_cost_usd", self.estimated_cost_nanousd),
            ("actual_cost_usd", self.actual_cost_nanousd),
        ];
        for (name, amount) in amounts {
            if amount < 0 {
                return Err(Error::field(name, format!("{amount} is negative")));
            }
            if amount > AMOUNT_MAX {
                return Err(Error::field(name, format!("{amount} is more than {}", AMOUNT_MAX)));
            }
        }
        Ok(())
    }

    /// Reads dollars as billionths.
    pub fn nanousd(field: &'static str, dollars: f64) -> Result<i64> {
        let nano = dollars * 1e9;
        if nano.is_finite() && (0.0..9e18).contains(&nano) {
            Ok(nano.round() as i64)
        } else {
            Err(Error::field(field, format!("{dollars} is not an amount of dollars")))
        }
    }
}

/// What to add to an account of a session.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NewUsage {
    /// The model.
    #[schemars(length(max = KEY_CHARS_MAX))]
    pub model: String,
    /// Who bills.
    #[schemars(length(max = KEY_CHARS_MAX))]
    pub provider: String,
    /// The provider's address.
    #[schemars(length(max = KEY_CHARS_MAX))]
    pub base_url: String,
    /// How it bills (api, subscription ...).
    #[schemars(length(max = KEY_CHARS_MAX))]
    pub billing_mode: String,
    /// What the tokens were for; empty for the conversation itself.
    #[schemars(length(max = KEY_CHARS_MAX))]
    pub task: String,
    /// Calls of the model.
    #[schemars(range(min = 0, max = AMOUNT_MAX))]
    pub api_calls: i64,
    /// Input tokens.
    #[schemars(range(min = 0, max = AMOUNT_MAX))]
    pub input_tokens: i64,
    /// Output tokens.
    #[schemars(range(min = 0, max = AMOUNT_MAX))]
    pub output_tokens: i64,
    /// Input tokens read from the provider's cache.
    #[schemars(range(min = 0, max = AMOUNT_MAX))]
    pub cache_read_tokens: i64,
    /// Input tokens written to the provider's cache.
    #[schemars(range(min = 0, max = AMOUNT_MAX))]
    pub cache_write_tokens: i64,
    /// Tokens spent on reasoning.
    #[schemars(range(min = 0, max = AMOUNT_MAX))]
    pub reasoning_tokens: i64,
    /// Estimated cost in US dollars.
    #[schemars(range(min = 0, max = DOLLARS_MAX))]
    pub estimated_cost_usd: f64,
    /// Cost by the provider's account in US dollars.
    #[schemars(range(min = 0, max = DOLLARS_MAX))]
    pub actual_cost_usd: f64,
}

/// The most characters of one text of a key.
const KEY_CHARS_MAX: usize = KEY_BYTES;

/// The largest amount: a thousand of them still add up.
const AMOUNT_MAX: i64 = i64::MAX / 1_000;

/// The same in dollars, rounded down.
const DOLLARS_MAX: f64 = 9_223_372.036;

impl Request for NewUsage {}

impl NewUsage {
    /// The account, and what is added to it.
    pub fn into_parts(self) -> Result<(UsageKey, Usage)> {
        let used = Usage {
            api_calls: self.api_calls,
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            cache_read_tokens: self.cache_read_tokens,
            cache_write_tokens: self.cache_write_tokens,
            reasoning_tokens: self.reasoning_tokens,
            estimated_cost_nanousd: Usage::nanousd("estimated_cost_usd", self.estimated_cost_usd)?,
            actual_cost_nanousd: Usage::nanousd("actual_cost_usd", self.actual_cost_usd)?,
        };
        let key = UsageKey {
            model: self.model,
            provider: self.provider,
            base_url: self.base_url,
            billing_mode: self.billing_mode,
            task: self.task,
        };
        Ok((key, used))
    }
}

/// One account of a session.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UsageRow {
    /// Which account.
    #[serde(flatten)]
    pub key: UsageKey,
    /// Calls of the model.
    pub api_calls: i64,
    /// Input tokens.
    pub input_tokens: i64,
    /// Output tokens.
    pub output_tokens: i64,
    /// Input tokens read from the provider's cache.
    pub cache_read_tokens: i64,
    /// Input tokens written to the provider's cache.
    pub cache_write_tokens: i64,
    /// Tokens spent on reasoning.
    pub reasoning_tokens: i64,
    /// Estimated cost in US dollars.
    pub estimated_cost_usd: f64,
    /// Cost by the provider's account in US dollars.
    pub actual_cost_usd: f64,
    /// First charged.
    pub first_at: Timestamp,
    /// Last charged.
    pub last_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_become_exact_billionths() {
        assert_eq!(Usage::nanousd("cost", 0.000000015).unwrap(), 15);
        assert_eq!(Usage::nanousd("cost", 12.5).unwrap(), 12_500_000_000);
        for bad in [-1.0, f64::NAN, f64::INFINITY, 1e12] {
            assert!(Usage::nanousd("cost", bad).is_err());
        }
    }
}
