//! `oneiro mcp`: tools for an agent on standard input and output.

use crate::agents;
use crate::context::Context;
use clap::Args;
use oneiro_mcp::{Caller, TokenRole};
use std::io::IsTerminal;

/// Serve MCP to an agent on standard input and output
///
/// Agents start it by themselves: put it into the configuration of your MCP client, as it prints
/// when it is started at a terminal. Any number of them may use one store at once. It ends when
/// standard input does, and on SIGINT and SIGTERM.
#[derive(Debug, Args)]
pub struct McpArgs {
    /// Offer only tools that change nothing
    #[arg(long)]
    read_only: bool,
}

impl McpArgs {
    /// Serves until the client hangs up.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        if std::io::stdin().is_terminal() {
            context.output.say(&introduction(&oneiro.target().to_string(), self.read_only));
        }
        let role = if self.read_only { TokenRole::Read } else { TokenRole::Admin };
        Ok(oneiro_mcp::serve_stdio(Caller::local(oneiro, role), agents::capture_sources())?)
    }
}

/// What a person at a terminal wants to know: that this is not for them, and for whom it is.
fn introduction(store: &str, read_only: bool) -> String {
    let program = std::env::current_exe().map_or("oneiro".into(), |path| path.into_os_string());
    let mut args = vec!["mcp"];
    if read_only {
        args.push("--read-only");
    }
    let entry = serde_json::json!({
        "mcpServers": {"oneiro": {"command": program.to_string_lossy(), "args": args}},
    });
    let entry = serde_json::to_string_pretty(&entry).unwrap_or_default();
    format!(
        "This speaks MCP, for an agent to start. Put into the configuration of your MCP client:\n\
         {entry}\nIt serves {store}; `--store` and `--space` before `mcp`, or ONEIRO_STORE and \
         ONEIRO_SPACE, choose another.\nNow waiting for JSON-RPC on standard input; Ctrl-D ends."
    )
}
