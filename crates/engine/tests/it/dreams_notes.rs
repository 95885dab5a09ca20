//! Dated notes as evidence for dreams: what a person wrote there counts, what an agent wrote does not.

use crate::dreams::{add, by, candidate, dream, person, say, set_clock};
use crate::support::{NOW, open};
use oneiro::{Actor, ActorKind, ActorSurface, ListCandidates, NoteName, Timestamp};
use oneiro_testkit::on_both_backends;

/// Seconds of a day.
const DAY: i64 = 86_400;

on_both_backends! {
    fn lines_that_a_person_wrote_in_dated_notes_are_evidence_and_an_agents_are_none(space) {
        let oneiro = open(space);
        set_clock(&oneiro, 1, 12);
        let said = vec![by("Ana", "I'm allergic to peanuts."), by("Ana", "I live in Braga.")];
        say(&oneiro, 1, said);
        oneiro.learning().extract(&Default::default()).unwrap();
        let agent = oneiro.acting_as(Actor::new(ActorKind::Agent, ActorSurface::Mcp));
        for day in 2..=4 {
            set_clock(&oneiro, day, 12);
            let name = dated_note(day);
            person(&oneiro).notes().edit(&name, add("Ana: I'm allergic to peanuts.")).unwrap();
            agent.notes().edit(&name, add("Ana: I live in Braga.")).unwrap();
        }
        set_clock(&oneiro, 4, 14);
        dream(&oneiro);
        let evidence = candidate(&oneiro, "peanuts").evidence;
        assert_eq!((evidence.recalls, evidence.days, evidence.uses), (3, 3, 0), "{evidence:?}");
        let all = oneiro.dreams().candidates(&ListCandidates::default()).unwrap().items;
        assert!(!all.iter().any(|one| one.claim.contains("Braga")), "{all:#?}");
        let explained = oneiro.dreams().explain("peanuts").unwrap();
        let lines = explained.counted.iter().filter(|one| one.text.as_deref() == Some("Ana: I'm allergic to peanuts."));
        assert_eq!(lines.count(), 3, "{:#?}", explained.counted);
    }
}

/// The dated note of a day.
fn dated_note(day: i64) -> NoteName {
    let at = Timestamp::from_micros(NOW.micros() + day * DAY * 1_000_000);
    NoteName::parse(&format!("memory/{}.md", at.date_text())).unwrap()
}
