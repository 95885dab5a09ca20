//! Cells follow from the messages alone.

use super::*;

fn rules() -> Settings {
    Settings::read(&[]).unwrap()
}

fn costs(sizes: &[i64]) -> Vec<Cost> {
    let mut total = 0;
    sizes
        .iter()
        .zip(1..)
        .map(|(tokens, seq)| {
            total += tokens;
            let begins = Begins::Turn;
            Cost { seq, ordinal: seq, total, tokens: *tokens, short_tokens: *tokens, begins }
        })
        .collect()
}

/// The sizes of the leaves over messages, and how many messages wait for more.
fn leaves(costs: &[Cost], rules: &Settings) -> (Vec<usize>, usize) {
    let (mut found, mut leaf, mut waiting) = (Vec::new(), LeafBuilder::new(rules), 0);
    for cost in costs {
        if leaf.ends_before(cost) {
            found.push(std::mem::replace(&mut leaf, LeafBuilder::new(rules)).into_items().len());
            waiting = 0;
        }
        leaf.push(*cost);
        waiting += 1;
    }
    (found, waiting)
}

#[test]
fn a_leaf_covers_the_steps_that_begin_in_its_cell() {
    // Cells of 3,000 tokens: 30 messages of 100 each.
    let (found, waiting) = leaves(&costs(&[100; 70]), &rules());
    assert_eq!((found, waiting), (vec![30, 30], 10));
}

#[test]
fn leaves_do_not_depend_on_what_comes_later() {
    let all = costs(&[130; 200]);
    let (of_all, _) = leaves(&all, &rules());
    for end in [40, 80, 120, 160] {
        let (of_some, _) = leaves(&all[..end], &rules());
        assert!(of_all.starts_with(&of_some), "{of_some:?}");
    }
}

#[test]
fn a_large_message_does_not_split_and_little_ones_are_put_together() {
    let mut sizes = vec![100; 10];
    sizes.push(9_000);
    sizes.extend([100; 30]);
    let (found, _) = leaves(&costs(&sizes), &rules());
    assert_eq!(found[0], 11);
}

#[test]
fn what_is_in_one_closed_cell_is_condensed() {
    let placed = |ends: (i64, i64), next: Next| Placed { ends, next, is_final: false };
    let leaf = |at: i64, next: Next| placed((at * 3_000, at * 3_000 + 2_900), next);
    let two = [leaf(0, Next::Summary), leaf(1, Next::Message(6_000))];
    assert_eq!(next_to_condense(&two, &rules()), Some(0..2));
    // The cell of the first two may still get a message.
    let open = [leaf(0, Next::Summary), leaf(1, Next::Nothing)];
    assert_eq!(next_to_condense(&open, &rules()), None);
    // The second and the third are in different cells.
    let apart = [leaf(1, Next::Summary), leaf(2, Next::Message(9_000))];
    assert_eq!(next_to_condense(&apart, &rules()), None);
}

#[test]
fn a_summary_over_four_times_as_much_is_twice_as_long() {
    let target = |leaves: i64| condensed_target(1_000_000, leaves * 3_000, &rules());
    assert_eq!((target(1), target(4), target(16)), (400, 800, 1_600));
    assert_eq!(target(1_000), 2_000);
}
