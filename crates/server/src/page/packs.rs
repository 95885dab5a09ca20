//! Packs on the page: the list, and one pack.

use super::not_found;
use super::view_request::ViewRequest;
use oneiro::{
    ListPacks, MemoryStats, MemoryStatsRequest, Oneiro, Pack, PackKind, Result, SessionId,
    ShowMemory, WhyPackRequest,
};
use oneiro_page::packs::{PackView, PacksView};
use std::collections::BTreeMap;

/// Packs on the page.
const PACKS_PER_PAGE: usize = 100;

pub(super) fn list(request: &ViewRequest) -> Result<String> {
    let session = request.param("session").map(|id| SessionId::new(&id)).transpose()?;
    let wanted = ListPacks { session, project: request.param("project"), limit: PACKS_PER_PAGE };
    let view = PacksView {
        frame: request.frame.clone(),
        session: request.text("session").to_owned(),
        project: request.text("project").to_owned(),
        packs: request.oneiro()?.packs().list(&wanted)?,
    };
    Ok(request.render(&view, oneiro_page::packs::list_page, oneiro_page::packs::list_fragment))
}

pub(super) fn pack(request: &ViewRequest) -> Result<String> {
    let oneiro = request.oneiro()?;
    let id = request.path_part(0);
    let pack = oneiro.packs().show(id)?;
    let asked = WhyPackRequest { pack: Some(id.to_owned()), ..WhyPackRequest::default() };
    let given = oneiro.packs().why(&asked)?.pack;
    let view = PackView {
        frame: request.frame.clone(),
        given: given.ok_or_else(|| not_found(&format!("pack {id:?}")))?,
        statements: statements(oneiro, &pack),
        pack,
    };
    Ok(request.render(&view, oneiro_page::packs::page, oneiro_page::packs::fragment))
}

/// The statements of memories that a pack left out, as far as they are stored.
fn statements(oneiro: &Oneiro, pack: &Pack) -> BTreeMap<String, String> {
    let memories = pack.omitted.iter().filter(|one| one.kind == PackKind::Memory);
    let shown = memories.filter_map(|one| {
        let shown = oneiro.memories().show(&one.id, &ShowMemory::default()).ok()?;
        Some((one.id.clone(), shown.memory.content))
    });
    shown.collect()
}

/// What the overview shows of packs.
pub(super) fn stats(oneiro: &Oneiro) -> Result<MemoryStats> {
    oneiro.memories().stats(&MemoryStatsRequest::default())
}
