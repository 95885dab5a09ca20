//! A PostgreSQL server for one test, which can be killed, frozen and restarted.

use std::fs::{File, Permissions};
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A server in a temporary folder, stopped and removed on drop.
pub struct OwnServer {
    bin: PathBuf,
    folder: tempfile::TempDir,
    port: u16,
}

impl OwnServer {
    /// Creates and starts a server with the programs in `ONEIRO_TEST_POSTGRES_BIN`.
    pub fn start() -> OwnServer {
        OwnServer::start_with(&[], &[])
    }

    /// The same with TLS, with a certificate and a key in PEM.
    pub fn start_with_tls(certificate: &str, key: &str) -> OwnServer {
        OwnServer::start_with(&[("server.crt", certificate), ("server.key", key)], &["ssl=on"])
    }

    /// Creates and starts a server with files in its data folder and settings.
    #[expect(clippy::panic, clippy::disallowed_methods, reason = "tests may read and fail")]
    fn start_with(files: &[(&str, &str)], settings: &[&str]) -> OwnServer {
        let Ok(bin) = std::env::var("ONEIRO_TEST_POSTGRES_BIN") else {
            panic!("ONEIRO_TEST_POSTGRES_BIN is not set: run scripts/test, which sets it");
        };
        // Always in /tmp, because the path of a unix socket is limited to 107 bytes.
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
            // The server refuses a key that others can read.
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
        server.restart();
        server
    }

    /// The value for `--store`.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Starts the server after [`OwnServer::kill`]; returns when it accepts connections.
    pub fn restart(&self) {
        let options = format!(
            "-c listen_addresses=127.0.0.1 -c port={} -c unix_socket_directories={} \
             -c shared_buffers=16MB",
            self.port,
            self.folder.path().display()
        );
        let log = self.folder.path().join("log");
        run(self.control().arg("-l").arg(log).args(["-w", "-o", &options, "start"]));
    }

    /// Stops the server like a crash, without a checkpoint.
    pub fn kill(&self) {
        run(self.control().args(["-w", "-m", "immediate", "stop"]));
    }

    /// Suspends every process of the server, like a hung machine whose kernel still acknowledges
    /// packets.
    pub fn freeze(&self) {
        // The first process starts the others, so it is suspended before they are listed.
        self.signal("-STOP");
    }

    /// Resumes a frozen server.
    pub fn thaw(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let Some(first) = self.first_process() else { return };
        let send = |id: u32| {
            // The process may have ended.
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

    /// A program of the server, run as a user other than root, which it refuses.
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

/// The child processes of a process.
fn children(parent: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_child = |id: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        // After the name in parentheses: the state, then the parent.
        let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        after_name.split_whitespace().nth(1) == Some(parent.to_string().as_str())
    };
    ids.filter(is_child).collect()
}

/// Whether a path belongs to root.
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
    // Without output: a server that inherits a pipe keeps it open.
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    match command.output() {
        Ok(Output { status, .. }) if status.success() => {}
        other => panic!("{command:?}: {other:?}"),
    }
}
