//! Spaces over HTTP.

use crate::call::{Answer, Call};
use oneiro::{Page, Result, SpaceInfo};

pub(super) fn list(call: &Call) -> Result<Answer<Page<SpaceInfo>>> {
    Answer::ok(call.state.spaces.visible_to(&call.visitor)?.into())
}
