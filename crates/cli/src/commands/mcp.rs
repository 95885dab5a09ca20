//! `oneiro mcp`: tools for an agent on standard input and output.

use crate::agents;
use crate::context::Context;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use oneiro::SpaceUse;
use oneiro_mcp::{Caller, Profile, TokenRole};
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

    /// Which tools to list: those for the agent, or also those for the program that runs it
    #[arg(long, value_name = "PROFILE", default_value = "agent", value_parser = profiles())]
    profile: Profile,
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
            context.output.note(&introduction(&oneiro.target().to_string(), &self));
        }
        let role = if self.read_only { TokenRole::Read } else { TokenRole::Admin };
        let caller = Caller::local(oneiro, role);
        Ok(oneiro_mcp::serve_stdio(caller, self.profile, agents::capture_sources())?)
    }
}

/// The names of the profiles, for help and completion.
fn profiles() -> impl TypedValueParser<Value = Profile> {
    let names = PossibleValuesParser::new(Profile::ALL.map(Profile::as_str));
    names.map(|name| Profile::parse(&name).unwrap_or_default())
}

/// What is printed at a terminal: the entry for the configuration of a client.
fn introduction(store: &str, given: &McpArgs) -> String {
    let program = std::env::current_exe().map_or("oneiro".into(), |path| path.into_os_string());
    let mut args = vec!["mcp"];
    if given.read_only {
        args.push("--read-only");
    }
    if given.profile != Profile::default() {
        args.extend(["--profile", given.profile.as_str()]);
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
