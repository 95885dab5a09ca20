//! The analyzer from outside: rules by table, laws by random texts, and a fixed output.

mod golden;
mod laws;
mod rules;
