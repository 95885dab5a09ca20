//! Jobs over HTTP.

use crate::call::{Answer, Call};
use oneiro::Result;
use std::time::Duration;

/// Jobs to a page.
const PAGE: usize = 50;

/// How long a call runs jobs.
const SLICE: Duration = Duration::from_secs(5);

pub(super) fn list(call: &Call) -> Result<Answer> {
    let (cursor, limit) = (call.query.cursor()?, call.query.count("limit", PAGE));
    Answer::ok(&call.oneiro()?.list_jobs(cursor, limit)?)
}

pub(super) fn run(call: &Call) -> Result<Answer> {
    call.fields()?.end()?;
    Answer::ok(&call.oneiro()?.run_local_jobs(SLICE)?)
}
