//! What the tests of the engine share: a clock and ids that obey, opening a space, and a dump of
//! everything in it.

use oneiro::{
    Clock, Durability, ExportRequest, Ids, ImportLimits, ListMemories, ListOperations, Message,
    NewMessage, NewSession, Oneiro, Options, Result, Role, Session, SessionId, Target, Timestamp,
};
use oneiro_store::FaultPlan;
use oneiro_testkit::{Backend, TestSpace};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Where every clock begins.
pub const NOW: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

/// A clock that stands still until it is set.
pub struct FakeClock(AtomicI64);

impl FakeClock {
    pub fn set(&self, seconds: i64) {
        self.0.store(NOW.micros() + seconds * 1_000_000, Ordering::SeqCst);
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}

/// Ids that count, in the six digits that an id may have: ids of digits all cost the same tokens,
/// so a window does not depend on which ones its summaries got.
pub struct FakeIds(AtomicI64);

impl FakeIds {
    pub fn set(&self, next: i64) {
        self.0.store(next, Ordering::SeqCst);
    }
}

impl Ids for FakeIds {
    fn random(&self) -> [u8; 10] {
        const FIRST_DIGIT: u128 = 26;
        let mut number = self.0.fetch_add(1, Ordering::SeqCst) as u128;
        let mut bits = 0;
        for place in 0..16 {
            bits |= (FIRST_DIGIT + number % 6) << (5 * place);
            number /= 6;
        }
        let mut bytes = [0; 10];
        bytes.copy_from_slice(&bits.to_be_bytes()[6..]);
        bytes
    }

    fn secret(&self) -> oneiro::Result<[u8; 32]> {
        let mut bytes = [0; 32];
        bytes[..10].copy_from_slice(&self.random());
        Ok(bytes)
    }
}

/// A handle with its clock and ids.
pub struct Fixed {
    pub oneiro: Oneiro,
    pub clock: Arc<FakeClock>,
}

impl std::ops::Deref for Fixed {
    type Target = Oneiro;

    fn deref(&self) -> &Oneiro {
        &self.oneiro
    }
}

pub fn clock() -> Arc<FakeClock> {
    let clock = FakeClock(AtomicI64::new(0));
    clock.set(0);
    Arc::new(clock)
}

pub fn ids() -> Arc<FakeIds> {
    // Handles on one store must not make the same ids.
    static HANDLES: AtomicI64 = AtomicI64::new(0);
    Arc::new(FakeIds(AtomicI64::new(1 + 10_000_000 * HANDLES.fetch_add(1, Ordering::SeqCst))))
}

pub fn target(space: &TestSpace) -> Target {
    Target::parse(&space.store, Some(&space.space)).unwrap()
}

/// Opens a space; what these tests lose with the power they may lose.
pub fn open(space: &TestSpace) -> Fixed {
    open_at(&target(space))
}

pub fn open_at(target: &Target) -> Fixed {
    let clock = clock();
    let options = Options {
        durability: Durability::Normal,
        clock: Arc::clone(&clock) as _,
        ids: ids(),
        ..Options::default()
    };
    Fixed { oneiro: Oneiro::open(target, options).unwrap(), clock }
}

pub fn id(text: &str) -> SessionId {
    SessionId::new(text).unwrap()
}

pub fn new(text: &str) -> NewSession {
    NewSession::with_id(id(text))
}

pub fn begin(oneiro: &Oneiro, text: &str) -> Session {
    oneiro.sessions().create(new(text)).unwrap()
}

pub fn user(text: &str) -> NewMessage {
    NewMessage::text(Role::User, text)
}

pub fn agent(text: &str) -> NewMessage {
    NewMessage::text(Role::Assistant, text)
}

/// Says something in a session; answers the ids.
pub fn say(oneiro: &Oneiro, session: &str, texts: &[&str]) -> Vec<i64> {
    let messages = texts.iter().map(|text| user(text)).collect();
    oneiro
        .messages()
        .append(&id(session), messages)
        .unwrap()
        .ids
        .into_iter()
        .map(|id| id.0)
        .collect()
}

pub fn content(message: &Message) -> String {
    message.body.get("content").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The texts of the live messages of a session, or with `hidden` of all.
pub fn message_texts(oneiro: &Oneiro, session: &str, hidden: bool) -> Vec<String> {
    let view = oneiro.sessions().show(&id(session), hidden).unwrap();
    view.messages.iter().map(content).collect()
}

pub fn export(oneiro: &Oneiro) -> String {
    let mut out = Vec::new();
    oneiro.transfer().export(&ExportRequest::default(), &mut out, &mut |_| {}).unwrap();
    String::from_utf8(out).unwrap()
}

pub fn import(oneiro: &Oneiro, text: &str) -> Result<oneiro::Imported> {
    oneiro.transfer().import(&mut text.as_bytes(), ImportLimits::default(), &mut |_| {})
}

/// The sessions of an export without the ids of messages, which each space assigns itself.
pub fn without_ids(export: &str) -> Vec<Value> {
    let lines = export.lines().filter(|line| line.starts_with("{\"id\"")).map(|line| {
        let mut session: Value = serde_json::from_str(line).unwrap();
        for message in session["messages"].as_array_mut().unwrap() {
            message.as_object_mut().unwrap().remove("id");
        }
        for rewound in
            session.get_mut("rewinds").and_then(Value::as_array_mut).into_iter().flatten()
        {
            rewound.as_object_mut().unwrap().remove("message");
        }
        session
    });
    lines.collect()
}

/// Everything in a space, but for where it is and how large.
pub fn dump(oneiro: &Oneiro) -> String {
    let mut stats = json!(oneiro.stats().unwrap());
    for place in ["space", "store", "engine", "bytes"] {
        stats.as_object_mut().unwrap().remove(place);
    }
    let settings = oneiro.settings().list().unwrap();
    let jobs = json!(oneiro.jobs().list(None, 1_000).unwrap().items);
    let memories = ListMemories { limit: 1_000, ..ListMemories::default() };
    let memories = json!(oneiro.memories().list(&memories).unwrap().items);
    let operations = ListOperations { limit: 1_000, ..ListOperations::default() };
    let operations = json!(oneiro.operations().list(&operations).unwrap().items);
    format!("{}{stats}\n{settings:?}\n{jobs}\n{memories}\n{operations}\n", export(oneiro))
}

/// Nothing is damaged, and every counter matches its rows.
pub fn assert_sound(oneiro: &Oneiro) {
    let checked = oneiro.check().unwrap();
    assert!(checked.ok, "{checked:?}");
}

/// The calls at which a fault of one kind is tried: each under `scripts/torture`, otherwise some of
/// them, other ones for each kind of fault. On a server each trial costs a new schema, and the
/// transactions are those of SQLite.
pub struct FaultCalls {
    stride: u64,
    next: u64,
}

impl FaultCalls {
    pub fn new(backend: Backend, plan: FaultPlan) -> FaultCalls {
        let stride = match backend {
            _ if std::env::var_os("ONEIRO_TORTURE_SECONDS").is_some() => 1,
            Backend::Sqlite => 3,
            Backend::Postgres => 17,
        };
        let offset = match plan {
            FaultPlan::CrashBefore(_) => stride / 3,
            FaultPlan::CrashAfter(_) => 2 * stride / 3,
            FaultPlan::Count | FaultPlan::FailAt(_) | FaultPlan::PanicAt(_) => 0,
        };
        FaultCalls { stride, next: 1 + offset }
    }
}

impl Iterator for FaultCalls {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let at = self.next;
        self.next += self.stride;
        Some(at)
    }
}
