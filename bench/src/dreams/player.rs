//! Plays a simulated year into a space, dreams every night, and records what was promoted when and what
//! MEMORY.md held.

use super::baseline::{Promotions, Recall};
use super::calendar::moment;
use super::claim::Matcher;
use super::words::ClaimKind;
use super::year::{Act, EchoForm, Event, Year};
use oneiro::{
    Clock, ErrorKind, HitKind, Ids, ListMemories, Memory, MemoryId, MemoryStatus, NewMessage,
    NewSession, NoteName, Oneiro, PackRequest, Result, Role, SearchRequest, SessionId, Timestamp,
};
use oneiro_text::Analyzer;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// When a space dreams, in seconds after the midnight that ends a day.
const DREAM_SECOND: u32 = 3 * 3_600;

/// The note that dreams keep.
const MEMORY_NOTE: &str = "MEMORY.md";

/// Active memories that are compared each night.
const MEMORIES_MAX: usize = 500;

/// Results that openclaw shows a model, and the least score of one.
const OPENCLAW_RESULTS: usize = 6;
const OPENCLAW_MIN_SCORE: f64 = 0.35;

/// Nights that an ended claim may stand in the note.
pub const NIGHTS_TO_FORGET: usize = 7;

/// A clock that the player sets.
#[derive(Default)]
pub struct YearClock(AtomicI64);

impl YearClock {
    fn set(&self, at: Timestamp) {
        self.0.store(at.micros(), Ordering::SeqCst);
    }
}

impl Clock for YearClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}

/// Ids that count, so that two spaces that live through the same year have the same.
#[derive(Default)]
pub struct YearIds(AtomicI64);

impl Ids for YearIds {
    fn random(&self) -> [u8; 10] {
        let mut bytes = [0; 10];
        let number = self.0.fetch_add(1, Ordering::SeqCst);
        bytes[2..].copy_from_slice(&number.to_be_bytes());
        bytes
    }

    fn secret(&self) -> Result<[u8; 32]> {
        let mut bytes = [7; 32];
        bytes[..10].copy_from_slice(&self.random());
        Ok(bytes)
    }
}

/// What was seen in the nights of a year.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Played {
    /// The first night on which each claim stood in the note, or on which a dream made it active.
    pub promoted: Promotions,
    /// Texts that were promoted though no claim of the year states them.
    pub unknown: BTreeSet<String>,
    /// Claims that still stood in the note too long after they ended, with the last such night.
    pub stale: BTreeMap<usize, usize>,
    /// Lines about a person that do not name them.
    pub unnamed: BTreeSet<String>,
    /// The most characters that the note had.
    pub chars_max: usize,
    /// Its limit.
    pub chars_limit: usize,
    /// Nights on which it was over its limit.
    pub nights_over_limit: usize,
    /// The note of the last night.
    pub note: String,
    /// The claims that stood in it.
    pub held: BTreeSet<usize>,
    /// Messages that were appended.
    pub messages: usize,
    /// Questions of people about claims that hold.
    pub asked: usize,
    /// Those whose search found a memory that states the claim.
    pub answered: usize,
}

/// Plays a year into a space.
pub struct Player<'y> {
    year: &'y Year,
    matcher: Matcher,
    oneiro: Oneiro,
    clock: Arc<YearClock>,
    sessions: BTreeSet<String>,
    /// The last pack of each session.
    served: HashMap<String, String>,
    /// What searches showed, for the baselines.
    recalls: Vec<Recall>,
    /// Whether learning makes memories active by itself, also while a dream gathers.
    own_words: bool,
    played: Played,
}

impl<'y> Player<'y> {
    /// Plays into `oneiro`, whose clock is `clock`. What the person says in their own words waits
    /// for a dream, unless `own_words` is set.
    pub fn new(
        year: &'y Year,
        oneiro: Oneiro,
        clock: Arc<YearClock>,
        own_words: bool,
    ) -> Result<Player<'y>> {
        clock.set(moment(0, 0));
        oneiro.settings().set("learn_activate_own_words", Some(json!(own_words)))?;
        Ok(Player {
            year,
            matcher: Matcher::new(&year.claims),
            oneiro,
            clock,
            sessions: BTreeSet::new(),
            served: HashMap::new(),
            recalls: Vec::new(),
            own_words,
            played: Played::default(),
        })
    }

    /// The space.
    pub fn oneiro(&self) -> &Oneiro {
        &self.oneiro
    }

    /// Lives through every day and dreams after each.
    pub fn play(&mut self, dream: &dyn Fn(&Oneiro) -> Result<()>) -> Result<()> {
        for day in 0..self.year.days.len() {
            self.live(day)?;
            self.dream(day, dream)?;
        }
        Ok(())
    }

    /// Lives through a day.
    pub fn live(&mut self, day: usize) -> Result<()> {
        let year = self.year;
        for event in year.days.get(day).into_iter().flatten() {
            self.clock.set(moment(day, event.second));
            self.begin(&event.session)?;
            self.act(day, event)?;
        }
        Ok(())
    }

    /// The night after a day.
    pub fn dream(&mut self, day: usize, dream: &dyn Fn(&Oneiro) -> Result<()>) -> Result<()> {
        self.clock.set(moment(day + 1, DREAM_SECOND));
        let before: BTreeSet<MemoryId> =
            self.active()?.into_iter().map(|memory| memory.id).collect();
        dream(&self.oneiro)?;
        for memory in self.active()? {
            if !self.own_words && !before.contains(&memory.id) {
                self.promote(&memory.content, day);
            }
        }
        self.read_note(day)
    }

    /// What was seen, and what searches showed.
    pub fn finish(self) -> (Played, Vec<Recall>) {
        (self.played, self.recalls)
    }

    fn active(&self) -> Result<Vec<Memory>> {
        let status = Some(MemoryStatus::Active);
        let request = ListMemories { status, limit: MEMORIES_MAX, ..ListMemories::default() };
        Ok(self.oneiro.memories().list(&request)?.items)
    }

    fn promote(&mut self, text: &str, night: usize) {
        let stated = self.matcher.stated(text);
        if !stated.is_known {
            self.played.unknown.insert(text.to_owned());
        }
        for claim in stated.claims {
            self.played.promoted.entry(claim).or_insert(night);
        }
    }

    fn read_note(&mut self, night: usize) -> Result<()> {
        let note = match self.oneiro.notes().get(&NoteName::parse(MEMORY_NOTE)?) {
            Ok(note) => note,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let limit = note.limit.unwrap_or(usize::MAX);
        self.played.chars_limit = limit;
        self.played.chars_max = self.played.chars_max.max(note.chars);
        self.played.nights_over_limit += usize::from(note.chars > limit);
        self.played.held.clear();
        let lines = note.content.lines().map(str::trim);
        let entries = lines.filter(|line| !line.is_empty() && !line.starts_with(['#', '<']));
        for line in entries {
            self.promote(line, night);
            for number in self.matcher.stated(line).claims {
                self.played.held.insert(number);
                let Some(claim) = self.year.claims.get(number) else { continue };
                if !line.to_lowercase().contains(&claim.subject.to_lowercase()) {
                    self.played.unnamed.insert(line.to_owned());
                }
                if claim.ended.is_some_and(|(day, _)| night >= day + NIGHTS_TO_FORGET) {
                    self.played.stale.insert(number, night);
                }
            }
        }
        self.played.note = note.content;
        Ok(())
    }

    fn begin(&mut self, session: &str) -> Result<()> {
        if !self.sessions.insert(session.to_owned()) {
            return Ok(());
        }
        let info = self.year.sessions.get(session);
        self.oneiro.sessions().create(NewSession {
            source: info.map(|info| info.source.to_owned()),
            user_id: info.and_then(|info| info.user.clone()),
            ..NewSession::with_id(SessionId::new(session)?)
        })?;
        Ok(())
    }

    fn act(&mut self, day: usize, event: &Event) -> Result<()> {
        let session = event.session.as_str();
        match &event.act {
            Act::Say { name, text } => self.say(session, name.as_deref(), text),
            Act::Answer { text } => self.append(session, vec![answer(text)]),
            Act::ToolOutput { text } => self.append(session, tool_output(text)),
            Act::Ask { name, prompt, query, reply } => {
                self.say(session, name.as_deref(), prompt)?;
                self.recall(event, query, day)?;
                self.append(session, vec![answer(reply)])
            }
            Act::Pack { prompt } => {
                let id = SessionId::new(session)?;
                let request = PackRequest { session: Some(id), ..PackRequest::new(prompt) };
                let pack = self.oneiro.packs().make(&request)?;
                self.served.insert(session.to_owned(), pack.text);
                Ok(())
            }
            Act::Echo { name, form } => {
                let Some(text) = self.served.get(session).cloned() else { return Ok(()) };
                if text.trim().is_empty() {
                    return Ok(());
                }
                match form {
                    EchoForm::Whole => self.say(session, name.as_deref(), &text),
                    EchoForm::Quoted => {
                        let lines: Vec<String> =
                            text.lines().map(|line| format!("> {line}")).collect();
                        self.say(session, name.as_deref(), &lines.join("\n"))
                    }
                    EchoForm::Tool => self.append(session, tool_output(&text)),
                    EchoForm::Repeated => self.append(session, vec![answer(&text)]),
                }
            }
        }
    }

    fn say(&mut self, session: &str, name: Option<&str>, text: &str) -> Result<()> {
        let mut message = NewMessage::text(Role::User, text);
        if let Some(name) = name {
            message.body.insert("name".to_owned(), Value::from(name));
        }
        self.append(session, vec![message])
    }

    fn append(&mut self, session: &str, messages: Vec<NewMessage>) -> Result<()> {
        let at = self.clock.now();
        let messages: Vec<NewMessage> =
            messages.into_iter().map(|message| message.at(at)).collect();
        self.played.messages += messages.len();
        self.oneiro.messages().append(&SessionId::new(session)?, messages)?;
        Ok(())
    }

    /// The agent searches on behalf of the last prompt of a session.
    fn recall(&mut self, event: &Event, query: &str, day: usize) -> Result<()> {
        let id = SessionId::new(&event.session)?;
        let found = self.oneiro.search().run(&SearchRequest {
            kinds: vec![HitKind::Memory, HitKind::Message],
            for_session: Some(id.clone()),
            exclude_lineage: Some(id),
            ..SearchRequest::new(query)
        })?;
        let asked = event.claim.filter(|claim| {
            let claim = self.year.claims.get(*claim);
            claim.is_some_and(|it| it.kind == ClaimKind::Durable && it.holds_on(day))
        });
        if let Some(claim) = asked {
            let states = |text: &str| self.matcher.stated(text).claims.contains(&claim);
            self.played.asked += 1;
            let is_found = found.memories.iter().any(|hit| states(&hit.content));
            self.played.answered += usize::from(is_found);
        }
        let memories = found.memories.iter().map(|hit| (hit.score, hit.content.as_str()));
        let messages = found.hits.iter().map(|hit| (hit.score, hit.snippet.as_str()));
        let mut hits: Vec<(f64, &str)> = memories.chain(messages).collect();
        hits.sort_by(|one, other| other.0.total_cmp(&one.0));
        let words = Analyzer::default().content_terms(query);
        let mut shown: BTreeMap<usize, f64> = BTreeMap::new();
        for (_, text) in hits.into_iter().take(OPENCLAW_RESULTS) {
            let shared = Analyzer::default().content_terms(text).intersection(&words).count();
            let relevance = shared as f64 / words.len().max(1) as f64;
            for claim in self.matcher.stated(text).claims {
                let most = shown.entry(claim).or_default();
                *most = most.max(relevance);
            }
        }
        shown.retain(|_, relevance| *relevance >= OPENCLAW_MIN_SCORE);
        let recall = |(claim, score)| Recall { claim, day, query: query.to_owned(), score };
        self.recalls.extend(shown.into_iter().map(recall));
        Ok(())
    }
}

fn answer(text: &str) -> NewMessage {
    NewMessage::text(Role::Assistant, text)
}

/// A call of a tool and what it gave.
fn tool_output(text: &str) -> Vec<NewMessage> {
    let call = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "fetch", "arguments": "{}"}}
    ]});
    let output = json!({"role": "tool", "tool_call_id": "c1", "content": text});
    [call, output].into_iter().filter_map(|message| NewMessage::from_json(message).ok()).collect()
}
