//! The rules of what is taken next, over any costs.

use super::*;
use oneiro_model::{SessionId, SummaryId, SummaryKind, SummaryLevel, Timestamp};
use proptest::prelude::*;
use std::sync::LazyLock;

static RULES: LazyLock<Settings> = LazyLock::new(|| Settings::read(&[]).unwrap());

/// Messages by what begins with them and what they cost: `T20 S5 .300`.
fn costs(script: &str) -> Vec<Cost> {
    let one = |(at, word): (usize, &str)| {
        let (begins, tokens) = word.split_at(1);
        let begins = match begins {
            "T" => Begins::Turn,
            "S" => Begins::Step,
            _ => Begins::Nothing,
        };
        Cost { seq: at as i64 + 1, tokens: tokens.parse().unwrap(), begins, ..Cost::default() }
    };
    script.split_whitespace().enumerate().map(one).collect()
}

fn node(key: i64, depth: i64, tokens: i64) -> Node {
    let at = Timestamp::from_micros(0);
    Node {
        key,
        id: SummaryId::from_random([key as u8; 10]),
        session_id: SessionId::new("s").unwrap(),
        session_key: 1,
        kind: SummaryKind::Leaf,
        depth,
        level: SummaryLevel::Extract,
        model: None,
        content: String::new(),
        tokens,
        source_tokens: tokens * 3,
        message_count: 1,
        message_tokens: tokens * 3,
        first_seq: key,
        last_seq: key,
        earliest_at: at,
        latest_at: at,
        created_at: at,
    }
}

fn chosen(runs: &[Vec<Node>], pressure: Pressure) -> Vec<i64> {
    let runs: Vec<Vec<&Node>> = runs.iter().map(|run| run.iter().collect()).collect();
    condense(&runs, pressure, &RULES).iter().map(|node| node.key).collect()
}

#[test]
fn a_leaf_takes_what_fits_and_ends_with_a_turn() {
    for (script, chunk, pressure, taken) in [
        ("T100 S200 T100 S200 T100 S200", 650, Pressure::Some, 4),
        ("T100 S200 T100 S200", 10_000, Pressure::Some, 4),
        // Neither few nor large messages stall the head.
        ("T50000 S10", 20_000, Pressure::None, 1),
        ("T5 S50000 T9", 20_000, Pressure::None, 2),
        ("T5 S5 .50000 .5 T9", 20_000, Pressure::None, 4),
        // Not worth it.
        ("T5 S5", 20_000, Pressure::All, 0),
        ("T100 S100", 20_000, Pressure::None, 0),
        ("T100 S100", 20_000, Pressure::Some, 2),
        ("", 20_000, Pressure::All, 0),
        // Results stay with their call, however large they are together.
        ("T50 S50 .400 .400 .400 T10 S500", 600, Pressure::Some, 5),
    ] {
        assert_eq!(leaf(&costs(script), chunk, pressure, &RULES), taken, "{script}");
    }
}

#[test]
fn neighbours_are_condensed_and_never_one_alone() {
    let run =
        |of: &[(i64, i64, i64)]| of.iter().map(|(k, d, t)| node(*k, *d, *t)).collect::<Vec<_>>();
    // One alone is not condensed, whatever it costs.
    for pressure in [Pressure::None, Pressure::Some, Pressure::All] {
        assert_eq!(chosen(&[run(&[(1, 0, 9_000)])], pressure), [0_i64; 0]);
        assert_eq!(chosen(&[run(&[(1, 0, 900)]), run(&[(2, 0, 900)])], pressure), [0_i64; 0]);
        assert_eq!(chosen(&[], pressure), [0_i64; 0]);
    }
    let three = run(&[(1, 0, 900), (2, 0, 900), (3, 0, 900)]);
    assert_eq!(chosen(std::slice::from_ref(&three), Pressure::None), [0_i64; 0]);
    assert_eq!(chosen(&[three], Pressure::Some), [1, 2, 3]);
    // A deeper head does not hide a shallower run behind it.
    let deep = run(&[(1, 2, 900), (2, 0, 500), (3, 0, 500), (4, 0, 500), (5, 0, 500)]);
    assert_eq!(chosen(&[deep], Pressure::None), [2, 3, 4, 5]);
    let deeper_first = [
        run(&[(1, 1, 500), (2, 1, 500), (3, 1, 500), (4, 1, 500)]),
        run(&[(5, 0, 500), (6, 0, 500), (7, 0, 500), (8, 0, 500)]),
    ];
    assert_eq!(chosen(&deeper_first, Pressure::None), [5, 6, 7, 8]);
    // Depths are mixed only when nothing else is left.
    let mixed = run(&[(1, 2, 900), (2, 0, 500), (3, 1, 500)]);
    assert_eq!(chosen(std::slice::from_ref(&mixed), Pressure::Some), [0_i64; 0]);
    assert_eq!(chosen(&[mixed], Pressure::All), [1, 2, 3]);
}

fn any_costs() -> impl Strategy<Value = Vec<Cost>> {
    let begins = prop_oneof![Just(Begins::Turn), Just(Begins::Step), Just(Begins::Nothing)];
    let tokens = prop_oneof![0..40_i64, 40..900_i64, 900..60_000_i64];
    proptest::collection::vec((begins, tokens), 0..40).prop_map(|all| {
        let cost = |(at, (begins, tokens)): (usize, (Begins, i64))| {
            let begins = if at == 0 { Begins::Turn } else { begins };
            Cost { seq: at as i64 + 1, tokens, begins, ..Cost::default() }
        };
        all.into_iter().enumerate().map(cost).collect()
    })
}

proptest! {
    #![proptest_config(oneiro_testkit::proptest_config(256))]

    #[test]
    fn a_leaf_never_parts_a_group_and_never_stalls(costs in any_costs(), chunk in 500..20_000_i64) {
        let mut before = 0;
        for pressure in [Pressure::None, Pressure::Some, Pressure::All] {
            let taken = leaf(&costs, chunk, pressure, &RULES);
            prop_assert!(taken <= costs.len());
            if let Some(next) = costs.get(taken).filter(|_| taken > 0) {
                prop_assert_ne!(next.begins, Begins::Nothing, "results are parted from their call");
            }
            prop_assert!(taken > 0 || before == 0, "pressure makes it choosier");
            before = taken;
        }
        let whole: i64 = costs.iter().map(|cost| cost.tokens).sum();
        prop_assert!(before > 0 || whole < COMPACT_TOKENS_MIN, "{} tokens and no way past them", whole);
    }
}
