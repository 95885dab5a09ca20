//! Explains a pack: each line with where it came from.

use crate::memories::{missing_node, why_memory, why_message, why_state};
use crate::views::Packs;
use oneiro_model::{ExplainedLine, ExplainedPack, PackItem, PackKind, Result, Why, WhyPackRequest};
use oneiro_store::{Tx, packs};

impl Packs<'_> {
    /// Where each line of a pack came from: of the given one, else of the last one with lines that the
    /// session or the project was given.
    pub fn why(&self, request: &WhyPackRequest) -> Result<ExplainedPack> {
        let asked = request.pack.as_deref().map(|id| self.show(id)).transpose()?;
        let project = self.oneiro.project_of(request.project.as_deref())?;
        let filter = packs::Filter {
            id: asked.as_ref().map(|pack| pack.id.as_str()),
            session: request.session.as_ref(),
            project: project.as_deref(),
            with_lines: asked.is_none(),
        };
        self.oneiro.store.read(|tx| {
            let Some(given) = packs::list(tx, filter, 1)?.into_iter().next() else {
                return Ok(ExplainedPack { pack: None, lines: Vec::new() });
            };
            let items = packs::get(tx, &given.id)?.map(|pack| pack.items).unwrap_or_default();
            let explained = items.into_iter().map(|item| {
                let why = origin(tx, &item)?;
                Ok(ExplainedLine { item, why })
            });
            Ok(ExplainedPack { lines: explained.collect::<Result<_>>()?, pack: Some(given) })
        })
    }
}

/// Where a line came from, as far as it is still stored.
fn origin(tx: &Tx<'_>, item: &PackItem) -> Result<Why> {
    let found = match item.kind {
        PackKind::Memory => why_memory(tx, &item.id)?,
        PackKind::Message => match item.id.parse() {
            Ok(seq) => why_message(tx, seq)?,
            Err(_) => None,
        },
        PackKind::State => Some(why_state(tx, item)?),
        PackKind::Note => None,
    };
    Ok(found.unwrap_or_else(|| missing_node(&item.id, "what it rests on is no longer stored")))
}
