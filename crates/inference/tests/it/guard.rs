//! The limits on calls to a chat model, with a clock that only the test advances.

use crate::chat::request;
use oneiro::{Error, ErrorKind, Llm, LlmRequest, LlmResponse, Result};
use oneiro_inference::{Guarded, Limits};
use std::collections::VecDeque;
use std::io::Write;
use std::panic::AssertUnwindSafe;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const MINUTE: Duration = Duration::from_secs(60);

/// Sends scripted responses, then "Tea.".
#[derive(Default)]
struct Script {
    answers: Mutex<VecDeque<Result<LlmResponse>>>,
    calls: Mutex<usize>,
}

impl Llm for Script {
    fn id(&self) -> &str {
        "script"
    }

    fn complete(&self, _: &LlmRequest<'_>) -> Result<LlmResponse> {
        *self.calls.lock().unwrap() += 1;
        self.answers.lock().unwrap().pop_front().unwrap_or_else(|| Ok(tea(None)))
    }
}

fn tea(tokens: Option<u64>) -> LlmResponse {
    LlmResponse {
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
    fn call_with(&self, answer: Result<LlmResponse>) -> Result<LlmResponse> {
        self.script.answers.lock().unwrap().push_back(answer);
        let result = self.call();
        self.script.answers.lock().unwrap().clear();
        result
    }

    fn fail(&self, kind: ErrorKind) -> Error {
        self.call_with(Err(Error::new(kind, "no luck"))).unwrap_err()
    }

    fn call(&self) -> Result<LlmResponse> {
        self.guarded.complete(&request())
    }

    fn advance(&self, time: Duration) {
        *self.time.lock().unwrap() += time;
    }

    fn calls(&self) -> usize {
        *self.script.calls.lock().unwrap()
    }
}

fn no_rate_limit() -> Limits {
    Limits { calls_per_hour: 0, tokens_per_hour: 0, ..Limits::default() }
}

#[test]
fn calls_are_suspended_for_half_an_hour_after_five_consecutive_failures() {
    let scene = scene(Limits::default());
    for _ in 0..4 {
        scene.fail(ErrorKind::Unavailable);
    }
    scene.call().unwrap();
    for _ in 0..5 {
        assert_eq!(scene.fail(ErrorKind::Unavailable).to_string(), "no luck");
    }
    assert_eq!(scene.calls(), 10);
    scene.advance(MINUTE);
    let error = scene.call().unwrap_err();
    assert_eq!((error.kind(), scene.calls()), (ErrorKind::Unavailable, 10));
    assert!(error.to_string().contains("in 29 minutes"), "{error}");
    assert!(format!("{error:?}").contains("no luck"), "{error:?}");
    scene.advance(28 * MINUTE + Duration::from_secs(59));
    assert!(scene.call().unwrap_err().to_string().contains("in 1 s"));
    scene.advance(Duration::from_secs(1));
    assert_eq!(scene.call().unwrap().text, "Tea.");
}

#[test]
fn a_failed_trial_suspends_calls_again_and_a_successful_one_resumes_them() {
    let scene = scene(no_rate_limit());
    for _ in 0..5 {
        scene.fail(ErrorKind::Unavailable);
    }
    scene.advance(30 * MINUTE);
    scene.fail(ErrorKind::Unavailable);
    assert!(scene.call().unwrap_err().to_string().contains("in 30 minutes"));
    assert_eq!(scene.calls(), 6);
    scene.advance(30 * MINUTE);
    scene.call().unwrap();
    for _ in 0..4 {
        scene.fail(ErrorKind::Unavailable);
    }
    scene.call().unwrap();
}

/// Blocks in a call until the test lets it return; a call with the purpose "urgent" fails at once.
struct Slow {
    entered: mpsc::Sender<()>,
    go: Mutex<mpsc::Receiver<()>>,
}

impl Llm for Slow {
    fn id(&self) -> &str {
        "slow"
    }

    fn complete(&self, request: &LlmRequest<'_>) -> Result<LlmResponse> {
        if request.purpose == "urgent" {
            return Err(Error::new(ErrorKind::Unavailable, "no luck"));
        }
        self.entered.send(()).unwrap();
        // With a timeout, so that the test fails rather than hangs if two calls are admitted.
        self.go.lock().unwrap().recv_timeout(Duration::from_secs(5)).unwrap();
        Ok(tea(None))
    }
}

#[test]
fn only_one_call_is_the_trial_and_others_fail_at_once() {
    let (entered, has_entered) = mpsc::channel();
    let (let_go, go) = mpsc::channel();
    let time = Arc::new(Mutex::new(Instant::now()));
    let clock = Arc::clone(&time);
    let limits = Limits { failures: 1, ..no_rate_limit() };
    let guarded = Guarded::new(Arc::new(Slow { entered, go: Mutex::new(go) }), limits)
        .with_clock(move || *clock.lock().unwrap());
    let urgent = LlmRequest { purpose: "urgent", ..request() };
    std::thread::scope(|scope| {
        let early = scope.spawn(|| guarded.complete(&request()));
        has_entered.recv().unwrap();
        guarded.complete(&urgent).unwrap_err();
        let_go.send(()).unwrap();
        early.join().unwrap().unwrap();
        let error = guarded.complete(&request()).unwrap_err();
        assert!(
            error.to_string().contains("in 30 minutes"),
            "a call admitted before the suspension does not end it"
        );
        *time.lock().unwrap() += 30 * MINUTE;
        let trial = scope.spawn(|| guarded.complete(&request()));
        has_entered.recv().unwrap();
        let error = guarded.complete(&request()).unwrap_err();
        assert!(error.to_string().contains("a trial call is running"), "{error}");
        let_go.send(()).unwrap();
        trial.join().unwrap().unwrap();
    });
    let_go.send(()).unwrap();
    guarded.complete(&request()).unwrap();
}

#[test]
fn one_refused_key_suspends_calls() {
    for kind in [ErrorKind::Unauthorized, ErrorKind::Forbidden] {
        let scene = scene(no_rate_limit());
        assert_eq!(scene.fail(kind).kind(), ErrorKind::Unavailable);
        assert!(scene.call().unwrap_err().to_string().contains("its key was refused"));
        assert_eq!(scene.calls(), 1);
    }
}

#[test]
fn a_rejected_request_does_not_count_as_a_failure() {
    let scene = scene(no_rate_limit());
    for _ in 0..4 {
        scene.fail(ErrorKind::Unavailable);
    }
    for _ in 0..10 {
        assert_eq!(scene.fail(ErrorKind::Invalid).kind(), ErrorKind::Invalid);
        assert_eq!(scene.fail(ErrorKind::TooLarge).kind(), ErrorKind::TooLarge);
    }
    assert_eq!(scene.fail(ErrorKind::RateLimited).kind(), ErrorKind::RateLimited);
    assert_eq!(scene.call().unwrap_err().kind(), ErrorKind::Unavailable, "that was the fifth");
    scene.advance(30 * MINUTE);
    scene.fail(ErrorKind::Invalid);
    scene.call().expect("a rejected trial ends the suspension");
}

#[test]
fn a_call_that_panics_counts_as_a_failure_and_ends_the_trial() {
    struct Panics;
    impl Llm for Panics {
        fn id(&self) -> &str {
            "panics"
        }
        fn complete(&self, _: &LlmRequest<'_>) -> Result<LlmResponse> {
            panic!("as planned")
        }
    }
    let time = Arc::new(Mutex::new(Instant::now()));
    let clock = Arc::clone(&time);
    let guarded = Guarded::new(Arc::new(Panics), Limits { failures: 1, ..no_rate_limit() })
        .with_clock(move || *clock.lock().unwrap());
    let call = || std::panic::catch_unwind(AssertUnwindSafe(|| guarded.complete(&request())));
    call().unwrap_err();
    assert!(call().unwrap().unwrap_err().to_string().contains("in 30 minutes"));
    *time.lock().unwrap() += 30 * MINUTE;
    call().unwrap_err();
    assert!(call().unwrap().unwrap_err().to_string().contains("in 30 minutes"));
}

#[test]
fn calls_per_hour_are_limited_in_a_sliding_window() {
    let scene = scene(Limits { calls_per_hour: 2, ..no_rate_limit() });
    scene.call().unwrap();
    scene.advance(20 * MINUTE);
    scene.fail(ErrorKind::Unavailable);
    let error = scene.call().unwrap_err();
    assert_eq!((error.kind(), scene.calls()), (ErrorKind::RateLimited, 2));
    assert!(error.to_string().contains("the limit of 2 calls per hour"), "{error}");
    assert!(error.to_string().contains("in 40 minutes"), "{error}");
    scene.advance(40 * MINUTE);
    scene.call().unwrap();
    assert!(scene.call().unwrap_err().to_string().contains("in 20 minutes"));
}

#[test]
fn tokens_per_hour_are_limited_by_what_the_server_reports() {
    // The request may cost at most 53: 13 read, rather more than less, and 40 to write.
    let scene = scene(Limits { tokens_per_hour: 200, ..no_rate_limit() });
    scene.call_with(Ok(tea(Some(100)))).unwrap();
    scene.advance(10 * MINUTE);
    scene.call_with(Ok(tea(Some(60)))).unwrap();
    let error = scene.call().unwrap_err();
    assert_eq!((error.kind(), scene.calls()), (ErrorKind::RateLimited, 2));
    assert!(error.to_string().contains("the limit of 200 tokens per hour"), "{error}");
    assert!(error.to_string().contains("in 50 minutes"), "{error}");
    scene.advance(50 * MINUTE);
    scene.call().unwrap();
}

#[test]
fn tokens_that_the_server_does_not_report_are_estimated() {
    let scene = scene(Limits { tokens_per_hour: 100, ..no_rate_limit() });
    // 13 read and 2 written each, booked at 53 until that is known.
    for _ in 0..4 {
        scene.call().unwrap();
    }
    assert_eq!(scene.call().unwrap_err().kind(), ErrorKind::RateLimited);
    assert_eq!(scene.calls(), 4);
}

#[test]
fn a_call_above_the_token_limit_says_that_waiting_does_not_help() {
    let scene = scene(Limits { tokens_per_hour: 52, ..no_rate_limit() });
    let error = scene.call().unwrap_err();
    assert_eq!((error.kind(), scene.calls()), (ErrorKind::RateLimited, 0));
    assert!(error.remedy_text().unwrap().contains("raise the limit"), "{error:?}");
}

#[test]
fn a_call_refused_by_the_rate_limit_does_not_use_up_the_trial() {
    let limits = Limits { failures: 1, pause: MINUTE, calls_per_hour: 1, ..no_rate_limit() };
    let scene = scene(limits);
    scene.fail(ErrorKind::Unavailable);
    scene.advance(MINUTE);
    assert_eq!(scene.call().unwrap_err().kind(), ErrorKind::RateLimited);
    scene.advance(59 * MINUTE);
    scene.call().unwrap();
}

#[test]
fn zero_is_no_limit() {
    let scene = scene(Limits { failures: 0, ..no_rate_limit() });
    for _ in 0..300 {
        scene.fail(ErrorKind::Unauthorized);
        scene.call_with(Ok(tea(Some(u64::MAX)))).unwrap();
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
fn the_log_names_purpose_model_and_outcome_but_no_text() {
    let (log, scene) = (Log::default(), scene(Limits { failures: 1, ..no_rate_limit() }));
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::with_default(subscriber, || {
        scene.call_with(Ok(tea(Some(11)))).unwrap();
        scene.call_with(Err(Error::new(ErrorKind::Unavailable, "blue tin? no!"))).unwrap_err();
        scene.call().unwrap_err();
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
