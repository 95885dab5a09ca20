//! Made-up packs and the pages they become, from none at all to hostile.

use super::beliefs::memory_id;
use super::hostile::EVIL;
use super::made::{ago, frame, id};
use oneiro::{
    Band, GivenPack, MemoryStats, MutedMemory, OmitReason, Pack, PackId, PackItem, PackKind,
    PackOmission,
};
use oneiro_page::packs::{self, PackView, PacksView};
use std::collections::BTreeMap;

fn given(name: &str) -> GivenPack {
    GivenPack {
        id: PackId::from_random([1; 10]),
        session_id: Some(id(name)),
        client: Some(name.to_owned()),
        project: Some(name.to_owned()),
        tokens: 57,
        lines: 2,
        omitted: 2,
        created_at: ago(60),
    }
}

/// A pack with a line of each kind, and two that were left out.
pub fn pack(name: &str) -> PackView {
    let item = |kind, id: String, band| PackItem {
        kind,
        id,
        text: format!("Mira runs in the evening. {name}"),
        band,
        at: ago(3_000),
    };
    let left_out = |seed, reason| PackOmission {
        kind: PackKind::Memory,
        id: memory_id(seed).to_string(),
        band: Band::Person,
        reason,
    };
    let statement = (memory_id(2).to_string(), format!("Mira runs in the morning. {name}"));
    PackView {
        frame: frame(),
        given: given(name),
        pack: Pack {
            id: PackId::from_random([1; 10]),
            text: "lines".to_owned(),
            tokens: 57,
            items: vec![
                item(PackKind::State, "sta_x".to_owned(), Band::State),
                item(PackKind::Memory, memory_id(1).to_string(), Band::Person),
                item(PackKind::Message, "104".to_owned(), Band::Messages),
            ],
            omitted: vec![left_out(2, OmitReason::Superseded), left_out(3, OmitReason::Muted)],
        },
        statements: BTreeMap::from([statement]),
    }
}

pub fn list(name: &str, packs: Vec<GivenPack>) -> PacksView {
    PacksView { frame: frame(), session: name.to_owned(), project: String::new(), packs }
}

/// What packs gave, with a muted memory.
pub fn stats(name: &str) -> MemoryStats {
    MemoryStats {
        since: ago(10_000),
        packs: 12,
        empty_packs: 30,
        tokens: 2_400,
        lines: 48,
        memory_lines: 40,
        used: 10,
        used_share: Some(0.25),
        contradicted: 1,
        corrected: 2,
        muted: vec![MutedMemory {
            id: memory_id(3),
            content: format!("Mira owns a bicycle. {name}"),
            project: name.to_owned(),
            served_at: ago(60),
        }],
    }
}

pub fn no_stats() -> MemoryStats {
    MemoryStats {
        since: ago(10_000),
        packs: 0,
        empty_packs: 0,
        tokens: 0,
        lines: 0,
        memory_lines: 0,
        used: 0,
        used_share: None,
        contradicted: 0,
        corrected: 0,
        muted: vec![],
    }
}

pub fn all() -> Vec<(&'static str, String)> {
    vec![
        ("packs-empty", packs::list_page(&list("", vec![]))),
        ("packs", packs::list_page(&list("", vec![given("telegram")]))),
        ("pack", packs::page(&pack("telegram"))),
        ("hostile-packs", packs::list_page(&list(EVIL, vec![given(EVIL)]))),
        ("hostile-pack", packs::page(&pack(EVIL))),
    ]
}
