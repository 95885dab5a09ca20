//! The binary as people and programs use it: standard input, output, errors and exit codes.

// A test says what is wrong by failing.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    missing_docs
)]

mod append;
mod bench;
mod capture;
mod compact_cli;
mod config;
mod context_cli;
mod demo;
mod dreams_cli;
mod errors;
mod expand_cli;
mod fake_home;
mod honest_commands;
mod hook;
mod import;
mod import_hermes;
mod kill;
mod mcp;
mod mounts_cli;
mod notes_cli;
mod packs_cli;
mod places;
mod reference;
mod retention;
mod search;
mod serve;
mod serve_api;
mod serve_context;
mod serve_contract;
mod serve_door;
mod serve_events;
mod serve_hostile;
mod serve_killed;
mod serve_load;
mod serve_memories;
mod serve_models;
mod serve_page;
mod serve_ready;
mod serve_site;
mod serve_slow;
mod serve_stop;
mod serve_strangers;
mod serve_support;
mod serve_walk;
mod session_store_cli;
mod sessions;
mod setup;
mod silent_model;
mod slow_input;
mod storm;
mod storm_support;
mod summary_cli;
mod support;
mod talk;
mod threads;
