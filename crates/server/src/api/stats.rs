//! Figures and copies of a space over HTTP.

use crate::call::{Answer, Call};
use oneiro::{Error, ErrorKind, Result};
use serde_json::json;

/// Days of activity, unless asked otherwise.
const DAYS: usize = 30;

/// Characters of the name of a copy.
const NAME_CHARS: usize = 100;

pub(super) fn stats(call: &Call) -> Result<Answer> {
    Answer::ok(&call.oneiro()?.stats()?)
}

pub(super) fn activity(call: &Call) -> Result<Answer> {
    Answer::ok(&call.oneiro()?.activity(call.query.count("days", DAYS))?)
}

pub(super) fn latency(call: &Call) -> Result<Answer> {
    let minutes = call.state.figures.minutes(call.oneiro()?.now());
    Answer::ok(&json!({ "minutes": minutes, "uptime_s": call.state.started.elapsed().as_secs() }))
}

/// Copies only into the server's own folder: whoever holds a token is not to choose places.
pub(super) fn backup(call: &Call) -> Result<Answer> {
    let mut fields = call.fields()?;
    let name = fields.text("name")?;
    fields.end()?;
    let oneiro = call.oneiro()?;
    let name = match name {
        Some(name) => checked(name)?,
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
    oneiro.backup(&path, &mut |_| {})?;
    let bytes = std::fs::metadata(&path).map_or(0, |file| file.len());
    Answer::created(
        &json!({ "path": path.to_string_lossy(), "bytes": bytes }),
        format!("/v1/backup/{name}"),
    )
}

fn checked(name: String) -> Result<String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let good = (1..=NAME_CHARS).contains(&name.len())
        && name.bytes().all(plain)
        && name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric())
        && name.ends_with(".db");
    match good {
        true => Ok(name),
        false => Err(Error::field("name", "is not a plain file name that ends in .db")
            .remedy("use letters, digits, dots, - and _, or leave it out")),
    }
}
