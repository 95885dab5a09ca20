//! The engine, tested from outside: each behaviour on both engines of the store.
#![allow(missing_docs, reason = "the names of tests say what they prove")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests may fail"
)]

mod background;
mod backup;
mod capture;
mod changes;
mod client_messages;
mod context_budget;
mod context_converge;
mod context_doctor;
mod context_erase;
mod context_faults;
mod context_frontier;
mod context_history;
mod context_lease;
mod context_levels;
mod context_mixes;
mod context_prefix;
mod context_random;
mod context_random_found;
mod context_read;
mod context_rules;
mod context_split;
mod context_store;
mod context_storm;
mod context_support;
mod context_windows;
mod counters;
mod differential;
mod earlier_stores;
mod erase;
mod faults;
mod fidelity;
mod hermes_again;
mod hermes_files;
mod hermes_hostile;
mod hermes_import;
mod hermes_storms;
mod hostile;
mod idempotence;
mod jobs;
mod lineage;
mod listing;
mod lost_writes;
mod order;
mod patterns;
mod places;
mod removal;
mod search_brute;
mod search_child;
mod search_crash;
mod search_forget;
mod search_fresh;
mod search_hostile;
mod search_kinds;
mod search_pages;
mod search_query;
mod search_rebuild;
mod search_remote;
mod search_same;
mod search_support;
mod session_search;
mod sessions;
mod slots;
mod spaces;
mod stretches;
mod support;
mod titles;
mod tokens;
mod transcript_agents;
mod transcript_erased;
mod transcript_files;
mod transcript_harness;
mod transcript_storms;
mod transcripts;
mod transfer;
mod usage;
