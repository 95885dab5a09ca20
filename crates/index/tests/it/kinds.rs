//! Texts of several kinds share one sequence of numbers and one index, and stay apart in it.

use crate::memory::{List, Memory};
use oneiro_index::{
    Cache, Kind, Kinds, Merge, Reader, Snapshot, Source, Sources, Storage, View, Written,
    build_segments, inspect, rewrite,
};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

fn new_sources() -> Sources<'static> {
    let messages = [(1, "a rook flies"), (2, "an owl sleeps"), (5, "the rook again"), (8, "a jay")];
    let memories = [(3, "likes the rook"), (4, "fears the owl"), (9, "a rook, once more")];
    Sources(vec![
        Box::new(List::new(Kind::Message, &messages)),
        Box::new(List::new(Kind::Memory, &memories)),
    ])
}

/// Covers the texts after `from` up to `limit` of them with one segment.
fn fold(storage: &Memory, from: i64, limit: usize) {
    let texts = new_sources().after(from, limit).unwrap();
    for (segment, blocks) in build_segments(&texts, &mut [Reader::new(None)]).unwrap() {
        let id = storage.insert(&segment).unwrap();
        storage.write(id, &blocks, Written::default()).unwrap();
    }
}

/// The numbers and kinds of the texts that have a word.
fn texts_with_word(view: &View<'_>, word: &str) -> Vec<(i64, Kind)> {
    let lists = view.lists(word.as_bytes()).unwrap();
    let docs = lists.postings().filter_map(|(doc, _)| view.doc(doc));
    let mut found: Vec<(i64, Kind)> = docs.map(|doc| (doc.seq, doc.kind)).collect();
    found.sort_by_key(|(number, _)| *number);
    found
}

const ROOKS: [(i64, Kind); 4] =
    [(1, Kind::Message), (3, Kind::Memory), (5, Kind::Message), (9, Kind::Memory)];

/// Calls `check` with a view of the segments and the texts after them.
fn with_view(storage: &Memory, check: impl FnOnce(&View<'_>)) {
    let (texts, mut reader) = (new_sources(), Reader::new(None));
    check(&Cache::default().view(Snapshot { storage, texts: &texts }, &mut reader, None).unwrap());
}

#[test]
fn sources_of_all_kinds_are_one_in_the_order_of_numbers() {
    let all = new_sources();
    let numbers = |texts: Vec<oneiro_index::Text>| -> Vec<i64> {
        texts.into_iter().map(|text| text.number).collect()
    };
    assert_eq!(numbers(all.after(1, 4).unwrap()), [2, 3, 4, 5]);
    assert_eq!(numbers(all.newest(3).unwrap()), [5, 8, 9]);
    assert_eq!(all.numbers(2, 5).unwrap(), [2, 3, 4, 5]);
    assert_eq!((all.count(2, 5).unwrap(), all.last().unwrap()), (4, 9));
    assert_eq!(all.by_numbers(&[4, 8, 7]).unwrap().len(), 2);
}

#[test]
fn a_text_is_found_with_its_kind_in_a_segment_and_after_it() {
    for covered in [0, 3, 7] {
        let storage = Memory::default();
        if covered > 0 {
            fold(&storage, 0, covered);
        }
        with_view(&storage, |view| {
            assert_eq!(texts_with_word(view, "rook"), ROOKS);
            assert_eq!(view.kinds(), Kinds::of(&[Kind::Message, Kind::Memory]));
        });
    }
}

#[test]
fn neighbours_of_a_message_are_messages() {
    let storage = Memory::default();
    fold(&storage, 0, 7);
    with_view(&storage, |view| {
        let after_owl: Vec<i64> =
            view.nearby(1, 1, 48).filter_map(|doc| view.doc(doc)).map(|doc| doc.seq).collect();
        assert_eq!(after_owl, [5, 8]);
    });
}

#[test]
fn kinds_survive_a_merge_and_a_rewrite() {
    let storage = Memory::default();
    fold(&storage, 0, 4);
    fold(&storage, 4, 3);
    let inputs = storage.segments().unwrap();
    let merge = Merge::begin(&storage, &inputs, |_| true).unwrap();
    let id = storage.insert(&merge.segment()).unwrap();
    let _: ControlFlow<()> = merge
        .write(&storage, |blocks| {
            storage.write(id, blocks, Written::default())?;
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
    inputs.iter().for_each(|input| storage.remove(input.id).unwrap());
    with_view(&storage, |view| assert_eq!(texts_with_word(view, "rook"), ROOKS));

    let merged = storage.segments().unwrap().remove(0);
    rewrite(&storage, &merged, &BTreeSet::from([3, 5])).unwrap();
    with_view(&storage, |view| assert_eq!(texts_with_word(view, "rook"), [ROOKS[0], ROOKS[3]]));
    let left = storage.segments().unwrap().remove(0);
    assert_eq!(inspect(&storage, &left, &[1, 2, 4, 8, 9]).unwrap(), [""; 0]);
    assert_eq!(inspect(&storage, &left, &[1, 3]).unwrap().len(), 1);
}

/// A merge writes a new segment and removes its inputs only when it is complete, so a panic while it
/// writes leaves an index that is still correct, and the merge can run again.
#[test]
fn a_panic_in_the_middle_of_a_merge_leaves_the_inputs_searchable() {
    let storage = Memory::default();
    fold(&storage, 0, 4);
    fold(&storage, 4, 3);
    let inputs = storage.segments().unwrap();
    let merge = Merge::begin(&storage, &inputs, |_| true).unwrap();
    let mut calls = 0;
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        merge.write(&storage, |_| {
            calls += 1;
            assert!(calls < 2, "planned panic");
            Ok(ControlFlow::Continue(()))
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(storage.segments().unwrap(), inputs);
    with_view(&storage, |view| assert_eq!(texts_with_word(view, "rook"), ROOKS));

    let mut blocks = 0;
    let again = merge.write(&storage, |written| {
        blocks += written.terms.len();
        Ok(ControlFlow::Continue(()))
    });
    assert!(again.unwrap().is_continue() && blocks > 0);
}

#[test]
fn a_set_of_kinds_has_its_members_and_no_others() {
    let both = Kinds::of(&[Kind::Memory, Kind::Note]);
    let has: Vec<Kind> = Kind::ALL.into_iter().filter(|kind| both.has(*kind)).collect();
    assert_eq!(has, [Kind::Memory, Kind::Note]);
    assert!(Kinds::of(&[Kind::Note]).are_in(both) && Kinds::default().are_in(both));
    assert!(!both.are_in(Kinds::of(&[Kind::Note])));
}
