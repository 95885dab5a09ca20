//! `oneiro serve`: run until a signal.

use crate::agents;
use crate::commands::demo;
use crate::context::Context;
use clap::Args;
use oneiro::{Error, Oneiro, Options, SpaceUse, Target, list_spaces};
use oneiro_server::{ServeRequest, Timeouts};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Serve the page, HTTP and MCP
///
/// The page is at /, the API under /v1 (described at /openapi.json), MCP at /mcp. Requests from this
/// machine need no token; to listen on other addresses, first create one with `oneiro token create`.
/// Requests must name this machine: localhost, its addresses, its host name, the name in --listen, or
/// a name in the configuration key allowed_hosts. Runs background jobs. Stops on SIGINT and SIGTERM.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Address or host name and port to listen on, or a port of 127.0.0.1; port 0 picks a free one
    /// [default: 127.0.0.1:4747]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Serve a month of sample conversations: see `oneiro demo`
    #[arg(long)]
    demo: bool,
    /// Require a token from this machine too
    #[arg(long)]
    require_token: bool,
    /// How long a client is waited for at most, in milliseconds; for tests, which cannot wait long
    #[arg(long, hide = true)]
    client_timeout_ms: Option<u64>,
}

impl ServeArgs {
    /// Serves until a signal.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let target = if self.demo {
            demo::open(context, false)?.0.target().clone()
        } else {
            context.target()?
        };
        let (store, output) = (context.config.store.clone(), context.output);
        let options = context.options();
        let data = target.to_string();
        let mut rules = context.config.rules.clone();
        rules.require_token |= self.require_token;
        let serving = ServeRequest {
            space: target.space().clone(),
            list: Box::new({
                let (store, options) = (store.clone(), options.clone());
                move || list_spaces(&store, &options)
            }),
            open: Box::new(move |space, space_use| {
                let must_exist = space_use == SpaceUse::MustExist;
                let options = Options { must_exist, ..options.clone() };
                Oneiro::open(&Target::parse(&store, Some(space))?, options)
            }),
            listen: self.listen.unwrap_or_else(|| context.config.listen.clone()),
            rules,
            max_body: context.config.max_body,
            timeouts: timeouts(self.client_timeout_ms),
            backups: backups(&target),
            capture: agents::capture_sources(),
        };
        oneiro_server::serve(serving, move |address| {
            let url = format!("http://{address}");
            let ready = serde_json::json!({"url": url, "store": data});
            let text = format!(
                "Oneiro listens on {url}\nand keeps its memory in {data}\nStop it with Ctrl-C."
            );
            output.show(&ready, |_| text).map_err(|error| Error::internal(error.to_string()))
        })?;
        context.output.note("Stopped.");
        Ok(())
    }
}

/// The default, or one time for everything.
fn timeouts(millis: Option<u64>) -> Timeouts {
    match millis.map(Duration::from_millis) {
        Some(time) => {
            Timeouts { first_head: time, head: time, body: time, form: time, answer: time }
        }
        None => Timeouts::default(),
    }
}

/// The folder for backups requested over HTTP, beside the store.
fn backups(target: &Target) -> PathBuf {
    match target {
        Target::File { path, .. } => path.parent().unwrap_or(Path::new(".")).join("oneiro-backups"),
        Target::Postgres { .. } => PathBuf::from("oneiro-backups"),
    }
}
