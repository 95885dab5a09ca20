//! The MCP server: decodes calls of tools, calls the engine, encodes the answers. [`serve_stdio`]
//! serves one space on standard input and output, [`http_service`] the space of each request. It
//! does not know about authentication, nor how anything is stored or found.
//!
//! rmcp implements the protocol, in every version that clients use. This crate has the table of
//! tools ([`TOOLS`]), the budgets and delimiters of recalled text, and the transport over standard
//! input and output.

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
mod text;
mod tools;

pub use caller::Caller;
pub use cancellable::{CancelOnDrop, run_cancellable};
pub use handler::Mcp;
pub use http::{OverHttp, http_service};
pub use model_permits::{ModelLimits, ModelPermit, ModelPermits};
pub use oneiro::TokenRole;
pub use reference::reference;
pub use stdio::serve_stdio;
pub use tools::{Answer, Call, Hints, Payload, Profile, TOOLS, Tool};
