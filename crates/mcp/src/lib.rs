//! The tools an agent calls by MCP: decode, call the engine, encode. [`serve_stdio`] serves one
//! space over standard input and output, [`http_service`] whichever space a request was let into.
//! It must not know who may come in, nor how anything is stored or found.
//!
//! The protocol is rmcp's, in every version clients speak. Ours are the table of tools
//! ([`TOOLS`]), the way recalled text is budgeted and delimited, and the lines of standard input.

mod arguments;
mod budget;
mod caller;
mod cancellable;
mod handler;
mod http;
mod lines;
mod model_permits;
mod recalled;
mod reference;
mod resources;
mod stdio;
mod tools;

pub use caller::Caller;
pub use cancellable::{CancelOnDrop, run_cancellable};
pub use handler::Mcp;
pub use http::{OverHttp, http_service};
pub use model_permits::{ModelLimits, ModelPermit, ModelPermits};
pub use oneiro::TokenRole;
pub use reference::reference;
pub use stdio::serve_stdio;
pub use tools::{Answer, Call, Hints, Payload, TOOLS, Tool};
