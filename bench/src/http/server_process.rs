//! A server in its own process, so that its memory can be measured.

use crate::machine;
use oneiro::{Error, Result};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A running server.
pub(super) struct ServerProcess {
    child: Child,
    address: String,
}

impl ServerProcess {
    /// Serves a file on a free port of loopback; returns once it listens.
    pub(super) fn start(program: &Path, file: &Path) -> Result<ServerProcess> {
        let failed = |error: std::io::Error| {
            Error::internal(format!("cannot start {}: {error}", program.display())).because(error)
        };
        let child = Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0", "--json", "--store"])
            .arg(file)
            .env_remove("ONEIRO_SPACE")
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        // From here on dropping this value ends the process.
        let mut server_process = ServerProcess { child, address: String::new() };
        let mut line = String::new();
        if let Some(out) = server_process.child.stdout.take() {
            BufReader::new(out).read_line(&mut line).map_err(failed)?;
        }
        let ready: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
        let url = ready.get("url").and_then(serde_json::Value::as_str);
        let address = url.and_then(|url| url.strip_prefix("http://"));
        server_process.address = address
            .ok_or_else(|| Error::internal(format!("the server did not start: {line}")))?
            .to_owned();
        Ok(server_process)
    }

    /// `host:port`.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Resident memory in megabytes.
    pub(super) fn resident_mb(&self) -> f64 {
        machine::resident_mb_of(&self.child.id().to_string())
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
