//! `oneiro serve`: run until a signal.

use crate::context::Context;
use clap::Args;

/// Serve HTTP on this machine
///
/// Answers /healthz for now, and drains background work. Stops cleanly on SIGINT and SIGTERM.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Where to listen; port 0 picks a free one [default: 127.0.0.1:4747]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
}

impl ServeArgs {
    /// Serves until told to stop.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let listen = self.listen.as_deref().unwrap_or(&context.config.listen);
        let oneiro = context.open()?;
        let data = oneiro.target().to_string();
        let output = context.output;
        oneiro_server::serve(oneiro, listen, move |address| {
            let url = format!("http://{address}");
            let ready = serde_json::json!({"url": url, "store": data});
            output.show(&ready, |_| format!("Oneiro listens on {url}\nand keeps its memory in {data}\nStop it with Ctrl-C."))
                .map_err(|error| oneiro::Error::internal(error.to_string()))
        })?;
        context.output.say("Stopped.");
        Ok(())
    }
}
