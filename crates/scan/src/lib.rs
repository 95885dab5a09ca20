//! Finds text in notes and memories that tries to steer an agent: overridden instructions, borrowed
//! roles, hidden markup, exfiltration, credentials, invisible characters; and secrets, which do not
//! belong there. Independent of stores and models; the rules are data in `assets/rules.txt`.

mod confusable;
mod finding;
mod fold;
mod invisible;
mod rules;
mod scanner;
mod unmask;

pub use finding::{Category, Finding, placeholder};
pub use scanner::{MAX_FINDINGS, scan, scan_all};

/// Increased whenever a rule changes, so that stored text can be scanned again.
pub const VERSION: u32 = 2;
