//! The background of a process: it asks the model that is configured, survives panics, keeps slow
//! models away from everything else, and stops in bounded time with nothing lost.

use crate::context_support::{
    Scripted, agent, begin, by_hand, gist, open_llm, peek, prose, until, user,
};
use crate::search_support::{FewWords, fold, newest, open_as, raw, reach};
use crate::support::{Fixed, begin as begin_session, id, open, say};
use oneiro::{
    Background, CompactRequest, Embedder, JobState, LaneStatus, NewMessage, Oneiro, Options,
    Result, SessionId, SummaryLevel, WindowRequest, WordModel,
};
use oneiro_testkit::on_both_backends;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Long enough for any machine: a test that waits so long has failed.
const HANG: Duration = Duration::from_secs(120);

fn turns(count: u64) -> Vec<NewMessage> {
    (0..count)
        .flat_map(|at| {
            [user(format!("Turn {at}. {}", prose(at, 100))), agent(prose(at + 500, 100))]
        })
        .collect()
}

/// Waits until the background has done something; fails when it never does.
fn assert_becomes_true(what: &str, mut is_true: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_true() {
        assert!(started.elapsed() < HANG, "{what} never came true");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Asks for a window past its soft threshold, which queues a compaction.
fn queue_compaction(oneiro: &Fixed, id: &SessionId) {
    let budget = peek(oneiro, id, 1_000_000).tokens * 100 / 80;
    oneiro.context().window(id, &WindowRequest { budget, ..WindowRequest::default() }).unwrap();
    assert_eq!(oneiro.jobs().list(None, 10).unwrap().items.len(), 1);
}

fn job_states(oneiro: &Oneiro) -> Vec<JobState> {
    oneiro.jobs().list(None, 100).unwrap().items.iter().map(|job| job.state).collect()
}

fn lane(background: &Background, name: &str) -> LaneStatus {
    let status = background.monitor().status();
    status.into_iter().find(|status| status.lane == name).unwrap()
}

/// A model of words that panics on demand.
struct PanickingWords {
    words: FewWords,
    panics: AtomicBool,
}

impl WordModel for PanickingWords {
    fn id(&self) -> &str {
        self.words.id()
    }
    fn dims(&self) -> usize {
        self.words.dims()
    }
    fn center(&self) -> &[f32] {
        self.words.center()
    }
    fn embed(&self, text: &str, out: &mut [f32]) -> bool {
        assert!(!self.panics.load(Ordering::SeqCst), "told to panic");
        self.words.embed(text, out)
    }
    fn nearest(&self, word: &str, count: usize) -> Vec<(&str, f32)> {
        self.words.nearest(word, count)
    }
    fn rarity(&self, word: &str) -> f32 {
        self.words.rarity(word)
    }
}

/// An embedder that answers nothing until its sender is dropped.
struct SilentEmbedder {
    silence: Mutex<std::sync::mpsc::Receiver<()>>,
    is_asked: AtomicBool,
}

impl Embedder for SilentEmbedder {
    fn id(&self) -> &str {
        "silent"
    }
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        self.is_asked.store(true, Ordering::SeqCst);
        let _ = self.silence.lock().unwrap().recv();
        Ok(texts.iter().map(|_| vec![1.0, 0.0]).collect())
    }
    fn embed_query(&self, _: &str) -> Result<Vec<f32>> {
        Ok(vec![1.0, 0.0])
    }
}

on_both_backends! {
    fn the_background_calls_the_configured_model(space) {
        let llm = Scripted::new(|_, asked| Ok(gist(asked)));
        let oneiro = open_llm(space, Arc::clone(&llm) as _);
        let id = begin(&oneiro, "s", turns(40));
        queue_compaction(&oneiro, &id);
        let background = Background::of(oneiro.oneiro.clone(), Vec::new());
        assert_becomes_true("the job is done", || job_states(&oneiro) == [JobState::Done]);
        assert!(background.stop(HANG));
        assert!(llm.calls() > 0);
        let levels: Vec<_> = oneiro.context().summaries(&id).unwrap().iter().map(|s| s.level).collect();
        assert!(!levels.is_empty() && levels.iter().all(|level| *level == SummaryLevel::Model), "{levels:?}");
    }

    fn a_process_without_the_model_does_not_claim_its_jobs(space) {
        let llm = Scripted::new(|_, asked| Ok(gist(asked)));
        let with_model = open_llm(space, Arc::clone(&llm) as _);
        let id = begin(&with_model, "s", turns(40));
        queue_compaction(&with_model, &id);
        let plain = open(space);
        let background = Background::of(plain.oneiro.clone(), Vec::new());
        assert_becomes_true("five rounds", || lane(&background, "jobs").rounds >= 5);
        assert!(background.stop(HANG));
        assert_eq!(plain.jobs().run(HANG).unwrap().done, 0);
        assert_eq!(job_states(&plain), [JobState::Queued]);
        assert_eq!(with_model.jobs().run(HANG).unwrap().done, 1);
        assert!(llm.calls() > 0);
    }

    fn stopping_does_not_wait_for_a_hung_model_and_requeues_its_job(space) {
        let (asked_tx, asked) = channel();
        let (hang_up, silence) = channel::<()>();
        let (asked_tx, silence) = (Mutex::new(asked_tx), Mutex::new(silence));
        let llm = Scripted::new(move |number, asked| {
            if number == 1 {
                asked_tx.lock().unwrap().send(()).unwrap();
                let _ = silence.lock().unwrap().recv();
            }
            Ok(gist(asked))
        });
        let oneiro = open_llm(space, llm);
        let id = begin(&oneiro, "s", turns(40));
        queue_compaction(&oneiro, &id);
        let background = Background::of(oneiro.oneiro.clone(), Vec::new());
        asked.recv_timeout(HANG).unwrap();
        // The model is still silent when this returns.
        assert!(background.stop(HANG));
        let job = oneiro.jobs().list(None, 10).unwrap().items.remove(0);
        assert_eq!((job.state, job.attempts, job.lease_until), (JobState::Queued, 0, None));
        assert_eq!(by_hand(&oneiro, "SELECT COUNT(*) FROM contexts WHERE holder IS NOT NULL"), [0]);
        drop(hang_up);
        // The next process goes on at once, without waiting for a lease to run out.
        let next = open_llm(space, Scripted::good());
        assert_eq!(next.jobs().run(HANG).unwrap().done, 1);
        assert_eq!(until(&next, &id, 4_000).stopped, "under");
    }

    fn a_slow_embedder_delays_neither_indexing_nor_jobs(space) {
        let (hang_up, silence) = channel::<()>();
        let embedder = Arc::new(SilentEmbedder { silence: Mutex::new(silence), is_asked: AtomicBool::new(false) });
        let options = Options {
            words: Some(Arc::new(FewWords::default())),
            embedder: Some(Arc::clone(&embedder) as _),
            ..Options::default()
        };
        let oneiro = open_as(space, options);
        oneiro.settings().set("embedder", Some("openai".into())).unwrap();
        begin_session(&oneiro, "s");
        let said = |from: u32| (from..from + 600).map(|n| user(format!("message number {n}"))).collect::<Vec<_>>();
        oneiro.messages().append(&id("s"), said(0)).unwrap();
        let background = Background::of(oneiro.oneiro.clone(), Vec::new());
        assert_becomes_true("the embedder is asked", || embedder.is_asked.load(Ordering::SeqCst));
        // While it is silent, what is said next is folded, and jobs are run.
        oneiro.messages().append(&id("s"), said(600)).unwrap();
        assert_becomes_true("the fold goes on", || reach(&oneiro) >= 1_200);
        let rounds = lane(&background, "jobs").rounds;
        assert_becomes_true("jobs go on", || lane(&background, "jobs").rounds > rounds + 1);
        assert!(background.stop(HANG));
        drop(hang_up);
    }

    fn a_panic_in_a_lane_ends_only_the_current_round(space) {
        let words = Arc::new(PanickingWords { words: FewWords::default(), panics: AtomicBool::new(true) });
        let oneiro = open_as(space, Options { words: Some(Arc::clone(&words) as _), ..Options::default() });
        begin_session(&oneiro, "s");
        let background = Background::of(oneiro.oneiro.clone(), Vec::new());
        oneiro.messages().append(&id("s"), (0..600).map(|n| user(format!("message number {n}"))).collect()).unwrap();
        assert_becomes_true("two panics", || lane(&background, "index").panics >= 2);
        let status = lane(&background, "index");
        assert!(status.is_alive && status.last_error.unwrap().contains("panicked"));
        words.panics.store(false, Ordering::SeqCst);
        assert_becomes_true("the fold is done", || reach(&oneiro) >= 600);
        assert!(background.stop(HANG));
    }

    fn a_cancelled_rebuild_fails_and_the_next_one_finishes(space) {
        let oneiro = open(space);
        begin_session(&oneiro, "s");
        for n in 0..40 {
            say(&oneiro, "s", &[&format!("message number {n}")]);
        }
        let cancel = oneiro::Cancel::new();
        let cancelled = oneiro.with_cancel(cancel.clone());
        cancel.cancel();
        let error = cancelled.index().rebuild(&mut |_, _| {}).unwrap_err();
        assert_eq!(error.kind(), oneiro::ErrorKind::Unavailable);
        oneiro.index().rebuild(&mut |_, _| {}).unwrap();
        assert_eq!(reach(&oneiro), 40);
    }

    fn a_cancelled_compaction_releases_its_lease(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(40));
        let cancel = oneiro::Cancel::new();
        cancel.cancel();
        let cancelled = oneiro.with_cancel(cancel).context().compact(&id, &CompactRequest { until: Some(4_000), redo: false });
        assert_eq!(cancelled.map(drop).unwrap_err().kind(), oneiro::ErrorKind::Unavailable);
        assert_eq!(until(&oneiro, &id, 4_000).stopped, "under");
    }

    fn a_job_whose_model_is_unavailable_is_retried_later(space) {
        let is_away = Arc::new(AtomicBool::new(true));
        let away = Arc::clone(&is_away);
        let llm = Scripted::new(move |_, asked| if away.load(Ordering::SeqCst) { Err(oneiro::Error::new(oneiro::ErrorKind::Unavailable, "no model today")) } else { Ok(gist(asked)) });
        let oneiro = open_llm(space, llm);
        let id = begin(&oneiro, "s", turns(40));
        queue_compaction(&oneiro, &id);
        assert_eq!(oneiro.jobs().run(HANG).unwrap(), oneiro::Ran::default());
        let job = oneiro.jobs().list(None, 10).unwrap().items.remove(0);
        assert_eq!((job.state, job.attempts), (JobState::Queued, 0));
        assert!(job.next_run_at > oneiro.now());
        is_away.store(false, Ordering::SeqCst);
        oneiro.clock.set(601);
        assert_eq!(oneiro.jobs().run(HANG).unwrap().done, 1);
        let levels: Vec<_> = oneiro.context().summaries(&id).unwrap().iter().map(|s| s.level).collect();
        assert!(!levels.is_empty() && levels.iter().all(|level| *level == SummaryLevel::Model), "{levels:?}");
    }

    fn the_background_recreates_a_missing_index_table(space) {
        let oneiro = open(space);
        begin_session(&oneiro, "s");
        for n in 0..40 {
            say(&oneiro, "s", &[&format!("message number {n}")]);
        }
        fold(&oneiro);
        let background = Background::of(oneiro.oneiro.clone(), Vec::new());
        // The lane has come by once, so that it is asked for what follows.
        assert_becomes_true("a round", || lane(&background, "index").rounds >= 1);
        raw(&oneiro, match space.backend {
            oneiro_testkit::Backend::Sqlite => "DROP TABLE segments",
            oneiro_testkit::Backend::Postgres => "DROP TABLE segments CASCADE",
        });
        assert_eq!(newest(&oneiro, "message").len(), 40);
        assert_becomes_true("the index is whole again", || oneiro.check().unwrap().ok);
        assert!(background.stop(HANG));
        oneiro.index().catch_up(&mut |_, _| {}).unwrap();
    }

    fn a_handle_that_outlives_its_background_indexes_itself(space) {
        let oneiro = open(space);
        begin_session(&oneiro, "s");
        let background = Background::of(oneiro.oneiro.clone(), Vec::new());
        assert_becomes_true("a round", || lane(&background, "index").rounds >= 1);
        assert!(background.stop(HANG));
        let said = (0..600).map(|n| user(format!("message number {n}"))).collect();
        oneiro.messages().append(&id("s"), said).unwrap();
        assert_becomes_true("the fold is done", || reach(&oneiro) >= 600);
        oneiro.index().catch_up(&mut |_, _| {}).unwrap();
    }
}
