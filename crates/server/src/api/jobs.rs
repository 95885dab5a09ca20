//! Jobs over HTTP.

use crate::call::{Answer, Call};
use oneiro::{Job, Page, PageOf, Ran, Result};
use std::time::Duration;

/// How long a call runs jobs.
const RUN_TIME: Duration = Duration::from_secs(5);

pub(super) fn list(call: &Call, page: PageOf) -> Result<Answer<Page<Job>>> {
    Answer::ok(call.oneiro()?.jobs().list(page.cursor, page.limit)?)
}

pub(super) fn run(call: &Call) -> Result<Answer<Ran>> {
    Answer::ok(call.oneiro()?.jobs().run_local(RUN_TIME)?)
}
