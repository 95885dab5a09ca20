//! The generated references in docs/reference are what the binary prints now.

use crate::support::{bare, run_with};
use std::path::Path;

#[test]
fn generated_references_are_fresh() {
    for (which, file) in [
        ("cli", "cli.md"),
        ("config", "config.md"),
        ("errors", "errors.md"),
        ("mcp", "mcp.md"),
        ("openapi", "openapi.json"),
    ] {
        let printed = run_with(bare(), &["reference", which], b"").out;
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(file);
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            printed == kept,
            "docs/reference/{file} is stale: cargo run -- reference {which} > docs/reference/{file}"
        );
    }
}

#[test]
fn completions_are_printed_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = run_with(bare(), &["completions", shell], b"");
        assert_eq!(script.code, 0);
        assert!(script.out.contains("oneiro"), "{shell}");
    }
}

#[test]
fn help_tells_more_than_one_line() {
    for (command, says) in [
        (&["search"][..], "The query language: \"a phrase\", AND, OR"),
        (&["context"], "As many messages as fit, the newest first"),
        (&["session", "rewind"], "Nothing is removed"),
        (&["session", "tree"], "A filled mark (●) is in the window now"),
    ] {
        let help = run_with(bare(), &[command, &["--help"]].concat(), b"").out;
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains(says), "{command:?}: {help}");
    }
}
