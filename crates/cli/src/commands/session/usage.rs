//! `oneiro session usage`.

use crate::context::Context;
use crate::output::{one_line, table};
use crate::request::request;
use clap::Args;
use oneiro::{NewUsage, UsageRow};
use serde_json::json;

/// Show, add or set the token usage and cost of a session
///
/// Without amounts the usage is shown. Amounts are added to the usage of the model and task and,
/// without a task, to the totals of the session. With --set the totals are set.
#[derive(Debug, Args)]
pub struct UsageArgs {
    /// The session
    session: String,
    /// Input tokens
    #[arg(long, value_name = "N")]
    input: Option<i64>,
    /// Output tokens
    #[arg(long, value_name = "N")]
    output: Option<i64>,
    /// Input tokens read from the provider's cache
    #[arg(long, value_name = "N")]
    cache_read: Option<i64>,
    /// Input tokens written to the provider's cache
    #[arg(long, value_name = "N")]
    cache_write: Option<i64>,
    /// Tokens spent on reasoning
    #[arg(long, value_name = "N")]
    reasoning: Option<i64>,
    /// Model calls
    #[arg(long, value_name = "N")]
    calls: Option<i64>,
    /// Estimated cost in US dollars
    #[arg(long, value_name = "USD", value_parser = dollars)]
    estimated_cost: Option<f64>,
    /// Billed cost in US dollars
    #[arg(long, value_name = "USD", value_parser = dollars)]
    actual_cost: Option<f64>,
    /// The model
    #[arg(long, default_value = "")]
    model: String,
    /// Provider
    #[arg(long, default_value = "")]
    provider: String,
    /// Task, if other than the conversation itself
    #[arg(long, default_value = "")]
    task: String,
    /// Set the session's totals instead of adding
    #[arg(long)]
    set: bool,
}

impl UsageArgs {
    /// Shows or charges.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let id = oneiro.sessions().resolve(&self.session)?;
        let counts = [
            self.input,
            self.output,
            self.cache_read,
            self.cache_write,
            self.reasoning,
            self.calls,
        ];
        let costs = [self.estimated_cost, self.actual_cost];
        if counts.iter().all(Option::is_none) && costs.iter().all(Option::is_none) {
            let page = oneiro::Page { items: oneiro.sessions().usage(&id)?, next: None };
            return context.output.show(&page, |page| describe(&page.items));
        }
        let usage: NewUsage = request(
            &oneiro,
            json!({
                "model": self.model,
                "provider": self.provider,
                "task": self.task,
                "api_calls": self.calls.unwrap_or(if self.set { 0 } else { 1 }),
                "input_tokens": self.input,
                "output_tokens": self.output,
                "cache_read_tokens": self.cache_read,
                "cache_write_tokens": self.cache_write,
                "reasoning_tokens": self.reasoning,
                "estimated_cost_usd": self.estimated_cost,
                "actual_cost_usd": self.actual_cost,
            }),
        )?;
        let (key, used) = usage.into_parts()?;
        let session = if self.set {
            oneiro.sessions().set_usage(&id, used)?
        } else {
            oneiro.sessions().add_usage(&id, key, used)?
        };
        context.output.show(&session, super::describe)
    }
}

/// An amount of dollars; JSON has no number for what is not finite.
fn dollars(text: &str) -> Result<f64, String> {
    let amount = text.parse::<f64>().ok().filter(|amount| amount.is_finite());
    amount.ok_or_else(|| format!("{text:?} is not an amount of dollars"))
}

fn describe(rows: &[UsageRow]) -> String {
    if rows.is_empty() {
        return "No usage recorded.".to_owned();
    }
    let row = |row: &UsageRow| {
        vec![
            one_line(&row.key.model, 30),
            one_line(&row.key.task, 20),
            row.api_calls.to_string(),
            row.input_tokens.to_string(),
            row.output_tokens.to_string(),
            format!("{:.4}", row.estimated_cost_usd.max(row.actual_cost_usd)),
        ]
    };
    let rows: Vec<_> = rows.iter().map(row).collect();
    table(&["model", "task", "calls", "in", "out", "usd"], &rows)
}
