//! This test binary as another process that appends, folds and searches as its parent asks, line
//! by line, until it is killed or its input ends.

use crate::search_support::{fold, newest, request};
use crate::support::{id, new, user};
use oneiro::{Oneiro, Options, Target};
use oneiro_testkit::TestSpace;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const STORE: &str = "ONEIRO_TEST_CHILD_STORE";

/// What a child says stands after this; the harness prints lines of its own.
const MARK: &str = "@@ ";

/// Another process on a space.
pub struct Other {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Other {
    pub fn on(space: &TestSpace) -> Other {
        Other::start(Other::command(space))
    }

    /// A process of somebody who is not root, for whom the modes of files count.
    pub fn of_nobody(space: &TestSpace) -> Other {
        let mut command = Other::command(space);
        let uid = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap());
        if uid == 0 {
            command.uid(65534).gid(65534);
        }
        Other::start(command)
    }

    fn command(space: &TestSpace) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "search_child::runs_the_commands_of_its_parent", "--nocapture"]);
        command.env(STORE, format!("{} {}", space.space, space.store));
        command
    }

    fn start(mut command: Command) -> Other {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut other = Other { input: child.stdin.take(), child, output };
        assert_eq!(other.receive().as_deref(), Some("ready"));
        other
    }

    /// The next thing it says; `None` when it says nothing more.
    pub fn receive(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            // What a killed process had not finished saying was not said.
            if self.output.read_line(&mut line).ok()? == 0 || !line.ends_with('\n') {
                return None;
            }
            if let Some((_, said)) = line.trim_end().split_once(MARK) {
                return Some(said.to_owned());
            }
        }
    }

    pub fn send(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    pub fn request(&mut self, line: &str) -> String {
        self.send(line);
        self.receive().unwrap_or_else(|| panic!("no answer to {line:?}"))
    }

    /// Appends one text; answers its id.
    pub fn say(&mut self, session: &str, text: &str) -> i64 {
        self.request(&format!("say {session} {text}")).parse().unwrap()
    }

    /// What a query finds there.
    pub fn find(&mut self, query: &str) -> Vec<i64> {
        let answer = self.request(&format!("find {query}"));
        answer.split(' ').filter(|id| !id.is_empty()).map(|id| id.parse().unwrap()).collect()
    }

    /// Ends it as nothing can be ended more suddenly.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn answer(what: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{MARK}{what}").unwrap();
    out.flush().unwrap();
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a parent tells its child by the environment")]
fn runs_the_commands_of_its_parent() {
    let Ok(asked) = std::env::var(STORE) else { return };
    let (space, store) = asked.split_once(' ').unwrap();
    let space = oneiro::SpaceName::new(space).unwrap();
    let oneiro = Oneiro::open(&Target::parse(store, Some(&space)).unwrap(), Options::default());
    let oneiro = oneiro.unwrap();
    answer("ready");
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let (what, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match what {
            "say" => {
                let (session, text) = rest.split_once(' ').unwrap();
                let said = oneiro.messages().append_or_create(
                    &id(session),
                    vec![user(text)],
                    new(session),
                );
                answer(said.unwrap().ids[0]);
            }
            "many" => {
                let (session, text) = rest.split_once(' ').unwrap();
                let many = (0..200).map(|n| user(&format!("{text} filler {n}"))).collect();
                let said =
                    oneiro.messages().append_or_create(&id(session), many, new(session)).unwrap();
                answer(said.ids[199]);
            }
            "find" => {
                let found = match oneiro.search().run(&request(rest)) {
                    Ok(found) => found,
                    Err(error) => panic!("{rest}: {error}"),
                };
                let ids: Vec<String> = found.hits.iter().map(|hit| hit.id.0.to_string()).collect();
                answer(ids.join(" "));
            }
            "newest" => {
                let found: Vec<String> =
                    newest(&oneiro, rest).iter().map(ToString::to_string).collect();
                answer(found.join(" "));
            }
            "fold" => {
                fold(&oneiro);
                answer("folded");
            }
            "cannot-write" => {
                let error = oneiro.messages().append(&id("s"), vec![user("x")]).unwrap_err();
                assert_eq!(error.kind(), oneiro::ErrorKind::Forbidden, "{error:?}");
                answer("refused");
            }
            "hammer" => hammer(&oneiro, rest),
            other => panic!("no such work: {other}"),
        }
    }
}

/// Appends and folds for ever; says what was acknowledged.
fn hammer(oneiro: &Oneiro, name: &str) {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            loop {
                fold(oneiro);
            }
        });
        for n in 0.. {
            let word = format!("word{name}x{n}");
            let messages = (0..4).map(|part| user(&format!("hammered {word} part{part} {n}")));
            let said = oneiro.messages().append(&id("s"), messages.collect()).unwrap();
            answer(format!("{word} {} {}", said.ids[0], said.ids[3]));
        }
    });
}
