//! `oneiro mcp`: tools for an agent on standard input and output.

use crate::agents;
use crate::context::Context;
use clap::Args;
use oneiro::SpaceUse;
use oneiro_mcp::{Caller, TokenRole};
use std::io::IsTerminal;

/// Serve MCP to an agent on standard input and output
///
/// MCP clients start this command themselves. Run at a terminal, it prints the entry for the
/// configuration of your client. Any number of servers may use one store. It ends with standard
/// input, and on SIGINT and SIGTERM.
#[derive(Debug, Args)]
pub struct McpArgs {
    /// Offer only tools that read; the space must exist
    #[arg(long)]
    read_only: bool,
}

impl McpArgs {
    /// A server that only reads creates nothing.
    pub fn space_use(&self) -> SpaceUse {
        if self.read_only { SpaceUse::MustExist } else { SpaceUse::CreateMissing }
    }

    /// Serves until the client hangs up.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        if std::io::stdin().is_terminal() {
            context.output.note(&introduction(&oneiro.target().to_string(), self.read_only));
        }
        let role = if self.read_only { TokenRole::Read } else { TokenRole::Admin };
        Ok(oneiro_mcp::serve_stdio(Caller::local(oneiro, role), agents::capture_sources())?)
    }
}

/// What is printed at a terminal: the entry for the configuration of a client.
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
        "MCP server. Add this to the configuration of your MCP client:\n\
         {entry}\nIt serves {store}; `--store` and `--space` before `mcp`, or ONEIRO_STORE and \
         ONEIRO_SPACE, choose another.\nNow waiting for JSON-RPC on standard input; Ctrl-D ends."
    )
}
