//! Recognises machine output: commands, code, log lines, stack frames, listings, progress.

use oneiro_text::entries;
use rustc_hash::FxHashSet;
use std::sync::LazyLock;

/// What a line is, when it is a machine's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Machine {
    /// Something to run.
    Command,
    /// One of many lines that say that things go on.
    Log,
    /// A frame of a stack.
    Frame,
    /// A row of a listing: a file, a process.
    Listing,
    /// A line of a program.
    Code,
}

/// Programs that a command begins with.
static PROGRAMS: LazyLock<FxHashSet<&str>> =
    LazyLock::new(|| entries(include_str!("../assets/programs.txt")).collect());

const LEVELS: [&str; 6] = ["INFO", "DEBUG", "TRACE", "info:", "debug:", "trace:"];

const PROGRESS: [&str; 17] = [
    "Compiling ",
    "Checking ",
    "Downloading ",
    "Downloaded ",
    "Fetching ",
    "Unpacking ",
    "Installing ",
    "Collecting ",
    "Requirement already",
    "Resolving ",
    "remote: ",
    "Receiving ",
    "Get:",
    "Hit:",
    "Updating ",
    "Preparing ",
    "Setting up ",
];

/// What a sentence is, if it is a machine's.
pub(crate) fn machine(sentence: &str) -> Option<Machine> {
    let first = sentence.split_whitespace().next()?;
    // Most of what people say has no sign that machines need, and is let go at once.
    let is_plain =
        |byte: u8| !byte.is_ascii() || byte.is_ascii_alphabetic() || b" ,.'!?".contains(&byte);
    if sentence.bytes().all(is_plain) && !sentence.contains('━') {
        let progress = PROGRESS.iter().any(|verb| sentence.starts_with(verb));
        let command = || is_command(sentence, first).then_some(Machine::Command);
        let code = || is_code(sentence, first).then_some(Machine::Code);
        return progress.then_some(Machine::Log).or_else(command).or_else(code);
    }
    if is_frame(sentence, first) {
        return Some(Machine::Frame);
    }
    if is_listing(sentence, first) {
        return Some(Machine::Listing);
    }
    if is_log(sentence, first) {
        return Some(Machine::Log);
    }
    if is_command(sentence, first) {
        return Some(Machine::Command);
    }
    is_code(sentence, first).then_some(Machine::Code)
}

fn is_code(sentence: &str, first: &str) -> bool {
    let ends =
        sentence.ends_with([';', '{', '}']) || sentence.ends_with("):") || sentence.ends_with("()");
    let keyword = matches!(
        first,
        "import"
            | "def"
            | "fn"
            | "pub"
            | "class"
            | "const"
            | "var"
            | "#include"
            | "return"
            | "impl"
            | "struct"
            | "elif"
            | "async"
            | "//"
            | "///"
            | "//!"
            | "/*"
            | "raise"
            | "package"
    );
    let imports = first == "from" && sentence.contains(" import ");
    let prose = sentence.ends_with(['.', '!', '?']) && !sentence.ends_with("):");
    ends || imports
        || (keyword && !prose)
        || sentence.starts_with("</")
        || sentence.contains(" = self.")
}

fn is_frame(sentence: &str, first: &str) -> bool {
    (first == "File" && sentence.contains(", line "))
        || (first == "at" && (sentence.ends_with(')') || sentence.contains(".rs:")))
        || sentence.starts_with("Traceback (most recent")
        || sentence.starts_with("stack backtrace")
        || sentence.starts_with("goroutine ")
        || (first.trim_end_matches(':').bytes().all(|byte| byte.is_ascii_digit())
            && first.ends_with(':')
            && sentence.contains("::"))
        || (sentence.len() > 4
            && sentence.bytes().all(|byte| matches!(byte, b'^' | b'~' | b' ' | b'|')))
}

fn is_listing(sentence: &str, first: &str) -> bool {
    let mode = |word: &str| {
        word.len() >= 10
            && word.starts_with(['-', 'd', 'l'])
            && word
                .bytes()
                .skip(1)
                .take(9)
                .all(|byte| matches!(byte, b'r' | b'w' | b'x' | b'-' | b's' | b't'))
    };
    let rest = sentence.get(first.len()..).unwrap_or_default().trim_start();
    let total = first == "total" && rest.bytes().all(|byte| byte.is_ascii_digit());
    let path_alone = rest.is_empty() && first.matches('/').count() >= 2 && !first.contains("://");
    // Of a diff's own bookkeeping.
    let diff = ["index ", "diff --git", "@@ ", "--- a/", "+++ b/"]
        .iter()
        .any(|mark| sentence.starts_with(mark));
    mode(first) || total || path_alone || diff
}

fn is_log(sentence: &str, first: &str) -> bool {
    let mut words = sentence.split_whitespace().take(4);
    let level = words.any(|word| {
        LEVELS.contains(&word.trim_matches(['[', ']', ':', '|'])) || LEVELS.contains(&word)
    });
    let digits = first.bytes().filter(u8::is_ascii_digit).count();
    let stamped = digits >= 4
        && first.contains([':', '-'])
        && first.starts_with(['2', '1', '[', '0'])
        && !sentence.ends_with(['.', '?', '!'])
        && !["ERROR", "WARN", "FATAL", "error", "panic"].iter().any(|bad| sentence.contains(bad));
    let passed = first == "test" && sentence.ends_with("... ok");
    let bar = sentence.contains("%|") || sentence.contains("[====") || sentence.contains("━━");
    level || stamped || passed || bar || PROGRESS.iter().any(|verb| sentence.starts_with(verb))
}

fn is_command(sentence: &str, first: &str) -> bool {
    let words = sentence.split_whitespace().count();
    let second = sentence.split_whitespace().nth(1).unwrap_or_default();
    first == "$"
        || sentence.contains("\"command\":")
        || (PROGRAMS.contains(first)
            && (2..=40).contains(&words)
            && !sentence.ends_with(['.', '!', '?'])
            // "find the keys" is English, "find src -name x" is not.
            && (sentence.contains(" -") || second.contains(['/', '.', '_', '-'])
                || matches!(first, "cargo" | "git" | "npm" | "docker" | "kubectl" | "pytest" | "pip" | "sudo" | "psql")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_machines_are_told_apart() {
        for (line, expected) in [
            ("$ cargo test -p oneiro", Some(Machine::Command)),
            ("cargo test -p oneiro", Some(Machine::Command)),
            ("git commit -m 'x'", Some(Machine::Command)),
            ("find src -name '*.rs'", Some(Machine::Command)),
            ("find the keys before noon", None),
            ("make sure that it works", None),
            ("File \"app.py\", line 3, in main", Some(Machine::Frame)),
            ("at Object.run (index.js:3:1)", Some(Machine::Frame)),
            ("12: core::ops::function::FnOnce::call_once", Some(Machine::Frame)),
            ("ValueError: bad value", None),
            ("import os", Some(Machine::Code)),
            ("def flush(self, batch):", Some(Machine::Code)),
            ("self.conn.commit()", Some(Machine::Code)),
            ("Return the books to the library.", None),
            ("drwxr-xr-x 2 root root 4096 Nov 15 21:06 data", Some(Machine::Listing)),
            ("total 60", Some(Machine::Listing)),
            ("crates/text/src/scan.rs", Some(Machine::Listing)),
            ("2026-01-02T10:00:00Z INFO started", Some(Machine::Log)),
            ("2026-01-02 10:00:00 ERROR disk full", None),
            ("Compiling serde v1.0.1", Some(Machine::Log)),
            ("test laws::never_above ... ok", Some(Machine::Log)),
            ("test result: FAILED. 3 passed; 1 failed", None),
            ("2024 was a good year for us.", None),
        ] {
            assert_eq!(machine(line), expected, "{line}");
        }
    }
}
