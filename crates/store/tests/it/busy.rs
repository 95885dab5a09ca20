//! Waiting for another writer: bounded, and then a clear answer.

use crate::support::{Holder, names, open, open_with, patient, put, write};
use oneiro_model::ErrorKind;
use oneiro_testkit::on_both_backends;
use std::sync::mpsc;
use std::time::Duration;

on_both_backends! {
    fn a_writer_that_waits_too_long_is_told_so_in_time(space) {
        drop(open(space));
        let store = open_with(space, &patient(200)).unwrap();
        let holder = Holder::of(space);
        // The writer gives up while the lock is held.
        let error = write(&store, "late").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Busy, "{error:?}");
        assert!(error.is_retryable() && error.remedy_text().is_some());
        holder.let_go();
        write(&store, "again").unwrap();
        assert_eq!(names(&store), ["again"]);
    }

    fn a_writer_whose_wait_is_long_enough_succeeds(space) {
        let store = open(space);
        let holder = Holder::of(space);
        let (done, is_done) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| done.send(write(&store, "patient")).unwrap());
            // While the lock is held the writer cannot be done.
            let early = is_done.recv_timeout(Duration::from_millis(150));
            assert_eq!(early.err(), Some(mpsc::RecvTimeoutError::Timeout));
            holder.let_go();
            is_done.recv().unwrap().unwrap();
        });
        assert_eq!(names(&store), ["patient"]);
    }

    fn a_long_write_of_the_same_process_is_waited_for_no_longer(space) {
        let store = open_with(space, &patient(200)).unwrap();
        let (began, has_begun) = mpsc::channel();
        let (go, may_go) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            let bulk = scope.spawn(|| store.write_bulk(move |tx| {
                put(tx, "bulk")?;
                began.send(()).unwrap();
                may_go.recv().unwrap();
                Ok(())
            }));
            has_begun.recv().unwrap();
            let error = write(&store, "late").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Busy, "{error:?}");
            go.send(()).unwrap();
            bulk.join().unwrap().unwrap();
        });
        write(&store, "again").unwrap();
        assert_eq!(names(&store), ["again", "bulk"]);
    }

    fn readers_never_wait_for_a_writer(space) {
        let store = open_with(space, &patient(100)).unwrap();
        write(&store, "there").unwrap();
        let _holder = Holder::of(space);
        assert_eq!(names(&store), ["there"]);
    }
}
