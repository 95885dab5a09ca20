//! `oneiro setup`: what it shows, what it changes, and that it can be undone to the byte.

use crate::fake_home::Home;
use crate::support::{Answer, json, run_with};
use oneiro_testkit::{Backend, TestSpace};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn space() -> TestSpace {
    TestSpace::new(Backend::Sqlite)
}

fn setup(space: &TestSpace, home: &Home, args: &[&str]) -> Answer {
    run_with(home.oneiro(space), &[&["setup"], args].concat(), b"")
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn it_shows_everything_first_and_writes_nothing_unasked() {
    let space = space();
    let home = Home::of_ann(&space);
    let before = home.snapshot();
    let shown = setup(&space, &home, &["--dry-run", "--hooks"]);
    assert_eq!(shown.code, 0, "{}", shown.err);
    for part in [
        "claude-code",
        "5 files, 1 of subagents",
        "picoclaw",
        "+  \"mcpServers\": {",
        "+[mcp_servers.oneiro]",
        "+    \"SubagentStop\": [",
        "openclaw.json: it is not plain JSON",
        "34 messages to import",
    ] {
        assert!(shown.out.contains(part), "{part} is missing:\n{}", shown.out);
    }
    // Without --yes and without a terminal, the same, and it says so.
    let refused = setup(&space, &home, &["--json"]);
    assert_eq!((refused.code, refused.error()["kind"].as_str()), (2, Some("invalid")));
    let plan: Value = serde_json::from_str(&refused.out).unwrap();
    assert_eq!(plan["agents"][0]["changes"][0]["written"], false);
    assert_eq!(home.snapshot(), before);
    assert!(!space.file().exists());
}

#[test]
fn it_adds_once_imports_once_and_takes_back_to_the_byte() {
    let space = space();
    let home = Home::of_ann(&space);
    let before = home.snapshot();
    let done = setup(&space, &home, &["--yes", "--hooks", "--json"]).json();
    assert_eq!(done["agents"][0]["imported"]["messages"], 26);
    assert_eq!(done["agents"][1]["imported"]["messages"], 17);
    let entry = &read(&home.at(".claude.json"))["mcpServers"]["oneiro"];
    assert_eq!((entry["type"].as_str(), entry["args"][0].as_str()), (Some("stdio"), Some("mcp")));
    assert_eq!(entry["command"], env!("CARGO_BIN_EXE_oneiro"));
    // What the person said about the store, the agent says again.
    let args: Vec<&str> =
        entry["args"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(args, ["mcp", "--store", &space.store, "--space", space.space.as_str()]);
    let hooks = &read(&home.at(".claude/settings.json"))["hooks"];
    for event in ["Stop", "SubagentStop", "PreCompact", "SessionEnd"] {
        let hook = &hooks[event].as_array().unwrap().last().unwrap()["hooks"][0];
        assert_eq!((hook["async"].as_bool(), hook["timeout"].as_i64()), (Some(true), Some(10)));
        assert!(hook["command"].as_str().unwrap().contains(" hook claude-code"), "{hook}");
    }
    assert_eq!(hooks["Stop"][0]["hooks"][0]["command"], "notify-send done");
    assert!(read(&home.at(".nanobot/config.json"))["tools"]["mcpServers"]["oneiro"].is_object());
    assert!(
        read(&home.at(".picoclaw/config.json"))["tools"]["mcp"]["servers"]["oneiro"].is_object()
    );
    assert!(home.read(".hermes/config.yaml").contains("\n  oneiro:\n    command: "));
    let after = home.snapshot();
    assert_eq!(
        after[&home.at(".openclaw/openclaw.json")],
        before[&home.at(".openclaw/openclaw.json")]
    );
    let again = setup(&space, &home, &["--hooks", "--json"]).json();
    assert_eq!(again["agents"][0]["imported"]["messages"], 0);
    // The way to undo is shown when there is something to undo.
    let shown = setup(&space, &home, &["--hooks", "--yes"]);
    assert!(shown.out.contains("Next: ") && !shown.out.contains("--undo"), "{}", shown.out);
    assert_eq!(home.snapshot(), after);
    let undone = setup(&space, &home, &["--undo", "--yes"]);
    assert_eq!(undone.code, 0, "{}", undone.err);
    assert_eq!(home.snapshot(), before);
    assert!(!space.folder().join("setup.json").exists());
    // What was imported stays.
    assert_eq!(json(&space, &["stats"])["messages"], 43);
}

#[test]
fn claude_code_gets_a_skill_and_commands_which_can_be_taken_back() {
    let space = space();
    let home = Home::of_ann(&space);
    let files =
        ["skills/oneiro/SKILL.md", "commands/remember.md", "commands/recall.md", "commands/why.md"];
    let path = |file: &str| home.at(&format!(".claude/{file}"));
    // What somebody else put there stays.
    std::fs::create_dir_all(home.at(".claude/commands")).unwrap();
    std::fs::write(path("commands/why.md"), "mine").unwrap();
    let before = home.snapshot();
    let shown = setup(&space, &home, &["claude-code", "--dry-run", "--no-import"]);
    assert!(shown.out.contains("+Call the tool `memory_recall`"), "{}", shown.out);
    assert!(shown.out.contains("another file has its place"), "{}", shown.out);
    assert_eq!(home.snapshot(), before);
    let install =
        || setup(&space, &home, &["claude-code", "--yes", "--no-import", "--json"]).json();
    let done = install();
    let changes = done["agents"][0]["changes"].as_array().unwrap().clone();
    let of_plugin = changes.iter().filter(|change| change["what"] == "plugin").count();
    assert_eq!(of_plugin, files.len(), "{changes:?}");
    for file in &files[..3] {
        let text = std::fs::read_to_string(path(file)).unwrap();
        assert!(text.starts_with("---\n") && text.contains("memory_"), "{file}: {text}");
    }
    assert_eq!(std::fs::read_to_string(path("commands/why.md")).unwrap(), "mine");
    let after = home.snapshot();
    install();
    assert_eq!(home.snapshot(), after, "a second run changes nothing");
    // A file that somebody changed is theirs from then on.
    std::fs::write(path("commands/recall.md"), "changed").unwrap();
    let undone = setup(&space, &home, &["claude-code", "--undo", "--yes"]);
    assert!(undone.out.contains("somebody changed it"), "{}", undone.out);
    assert!(!path("skills").exists() && !path("commands/remember.md").exists());
    assert_eq!(std::fs::read_to_string(path("commands/recall.md")).unwrap(), "changed");
}

/// Files of agents that only use MCP, the name their servers are under, and where an entry has its
/// program.
const MCP_ONLY: [(&str, &str, &str); 5] = [
    (".cursor/mcp.json", "mcpServers", "/command"),
    (CLAUDE_DESKTOP, "mcpServers", "/command"),
    (VSCODE, "servers", "/command"),
    (".gemini/settings.json", "mcpServers", "/command"),
    (".config/opencode/opencode.json", "mcp", "/command/0"),
];

#[cfg(not(target_os = "macos"))]
const CLAUDE_DESKTOP: &str = ".config/Claude/claude_desktop_config.json";
#[cfg(target_os = "macos")]
const CLAUDE_DESKTOP: &str = "Library/Application Support/Claude/claude_desktop_config.json";
#[cfg(not(target_os = "macos"))]
const VSCODE: &str = ".config/Code/User/mcp.json";
#[cfg(target_os = "macos")]
const VSCODE: &str = "Library/Application Support/Code/User/mcp.json";

#[test]
fn entries_have_the_fields_that_each_agent_reads() {
    let space = space();
    let home = Home::empty(&space);
    for folder in [".config/opencode", VSCODE.strip_suffix("/mcp.json").unwrap()] {
        std::fs::create_dir_all(home.at(folder)).unwrap();
    }
    let done = setup(&space, &home, &["--yes", "--no-import"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let local = read(&home.at(".config/opencode/opencode.json"))["mcp"]["oneiro"].clone();
    assert_eq!((local["type"].as_str(), local["enabled"].as_bool()), (Some("local"), Some(true)));
    assert_eq!(local["command"][1], "mcp");
    assert_eq!(read(&home.at(VSCODE))["servers"]["oneiro"]["type"], "stdio");
}

#[test]
fn secrets_of_a_file_are_masked_in_what_is_shown_and_kept_in_the_file() {
    let space = space();
    let home = Home::empty(&space);
    std::fs::create_dir(home.at(".gemini")).unwrap();
    let token = "ghp_abcdefghijklmnopqrst12";
    let text = format!(r#"{{"env":{{"SOME_TOKEN":"hunter2","PLAIN":"{token}"}},"theme":"dark"}}"#);
    std::fs::write(home.at(".gemini/settings.json"), text).unwrap();
    for args in [&["--dry-run"][..], &["--yes"], &["--undo", "--yes", "--json"]] {
        let shown = setup(&space, &home, args);
        assert!(shown.out.contains("[secret]") && shown.out.contains("dark"), "{}", shown.out);
        assert!(!shown.out.contains("hunter2") && !shown.out.contains(token), "{}", shown.out);
        let kept = home.read(".gemini/settings.json");
        assert!(kept.contains("hunter2") && kept.contains(token), "{kept}");
    }
}

#[test]
fn files_that_were_missing_or_empty_are_so_again() {
    for (name, text) in [
        ("missing", None),
        ("empty", Some("")),
        ("braces", Some("{}")),
        ("bom", Some("\u{FEFF}{\r\n}\r\n")),
    ] {
        let space = space();
        let home = Home::empty(&space);
        for folder in [".claude", ".codex", ".hermes", ".openclaw", ".nanobot", ".picoclaw"] {
            std::fs::create_dir(home.at(folder)).unwrap();
        }
        for (file, _, _) in MCP_ONLY {
            std::fs::create_dir_all(home.at(file).parent().unwrap()).unwrap();
        }
        for file in [
            ".claude.json",
            ".claude/settings.json",
            ".openclaw/openclaw.json",
            ".nanobot/config.json",
            ".picoclaw/config.json",
        ]
        .into_iter()
        .chain(MCP_ONLY.map(|(file, _, _)| file))
        {
            if let Some(text) = text {
                std::fs::write(home.at(file), text).unwrap();
            }
        }
        let before = home.snapshot();
        let done = setup(&space, &home, &["--yes", "--hooks", "--no-import"]);
        assert_eq!(done.code, 0, "{name}: {}", done.err);
        assert!(done.out.contains("`oneiro setup --undo` removes"), "{name}: {}", done.out);
        let text = home.read(".openclaw/openclaw.json");
        let entry: Value = serde_json::from_str(text.trim_start_matches('\u{FEFF}')).unwrap();
        assert!(entry["mcp"]["servers"]["oneiro"].is_object(), "{name}: {entry}");
        for (file, group, command) in MCP_ONLY {
            let text = home.read(file);
            let whole: Value = serde_json::from_str(text.trim_start_matches('\u{FEFF}')).unwrap();
            let entry = &whole[group]["oneiro"];
            assert_eq!(*entry.pointer(command).unwrap(), env!("CARGO_BIN_EXE_oneiro"), "{file}");
        }
        assert!(home.at(".codex/config.toml").exists() && home.at(".hermes/config.yaml").exists());
        let undone = setup(&space, &home, &["--yes", "--undo"]);
        assert_eq!(undone.code, 0, "{name}: {}", undone.err);
        assert_eq!(home.snapshot(), before, "{name}");
    }
}

#[test]
fn modes_and_links_stay() {
    let space = space();
    let home = Home::of_ann(&space);
    std::fs::create_dir(home.at("dotfiles")).unwrap();
    std::fs::rename(home.at(".claude.json"), home.at("dotfiles/claude.json")).unwrap();
    std::os::unix::fs::symlink("dotfiles/claude.json", home.at(".claude.json")).unwrap();
    let mode = std::fs::Permissions::from_mode(0o640);
    std::fs::set_permissions(home.at("dotfiles/claude.json"), mode).unwrap();
    let before = home.snapshot();
    setup(&space, &home, &["claude-code", "--yes", "--no-import"]);
    assert!(home.at(".claude.json").is_symlink());
    assert!(home.read("dotfiles/claude.json").contains("mcpServers"));
    let meta = std::fs::metadata(home.at("dotfiles/claude.json")).unwrap();
    assert_eq!(meta.permissions().mode() & 0o777, 0o640);
    setup(&space, &home, &["claude-code", "--yes", "--undo"]);
    assert_eq!(home.snapshot(), before);
}

#[test]
fn what_others_wrote_since_stays_when_it_is_taken_back() {
    let space = space();
    let home = Home::of_ann(&space);
    setup(&space, &home, &["--yes", "--no-import", "--hooks"]);
    // An agent rewrites its file in its own way, with something of its own.
    let mut config = read(&home.at(".claude.json"));
    config["numStartups"] = 13.into();
    std::fs::write(home.at(".claude.json"), config.to_string()).unwrap();
    // A person adds something before and after.
    let toml = home.read(".codex/config.toml");
    std::fs::write(home.at(".codex/config.toml"), format!("# new\n{toml}\n[tui]\nx = 1\n"))
        .unwrap();
    // And changes an entry, which is theirs from then on.
    let nanobot = home.read(".nanobot/config.json").replace("\"mcp\"", "\"mcp\", \"--mine\"");
    std::fs::write(home.at(".nanobot/config.json"), &nanobot).unwrap();
    let undone = setup(&space, &home, &["--undo", "--yes"]);
    assert_eq!(undone.code, 0, "{}", undone.err);
    let config = read(&home.at(".claude.json"));
    assert_eq!(
        (config["numStartups"].as_i64(), config["mcpServers"].get("oneiro")),
        (Some(13), None)
    );
    let toml = home.read(".codex/config.toml");
    assert!(toml.starts_with("# new\n# ann\n") && toml.ends_with("[tui]\nx = 1\n"), "{toml}");
    assert!(!toml.contains("oneiro"), "{toml}");
    assert_eq!(home.read(".nanobot/config.json"), nanobot);
    assert!(undone.out.contains("nanobot") && undone.out.contains("by hand"), "{}", undone.out);
}

#[test]
fn an_entry_of_somebody_else_is_left_alone() {
    let space = space();
    let home = Home::of_ann(&space);
    let theirs = "{\"mcpServers\":{\"oneiro\":{\"command\":\"/mine\"}}}";
    std::fs::write(home.at(".claude.json"), theirs).unwrap();
    let shown = setup(&space, &home, &["claude-code", "--yes", "--no-import"]);
    assert!(shown.out.contains("there is another entry \"oneiro\" already"), "{}", shown.out);
    setup(&space, &home, &["claude-code", "--yes", "--undo"]);
    assert_eq!(home.read(".claude.json"), theirs);
}

#[test]
fn another_store_replaces_what_setup_wrote_and_all_of_it_is_taken_back() {
    let space = space();
    let home = Home::of_ann(&space);
    std::fs::remove_file(home.at(".picoclaw/config.json")).unwrap();
    let before = home.snapshot();
    let with = |store: &str, args: &[&str]| {
        let command = home.oneiro(&space);
        let store = space.folder().join(store).to_str().unwrap().to_owned();
        run_with(
            command,
            &[&["setup", "--yes", "--no-import", "--store", &store], args].concat(),
            b"",
        )
    };
    for store in ["one", "another", "a third"] {
        let done = with(store, &["--hooks"]);
        assert_eq!(done.code, 0, "{}", done.err);
        let verb = if store == "one" { "Add" } else { "Replace" };
        for what in ["the MCP server", "the hooks"] {
            let line = format!("Claude Code: {verb} {what}");
            assert!(done.out.contains(&line), "{line} is missing:\n{}", done.out);
        }
        assert!(!done.out.contains("there is another"), "{}", done.out);
    }
    for event in ["Stop", "SubagentStop", "PreCompact", "SessionEnd"] {
        let hooks = read(&home.at(".claude/settings.json"))["hooks"][event].to_string();
        assert_eq!(hooks.matches(" hook claude-code").count(), 1, "{hooks}");
        assert!(hooks.contains("a third"), "{hooks}");
    }
    for file in [
        ".claude.json",
        ".codex/config.toml",
        ".hermes/config.yaml",
        ".nanobot/config.json",
        ".picoclaw/config.json",
    ] {
        let text = home.read(file);
        assert!(text.contains("a third") && !text.contains("another\""), "{file}: {text}");
    }
    let undone = with("elsewhere", &["--undo"]);
    assert_eq!(undone.code, 0, "{}", undone.err);
    assert!(!undone.out.contains("by hand"), "{}", undone.out);
    assert_eq!(home.snapshot(), before);
    assert!(!space.folder().join("setup.json").exists());
}

#[test]
fn a_hook_of_somebody_else_is_left_alone() {
    let space = space();
    let home = Home::of_ann(&space);
    let theirs =
        r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine hook claude-code"}]}]}}"#;
    std::fs::write(home.at(".claude/settings.json"), theirs).unwrap();
    let shown = setup(&space, &home, &["claude-code", "--yes", "--no-import", "--hooks"]);
    assert!(shown.out.contains("there is another hook for \"Stop\" already"), "{}", shown.out);
    assert_eq!(home.read(".claude/settings.json"), theirs);
    setup(&space, &home, &["claude-code", "--yes", "--undo"]);
    assert_eq!(home.read(".claude/settings.json"), theirs);
}

#[test]
fn hooks_are_only_for_claude_code_and_it_says_so() {
    let space = space();
    let home = Home::of_ann(&space);
    let shown = |args: &[&str]| setup(&space, &home, &[args, &["--dry-run", "--hooks"]].concat());
    let words = "Hooks are only for Claude Code: Codex, hermes get none.";
    assert!(shown(&["claude-code", "codex", "hermes"]).out.contains(words));
    assert!(!shown(&["claude-code"]).out.contains("only for Claude Code"));
    assert!(!shown(&[]).out.contains("only for Claude Code"));
}

#[test]
fn what_cannot_be_imported_is_not_said_to_be_nothing() {
    let space = space();
    let home = Home::empty(&space);
    for folder in [".codex", ".nanobot/sessions", ".openclaw"] {
        std::fs::create_dir_all(home.at(folder)).unwrap();
    }
    std::fs::write(home.at(".nanobot/sessions/a.jsonl"), "{}\n").unwrap();
    let shown = setup(&space, &home, &["--dry-run"]).out;
    let row = |name: &str| shown.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(row("codex").ends_with("no sessions"), "{shown}");
    assert!(row("openclaw").ends_with("  no import yet"), "{shown}");
    assert!(row("nanobot").contains("1 file, ") && row("nanobot").ends_with("; no import yet"));
}

#[test]
fn agents_may_live_elsewhere() {
    let space = space();
    let home = Home::of_ann(&space);
    let elsewhere = space.folder().join("elsewhere");
    std::fs::create_dir_all(elsewhere.join("claude")).unwrap();
    std::fs::create_dir_all(elsewhere.join("codex")).unwrap();
    let mut command = home.oneiro(&space);
    command
        .env("CLAUDE_CONFIG_DIR", elsewhere.join("claude"))
        .env("CODEX_HOME", elsewhere.join("codex"));
    let before = home.snapshot();
    let done = run_with(command, &["setup", "claude-code", "codex", "--yes"], b"");
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(elsewhere.join("claude/.claude.json").exists());
    assert!(elsewhere.join("codex/config.toml").exists());
    assert_eq!(home.snapshot(), before);
}

#[test]
fn an_empty_machine_and_an_unknown_agent_are_told_what_to_do() {
    let space = space();
    let home = Home::empty(&space);
    let nobody = setup(&space, &home, &[]);
    assert_eq!(nobody.code, 0);
    for part in [
        ".claude",
        ".codex",
        ".hermes",
        ".openclaw",
        ".nanobot",
        ".picoclaw",
        "not found",
        "oneiro demo",
        "oneiro serve",
    ] {
        assert!(nobody.out.contains(part), "{part} is missing:\n{}", nobody.out);
    }
    let unknown = setup(&space, &home, &["emacs", "--json"]);
    assert_eq!((unknown.code, unknown.error()["kind"].as_str()), (2, Some("invalid")));
    assert!(home.snapshot().is_empty());
}
