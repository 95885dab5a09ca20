//! The guard before a model that writes, with a clock that only the test moves.

use crate::chat::request;
use oneiro::{Error, ErrorKind, Llm, LlmAnswer, LlmRequest, Result};
use oneiro_inference::{Guarded, Limits};
use std::collections::VecDeque;
use std::io::Write;
use std::panic::AssertUnwindSafe;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const MINUTE: Duration = Duration::from_secs(60);

/// Answers from a script, and with "Tea." when there is nothing left of it.
#[derive(Default)]
struct Script {
    answers: Mutex<VecDeque<Result<LlmAnswer>>>,
    calls: Mutex<usize>,
}

impl Llm for Script {
    fn id(&self) -> &str {
        "script"
    }

    fn write(&self, _: &LlmRequest<'_>) -> Result<LlmAnswer> {
        *self.calls.lock().unwrap() += 1;
        self.answers.lock().unwrap().pop_front().unwrap_or_else(|| Ok(tea(None)))
    }
}

fn tea(tokens: Option<u64>) -> LlmAnswer {
    LlmAnswer {
        text: "Tea.".to_owned(),
        input_tokens: tokens,
        output_tokens: tokens.map(|_| 0),
        cut_short: false,
    }
}

/// A model, its guard, and the time.
struct Scene {
    script: Arc<Script>,
    guarded: Guarded,
    time: Arc<Mutex<Instant>>,
}

fn scene(limits: Limits) -> Scene {
    let (script, time) = (Arc::new(Script::default()), Arc::new(Mutex::new(Instant::now())));
    let clock = Arc::clone(&time);
    let guarded = Guarded::new(Arc::clone(&script) as Arc<dyn Llm>, limits)
        .with_clock(move || *clock.lock().unwrap());
    Scene { script, guarded, time }
}

impl Scene {
    fn next(&self, answer: Result<LlmAnswer>) -> Result<LlmAnswer> {
        self.script.answers.lock().unwrap().push_back(answer);
        let result = self.ask();
        self.script.answers.lock().unwrap().clear();
        result
    }

    fn fail(&self, kind: ErrorKind) -> Error {
        self.next(Err(Error::new(kind, "no luck"))).unwrap_err()
    }

    fn ask(&self) -> Result<LlmAnswer> {
        self.guarded.write(&request())
    }

    fn pass(&self, time: Duration) {
        *self.time.lock().unwrap() += time;
    }

    fn calls(&self) -> usize {
        *self.script.calls.lock().unwrap()
    }
}

fn free() -> Limits {
    Limits { calls_per_hour: 0, tokens_per_hour: 0, ..Limits::default() }
}

#[test]
fn calls_are_suspended_for_half_an_hour_after_five_consecutive_failures() {
    let scene = scene(Limits::default());
    for _ in 0..4 {
        scene.fail(ErrorKind::Unavailable);
    }
    scene.ask().unwrap();
    for _ in 0..5 {
        assert_eq!(scene.fail(ErrorKind::Unavailable).to_string(), "no luck");
    }
    assert_eq!(scene.calls(), 10);
    scene.pass(MINUTE);
    let error = scene.ask().unwrap_err();
    assert_eq!((error.kind(), scene.calls()), (ErrorKind::Unavailable, 10));
    assert!(error.to_string().contains("in 29 minutes"), "{error}");
    assert!(format!("{error:?}").contains("no luck"), "{error:?}");
    scene.pass(28 * MINUTE + Duration::from_secs(59));
    assert!(scene.ask().unwrap_err().to_string().contains("in 1 s"));
    scene.pass(Duration::from_secs(1));
    assert_eq!(scene.ask().unwrap().text, "Tea.");
}

#[test]
fn a_failed_trial_suspends_calls_again_and_a_successful_one_resumes_them() {
    let scene = scene(free());
    for _ in 0..5 {
        scene.fail(ErrorKind::Unavailable);
    }
    scene.pass(30 * MINUTE);
    scene.fail(ErrorKind::Unavailable);
    assert!(scene.ask().unwrap_err().to_string().contains("in 30 minutes"));
    assert_eq!(scene.calls(), 6);
    scene.pass(30 * MINUTE);
    scene.ask().unwrap();
    for _ in 0..4 {
        scene.fail(ErrorKind::Unavailable);
    }
    scene.ask().unwrap();
}

/// Waits in its call until the test lets it go; only what is urgent fails at once.
struct Slow {
    entered: mpsc::Sender<()>,
    go: Mutex<mpsc::Receiver<()>>,
}

impl Llm for Slow {
    fn id(&self) -> &str {
        "slow"
    }

    fn write(&self, request: &LlmRequest<'_>) -> Result<LlmAnswer> {
        if request.purpose == "urgent" {
            return Err(Error::new(ErrorKind::Unavailable, "no luck"));
        }
        self.entered.send(()).unwrap();
        // Not for ever, so that a guard which lets two calls in fails the test.
        self.go.lock().unwrap().recv_timeout(Duration::from_secs(5)).unwrap();
        Ok(tea(None))
    }
}

#[test]
fn only_one_call_tries_and_nobody_waits_for_another() {
    let (entered, has_entered) = mpsc::channel();
    let (let_go, go) = mpsc::channel();
    let time = Arc::new(Mutex::new(Instant::now()));
    let clock = Arc::clone(&time);
    let limits = Limits { failures: 1, ..free() };
    let guarded = Guarded::new(Arc::new(Slow { entered, go: Mutex::new(go) }), limits)
        .with_clock(move || *clock.lock().unwrap());
    let urgent = LlmRequest { purpose: "urgent", ..request() };
    std::thread::scope(|scope| {
        let early = scope.spawn(|| guarded.write(&request()));
        has_entered.recv().unwrap();
        guarded.write(&urgent).unwrap_err();
        let_go.send(()).unwrap();
        early.join().unwrap().unwrap();
        let error = guarded.write(&request()).unwrap_err();
        assert!(error.to_string().contains("in 30 minutes"), "what came before is no proof");
        *time.lock().unwrap() += 30 * MINUTE;
        let trial = scope.spawn(|| guarded.write(&request()));
        has_entered.recv().unwrap();
        let error = guarded.write(&request()).unwrap_err();
        assert!(error.to_string().contains("a trial call is running"), "{error}");
        let_go.send(()).unwrap();
        trial.join().unwrap().unwrap();
    });
    let_go.send(()).unwrap();
    guarded.write(&request()).unwrap();
}

#[test]
fn a_key_that_is_refused_is_enough_by_itself() {
    for kind in [ErrorKind::Unauthorized, ErrorKind::Forbidden] {
        let scene = scene(free());
        assert_eq!(scene.fail(kind).kind(), ErrorKind::Unavailable);
        assert!(scene.ask().unwrap_err().to_string().contains("its key was refused"));
        assert_eq!(scene.calls(), 1);
    }
}

#[test]
fn what_a_model_will_not_write_about_is_not_held_against_it() {
    let scene = scene(free());
    for _ in 0..4 {
        scene.fail(ErrorKind::Unavailable);
    }
    for _ in 0..10 {
        assert_eq!(scene.fail(ErrorKind::Invalid).kind(), ErrorKind::Invalid);
        assert_eq!(scene.fail(ErrorKind::TooLarge).kind(), ErrorKind::TooLarge);
    }
    assert_eq!(scene.fail(ErrorKind::RateLimited).kind(), ErrorKind::RateLimited);
    assert_eq!(scene.ask().unwrap_err().kind(), ErrorKind::Unavailable, "that was the fifth");
    scene.pass(30 * MINUTE);
    scene.fail(ErrorKind::Invalid);
    scene.ask().expect("a model that declines is there");
}

#[test]
fn a_call_that_panics_is_a_failure_and_gives_its_place_back() {
    struct Panics;
    impl Llm for Panics {
        fn id(&self) -> &str {
            "panics"
        }
        fn write(&self, _: &LlmRequest<'_>) -> Result<LlmAnswer> {
            panic!("as planned")
        }
    }
    let time = Arc::new(Mutex::new(Instant::now()));
    let clock = Arc::clone(&time);
    let guarded = Guarded::new(Arc::new(Panics), Limits { failures: 1, ..free() })
        .with_clock(move || *clock.lock().unwrap());
    let ask = || std::panic::catch_unwind(AssertUnwindSafe(|| guarded.write(&request())));
    ask().unwrap_err();
    assert!(ask().unwrap().unwrap_err().to_string().contains("in 30 minutes"));
    *time.lock().unwrap() += 30 * MINUTE;
    ask().unwrap_err();
    assert!(ask().unwrap().unwrap_err().to_string().contains("in 30 minutes"));
}

#[test]
fn calls_of_an_hour_are_counted_and_come_back_one_by_one() {
    let scene = scene(Limits { calls_per_hour: 2, ..free() });
    scene.ask().unwrap();
    scene.pass(20 * MINUTE);
    scene.fail(ErrorKind::Unavailable);
    let error = scene.ask().unwrap_err();
    assert_eq!((error.kind(), scene.calls()), (ErrorKind::RateLimited, 2));
    assert!(error.to_string().contains("the limit of 2 calls per hour"), "{error}");
    assert!(error.to_string().contains("in 40 minutes"), "{error}");
    scene.pass(40 * MINUTE);
    scene.ask().unwrap();
    assert!(scene.ask().unwrap_err().to_string().contains("in 20 minutes"));
}

#[test]
fn tokens_of_an_hour_are_counted_as_the_server_counts_them() {
    // The request may cost at most 53: 13 read, rather more than less, and 40 to write.
    let scene = scene(Limits { tokens_per_hour: 200, ..free() });
    scene.next(Ok(tea(Some(100)))).unwrap();
    scene.pass(10 * MINUTE);
    scene.next(Ok(tea(Some(60)))).unwrap();
    let error = scene.ask().unwrap_err();
    assert_eq!((error.kind(), scene.calls()), (ErrorKind::RateLimited, 2));
    assert!(error.to_string().contains("the limit of 200 tokens per hour"), "{error}");
    assert!(error.to_string().contains("in 50 minutes"), "{error}");
    scene.pass(50 * MINUTE);
    scene.ask().unwrap();
}

#[test]
fn tokens_that_were_not_told_are_estimated() {
    let scene = scene(Limits { tokens_per_hour: 100, ..free() });
    // 13 read and 2 written each, booked at 53 until that is known.
    for _ in 0..4 {
        scene.ask().unwrap();
    }
    assert_eq!(scene.ask().unwrap_err().kind(), ErrorKind::RateLimited);
    assert_eq!(scene.calls(), 4);
}

#[test]
fn a_call_above_the_whole_cap_says_that_waiting_does_not_help() {
    let scene = scene(Limits { tokens_per_hour: 52, ..free() });
    let error = scene.ask().unwrap_err();
    assert_eq!((error.kind(), scene.calls()), (ErrorKind::RateLimited, 0));
    assert!(error.remedy_text().unwrap().contains("raise the limit"), "{error:?}");
}

#[test]
fn a_call_refused_by_the_rate_limit_does_not_use_up_the_trial() {
    let limits = Limits { failures: 1, pause: MINUTE, calls_per_hour: 1, ..free() };
    let scene = scene(limits);
    scene.fail(ErrorKind::Unavailable);
    scene.pass(MINUTE);
    assert_eq!(scene.ask().unwrap_err().kind(), ErrorKind::RateLimited);
    scene.pass(59 * MINUTE);
    scene.ask().unwrap();
}

#[test]
fn zero_is_no_limit() {
    let scene = scene(Limits { failures: 0, ..free() });
    for _ in 0..300 {
        scene.fail(ErrorKind::Unauthorized);
        scene.next(Ok(tea(Some(u64::MAX)))).unwrap();
    }
    assert_eq!(scene.calls(), 600);
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_log_tells_what_was_asked_of_whom_and_nothing_that_was_said() {
    let (log, scene) = (Log::default(), scene(Limits { failures: 1, ..free() }));
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::with_default(subscriber, || {
        scene.next(Ok(tea(Some(11)))).unwrap();
        scene.next(Err(Error::new(ErrorKind::Unavailable, "blue tin? no!"))).unwrap_err();
        scene.ask().unwrap_err();
    });
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines.len(), 4, "{log}");
    for (line, parts) in lines.iter().zip([
        &["INFO", "leaf", "script", "milliseconds=0", "input_tokens=11", "outcome=\"written\""][..],
        &["WARN", "leaf", "script", "milliseconds=0", "outcome=\"unavailable\""],
        &["WARN", "script", "pause_s=1800", "suspended"],
        &["DEBUG", "leaf", "script", "outcome=\"unavailable\"", "was refused"],
    ]) {
        assert!(parts.iter().all(|part| line.contains(part)), "{line}");
    }
    assert!(!log.contains("blue tin") && !log.contains("Tea.") && !log.contains("Summarise"));
}
