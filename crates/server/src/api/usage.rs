//! Accounts of tokens and costs over HTTP.

use crate::call::{Answer, Call};
use oneiro::{NewUsage, Page, Result, Session, UsageRow};

pub(super) fn list(call: &Call) -> Result<Answer<Page<UsageRow>>> {
    Answer::ok(call.oneiro()?.sessions().usage(&call.session()?)?.into())
}

pub(super) fn add(call: &Call, request: NewUsage) -> Result<Answer<Session>> {
    let (account, used) = request.into_parts()?;
    Answer::ok(call.oneiro()?.sessions().add_usage(&call.session()?, account, used)?)
}
