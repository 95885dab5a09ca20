//! The binary as people and programs use it: standard input, output, errors and exit codes.

mod append;
mod config;
mod errors;
mod kill;
mod reference;
mod retention;
mod serve;
mod sessions;
mod support;
