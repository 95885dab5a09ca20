//! The laws of plans: within the budget, other text untouched, few prior entries changed.

use super::*;
use proptest::prelude::*;

fn wanted(id: &str, line: &str, value: f64) -> Wanted {
    Wanted { id: id.to_owned(), line: line.to_owned(), value }
}

fn written(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
    entries.iter().map(|(text, id)| ((*text).to_owned(), (*id).to_owned())).collect()
}

#[test]
fn the_least_valuable_entry_makes_room_and_own_text_stays() {
    let text = "# Mine\n\n- my own line\n- Ann: tea\n- Ben: jazz\n";
    let planned = plan(&PlanRequest {
        text,
        budget: Some(text.trim().chars().count()),
        written: written(&[("Ann: tea", "a"), ("Ben: jazz", "b")]),
        wanted: vec![
            wanted("a", "Ann: tea", 0.9),
            wanted("b", "Ben: jazz", 0.5),
            wanted("c", "Cy: rust", 0.8),
        ],
        ..PlanRequest::default()
    })
    .unwrap();
    assert_eq!(planned.text, "# Mine\n\n- my own line\n- Ann: tea\n- Cy: rust\n");
    assert!(matches!(&planned.edits[..],
        [Planned::Displace { id, .. }, Planned::Add { id: new, .. }] if id == "b" && new == "c"));
}

#[test]
fn a_successor_takes_the_place_of_what_it_replaces() {
    let text = "- Ann: I live in Braga\n- Ann: tea\n";
    let planned = plan(&PlanRequest {
        text,
        written: written(&[("Ann: I live in Braga", "old"), ("Ann: tea", "tea")]),
        wanted: vec![wanted("new", "Ann: I live in Porto", 0.8), wanted("tea", "Ann: tea", 0.5)],
        successors: written(&[("old", "new")]),
        ..PlanRequest::default()
    })
    .unwrap();
    assert_eq!(planned.text, "- Ann: I live in Porto\n- Ann: tea\n");
}

#[test]
fn one_entry_of_few_may_always_change_and_the_others_follow_later() {
    let text = "- a\n- b\n- c\n";
    let request = |text| PlanRequest {
        text,
        written: written(&[("a", "1"), ("b", "2"), ("c", "3")]),
        ..PlanRequest::default()
    };
    let first = plan(&request(text)).unwrap();
    assert_eq!((first.edits.len(), first.left.len()), (1, 2));
    let second = plan(&request(&first.text)).unwrap();
    let third = plan(&request(&second.text)).unwrap();
    assert_eq!(third.text.trim(), "");
}

#[test]
fn an_entry_that_no_longer_holds_leaves_before_other_changes() {
    let text = "- a\n- b\n- c\n";
    let planned = plan(&PlanRequest {
        text,
        written: written(&[("a", "1"), ("b", "2"), ("c", "3")]),
        // The first is not wanted for now, the second reads differently, the third was replaced.
        wanted: vec![wanted("2", "b, reworded", 0.5)],
        ended: BTreeSet::from(["3".to_owned()]),
        ..PlanRequest::default()
    })
    .unwrap();
    assert_eq!(planned.text, "- a\n- b\n");
    assert_eq!(planned.left, ["1", "2"]);
}

#[test]
fn a_note_that_is_full_of_other_text_keeps_its_entries() {
    let text = "- a very long line of the person that fills the note\n- x\n";
    let planned = plan(&PlanRequest {
        text,
        budget: Some(20),
        written: written(&[("x", "1")]),
        wanted: vec![wanted("1", "x", 0.1), wanted("2", "yy", 0.9)],
        ..PlanRequest::default()
    })
    .unwrap();
    assert_eq!(planned.text, text);
    assert_eq!(planned.without_room, ["2"]);
}

/// Entries by number; the first `machine` ones were written by dreams.
fn note_of(own: &[u8], machine: &[u8]) -> String {
    let own = own.iter().map(|number| format!("- own line {number}\n"));
    own.chain(machine.iter().map(|number| format!("- fact number {number}\n"))).collect()
}

proptest! {
    #![proptest_config(oneiro_testkit::proptest_config(512))]

    #[test]
    fn a_plan_keeps_the_budget_other_text_and_three_quarters(
        own in proptest::collection::btree_set(0u8..20, 0..6),
        machine in proptest::collection::btree_set(0u8..40, 0..16),
        wanted_now in proptest::collection::btree_map(0u8..40, 0.0..1.0f64, 0..24),
        budget in 20usize..700,
    ) {
        let own: Vec<u8> = own.into_iter().collect();
        let machine: Vec<u8> = machine.into_iter().collect();
        let text = note_of(&own, &machine);
        let line = |number: &u8| format!("fact number {number}");
        let request = PlanRequest {
            text: &text,
            budget: Some(budget),
            written: machine.iter().map(|number| (line(number), number.to_string())).collect(),
            wanted: wanted_now.iter().map(|(number, value)| {
                wanted(&number.to_string(), &line(number), *value)
            }).collect(),
            ..PlanRequest::default()
        };
        let planned = plan(&request).unwrap();
        let after: BTreeSet<String> = note_entries(&planned.text).into_iter().collect();
        let within = note_chars(&planned.text) <= budget
            || note_chars(&planned.text) <= note_chars(&text);
        prop_assert!(within, "{} of {budget}", note_chars(&planned.text));
        for number in &own {
            let line = format!("own line {number}");
            prop_assert!(after.contains(&line));
        }
        let changed = machine.iter().filter(|number| !after.contains(&line(number))).count();
        prop_assert!(changed <= (machine.len() / 4).max(1), "{changed} of {}", machine.len());
        // The same request has the same plan.
        prop_assert_eq!(&planned, &plan(&request).unwrap());
        // Every line is the person's, was there, or is wanted.
        for line in &after {
            let number = line.strip_prefix("fact number ").and_then(|it| it.parse::<u8>().ok());
            let is_known = number.is_none_or(|it| machine.contains(&it) || wanted_now.contains_key(&it));
            prop_assert!(is_known, "{line}");
        }
    }
}
