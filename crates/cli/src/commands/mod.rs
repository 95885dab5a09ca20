//! The commands, one file each: read the arguments, call the engine, print the answer.

pub mod append;
pub mod backup;
pub mod bench;
pub mod compact;
pub mod completions;
pub mod config;
pub mod context;
pub mod demo;
pub mod doctor;
pub mod erase;
pub mod expand;
pub mod hook;
pub mod import;
pub mod jobs;
pub mod mcp;
pub mod pause;
pub mod project;
pub mod search;
pub mod secrets;
pub mod serve;
pub mod session;
pub mod setup;
pub mod space;
pub mod stats;
pub mod summary;
pub mod token;
