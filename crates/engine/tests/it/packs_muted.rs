//! Memory measures itself: what packs cost, what became of their lines, and lines that are muted because
//! nobody uses them.

use crate::memories::{person, remember, show, statement};
use crate::packs::pack;
use crate::support::{Fixed, open};
use oneiro::{
    MemoryKind, MemoryPatch, MemoryStats, MemoryStatsRequest, NewMemory, OmitReason, Pack,
    PackRequest, ReinforceRequest, ShowMemory, UnmuteRequest,
};
use oneiro_testkit::on_both_backends;

const PROMPT: &str = "Which port does the staging server use?";
const DAY_SECONDS: i64 = 24 * 60 * 60;

fn port_of_staging(oneiro: &Fixed) -> String {
    let new = NewMemory {
        kind: Some(MemoryKind::Knowledge),
        ..statement("The staging server uses port 8443")
    };
    remember(&person(oneiro), new).memory.id.to_string()
}

/// Makes `count` packs for a project, a minute apart.
fn serve(oneiro: &Fixed, project: &str, (from, count): (i64, i64)) -> Pack {
    let mut last = None;
    for minute in from..from + count {
        oneiro.clock.set(minute * 60);
        let request = PackRequest { project: Some(project.to_owned()), ..PackRequest::new(PROMPT) };
        last = Some(pack(oneiro, &request));
    }
    last.unwrap()
}

fn is_muted(pack: &Pack, id: &str) -> bool {
    pack.omitted.iter().any(|one| one.id == id && one.reason == OmitReason::Muted)
}

fn is_in(pack: &Pack, id: &str) -> bool {
    pack.items.iter().any(|item| item.id == id)
}

fn stats(oneiro: &Fixed) -> MemoryStats {
    oneiro.memories().stats(&MemoryStatsRequest::default()).unwrap()
}

fn muted_in(oneiro: &Fixed, id: &str) -> Vec<String> {
    oneiro.memories().show(id, &ShowMemory::default()).unwrap().muted_in
}

on_both_backends! {
    fn a_line_served_eight_times_and_never_used_is_muted_in_that_project_only(space) {
        let oneiro = open(space);
        let id = port_of_staging(&oneiro);
        assert!(is_in(&serve(&oneiro, "atlas", (1, 8)), &id), "the eighth pack still shows it");
        let ninth = serve(&oneiro, "atlas", (9, 1));
        assert!(is_muted(&ninth, &id) && !is_in(&ninth, &id), "{ninth:?}");
        assert!(is_in(&serve(&oneiro, "beacon", (10, 1)), &id));
        assert!(is_in(&pack(&oneiro, &PackRequest::new(PROMPT)), &id), "without a project");
        assert_eq!(muted_in(&oneiro, &id), ["atlas"]);
        let listed = stats(&oneiro).muted;
        assert_eq!(listed.len(), 1);
        assert_eq!((listed[0].id.as_str(), listed[0].project.as_str()), (id.as_str(), "atlas"));
        let beacon = MemoryStatsRequest { project: Some("beacon".into()), ..Default::default() };
        assert!(oneiro.memories().stats(&beacon).unwrap().muted.is_empty());
    }

    fn unmuting_shows_a_line_again_until_it_is_served_eight_times_more(space) {
        let oneiro = open(space);
        let id = port_of_staging(&oneiro);
        serve(&oneiro, "atlas", (1, 8));
        serve(&oneiro, "beacon", (1, 8));
        assert_eq!(muted_in(&oneiro, &id), ["atlas", "beacon"]);
        oneiro.clock.set(9 * 60);
        let only = UnmuteRequest { project: Some("atlas".into()) };
        let view = oneiro.memories().unmute(&id, &only).unwrap();
        assert_eq!(view.muted_in, ["beacon"]);
        assert!(is_in(&serve(&oneiro, "atlas", (10, 8)), &id));
        assert!(is_muted(&serve(&oneiro, "atlas", (18, 1)), &id));
        oneiro.clock.set(19 * 60);
        let view = oneiro.memories().unmute(&id, &UnmuteRequest::default()).unwrap();
        assert!(view.muted_in.is_empty() && stats(&oneiro).muted.is_empty());
    }

    fn a_use_or_a_confirmation_starts_the_count_again(space) {
        let oneiro = open(space);
        let id = port_of_staging(&oneiro);
        serve(&oneiro, "atlas", (1, 7));
        oneiro.memories().reinforce(&id, ReinforceRequest { query: None }).unwrap();
        assert!(is_in(&serve(&oneiro, "atlas", (8, 8)), &id));
        assert!(is_muted(&serve(&oneiro, "atlas", (16, 1)), &id));
        oneiro.clock.set(17 * 60);
        person(&oneiro).memories().confirm(&id, None).unwrap();
        assert!(is_in(&serve(&oneiro, "atlas", (18, 1)), &id));
    }

    fn packs_are_measured_with_what_became_of_their_lines(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        let port = port_of_staging(&oneiro);
        let kind = Some(MemoryKind::Knowledge);
        let stale = NewMemory { kind, ..statement("The deploy script lives in tools/ship.sh") };
        let stale = remember(&ann, stale).memory.id.to_string();
        oneiro.clock.set(60);
        let first = pack(&oneiro, &PackRequest::new(PROMPT));
        let second = pack(&oneiro, &PackRequest::new("Where does the deploy script live?"));
        let silent = pack(&oneiro, &PackRequest::new("Translate this poem about autumn leaves"));
        assert!(is_in(&first, &port) && is_in(&second, &stale) && silent.text.is_empty());
        oneiro.clock.set(120);
        oneiro.memories().reinforce(&port, ReinforceRequest { query: None }).unwrap();
        let patch: MemoryPatch =
            serde_json::from_value(serde_json::json!({"content": "The deploy script is bin/ship"}))
                .unwrap();
        ann.memories().edit(&stale, patch).unwrap();
        let measured = stats(&oneiro);
        assert_eq!((measured.packs, measured.empty_packs), (2, 1));
        assert_eq!(measured.tokens, (first.tokens + second.tokens) as i64);
        assert_eq!((measured.lines, measured.memory_lines), (2, 2));
        assert_eq!((measured.used, measured.used_share), (1, Some(0.5)));
        assert_eq!((measured.contradicted, measured.corrected), (0, 1));
        oneiro.clock.set(8 * DAY_SECONDS);
        let later = stats(&oneiro);
        assert_eq!((later.packs, later.tokens, later.lines, later.used_share), (0, 0, 0, None));
    }

    fn a_use_long_after_a_pack_is_no_use_of_its_line(space) {
        let oneiro = open(space);
        let id = port_of_staging(&oneiro);
        pack(&oneiro, &PackRequest::new(PROMPT));
        oneiro.clock.set(2 * DAY_SECONDS);
        oneiro.memories().reinforce(&id, ReinforceRequest { query: None }).unwrap();
        assert_eq!((stats(&oneiro).memory_lines, stats(&oneiro).used), (1, 0));
        assert_eq!(show(&oneiro, &id).reference_count, 1);
    }
}
