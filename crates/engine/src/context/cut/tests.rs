//! The rule of the cut, on any mix of sizes.

use super::*;
use proptest::prelude::*;

fn items(sizes: &[(u16, bool)]) -> Vec<Cost> {
    let mut total = 0;
    let costs = sizes.iter().zip(1..).map(|((size, turn), seq)| {
        let tokens = i64::from(*size) + 1;
        total += tokens;
        let begins = match (turn, seq % 3) {
            (true, _) => Begins::Turn,
            (false, 0) => Begins::Nothing,
            (false, _) => Begins::Step,
        };
        Cost { seq, ordinal: seq, total, tokens, short_tokens: tokens.min(50), begins }
    });
    costs.collect()
}

fn room(budget: i64) -> Room {
    Room { whole: budget, cut: budget - 20, step: budget / 4 }
}

fn sizes() -> impl Strategy<Value = Vec<(u16, bool)>> {
    let size = prop_oneof![4 => 0_u16..60, 2 => 0_u16..800, 1 => 0_u16..6_000];
    prop::collection::vec((size, any::<bool>()), 1..120)
}

proptest! {
    #![proptest_config(oneiro_testkit::proptest_config(256))]

    /// Never over the room, unless nothing but the newest turn is left, all of it short.
    #[test]
    fn a_cut_fits_or_is_the_newest_turn_alone(sizes in sizes(), budget in 100_i64..4_000) {
        let items = items(&sizes);
        let found = cut(&items, room(budget), true, None);
        let limit = if found.first == 0 { budget } else { budget - 20 };
        if found.tokens > limit {
            prop_assert_eq!(found.first, newest_turn(&items));
            prop_assert_eq!(found.full, items.len());
        }
        prop_assert!(found.first <= newest_turn(&items), "the newest turn is in");
    }

    /// While the window before and what came since fit, nothing of its beginning changes; when they
    /// do not, the step is a later one.
    #[test]
    fn a_window_that_fits_keeps_its_beginning(sizes in sizes(), budget in 100_i64..4_000) {
        let items = items(&sizes);
        let mut before: Option<Cut> = None;
        for end in 1..=items.len() {
            let some = &items[..end];
            let mark = before.map(|cut| Before {
                first_seq: some[cut.first].seq,
                full_seq: some.get(cut.full).map_or(some[some.len() - 1].seq + 1, |cost| cost.seq),
                step: cut.step,
            });
            let mark = mark.map(|mark| match before {
                // What came since is in full, if everything before it was short.
                Some(cut) if cut.full == end - 1 => Before { full_seq: some[end - 1].seq, ..mark },
                _ => mark,
            });
            let found = cut(some, room(budget), true, mark);
            if let (Some(cut), Some(mark)) = (before, mark) {
                let kept = keep(some, mark);
                let limit = if kept.first == 0 { budget } else { budget - 20 };
                if kept.tokens <= limit {
                    prop_assert_eq!((found.first, found.step), (cut.first, cut.step));
                } else {
                    prop_assert!(found.step > cut.step);
                }
            }
            before = Some(found);
        }
    }

    /// A reach that wants no more has seen all that could be in.
    #[test]
    fn what_is_not_reached_would_be_out(sizes in sizes(), budget in 100_i64..4_000) {
        let items = items(&sizes);
        let mut reach = Reach::default();
        let wanted = |cost: &&Cost| reach.take(cost, room(budget)) != More::No;
        let wanted = items.iter().rev().take_while(wanted).count();
        let reached = (wanted + 1).min(items.len());
        let from = items.len() - reached;
        let part = cut(&items[from..], room(budget), from == 0, None);
        let all = cut(&items, room(budget), true, None);
        prop_assert_eq!(part.first + from, all.first);
        prop_assert_eq!(part.full + from, all.full);
    }
}
