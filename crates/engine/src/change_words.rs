//! Whether a newer statement replaces an older one that was never learnt, by words that tell a change and by
//! what both are about.

mod compare;
mod lists;
mod parts;
mod plans;
mod statement;

pub(crate) use lists::has_phrase;
pub(crate) use plans::{begins_on_date, is_planned};
pub(crate) use statement::Statement;
