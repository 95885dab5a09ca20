//! A PostgreSQL server of a test's own, to be stopped hard and started again.

use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A server in a folder of its own, gone with its test.
pub struct OwnServer {
    bin: PathBuf,
    folder: tempfile::TempDir,
    port: u16,
}

impl OwnServer {
    /// Makes and starts a server with the programs in `ONEIRO_TEST_POSTGRES_BIN`.
    #[expect(clippy::panic, clippy::disallowed_methods, reason = "tests may read and fail")]
    pub fn start() -> OwnServer {
        let Ok(bin) = std::env::var("ONEIRO_TEST_POSTGRES_BIN") else {
            panic!("ONEIRO_TEST_POSTGRES_BIN is not set: run scripts/test, which sets it");
        };
        // Under /tmp whatever TMPDIR says: the path of a unix socket may have 107 bytes, no more.
        let folder = match tempfile::Builder::new().prefix("oneiro-pg").tempdir_in("/tmp") {
            Ok(folder) => folder,
            Err(error) => panic!("no temporary folder: {error}"),
        };
        if is_root(folder.path()) {
            run(Command::new("chown").arg("postgres").arg(folder.path()));
        }
        let server = OwnServer { bin: bin.into(), port: free_port(), folder };
        let data = server.data();
        run(server.tool("initdb").arg("-D").arg(&data).args(["-U", "postgres", "-A", "trust"]));
        server.again();
        server
    }

    /// What `--store` would be.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// Starts the server once more, after [`OwnServer::kill`]; returns when it answers.
    pub fn again(&self) {
        let options = format!(
            "-c listen_addresses=127.0.0.1 -c port={} -c unix_socket_directories={} \
             -c shared_buffers=16MB",
            self.port,
            self.folder.path().display()
        );
        let log = self.folder.path().join("log");
        run(self.control().arg("-l").arg(log).args(["-w", "-o", &options, "start"]));
    }

    /// Stops the server as a crash would: no checkpoint, no goodbye.
    pub fn kill(&self) {
        run(self.control().args(["-w", "-m", "immediate", "stop"]));
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn control(&self) -> Command {
        let mut command = self.tool("pg_ctl");
        command.arg("-D").arg(self.data());
        command
    }

    /// A program of the server, run as somebody it agrees to run as: not root.
    fn tool(&self, name: &str) -> Command {
        let program = self.bin.join(name);
        let mut command = match is_root(Path::new("/proc/self")) {
            true => {
                let mut command = Command::new("runuser");
                command.args(["-u", "postgres", "--"]).arg(program);
                command
            }
            false => Command::new(program),
        };
        command.current_dir(self.folder.path());
        command
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        let _ = self.control().args(["-w", "-m", "immediate", "stop"]).output();
    }
}

/// Whether a path that this process made is root's.
fn is_root(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|data| data.uid() == 0)
}

#[expect(clippy::panic, reason = "tests may fail")]
fn free_port() -> u16 {
    let bound = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
    match bound {
        Ok(address) => address.port(),
        Err(error) => panic!("no free port: {error}"),
    }
}

#[expect(clippy::panic, reason = "tests may fail")]
fn run(command: &mut Command) {
    // Output goes nowhere: a server that inherits a pipe keeps its reader waiting.
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    match command.output() {
        Ok(Output { status, .. }) if status.success() => {}
        other => panic!("{command:?}: {other:?}"),
    }
}
