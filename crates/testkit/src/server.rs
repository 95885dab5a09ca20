//! A PostgreSQL server of a test's own, to be stopped hard, frozen and started again.

use std::fs::{File, Permissions};
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
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
    pub fn start() -> OwnServer {
        OwnServer::start_with(&[], &[])
    }

    /// The same with TLS, offering this certificate and key, both PEM.
    pub fn start_with_tls(certificate: &str, key: &str) -> OwnServer {
        OwnServer::start_with(&[("server.crt", certificate), ("server.key", key)], &["ssl=on"])
    }

    /// Makes and starts a server with these files in its data folder and these settings.
    #[expect(clippy::panic, clippy::disallowed_methods, reason = "tests may read and fail")]
    fn start_with(files: &[(&str, &str)], settings: &[&str]) -> OwnServer {
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
        for (name, contents) in files {
            let path = data.join(name);
            // Nobody but the server may read a key, or it refuses to start.
            let written = std::fs::write(&path, contents)
                .and_then(|()| std::fs::set_permissions(&path, Permissions::from_mode(0o600)));
            if let Err(error) = written {
                panic!("{}: {error}", path.display());
            }
            if is_root(&path) {
                run(Command::new("chown").arg("postgres").arg(&path));
            }
        }
        let lines: String = settings.iter().map(|setting| format!("{setting}\n")).collect();
        let config = File::options().append(true).open(data.join("postgresql.conf"));
        if let Err(error) = config.and_then(|mut config| config.write_all(lines.as_bytes())) {
            panic!("postgresql.conf: {error}");
        }
        server.again();
        server
    }

    /// What `--store` would be.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
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

    /// Stops every process of the server where it stands, as a machine that hangs does: the
    /// kernel still accepts and acknowledges for them.
    pub fn freeze(&self) {
        // The first process starts the others, so it is stopped before they are listed.
        self.signal("-STOP");
    }

    /// Lets a frozen server run on.
    pub fn thaw(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let Some(first) = self.first_process() else { return };
        let send = |id: u32| {
            // One that has ended in the meantime needs no signal.
            let _ = Command::new("kill").args([signal, &id.to_string()]).output();
        };
        send(first);
        children(first).into_iter().for_each(send);
    }

    fn first_process(&self) -> Option<u32> {
        let noted = std::fs::read_to_string(self.data().join("postmaster.pid")).ok()?;
        noted.lines().next()?.trim().parse().ok()
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
        let mut command = if is_root(Path::new("/proc/self")) {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.current_dir(self.folder.path());
        command
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        self.thaw();
        let _ = self.control().args(["-w", "-m", "immediate", "stop"]).output();
    }
}

/// The processes that a process has started.
fn children(parent: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_child = |id: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        // After the name in brackets: the state, then the parent.
        let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        after_name.split_whitespace().nth(1) == Some(parent.to_string().as_str())
    };
    ids.filter(is_child).collect()
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
