//! System calls that fail on purpose, and simulated power cuts, for a process under test.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The library that makes calls fail; its head describes the rules.
const SOURCE: &str = include_str!("../../../tests/faults/fault_shim.c");

/// A built library, a switch that arms its rules, and a folder that plays the disk.
pub struct Faults {
    folder: tempfile::TempDir,
}

impl Faults {
    /// Builds the library with the C compiler that SQLite was built with.
    #[expect(clippy::panic, reason = "tests may fail")]
    pub fn new() -> Faults {
        let folder = match tempfile::tempdir() {
            Ok(folder) => folder,
            Err(error) => panic!("no temporary folder: {error}"),
        };
        let faults = Faults { folder };
        let source = faults.path("fault_shim.c");
        let made = std::fs::write(&source, SOURCE)
            .and_then(|()| std::fs::create_dir(faults.path("disk")))
            .and_then(|()| {
                Command::new("cc")
                    .args(["-shared", "-fPIC", "-O1", "-o"])
                    .arg(faults.path("fault_shim.so"))
                    .arg(&source)
                    .args(["-ldl", "-lpthread"])
                    .status()
            });
        match made {
            Ok(status) if status.success() => faults,
            other => panic!("the fault library cannot be built: {other:?}"),
        }
    }

    /// Lets calls of `command` fail by `rules`, once [`Faults::arm`] was called here or a file was
    /// put at the path in its variable `FAULT_ARM`.
    pub fn apply<'c>(&self, command: &'c mut Command, rules: &str) -> &'c mut Command {
        command
            .env("LD_PRELOAD", self.path("fault_shim.so"))
            .env("FAULT_RULES", rules)
            .env("FAULT_ARM", self.path("armed"))
            .env("FAULT_DISK", self.path("disk"))
    }

    /// Arms the rules.
    #[expect(clippy::panic, reason = "tests may fail")]
    pub fn arm(&self) {
        if let Err(error) = std::fs::write(self.path("armed"), b"") {
            panic!("the rules cannot be armed: {error}");
        }
    }

    /// Leaves of the store at `path` what a power cut would have left. Nobody may have it open.
    #[expect(clippy::panic, reason = "tests may fail")]
    pub fn cut_power(&self, path: &Path) {
        for suffix in ["", "-wal"] {
            let file = PathBuf::from(format!("{}{suffix}", path.display()));
            let disk = self.path("disk").join(file.file_name().unwrap_or_default());
            let cut = std::fs::copy(&disk, &file);
            // A log that was never synced is not on the disk.
            let gone = cut.is_err() && !disk.exists() && suffix == "-wal";
            if !gone && let Err(error) = cut {
                panic!("{}: {error}", disk.display());
            }
        }
        for suffix in ["-shm", "-sync-failed"] {
            let _ = std::fs::remove_file(format!("{}{suffix}", path.display()));
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

impl Default for Faults {
    fn default() -> Faults {
        Faults::new()
    }
}
