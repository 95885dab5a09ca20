//! Injects failing system calls into a process under test, and simulates power cuts.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A preloaded library that makes calls fail; its header describes the rules.
const LIBRARY_SOURCE: &str = include_str!("../../../tests/faults/fault_shim.c");

/// The compiled library, the file that arms its rules, and a folder that simulates the disk.
pub struct Faults {
    folder: tempfile::TempDir,
}

impl Faults {
    /// Compiles the library.
    #[expect(clippy::panic, reason = "tests may fail")]
    pub fn new() -> Faults {
        let folder = match tempfile::tempdir() {
            Ok(folder) => folder,
            Err(error) => panic!("no temporary folder: {error}"),
        };
        let faults = Faults { folder };
        let source = faults.path("fault_shim.c");
        let made = std::fs::write(&source, LIBRARY_SOURCE)
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

    /// Makes calls of `command` fail by `rules`, after [`Faults::arm`] or once a file exists at the path
    /// in its variable `FAULT_ARM`.
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

    /// Reduces the store at `path` to what would survive a power cut. It must not be open.
    #[expect(clippy::panic, reason = "tests may fail")]
    pub fn cut_power(&self, path: &Path) {
        for suffix in ["", "-wal"] {
            let file = PathBuf::from(format!("{}{suffix}", path.display()));
            let disk = self.path("disk").join(file.file_name().unwrap_or_default());
            let cut = std::fs::copy(&disk, &file);
            // A log that was never synced is lost.
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
