//! Interactions and extraction over HTTP.

use crate::call::{Answer, Call, segment};
use oneiro::{
    CapturedInteraction, ExtractRequest, Extracted, Interaction, ListInteractions, MemoryId,
    NewInteraction, Page, ReinforcedMemory, Result,
};

pub(super) fn capture(call: &Call, request: NewInteraction) -> Result<Answer<CapturedInteraction>> {
    let captured = call.oneiro()?.learning().capture(request)?;
    let location = format!("/v1/interactions/{}", segment(captured.interaction.id.as_str()));
    Answer::created(captured, location)
}

pub(super) fn list(call: &Call, request: ListInteractions) -> Result<Answer<Page<Interaction>>> {
    Answer::ok(call.oneiro()?.learning().interactions(&request)?.into())
}

pub(super) fn show(call: &Call) -> Result<Answer<Interaction>> {
    Answer::ok(call.oneiro()?.learning().interaction(call.part("id")?)?)
}

pub(super) fn reinforce(call: &Call) -> Result<Answer<Page<ReinforcedMemory>>> {
    Answer::ok(call.oneiro()?.learning().reinforce(call.part("id")?)?.into())
}

pub(super) fn extract(call: &Call) -> Result<Answer<Page<MemoryId>>> {
    Answer::ok(call.oneiro()?.learning().extract_interaction(call.part("id")?)?.into())
}

pub(super) fn learn(call: &Call, request: ExtractRequest) -> Result<Answer<Extracted>> {
    Answer::ok(call.oneiro()?.learning().extract(&request)?)
}
