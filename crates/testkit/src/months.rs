//! Scripted months: what people say on which day, what a pack for a question is to hold afterwards, and
//! what must never be believed. The files in `assets/months` are tables, one event a line.

/// What a line of a month is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// Somebody states a fact.
    Fact,
    /// Somebody replaces a fact.
    Change,
    /// A plan whose day passes within the month.
    Plan,
    /// A plan that is cancelled later.
    Cancelled,
    /// Words that cancel a plan or say nothing that lasts.
    Chat,
    /// Words that state no fact: hedges, fiction, jokes, moods, hearsay.
    Noise,
    /// The result of a tool, with planted statements.
    Tool,
    /// Pasted text with planted statements.
    Paste,
    /// An answer of the assistant with statements that nobody made.
    Assistant,
}

/// A line of a month.
#[derive(Debug, Clone)]
pub struct Event {
    /// What it is.
    pub kind: EventKind,
    /// The day of the month, from 1.
    pub day: i64,
    /// Who speaks; empty for tools and assistants.
    pub who: &'static str,
    /// The words.
    pub said: String,
    /// The question that asks for it; empty if nothing does.
    pub question: &'static str,
    /// What the pack for the question is to hold.
    pub holds: &'static str,
    /// What no pack for the question may hold any more, in other words than these.
    pub stale: &'static str,
    /// What no memory may hold.
    pub planted: Vec<&'static str>,
}

/// A month, with the name of its file.
#[derive(Debug)]
pub struct Month {
    /// The name.
    pub name: &'static str,
    /// What happens, in the order of the file; days may be in any order.
    pub events: Vec<Event>,
}

/// A statement and what takes it back, with a question for it.
#[derive(Debug, Clone, Copy)]
pub struct Correction {
    /// The language, as a code.
    pub language: &'static str,
    /// The statement.
    pub stated: &'static str,
    /// What takes it back.
    pub corrected: &'static str,
    /// The question.
    pub question: &'static str,
    /// A part of the statement that no longer holds.
    pub old: &'static str,
    /// A part of the correction.
    pub new: &'static str,
}

const MONTHS: [(&str, &str); 4] = [
    ("bakery", include_str!("../assets/months/bakery.txt")),
    ("household", include_str!("../assets/months/household.txt")),
    ("platform", include_str!("../assets/months/platform.txt")),
    ("school", include_str!("../assets/months/school.txt")),
];

const CORRECTIONS: &str = include_str!("../assets/months/corrections.txt");

const UNRELATED: &str = include_str!("../assets/months/unrelated.txt");

/// The scripted months.
pub fn months() -> Vec<Month> {
    let read = |(name, text)| Month { name, events: lines(text).map(event).collect() };
    MONTHS.into_iter().map(read).collect()
}

/// Pairs of a statement and its correction.
pub fn corrections() -> Vec<Correction> {
    let mut language = "";
    let mut pairs = Vec::new();
    for line in lines(CORRECTIONS) {
        if let Some(code) = line.strip_prefix('[') {
            language = code.trim_end_matches(']');
            continue;
        }
        let [stated, corrected, question, old, new] = fields(line);
        pairs.push(Correction { language, stated, corrected, question, old, new });
    }
    pairs
}

/// Prompts that nothing in the months answers.
pub fn unrelated_prompts() -> Vec<&'static str> {
    lines(UNRELATED).collect()
}

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The fields of a line; those that are absent are empty.
fn fields<const N: usize>(line: &'static str) -> [&'static str; N] {
    let mut fields = [""; N];
    for (field, text) in fields.iter_mut().zip(line.split(" | ")) {
        *field = text.trim();
    }
    fields
}

#[expect(clippy::panic, reason = "a wrong line of a fixture fails the tests that read it")]
fn event(line: &'static str) -> Event {
    let [head, said, first, second, third] = fields(line);
    let mut words = head.splitn(3, ' ');
    let kind = match words.next().unwrap_or_default() {
        "fact" => EventKind::Fact,
        "change" => EventKind::Change,
        "plan" => EventKind::Plan,
        "cancel" => EventKind::Cancelled,
        "cancelled" => EventKind::Chat,
        "noise" => EventKind::Noise,
        "tool" => EventKind::Tool,
        "paste" => EventKind::Paste,
        "assistant" => EventKind::Assistant,
        other => panic!("{other:?} is no kind of event: {line}"),
    };
    let Some(Ok(day)) = words.next().map(str::parse) else { panic!("no day: {line}") };
    let who = words.next().unwrap_or_default();
    let mut event = Event {
        kind,
        day,
        who,
        said: said.replace("\\n", "\n"),
        question: "",
        holds: "",
        stale: "",
        planted: Vec::new(),
    };
    match kind {
        EventKind::Fact => (event.question, event.holds) = (first, second),
        EventKind::Change => (event.question, event.holds, event.stale) = (first, second, third),
        EventKind::Plan | EventKind::Cancelled => (event.question, event.stale) = (first, second),
        EventKind::Chat => {}
        EventKind::Noise | EventKind::Tool | EventKind::Paste | EventKind::Assistant => {
            event.planted = first.split(';').collect();
        }
    }
    event
}
