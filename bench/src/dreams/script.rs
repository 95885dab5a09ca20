//! Writes the days of a simulated year: puts what is planned into sessions, with errands, small talk,
//! packs and echoes around it.

use super::calendar::short_date;
use super::claim::Claim;
use super::year::{Act, EchoForm, Event, SessionInfo, Year, YearRequest};
use std::collections::BTreeMap;

/// People talk between these seconds of a day.
const MORNING: u32 = 8 * 3_600;
const EVENING: u32 = 20 * 3_600;

/// Keeps the draws of exposure apart from all others, so that more of it changes nothing else.
const EXPOSURE_SEED: u64 = 0x0E0E_0E0E;

/// Something planned for a day.
#[derive(Debug, Clone)]
pub(super) enum Item {
    Say {
        who: &'static str,
        claim: usize,
        text: String,
        in_team: bool,
    },
    Ask {
        who: &'static str,
        claim: usize,
        prompt: String,
        query: String,
        in_team: bool,
    },
    /// Text of others that a person pastes or a tool reads.
    Taint {
        who: &'static str,
        claim: usize,
        text: String,
    },
    SelfWritten {
        who: &'static str,
        claim: usize,
        text: String,
    },
    /// A scheduled job writes a text and searches the memory.
    Job {
        claim: usize,
        source: &'static str,
        text: String,
        query: String,
    },
}

/// What the days are written from.
pub(super) struct Script {
    pub lines: BTreeMap<&'static str, Vec<&'static str>>,
    pub people: Vec<&'static str>,
    pub claims: Vec<Claim>,
    pub items: Vec<Vec<Item>>,
}

/// A day that is being written.
struct Day<'s> {
    number: usize,
    script: &'s Script,
    rng: &'s mut fastrand::Rng,
    sessions: &'s mut BTreeMap<String, SessionInfo>,
    /// Blocks of events that belong together.
    blocks: Vec<Vec<Event>>,
}

impl Script {
    pub fn year(self, request: &YearRequest, mut rng: fastrand::Rng) -> Year {
        let mut exposure_rng = fastrand::Rng::with_seed(request.seed ^ EXPOSURE_SEED);
        let mut sessions = BTreeMap::new();
        let mut days = Vec::new();
        for (number, items) in self.items.iter().enumerate() {
            let mut day = Day {
                number,
                script: &self,
                rng: &mut rng,
                sessions: &mut sessions,
                blocks: Vec::new(),
            };
            items.iter().for_each(|item| day.add(item));
            day.add_errands();
            let mut events = day.in_order();
            self.expose(&mut events, &mut exposure_rng, request.exposure);
            days.push(events);
        }
        Year { claims: self.claims, sessions, days }
    }

    fn line(&self, rng: &mut fastrand::Rng, section: &str) -> &'static str {
        let lines = self.lines.get(section).map_or(&[][..], Vec::as_slice);
        lines.get(rng.usize(..lines.len().max(1))).copied().unwrap_or_default()
    }

    /// Packs that are served, and some that come back, at the times of what they follow.
    fn expose(&self, events: &mut Vec<Event>, rng: &mut fastrand::Rng, times: usize) {
        let mut exposed = Vec::with_capacity(events.len());
        for event in events.drain(..) {
            let (session, second) = (event.session.clone(), event.second);
            let prompt = match &event.act {
                Act::Ask { prompt, name: Some(_), .. } => Some(prompt.clone()),
                Act::Say { text, name: Some(_) } => Some(text.clone()),
                _ => None,
            };
            let name = match &event.act {
                Act::Ask { name, .. } | Act::Say { name, .. } => name.clone(),
                _ => None,
            };
            exposed.push(event);
            let Some(prompt) = prompt.filter(|_| rng.usize(..4) == 0) else { continue };
            let prompt = match rng.usize(..3) {
                0 => prompt,
                1 => self.line(rng, "errand").to_owned(),
                _ => {
                    let at = rng.usize(..self.claims.len().max(1));
                    let about = self.claims.get(at);
                    about.map_or(prompt, |it| format!("{} {}", it.subject, it.topic))
                }
            };
            let echo = if rng.usize(..6) == 0 { rng.choice(EchoForm::ALL) } else { None };
            let event = |act| Event { second, session: session.clone(), claim: None, act };
            for _ in 0..times {
                exposed.push(event(Act::Pack { prompt: prompt.clone() }));
                let name = name.clone();
                exposed.extend(echo.map(|form| event(Act::Echo { name, form })));
            }
        }
        *events = exposed;
    }
}

impl Day<'_> {
    fn line(&mut self, section: &str) -> &'static str {
        self.script.line(self.rng, section)
    }

    /// The session of a person on this day.
    fn session_of(&mut self, who: &str) -> String {
        let info = SessionInfo { user: Some(who.to_owned()), source: "telegram", day: self.number };
        self.session(format!("{}-{}", who.to_lowercase(), short_date(self.number)), info)
    }

    /// The session in which several people speak about their projects.
    fn session_of_team(&mut self) -> String {
        let info = SessionInfo { user: None, source: "discord", day: self.number };
        self.session(format!("team-{}", short_date(self.number)), info)
    }

    fn session(&mut self, id: String, info: SessionInfo) -> String {
        self.sessions.entry(id.clone()).or_insert(info);
        id
    }

    fn block(&mut self, session: &str, claim: Option<usize>, acts: Vec<Act>) {
        let event = |act| Event { second: 0, session: session.to_owned(), claim, act };
        self.blocks.push(acts.into_iter().map(event).collect());
    }

    fn add(&mut self, item: &Item) {
        match item {
            Item::Say { who, claim, text, in_team } => {
                let session = if *in_team { self.session_of_team() } else { self.session_of(who) };
                let say = Act::Say { name: Some((*who).to_owned()), text: text.clone() };
                self.block(&session, Some(*claim), vec![say]);
                self.add_reply(&session);
            }
            Item::Ask { who, claim, prompt, query, in_team } => {
                let session = if *in_team { self.session_of_team() } else { self.session_of(who) };
                let value = self.script.claims.get(*claim).map_or("", |it| it.value.as_str());
                let reply = match self.rng.usize(..3) {
                    0 => format!("That is {value}, as far as I know."),
                    1 => format!("Here you are; I have put in {value}."),
                    _ => self.line("reply").to_owned(),
                };
                let name = Some((*who).to_owned());
                let (prompt, query) = (prompt.clone(), query.clone());
                self.block(&session, Some(*claim), vec![Act::Ask { name, prompt, query, reply }]);
            }
            Item::Taint { who, claim, text } => {
                let session = self.session_of(who);
                let name = Some((*who).to_owned());
                let paste = self.line("paste").replace("\\n", "\n").replace("{text}", text);
                let acts = if self.rng.bool() {
                    vec![Act::Say { name, text: paste }]
                } else {
                    vec![Act::ToolOutput { text: text.clone() }]
                };
                self.block(&session, Some(*claim), acts);
            }
            Item::SelfWritten { who, claim, text } => {
                let session = self.session_of(who);
                self.block(&session, Some(*claim), vec![Act::Answer { text: text.clone() }]);
            }
            Item::Job { claim, source, text, query } => {
                let value = self.script.claims.get(*claim).map_or("", |it| it.value.as_str());
                let id = format!("{source}:{value}:{}", short_date(self.number));
                let info = SessionInfo { user: None, source, day: self.number };
                let session = self.session(id, info);
                let say = Act::Say { name: None, text: text.clone() };
                self.block(&session, Some(*claim), vec![say]);
                let ask = Act::Ask {
                    name: None,
                    prompt: format!("Nightly check: {query}"),
                    query: query.clone(),
                    reply: "ok".to_owned(),
                };
                self.block(&session, None, vec![ask]);
            }
        }
    }

    fn add_reply(&mut self, session: &str) {
        let text = self.line("reply").to_owned();
        if let Some(block) = self.blocks.last_mut() {
            let session = session.to_owned();
            block.push(Event { second: 0, session, claim: None, act: Act::Answer { text } });
        }
    }

    /// What people do apart from stating anything.
    fn add_errands(&mut self) {
        for who in self.script.people.clone() {
            for _ in 0..self.rng.usize(..3) {
                let section = if self.rng.usize(..3) == 0 { "smalltalk" } else { "errand" };
                let text = self.line(section).to_owned();
                let session = self.session_of(who);
                self.block(&session, None, vec![Act::Say { name: Some(who.to_owned()), text }]);
                self.add_reply(&session);
            }
        }
    }

    /// The events of the day, spread over its hours.
    fn in_order(mut self) -> Vec<Event> {
        self.rng.shuffle(&mut self.blocks);
        let mut events: Vec<Event> = self.blocks.into_iter().flatten().collect();
        let step = (EVENING - MORNING) / u32::try_from(events.len().max(1)).unwrap_or(u32::MAX);
        for (event, number) in events.iter_mut().zip(0..) {
            event.second = MORNING + number * step;
        }
        events
    }
}
