//! `oneiro why`: why a memory is believed; without an id, what was shown last and where it came from.

mod last;

use super::memory::text;
use crate::context::Context;
use crate::request::request;
use clap::Args;
use oneiro::WhyRequest;
use serde_json::json;

/// Show why a memory is believed, or where the last pack came from
///
/// A tree from the memory to the quotes it rests on, the messages that hold them with the messages
/// beside them, and the operations with who did them. Without an id: the lines that the last answer of a
/// session was shown, each with its source; at a terminal, one key fixes a line.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oneiro why mem_f3q5c2k7lnmab6dr
  oneiro why
  oneiro why --session 0198c2d4-monday")]
pub struct WhyArgs {
    /// Id of a memory or an operation, or a unique prefix of it
    id: Option<String>,
    /// As it was recorded at this time
    #[arg(long, value_name = "TIME", requires = "id")]
    known_at: Option<String>,
    /// The last pack of this session
    #[arg(long, conflicts_with = "id")]
    session: Option<String>,
    /// The last pack of this project; by default of the project of the working directory, and if it has
    /// none, the last pack of all
    #[arg(long, conflicts_with_all = ["id", "session"])]
    project: Option<String>,
}

impl WhyArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let Some(id) = &self.id else { return self.explain_last(context) };
        let oneiro = context.open()?;
        let request: WhyRequest = request(&oneiro, json!({"known_at": self.known_at}))?;
        let why = oneiro.memories().why(id, &request)?;
        context.output.show(&why, |why| text::why(why, oneiro.now()))
    }
}
