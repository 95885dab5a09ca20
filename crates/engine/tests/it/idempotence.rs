//! Exactly once: an external id makes an append idempotent within its session.

use crate::support::{assert_sound, begin, id, message_texts, open, user};
use oneiro::NewMessage;
use oneiro_testkit::on_both_backends;
use std::sync::Barrier;

fn batch(from: usize, to: usize) -> Vec<NewMessage> {
    (from..to).map(|n| user(&format!("text {n}")).external_id(format!("e{n}"))).collect()
}

on_both_backends! {
    fn a_repeated_batch_is_stored_once(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        for size in [5, 80] {
            let first = oneiro.messages().append(&id("s"), batch(size, 2 * size)).unwrap();
            let again = oneiro.messages().append(&id("s"), batch(size, 2 * size)).unwrap();
            assert_eq!((first.duplicates, again.duplicates), (0, size));
            assert_eq!(first.ids, again.ids);
        }
        assert_eq!(message_texts(&oneiro, "s", true).len(), 85);
        assert_sound(&oneiro);
    }

    fn the_new_messages_of_a_mixed_batch_are_stored_in_order(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        oneiro.messages().append(&id("s"), batch(10, 20)).unwrap();
        let mixed = oneiro.messages().append(&id("s"), batch(0, 40)).unwrap();
        assert_eq!(mixed.duplicates, 10);
        let order: Vec<String> =
            (10..20).chain(0..10).chain(20..40).map(|n| format!("text {n}")).collect();
        assert_eq!(message_texts(&oneiro, "s", true), order);
        assert_sound(&oneiro);
    }

    fn duplicates_in_one_batch_get_the_first_id(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        for count in [3, 64] {
            let name = format!("same-{count}");
            let messages = (0..count).map(|n| user(&format!("{n}")).external_id(&name)).collect();
            let appended = oneiro.messages().append(&id("s"), messages).unwrap();
            assert_eq!(appended.duplicates, count - 1);
            assert!(appended.ids.iter().all(|id| *id == appended.ids[0]));
        }
        assert_eq!(message_texts(&oneiro, "s", true), ["0", "0"]);
        assert_sound(&oneiro);
    }

    fn concurrent_threads_with_the_same_messages_store_them_once(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let start = Barrier::new(8);
        let ids: Vec<Vec<oneiro::MessageId>> = std::thread::scope(|scope| {
            let senders: Vec<_> = (0..8).map(|_| scope.spawn(|| {
                let other = open(space);
                start.wait();
                (0..10).flat_map(|turn| {
                    other.messages().append(&id("s"), batch(turn * 3, turn * 3 + 3)).unwrap().ids
                }).collect()
            })).collect();
            senders.into_iter().map(|sender| sender.join().unwrap()).collect()
        });
        assert!(ids.iter().all(|of_one| *of_one == ids[0]), "threads were given different ids");
        assert_eq!(message_texts(&oneiro, "s", true).len(), 30);
        assert_sound(&oneiro);
    }

    fn external_ids_are_unique_within_their_session(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        begin(&oneiro, "t");
        for session in ["s", "t"] {
            assert_eq!(oneiro.messages().append(&id(session), batch(0, 3)).unwrap().duplicates, 0);
        }
        let without = oneiro.messages().append(&id("s"), vec![user("same"), user("same")]).unwrap();
        assert_eq!(without.duplicates, 0);
        assert_eq!(message_texts(&oneiro, "s", true).len(), 5);
    }
}
