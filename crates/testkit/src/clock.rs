//! Makes the wall clock of a process under test jump.

use std::path::PathBuf;
use std::process::Command;

/// A preloaded library that replaces the clock; its header describes the variables.
const LIBRARY_SOURCE: &str = include_str!("../../../tests/faults/clock_shim.c");

/// The compiled library, removed on drop.
pub struct JumpingClock {
    folder: tempfile::TempDir,
}

impl JumpingClock {
    /// Compiles the library.
    #[expect(clippy::panic, reason = "tests may fail")]
    pub fn new() -> JumpingClock {
        let folder = match tempfile::tempdir() {
            Ok(folder) => folder,
            Err(error) => panic!("no temporary folder: {error}"),
        };
        let clock = JumpingClock { folder };
        let source = clock.folder.path().join("clock_shim.c");
        let built = std::fs::write(&source, LIBRARY_SOURCE).and_then(|()| {
            let mut compiler = Command::new("cc");
            compiler.args(["-shared", "-fPIC", "-O1", "-o"]).arg(clock.library());
            compiler.arg(&source).arg("-ldl").status()
        });
        match built {
            Ok(status) if status.success() => clock,
            other => panic!("the clock library cannot be built: {other:?}"),
        }
    }

    /// Makes the clock of `command` jump by `seconds`, or back, after every `readings` readings.
    pub fn apply<'c>(
        &self,
        command: &'c mut Command,
        seconds: i64,
        readings: u32,
    ) -> &'c mut Command {
        command
            .env("LD_PRELOAD", self.library())
            .env("CLOCK_JUMP", seconds.to_string())
            .env("CLOCK_EVERY", readings.to_string())
    }

    fn library(&self) -> PathBuf {
        self.folder.path().join("clock_shim.so")
    }
}

impl Default for JumpingClock {
    fn default() -> JumpingClock {
        JumpingClock::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_a_process_jumps() {
        let clock = JumpingClock::new();
        let mut python = Command::new("python3");
        python.args(["-c", "import time; a = time.time(); print(int(time.time() - a))"]);
        let jump = clock.apply(&mut python, -1_000_000, 1).output().unwrap();
        let jump: i64 = String::from_utf8_lossy(&jump.stdout).trim().parse().unwrap();
        assert!(jump.abs() >= 999_000, "{jump}");
    }
}
