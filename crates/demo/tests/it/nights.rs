//! The nights of the demonstration: a month of dreams that keep what was asked for, once and the same.

use crate::support::{NOW, fill, filled, open};
use oneiro::{
    CandidateId, Dream, DreamGate, DreamVerdict, ListCandidates, NewMemory, NoteName, Oneiro,
    PageOf,
};
use oneiro_testkit::{TestSpace, on_both_backends};

fn dreams(oneiro: &Oneiro) -> Vec<Dream> {
    oneiro.dreams().list(&PageOf { limit: 100, ..PageOf::default() }).unwrap().items
}

fn note(oneiro: &Oneiro, name: &str) -> String {
    oneiro.notes().get(&NoteName::parse(name).unwrap()).unwrap().content
}

/// What each candidate came to.
fn decisions(oneiro: &Oneiro) -> Vec<(CandidateId, String, DreamVerdict, Option<DreamGate>)> {
    let all = oneiro.dreams().candidates(&ListCandidates::default()).unwrap().items;
    all.into_iter().map(|one| (one.id, one.claim, one.decision, one.gate)).collect()
}

on_both_backends! {
    fn a_month_of_nights_keeps_what_was_asked_for(space) {
        let oneiro = open(space);
        assert_eq!(fill(&oneiro, NOW).dreams, 30);
        let dreams = dreams(&oneiro);
        assert_eq!(dreams.len(), 30);
        assert!(dreams.iter().all(|dream| dream.ran && dream.apply));
        assert!(dreams.iter().filter(|dream| dream.counts.promoted > 0).count() >= 4);
        let decisions = decisions(&oneiro);
        let of = |words: &str| decisions.iter().find(|(_, claim, ..)| claim.contains(words)).unwrap();
        assert_eq!(of("no coffee after").2, DreamVerdict::Promoted);
        let licence = of("licence of Azulejos");
        assert_eq!((licence.2, licence.3), (DreamVerdict::Rejected, Some(DreamGate::Origin)));
        let memory = note(&oneiro, "MEMORY.md");
        assert!(memory.contains("- Mira drinks no coffee after 14:00."), "{memory}");
        assert!(!memory.contains("licence"), "what only a tool said");
        let diary = note(&oneiro, "DREAMS.md");
        assert!(diary.contains("- Kept “Mira drinks no coffee after 14:00.” in MEMORY.md: it came up 3 times"), "{diary}");
        assert!(diary.matches("\n## ").count() < 10, "quiet nights are not in the diary: {diary}");
    }

    fn the_nights_are_the_same_each_time_and_once(space) {
        let oneiro = filled(space, NOW);
        let (before, notes) = (dreams(&oneiro), note(&oneiro, "DREAMS.md"));
        assert_eq!(fill(&oneiro, NOW).dreams, 0);
        assert_eq!(dreams(&oneiro), before);
        let second = TestSpace::new(space.backend);
        let other = filled(&second, NOW);
        assert_eq!(decisions(&other), decisions(&oneiro));
        assert_eq!(note(&other, "DREAMS.md"), notes);
    }

    fn a_space_with_memories_of_others_is_not_dreamt(space) {
        let oneiro = open(space);
        let mine = NewMemory { content: "I live in Porto.".to_owned(), ..NewMemory::default() };
        oneiro.memories().remember(mine).unwrap();
        assert_eq!(fill(&oneiro, NOW).dreams, 0);
        assert_eq!(dreams(&oneiro), []);
    }
}
