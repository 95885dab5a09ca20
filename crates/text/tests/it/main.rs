//! The analyzer: rules in tables, properties on random texts, and the tokens of fixed texts.

mod golden;
mod properties;
mod rules;
