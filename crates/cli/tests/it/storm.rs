//! A storm of everything that changes a store, by several processes at once: append, compaction,
//! rewind, erasure, import and backup. Processes are killed, calls fail and clocks jump. Afterwards
//! every acknowledged message is there with its text, what was erased is not, every backup that
//! succeeded is a sound store with all that was acknowledged before it, and doctor finds nothing.
//!
//! The gate runs one short round from a fixed seed; `ONEIRO_TORTURE_SECONDS` and
//! `ONEIRO_TEST_SEED` make it longer and another one, see scripts/torture.

use crate::kill::torture_seconds;
use crate::storm_support::{Trouble, Troubled, count};
use crate::support::{bare, json, oneiro, run};
use fastrand::Rng;
use oneiro_testkit::{TestSpace, on_both_backends, test_seed};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const WRITERS: usize = 3;

/// Commands that each of the others runs in a round.
const COMMANDS: usize = 4;

/// Tokens that every session is compacted to; a message of the writers has up to a hundred.
const COMPACTED: &str = "400";

on_both_backends! {
    fn a_storm_of_every_write_loses_nothing_that_was_acknowledged(space) {
        let deadline = Instant::now() + Duration::from_secs(torture_seconds().unwrap_or(0));
        let storm = Storm::new(space);
        let mut rng = Rng::with_seed(test_seed());
        let mut round = 0;
        while round == 0 || Instant::now() < deadline {
            storm.run_round(round, &mut rng);
            storm.assert_nothing_lost();
            round += 1;
            count(&storm.trouble.stats.rounds);
        }
        let told = storm.acknowledged.lock().unwrap().len();
        storm.trouble.stats.acknowledged.store(told, Ordering::Relaxed);
        storm.trouble.stats.print(space.backend);
    }
}

/// Messages by their ids: the session and the text.
type Messages = BTreeMap<i64, (String, String)>;

struct Storm<'s> {
    space: &'s TestSpace,
    trouble: Trouble,
    acknowledged: Mutex<Messages>,
    erased: Mutex<BTreeSet<String>>,
    imported: Mutex<BTreeSet<String>>,
}

impl Storm<'_> {
    fn new(space: &TestSpace) -> Storm<'_> {
        for writer in 0..WRITERS {
            assert_eq!(run(space, &["session", "new", "--id", &format!("w{writer}")]).code, 0);
        }
        Storm {
            space,
            trouble: Trouble::new(space),
            acknowledged: Mutex::default(),
            erased: Mutex::default(),
            imported: Mutex::default(),
        }
    }

    /// Everything at once; each actor draws from a generator of its own, so that what it does does
    /// not depend on the others.
    fn run_round(&self, round: usize, rng: &mut Rng) {
        let mut fork = || Rng::with_seed(rng.u64(..));
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                let mut own = fork();
                scope.spawn(move || self.append(round, writer, &mut own));
            }
            for act in [Storm::compact, Storm::rewind, Storm::erase, Storm::import, Storm::back_up]
            {
                let mut own = fork();
                scope.spawn(move || {
                    for turn in 0..COMMANDS {
                        act(self, &format!("{round}-{turn}"), &mut own);
                    }
                });
            }
        });
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = oneiro(self.space);
        command.args(args).arg("--json");
        command
    }

    /// Appends messages one by one until the process is killed or fails.
    fn append(&self, round: usize, writer: usize, rng: &mut Rng) {
        let session = format!("w{writer}");
        let mut command = oneiro(self.space);
        command.args(["append", &session, "--stream", "--json"]).stdin(Stdio::piped());
        let Troubled { mut child, has_faults } = self.trouble.start(command, rng);
        let mut input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let text = move |n: usize| {
            format!("round {round} writer {writer} message {n} {}", "word ".repeat(n % 70))
        };
        let feeder = std::thread::spawn(move || {
            for n in 0.. {
                let line = serde_json::json!({
                    "role": if n % 2 == 0 { "user" } else { "assistant" },
                    "content": text(n), "external_id": format!("{round}-{n}"),
                });
                if writeln!(input, "{line}").is_err() {
                    return;
                }
            }
        });
        let wanted = rng.usize(1..80);
        for (n, line) in output.lines().enumerate() {
            let Ok(id) = line.as_deref().unwrap_or_default().parse() else { break };
            self.acknowledged.lock().unwrap().insert(id, (session.clone(), text(n)));
            if n == wanted {
                child.kill().unwrap();
            }
        }
        let output = child.wait_with_output().unwrap();
        feeder.join().unwrap();
        self.trouble.judge(&output, has_faults);
    }

    fn compact(&self, _: &str, rng: &mut Rng) {
        let session = format!("w{}", rng.usize(..WRITERS));
        self.trouble.run(self.command(&["compact", &session, "--until", COMPACTED]), rng);
    }

    /// Messages that are taken back are kept.
    fn rewind(&self, turn: &str, rng: &mut Rng) {
        let session = format!("rewound-{turn}");
        let text = format!("taken back in {turn}");
        let append = ["append", &session, "--create", "--text", &text];
        if let Some(output) = self.trouble.run(self.command(&append), rng) {
            self.acknowledge(&output.stdout, &session, &text);
            self.trouble.run(self.command(&["session", "rewind", &session, "--turns", "1"]), rng);
        }
    }

    fn erase(&self, turn: &str, rng: &mut Rng) {
        let session = format!("erased-{turn}");
        let append = ["append", &session, "--create", "--text", &format!("secret of {turn}")];
        let erase = ["erase", "--session", &session, "--yes"];
        if self.trouble.run(self.command(&append), rng).is_some()
            && self.trouble.run(self.command(&erase), rng).is_some()
        {
            self.erased.lock().unwrap().insert(session);
            count(&self.trouble.stats.erasures);
        }
    }

    /// A file is imported as a whole or not at all.
    fn import(&self, turn: &str, rng: &mut Rng) {
        let session = format!("imported-{turn}");
        let path = self.space.folder().join(format!("{session}.jsonl"));
        std::fs::write(&path, imported_session(&session).to_string()).unwrap();
        let import = ["session", "import", path.to_str().unwrap()];
        if self.trouble.run(self.command(&import), rng).is_some() {
            self.imported.lock().unwrap().insert(session);
        }
    }

    /// A backup that succeeds holds everything that was acknowledged before it began.
    fn back_up(&self, turn: &str, rng: &mut Rng) {
        let before = self.acknowledged.lock().unwrap().clone();
        let path = self.space.folder().join(format!("backup-{turn}.db"));
        let backup = ["backup", path.to_str().unwrap()];
        if self.trouble.run(self.command(&backup), rng).is_none() {
            return;
        }
        let in_copy = |args: &[&str]| {
            let mut command = bare();
            command.arg("--store").arg(&path).env("ONEIRO_CONFIG", "/dev/null");
            crate::support::run_with(command, args, b"")
        };
        assert_eq!(in_copy(&["doctor", "--json"]).json()["ok"], true, "backup {turn}");
        let copied = messages_of(&sessions_of(&in_copy(&["session", "export"]).out));
        assert_holds(&copied, &before);
        count(&self.trouble.stats.backups);
        std::fs::remove_file(path).unwrap();
    }

    fn acknowledge(&self, stdout: &[u8], session: &str, text: &str) {
        let answer: Value = serde_json::from_slice(stdout).unwrap();
        let id = answer["ids"][0].as_i64().unwrap();
        let told = (session.to_owned(), text.to_owned());
        self.acknowledged.lock().unwrap().insert(id, told);
    }

    fn assert_nothing_lost(&self) {
        let sessions = sessions_of(&run(self.space, &["session", "export"]).out);
        assert_holds(&messages_of(&sessions), &self.acknowledged.lock().unwrap());
        for session in self.erased.lock().unwrap().iter() {
            assert!(!sessions.contains_key(session), "{session} is there again");
        }
        for (id, session) in sessions.iter().filter(|(id, _)| id.starts_with("imported-")) {
            let contents = |session: &Value| -> Vec<Value> {
                let messages = session["messages"].as_array().unwrap();
                messages.iter().map(|message| message["content"].clone()).collect()
            };
            assert_eq!(contents(session), contents(&imported_session(id)), "half of {id}");
        }
        for session in self.imported.lock().unwrap().iter() {
            assert!(sessions.contains_key(session), "{session} is gone");
        }
        assert_eq!(json(self.space, &["doctor"])["ok"], true);
    }
}

fn imported_session(id: &str) -> Value {
    let messages: Vec<Value> = (0..20)
        .map(|n| serde_json::json!({"role": "user", "content": format!("{n} of {id}")}))
        .collect();
    serde_json::json!({"id": id, "source": "storm", "messages": messages})
}

/// The sessions of an export by their ids.
fn sessions_of(export: &str) -> BTreeMap<String, Value> {
    let parse = |line: &str| -> Value { serde_json::from_str(line).unwrap() };
    let sessions = export.lines().map(parse);
    sessions.map(|session| (session["id"].as_str().unwrap().to_owned(), session)).collect()
}

fn messages_of(sessions: &BTreeMap<String, Value>) -> Messages {
    let messages = sessions.values().flat_map(|session| session["messages"].as_array().unwrap());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    messages
        .map(|one| (one["id"].as_i64().unwrap(), (text(&one["session_id"]), text(&one["content"]))))
        .collect()
}

fn assert_holds(stored: &Messages, acknowledged: &Messages) {
    for (id, told) in acknowledged {
        assert_eq!(stored.get(id), Some(told), "message {id} was acknowledged");
    }
}
