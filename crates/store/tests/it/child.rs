//! This test binary as another process: the parent names a piece of work, the child does it and
//! ends badly if it fails.

use crate::support::NOW;
use oneiro_model::ErrorKind;
use oneiro_store::{Options, Store, Target, settings};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

const WORK: &str = "ONEIRO_TEST_CHILD";

/// A command that runs `work` on the store at `path` in another process.
pub fn command(work: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child::runs_the_commands_of_its_parent", "--nocapture"]);
    command.env(WORK, format!("{work} {}", path.display()));
    command
}

/// The same as somebody who is not root, for whom the modes of files count.
pub fn command_of_nobody(work: &str, path: &Path) -> Command {
    let mut command = command(work, path);
    let is_root = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap());
    if is_root == 0 {
        command.uid(65534).gid(65534);
    }
    command
}

#[test]
fn runs_the_commands_of_its_parent() {
    let Some(asked) = std::env::var_os(WORK) else { return };
    let asked = asked.into_string().unwrap();
    let (work, path) = asked.split_once(' ').unwrap();
    let target = Target::parse(path, None).unwrap();
    match work {
        "open" => {
            let store = Store::open(&target, &Options::default(), NOW).unwrap();
            let name = format!("by-{}", std::process::id());
            store.write(move |tx| settings::put(tx, &name, Some("1"), NOW)).unwrap();
        }
        "read-only" => {
            let store = Store::open(&target, &Options::default(), NOW).unwrap();
            assert_eq!(crate::support::names(&store), ["kept"]);
            let error = crate::support::write(&store, "new").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Forbidden, "{error:?}");
            crate::support::assert_helpful(&error, Path::new(path));
        }
        "no-access" => {
            let error = Store::open(&target, &Options::default(), NOW).err().unwrap();
            let kind = error.kind();
            assert!(matches!(kind, ErrorKind::Forbidden | ErrorKind::Unavailable), "{error:?}");
            crate::support::assert_helpful(&error, Path::new(path));
        }
        "sync-fails" => crate::sync_failure::write_while_a_sync_fails(&target),
        "sync-fails-then-crash" => crate::sync_failure::write_until_a_sync_fails(&target),
        "backup" => crate::backups::back_up(&target, Path::new(path)),
        "backup-and-die" => crate::backups::back_up_and_die(&target, Path::new(path)),
        "read-foreign" => crate::links::assert_foreign_row_is_read(Path::new(path)),
        "write-when-told" => crate::busy::write_when_told(&target),
        "write-again" => crate::sync_failure::write_again(&target),
        other => panic!("no such work: {other}"),
    }
}
