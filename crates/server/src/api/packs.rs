//! Packs over HTTP.

use crate::call::{Answer, Call};
use oneiro::{
    ExplainedPack, GivenPack, ListPacks, Pack, PackRequest, Page, Result, WhyPackRequest,
};

pub(super) fn make(call: &Call, request: PackRequest) -> Result<Answer<Pack>> {
    Answer::ok(call.oneiro()?.packs().make(&request)?)
}

pub(super) fn show(call: &Call) -> Result<Answer<Pack>> {
    Answer::ok(call.oneiro()?.packs().show(call.part("id")?)?)
}

pub(super) fn list(call: &Call, request: ListPacks) -> Result<Answer<Page<GivenPack>>> {
    Answer::ok(call.oneiro()?.packs().list(&request)?.into())
}

pub(super) fn why(call: &Call, request: WhyPackRequest) -> Result<Answer<ExplainedPack>> {
    Answer::ok(call.oneiro()?.packs().why(&request)?)
}
