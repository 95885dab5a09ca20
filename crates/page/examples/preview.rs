//! Writes every state of every view into a folder, with the files they load, to be looked at.
//!
//! `cargo run -p oneiro-page --example preview -- FOLDER`, then serve that folder.
#![allow(missing_docs, clippy::unwrap_used, reason = "made-up values, for looking at only")]

#[path = "../tests/it/states/mod.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod states;

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "preview".to_owned()));
    std::fs::create_dir_all(folder.join("assets"))?;
    for name in oneiro_page::assets::names() {
        if let Some(asset) = oneiro_page::assets::asset(name) {
            std::fs::write(folder.join("assets").join(name), asset.bytes)?;
        }
    }
    for (name, html) in states::all() {
        std::fs::write(folder.join(format!("{name}.html")), html)?;
    }
    Ok(())
}
