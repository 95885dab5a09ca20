//! Counts and copies of a space over HTTP.

use crate::call::{Answer, Call};
use crate::metrics::Minute;
use oneiro::{
    Activity, ActivityRequest, BackupMade, BackupRequest, Error, ErrorKind, MemoryStats,
    MemoryStatsRequest, Result, Stats,
};
use schemars::JsonSchema;
use serde::Serialize;

pub(super) fn stats(call: &Call) -> Result<Answer<Stats>> {
    Answer::ok(call.oneiro()?.stats()?)
}

pub(super) fn memory(call: &Call, request: MemoryStatsRequest) -> Result<Answer<MemoryStats>> {
    Answer::ok(call.oneiro()?.memories().stats(&request)?)
}

pub(super) fn activity(call: &Call, request: ActivityRequest) -> Result<Answer<Activity>> {
    Answer::ok(call.oneiro()?.activity(request.days)?)
}

/// Search latency of the last hour.
#[derive(Serialize, JsonSchema)]
pub(super) struct Latency {
    /// Minutes with searches, oldest first.
    minutes: Vec<Minute>,
    /// Seconds since the server started.
    uptime_s: u64,
}

pub(super) fn latency(call: &Call) -> Result<Answer<Latency>> {
    Answer::ok(Latency {
        minutes: call.state.metrics.minutes(call.oneiro()?.now()),
        uptime_s: call.state.started.elapsed().as_secs(),
    })
}

/// Copies only into the server's own folder: a client must not choose paths on the server.
pub(super) fn backup(call: &Call, request: BackupRequest) -> Result<Answer<BackupMade>> {
    let oneiro = call.oneiro()?;
    let name = match request.name {
        Some(name) => name,
        None => {
            let at = oneiro.now().to_string().replace([':', '-'], "");
            format!("{}-{}.db", oneiro.target().space(), at.replace('.', "_"))
        }
    };
    let folder = &call.state.backups;
    std::fs::create_dir_all(folder).map_err(|error| {
        Error::new(ErrorKind::Unavailable, format!("{}: {error}", folder.display())).because(error)
    })?;
    let path = folder.join(&name);
    oneiro.transfer().backup(&path, &mut |_| {})?;
    let bytes = std::fs::metadata(&path).map_or(0, |file| file.len());
    let made = BackupMade { path: path.to_string_lossy().into_owned(), bytes };
    Answer::created(made, format!("/v1/backup/{name}"))
}
