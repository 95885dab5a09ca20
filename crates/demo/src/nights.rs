//! The nights of the month: what the person asks again by day, and the dream of each night, which keeps
//! what was asked for in MEMORY.md and writes the diary.

use crate::calendar::Calendar;
use crate::scene::Start;
use oneiro::{
    Dream, DreamId, DreamRequest, DreamTrigger, HitKind, ListMemories, Oneiro, PageOf, Result,
    SearchRequest, Span, Timestamp,
};

/// Nights of the month.
const NIGHTS: i64 = 30;

/// The minute of the day at which each night is dreamt.
const NIGHT_MINUTE: i64 = 3 * 60;

/// Dreams that are listed at a time.
const DREAMS_LISTED: usize = 200;

/// A question that the person asks.
pub(crate) struct Question {
    /// Minutes before the end of the month.
    before: i64,
    text: &'static str,
}

const DAY_MINUTES: i64 = 24 * 60;

const fn asked(days: i64, minutes: i64, text: &'static str) -> Question {
    Question { before: days * DAY_MINUTES + minutes, text }
}

/// Some are asked often enough to earn a place in MEMORY.md. Others are about what only a tool said, what is
/// contradicted, or what was asked only once.
pub(crate) const QUESTIONS: &[Question] = &[
    asked(22, 190, "What is the day rate at Nordlicht?"),
    asked(20, 45, "How many euros a day does Nordlicht pay?"),
    asked(19, 300, "Nordlicht: day rate?"),
    asked(18, 410, "Is the licence of Azulejos Prata valid?"),
    asked(18, 20, "How long is the lease of a claimed job?"),
    asked(17, 130, "When did the licence of Azulejos Prata lapse?"),
    asked(16, 95, "After which hour does Mira drink no coffee?"),
    asked(15, 260, "How many hours is the lease of a claimed job?"),
    asked(15, 30, "Does the licence of Azulejos Prata still hold?"),
    asked(14, 75, "May Mira drink coffee after 14:00?"),
    asked(13, 380, "Which lease has a claimed job?"),
    asked(12, 340, "Mira: no coffee after which time?"),
    asked(12, 15, "Which editor is Mira's?"),
    asked(11, 200, "Was tragen Rechnungen nach Deutschland?"),
    asked(10, 60, "Is Helix Mira's editor?"),
    asked(8, 25, "What is Mira's editor called?"),
    asked(8, 400, "Which limits in the code get a test?"),
    asked(6, 310, "At which limit does a test of the code stand?"),
    asked(4, 140, "Does every limit get a test at the limit plus one?"),
];

impl Question {
    /// When it is asked in a month that ends at `now`.
    pub(crate) fn at(&self, now: Timestamp) -> Timestamp {
        now.plus(Span::seconds(-60 * self.before))
    }

    /// Searches for it, as the actor of the handle.
    pub(crate) fn search(&self, oneiro: &Oneiro) -> Result<()> {
        let kinds = vec![HitKind::Memory];
        let asked = SearchRequest { kinds, ..SearchRequest::recall(self.text) };
        oneiro.search().run(&asked).map(|_| ())
    }
}

/// Whether a space has nothing that a dream of the demonstration could touch.
pub(crate) fn is_space_free(oneiro: &Oneiro) -> Result<bool> {
    let one = ListMemories { limit: 1, ..ListMemories::default() };
    let has_memories = !oneiro.memories().list(&one)?.items.is_empty();
    let one = PageOf { limit: 1, ..PageOf::default() };
    Ok(!has_memories && oneiro.dreams().list(&one)?.items.is_empty())
}

/// When a month that ends at `now` is dreamt, oldest first.
pub(crate) fn nights(now: Timestamp) -> Result<Vec<Timestamp>> {
    let calendar = Calendar::until(now)?;
    let at = |before| calendar.at(Start::Day { before, minute: NIGHT_MINUTE });
    Ok((0..NIGHTS).rev().map(at).filter(|at| *at < now).collect())
}

/// Dreams now, by the clock of the handle.
pub(crate) fn dream(oneiro: &Oneiro) -> Result<()> {
    oneiro.dreams().run(&DreamRequest::default()).map(|_| ())
}

/// The dreams of the demonstration in a month that ends at `now`.
pub(crate) fn existing(oneiro: &Oneiro, now: Timestamp) -> Result<Vec<DreamId>> {
    let nights = nights(now)?;
    let is_ours =
        |dream: &Dream| dream.trigger == DreamTrigger::Manual && nights.contains(&dream.started_at);
    let mut request = PageOf { limit: DREAMS_LISTED, ..PageOf::default() };
    let mut found = Vec::new();
    loop {
        let page = oneiro.dreams().list(&request)?;
        found.extend(page.items.into_iter().filter(is_ours).map(|dream| dream.id));
        match page.next {
            Some(next) => request.cursor = Some(next),
            None => return Ok(found),
        }
    }
}
