//! Order is the order of insertion, and what a reader sees has no gaps.

use crate::support::{begin, id, message_texts, open, say, user};
use oneiro::Timestamp;
use oneiro_testkit::on_both_backends;
use std::sync::atomic::{AtomicBool, Ordering};

on_both_backends! {
    fn order_is_insertion_order_even_if_the_clock_steps_back(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        for (seconds, text) in [(100, "one"), (50, "two"), (0, "three"), (200, "four")] {
            oneiro.clock.set(seconds);
            say(&oneiro, "s", &[text]);
        }
        let early = user("five").at(Timestamp::from_micros(-5));
        oneiro.messages().append(&id("s"), vec![early]).unwrap();
        assert_eq!(message_texts(&oneiro, "s", false), ["one", "two", "three", "four", "five"]);
        let session = oneiro.sessions().find(&id("s")).unwrap().unwrap();
        oneiro.clock.set(200);
        assert_eq!(session.last_active_at, oneiro.now());
    }

    fn ids_grow_strictly_even_after_everything_was_deleted(space) {
        let oneiro = open(space);
        let mut last = 0;
        for turn in 0..4 {
            let name = format!("s{turn}");
            begin(&oneiro, &name);
            let ids = say(&oneiro, &name, &["a", "b", "c"]);
            assert!(ids[0] > last && ids.is_sorted());
            last = ids[2];
            match turn % 2 {
                0 => drop(oneiro.sessions().delete(&id(&name)).unwrap()),
                _ => drop(oneiro.erase(&oneiro::EraseTarget::Session(id(&name))).unwrap()),
            }
        }
    }

    fn commit_order_is_sequence_order_so_no_reader_sees_a_gap(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut looks = 0;
                while !done.load(Ordering::SeqCst) || looks == 0 {
                    let view = oneiro.sessions().show(&id("s"), true).unwrap();
                    let ids: Vec<i64> = view.messages.iter().map(|message| message.id.0).collect();
                    assert_eq!(ids, (1..=ids.len() as i64).collect::<Vec<_>>());
                    looks += 1;
                }
            });
            let other = open(space);
            std::thread::scope(|writers| {
                for thread in 0..8 {
                    let handle = if thread % 2 == 0 { oneiro.oneiro.clone() } else { other.oneiro.clone() };
                    writers.spawn(move || (0..15).for_each(|_| drop(say(&handle, "s", &["x", "y"]))));
                }
            });
            done.store(true, Ordering::SeqCst);
            reader.join().unwrap();
        });
        assert_eq!(message_texts(&oneiro, "s", true).len(), 240);
    }
}
