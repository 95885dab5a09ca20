//! Runs the binary on a throw-away space.

use ::oneiro::{
    Actor, ActorKind, ActorSurface, NewToken, Oneiro, Options, SpaceName, Target, TokenRole,
};
use oneiro_testkit::TestSpace;
use serde_json::Value;
use std::io::Write;
use std::process::{Command, Output, Stdio};

/// A command on a space, with nothing of this machine's configuration.
pub fn oneiro(space: &TestSpace) -> Command {
    in_space(space, space.space.as_str())
}

/// A command on another space of the same store.
pub fn in_space(space: &TestSpace, name: &str) -> Command {
    let mut command = bare();
    command.args(["--store", &space.store, "--space", name]);
    command.env("ONEIRO_CONFIG", config(space));
    command
}

/// The configuration file of a space's tests; empty unless a test writes it.
pub fn config(space: &TestSpace) -> std::path::PathBuf {
    let path = space.folder().join("config.toml");
    if !path.exists() {
        std::fs::write(&path, "").unwrap();
    }
    path
}

/// A command with an empty environment.
pub fn bare() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oneiro"));
    command.env_clear().env("HOME", "/nonexistent").stdin(Stdio::null());
    command
}

/// A token for a person, which only a person creates: a command of a test has no terminal.
pub fn person_token(space: &TestSpace, name: &str, role: TokenRole) -> String {
    let name = SpaceName::new(name).unwrap();
    let target = Target::parse(&space.store, Some(&name)).unwrap();
    let person = Actor::new(ActorKind::Person, ActorSurface::Cli);
    let oneiro = Oneiro::open(&target, Options::default()).unwrap().acting_as(person);
    let token = NewToken { actor: ActorKind::Person, ..NewToken::new(role) };
    oneiro.tokens().create(token).unwrap().token.unwrap()
}

/// What a command answered.
pub struct Answer {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Answer {
    /// Standard output as JSON; the command must have succeeded.
    pub fn json(&self) -> Value {
        assert_eq!(self.code, 0, "{}", self.err);
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }

    /// The error of a failed command with `--json`.
    pub fn error(&self) -> Value {
        let problem: Value =
            serde_json::from_str(&self.err).unwrap_or_else(|_| panic!("{}", self.err));
        problem["error"].clone()
    }
}

/// Runs a command with `input` on standard input.
pub fn run_with(mut command: Command, args: &[&str], input: &[u8]) -> Answer {
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // From a thread, because a command that answers while it reads would block both sides.
    let feed = std::thread::spawn(move || stdin.write_all(&input).ok());
    let output: Output = child.wait_with_output().unwrap();
    feed.join().unwrap();
    Answer {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs a command of a space.
pub fn run(space: &TestSpace, args: &[&str]) -> Answer {
    run_with(oneiro(space), args, b"")
}

/// Runs a command of a space with `--json` and answers its JSON.
pub fn json(space: &TestSpace, args: &[&str]) -> Value {
    run(space, &[args, &["--json"]].concat()).json()
}

/// Appends JSONL and answers the JSON.
pub fn append(space: &TestSpace, session: &str, lines: &str) -> Value {
    run_with(oneiro(space), &["append", session, "--json"], lines.as_bytes()).json()
}
