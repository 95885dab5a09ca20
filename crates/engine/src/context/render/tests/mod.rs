//! The renderer, tested: by example, and by laws over conversations that are generated.

mod examples;
mod fuzz;
mod generated;
mod laws;
mod valid;

use super::super::form::Form;
use super::{RenderRequest, Rendered, render};
use oneiro_model::{Message, WindowFormat};

/// Renders with a short system text.
fn rendered(messages: &[(Message, Form)], format: WindowFormat) -> Rendered {
    render(&RenderRequest { system: "be brief", messages, format })
}
