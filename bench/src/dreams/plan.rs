//! Plans a simulated year: which claims are made, recalled, changed and ended on which day, and the
//! noise around them.

use super::calendar::long_date;
use super::claim::{Claim, End, Evidence};
use super::script::{Item, Script};
use super::words::{ClaimKind, Form, Topic, Words};
use super::year::{Year, YearRequest};
use std::collections::{BTreeMap, BTreeSet};

/// Names, and the language that they speak beside English.
const PEOPLE: [(&str, &str); 8] = [
    ("Ana", "es"),
    ("Ben", "de"),
    ("Priya", "en"),
    ("Tomas", "es"),
    ("Greta", "de"),
    ("Wren", "en"),
    ("Noor", "en"),
    ("Jonas", "de"),
];

const PROJECTS: [&str; 5] = ["Lighthouse", "Marigold", "Falcon", "Tundra", "Juniper"];

/// Projects of a year.
const PROJECTS_PER_YEAR: usize = 2;

/// A topic of a person or project is left out once in this many times, so that years differ.
const LEFT_OUT_ONE_IN: usize = 5;

/// Days between a claim that never lasts and the next of its kind.
const DAYS_PER_PASSING: usize = 7;
const DAYS_PER_TALK: usize = 9;
const DAYS_PER_TAINTED: usize = 12;
const DAYS_PER_SELF: usize = 20;

/// No fact changes on the last days, so that seven nights remain to forget the old one.
const LAST_DAYS: usize = 9;

/// How a claim lives on after its first statement.
#[derive(Clone, Copy)]
enum Life {
    /// The person asks for it.
    Asked,
    /// The person says it again.
    Restated,
    /// Both.
    Mixed,
    /// Hardly anything follows.
    Once,
}

pub(super) struct Planner {
    words: Words,
    rng: fastrand::Rng,
    request: YearRequest,
    people: Vec<(&'static str, &'static str)>,
    /// Values that no claim has yet, shuffled.
    pools: BTreeMap<&'static str, Vec<&'static str>>,
    claims: Vec<Claim>,
    items: Vec<Vec<Item>>,
    slots: usize,
}

/// Who a claim is about, and who speaks of it.
struct Voice {
    who: &'static str,
    language: &'static str,
    project: &'static str,
    /// A day that its texts name.
    date: String,
}

/// What is spoken of, and by whom.
#[derive(Clone, Copy)]
struct Told<'t> {
    topic: &'t Topic,
    voice: &'t Voice,
}

impl Planner {
    pub fn new(request: &YearRequest) -> Planner {
        let mut rng = fastrand::Rng::with_seed(request.seed);
        let words = Words::read();
        let mut pools = words.pools.clone();
        pools.values_mut().for_each(|values| rng.shuffle(values));
        let mut people = PEOPLE.to_vec();
        rng.shuffle(&mut people);
        people.truncate(request.people.clamp(1, PEOPLE.len()));
        Planner {
            words,
            rng,
            request: *request,
            people,
            pools,
            claims: Vec::new(),
            items: vec![Vec::new(); request.days],
            slots: 0,
        }
    }

    pub fn plan(mut self) -> Year {
        let topics = std::mem::take(&mut self.words.topics);
        let mut projects = PROJECTS.to_vec();
        self.rng.shuffle(&mut projects);
        projects.truncate(PROJECTS_PER_YEAR);
        for topic in topics.iter().filter(|topic| topic.kind == ClaimKind::Durable) {
            let subjects = if topic.is_project { projects.len() } else { self.people.len() };
            for subject in 0..subjects {
                if self.rng.usize(..LEFT_OUT_ONE_IN) > 0 {
                    let person = if topic.is_project { self.any_person() } else { subject };
                    let project = projects.get(subject).copied().unwrap_or(PROJECTS[0]);
                    self.live(topic, person, project);
                }
            }
        }
        for (kind, every) in [
            (ClaimKind::Passing, DAYS_PER_PASSING),
            (ClaimKind::SmallTalk, DAYS_PER_TALK),
            (ClaimKind::Tainted, DAYS_PER_TAINTED),
            (ClaimKind::SelfWritten, DAYS_PER_SELF),
        ] {
            let topics: Vec<&Topic> = topics.iter().filter(|topic| topic.kind == kind).collect();
            let count = (self.request.days / every).max(topics.len().min(2));
            for number in 0..count.max(8.min(self.request.days / 4)) {
                if let Some(topic) = topics.get(number % topics.len().max(1)) {
                    self.tempt(topic, projects.first().copied().unwrap_or(PROJECTS[0]));
                }
            }
        }
        for topic in topics.iter().filter(|topic| topic.kind == ClaimKind::MachineMade) {
            for _ in 0..5 {
                self.run_job(topic);
            }
        }
        self.claims.iter_mut().for_each(|it| it.evidence.sort_by_key(|evidence| evidence.day));
        let script = Script {
            lines: self.words.lines,
            people: self.people.iter().map(|(name, _)| *name).collect(),
            claims: self.claims,
            items: self.items,
        };
        script.year(&self.request, self.rng)
    }

    fn any_person(&mut self) -> usize {
        self.rng.usize(..self.people.len())
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        if of.is_empty() { None } else { of.get(self.rng.usize(..of.len())).copied() }
    }

    fn voice(&mut self, topic: &Topic, person: usize, project: &'static str) -> Voice {
        let (who, other) = self.people.get(person).copied().unwrap_or(PEOPLE[0]);
        let is_other = topic.speaks(other) && self.rng.usize(..3) == 0;
        Voice { who, project, language: if is_other { other } else { "en" }, date: String::new() }
    }

    /// A claim with a value that no other has; `None` when the pool is empty.
    fn claim(&mut self, told: Told<'_>, slot: usize, day: usize) -> Option<usize> {
        let Told { topic, voice } = told;
        let value = self.pools.get_mut(topic.values)?.pop()?;
        let subject = if topic.is_project { voice.project } else { voice.who };
        self.claims.push(Claim {
            topic: topic.name,
            kind: topic.kind,
            subject: subject.to_owned(),
            value: value.to_owned(),
            slot,
            first_day: day,
            ended: None,
            evidence: Vec::new(),
            said_on: BTreeSet::new(),
        });
        Some(self.claims.len() - 1)
    }

    fn new_slot(&mut self) -> usize {
        self.slots += 1;
        self.slots - 1
    }

    /// The gap to the next time, in days.
    fn gap(&mut self) -> usize {
        1 + self.rng.usize(..(self.request.days / 30).max(2))
    }

    /// A durable topic of a person or a project, with the changes of its value.
    fn live(&mut self, topic: &Topic, person: usize, project: &'static str) {
        let voice = self.voice(topic, person, project);
        let slot = self.new_slot();
        let day = self.rng.usize(..(self.request.days * 6 / 10).max(1));
        let Some(mut claim) = self.claim(Told { topic, voice: &voice }, slot, day) else { return };
        self.say(Told { topic, voice: &voice }, claim, (Form::Say, day));
        let mut last = self.follow(Told { topic, voice: &voice }, claim, day);
        // At most two changes.
        for _ in 0..2 {
            let forms = [Form::Change, Form::Correct, Form::Stop];
            let possible: Vec<Form> = forms
                .into_iter()
                .filter(|form| !topic.texts(voice.language, *form).is_empty())
                .collect();
            let changes = !possible.is_empty() && self.rng.usize(..5) < 2;
            let end = last + 1 + self.rng.usize(..(self.request.days / 8).max(2));
            let Some(form) = self.pick(&possible).filter(|_| changes) else { break };
            if end + LAST_DAYS >= self.request.days {
                break;
            }
            let ended = if form == Form::Stop { End::Stopped } else { End::Superseded };
            let old = claim;
            if form == Form::Stop {
                self.end(old, end, ended);
                self.say(Told { topic, voice: &voice }, old, (form, end));
                return;
            }
            let Some(new) = self.claim(Told { topic, voice: &voice }, slot, end) else { break };
            self.end(old, end, ended);
            claim = new;
            self.say(Told { topic, voice: &voice }, claim, (form, end));
            last = self.follow(Told { topic, voice: &voice }, claim, end);
        }
        // It is asked for now and then until the year ends.
        let mut day = last + 30 + self.rng.usize(..30);
        while day < self.request.days {
            self.add_prompt(Told { topic, voice: &voice }, claim, day);
            day += 30 + self.rng.usize(..30);
        }
    }

    fn end(&mut self, claim: usize, day: usize, end: End) {
        if let Some(claim) = self.claims.get_mut(claim) {
            claim.ended = Some((day, end));
        }
    }

    /// What follows a first statement; answers the last day of it.
    fn follow(&mut self, told: Told<'_>, claim: usize, first: usize) -> usize {
        let life = match self.rng.usize(..20) {
            0..=10 => Life::Asked,
            11..=13 => Life::Restated,
            14..=15 => Life::Mixed,
            _ => Life::Once,
        };
        let (asks, restatements) = match life {
            Life::Asked => (3 + self.rng.usize(..4), 0),
            Life::Restated => (self.rng.usize(..2), 3 + self.rng.usize(..2)),
            Life::Mixed => (2 + self.rng.usize(..2), 1),
            Life::Once => (self.rng.usize(..2), 0),
        };
        let mut order: Vec<bool> = (0..asks + restatements).map(|at| at < asks).collect();
        self.rng.shuffle(&mut order);
        let mut day = first;
        for is_ask in order {
            // Two questions on one day happen, but a restatement takes another day.
            let same_day = is_ask && day > first && self.rng.usize(..4) == 0;
            day += if same_day { 0 } else { self.gap() };
            if day >= self.request.days {
                break;
            }
            if is_ask {
                self.add_prompt(told, claim, day);
            } else {
                self.restate(told, claim, day);
            }
        }
        day.min(self.request.days - 1)
    }

    /// Claims that must not be promoted, many of them with more evidence than a preset asks for.
    fn tempt(&mut self, topic: &Topic, project: &'static str) {
        let person = self.any_person();
        let mut voice = self.voice(topic, person, project);
        let day = self.rng.usize(..(self.request.days * 9 / 10).max(1));
        voice.date = long_date(day + 14 + self.rng.usize(..40), voice.language);
        let slot = self.new_slot();
        let Some(claim) = self.claim(Told { topic, voice: &voice }, slot, day) else { return };
        self.say(Told { topic, voice: &voice }, claim, (Form::Say, day));
        if self.rng.usize(..5) < 2 {
            return;
        }
        let mut at = day;
        for _ in 0..3 + self.rng.usize(..3) {
            at += self.gap();
            if at >= self.request.days {
                break;
            }
            let asks = topic.texts(voice.language, Form::Ask);
            if asks.is_empty() || self.rng.usize(..5) < 2 {
                self.restate(Told { topic, voice: &voice }, claim, at);
            } else {
                self.add_prompt(Told { topic, voice: &voice }, claim, at);
            }
        }
    }

    /// A scheduled job that writes the same every night for some weeks.
    fn run_job(&mut self, topic: &Topic) {
        let voice = Voice { who: "cron", language: "en", project: "", date: String::new() };
        let first = self.rng.usize(..(self.request.days / 2).max(1));
        let slot = self.new_slot();
        let Some(claim) = self.claim(Told { topic, voice: &voice }, slot, first) else { return };
        let texts = topic.texts("en", Form::Say);
        let Some(text) = self.pick(&texts).map(|text| self.fill(text, &voice, claim)) else {
            return;
        };
        let source = self.pick(&["cron", "heartbeat"]).unwrap_or("cron");
        let nights = 10 + self.rng.usize(..20);
        for day in (first..first + nights).take_while(|day| *day < self.request.days) {
            let durable = self.claims.iter().filter(|it| it.kind == ClaimKind::Durable);
            let held: Vec<String> = durable
                .filter(|it| it.holds_on(day))
                .map(|it| format!("{} {}", it.subject, it.topic))
                .collect();
            let at = self.rng.usize(..held.len().max(1));
            let query = held.get(at).cloned().unwrap_or_default();
            let item = Item::Job { claim, source, text: text.clone(), query };
            if let Some(items) = self.items.get_mut(day) {
                items.push(item);
            }
        }
    }

    fn say(&mut self, told: Told<'_>, claim: usize, (form, day): (Form, usize)) -> Option<String> {
        let Told { topic, voice } = told;
        let text = self.pick(&topic.texts(voice.language, form))?;
        let text = self.fill(text, voice, claim);
        let who = voice.who;
        let kind = topic.kind;
        let item = match kind {
            ClaimKind::Tainted => Item::Taint { who, claim, text: text.clone() },
            ClaimKind::SelfWritten => Item::SelfWritten { who, claim, text: text.clone() },
            _ => Item::Say { who, claim, text: text.clone(), in_team: topic.is_project },
        };
        self.items.get_mut(day)?.push(item);
        let is_person =
            matches!(kind, ClaimKind::Durable | ClaimKind::Passing | ClaimKind::SmallTalk);
        if is_person && form != Form::Stop {
            self.claims.get_mut(claim)?.said_on.insert(day);
        }
        Some(text)
    }

    fn restate(&mut self, told: Told<'_>, claim: usize, day: usize) {
        let Some(prompt) = self.say(told, claim, (Form::Say, day)) else { return };
        let said = self.claims.get_mut(claim).filter(|it| it.said_on.contains(&day));
        if let Some(claim) = said {
            claim.evidence.push(Evidence { day, prompt });
        }
    }

    /// The person asks for a claim, or somebody else does; now and then with the words of before.
    fn add_prompt(&mut self, told: Told<'_>, claim: usize, day: usize) {
        let Told { topic, voice } = told;
        let by_other = self.people.len() > 1 && self.rng.usize(..6) == 0;
        let others = topic.texts(voice.language, Form::Other);
        let asks = topic.texts(voice.language, Form::Ask);
        let text = self.pick(&others).filter(|_| by_other).or_else(|| self.pick(&asks));
        let Some((prompt, query)) = text.and_then(|text| text.split_once(" | ")) else { return };
        let is_other = others.iter().any(|other| other.starts_with(prompt));
        let strangers: Vec<&'static str> =
            self.people.iter().map(|(name, _)| *name).filter(|name| *name != voice.who).collect();
        let who = self.pick(&strangers).filter(|_| is_other).unwrap_or(voice.who);
        let prompt = self.fill(prompt, voice, claim);
        let query = self.fill(query, voice, claim);
        let Some(row) = self.claims.get_mut(claim) else { return };
        row.evidence.push(Evidence { day, prompt: prompt.clone() });
        let in_team = topic.is_project;
        if let Some(items) = self.items.get_mut(day) {
            items.push(Item::Ask { who, claim, prompt, query, in_team });
        }
    }

    fn fill(&self, text: &str, voice: &Voice, claim: usize) -> String {
        let row = self.claims.get(claim);
        let value = row.map_or("", |row| row.value.as_str());
        let old = self.claims.iter().rev().find(|other| {
            row.is_some_and(|row| row.slot == other.slot && row.value != other.value)
        });
        text.replace("{v}", value)
            .replace("{old}", old.map_or("", |old| old.value.as_str()))
            .replace("{who}", voice.who)
            .replace("{project}", voice.project)
            .replace("{date}", &voice.date)
            .replace("{weekday}", if voice.language == "de" { "Freitag" } else { "Friday" })
    }
}
