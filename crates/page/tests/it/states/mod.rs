//! Made-up answers of the engine, from nothing at all to hostile and huge, and the pages they become.

pub mod beliefs;
pub mod context;
pub mod conversation;
pub mod dreams;
pub mod hostile;
pub mod made;
pub mod notes;
pub mod packs;

use made::{days, frame, jobs, minutes, session, sessions, stats};
use oneiro::{Cursor, Error, ErrorKind, Found, Page, Session, SessionId};
use oneiro_page::lineage::Relative;
use oneiro_page::login::LoginView;
use oneiro_page::message::MessageView;
use oneiro_page::overview::{Beliefs, OverviewView};
use oneiro_page::problem::ProblemView;
use oneiro_page::search::{Outcome, SearchForm, SearchView};
use oneiro_page::session::ConversationView;
use oneiro_page::sessions::{SessionsForm, SessionsView};
use oneiro_page::{
    LocalPath, jobs as job_page, login, message, overview, problem, search, session as talk,
};
use std::collections::BTreeMap;

/// Every state of every view, by name.
pub fn all() -> Vec<(&'static str, String)> {
    let mut pages = vec![
        ("overview-empty", overview::page(&empty_overview())),
        ("overview", overview::page(&rich_overview())),
        ("search-empty", search::page(&searching("", Outcome::Empty))),
        ("search", search::page(&found_search())),
        ("search-nothing", search::page(&nothing_found())),
        ("search-refused", search::page(&refused_search())),
        ("sessions-empty", oneiro_page::sessions::page(&listing(Vec::new()))),
        ("sessions", oneiro_page::sessions::page(&listing(sessions()))),
        ("session", talk::page(&rich_talk(false))),
        ("session-hidden", talk::page(&rich_talk(true))),
        ("session-huge", talk::page(&huge_talk())),
        ("message", message::page(&long_message())),
        ("login", login::page(&login_form())),
        ("jobs", job_page::page(&job_list())),
        ("problem", problem::page(&not_found())),
    ];
    pages.extend(hostile::all());
    pages.extend(context::all());
    pages.extend(beliefs::all());
    pages.extend(packs::all());
    pages.extend(notes::all());
    pages.extend(dreams::all());
    pages
}

pub fn empty_overview() -> OverviewView {
    let mut stats = stats();
    (stats.messages, stats.sessions, stats.open_sessions) = (0, 0, 0);
    OverviewView {
        frame: frame(),
        stats,
        beliefs: Beliefs::default(),
        digest: None,
        packs: packs::no_stats(),
        days: vec![],
        minutes: vec![],
        recent: vec![],
        failed_jobs: 0,
    }
}

pub fn rich_overview() -> OverviewView {
    OverviewView {
        frame: frame(),
        stats: stats(),
        beliefs: beliefs::beliefs(),
        digest: Some(dreams::one(2, "Mira runs in the evening", 3).detail),
        packs: packs::stats("running"),
        days: days(30),
        minutes: minutes(90),
        recent: sessions().into_iter().take(6).collect(),
        failed_jobs: 1,
    }
}

pub fn job_list() -> job_page::JobsView {
    let next = Some(Cursor { order: 3, key: 3 });
    job_page::JobsView { frame: frame(), jobs: Page { items: jobs(), next } }
}

pub fn searching(q: &str, outcome: Outcome) -> SearchView {
    SearchView {
        frame: frame(),
        form: SearchForm { q: q.to_owned(), ..SearchForm::default() },
        sources: ["claude-code", "telegram", "cron"].map(str::to_owned).to_vec(),
        projects: ["atlas", "garden"].map(str::to_owned).to_vec(),
        outcome,
    }
}

pub fn found_search() -> SearchView {
    let outcome = Outcome::Found {
        found: Box::new(conversation::found()),
        sessions: by_id(sessions()),
        millis: 3.42,
    };
    let mut view = searching("why did the lease test flake", outcome);
    view.form.explain = true;
    view
}

pub fn by_id(sessions: Vec<Session>) -> BTreeMap<SessionId, Session> {
    sessions.into_iter().map(|session| (session.id.clone(), session)).collect()
}

pub fn nothing_found() -> SearchView {
    let found = Found {
        note: Some("only the newest 20,000 messages were read for the pattern".to_owned()),
        ..Found::default()
    };
    let mut view = searching(
        "/zyx+/",
        Outcome::Found { found: Box::new(found), sessions: by_id(vec![]), millis: 12.0 },
    );
    view.form.role = "user".to_owned();
    view
}

pub fn refused_search() -> SearchView {
    let error = Error::field("query", "/(/ is not a regular expression: unclosed group")
        .remedy("close the group, or quote the text: \"(\"");
    searching("/(/", Outcome::Refused(error))
}

pub fn listing(items: Vec<oneiro::Session>) -> SessionsView {
    let next = (!items.is_empty()).then_some(Cursor { order: 5, key: 9 });
    SessionsView {
        frame: frame(),
        form: SessionsForm::default(),
        sources: ["claude-code", "telegram", "cron"].map(str::to_owned).to_vec(),
        projects: ["atlas", "garden"].map(str::to_owned).to_vec(),
        sessions: Page { items, next },
    }
}

pub fn rich_talk(hidden: bool) -> ConversationView {
    ConversationView {
        frame: frame(),
        session: made::main_session(),
        family: family(),
        messages: conversation::messages(),
        earlier: None,
        later: hidden.then_some(Cursor { order: 1, key: 1 }),
        hidden,
        at: None,
        pinned: vec![oneiro::MessageId(101)],
        learnt: learnt("Mira runs in the evening."),
    }
}

/// What was learnt from the first message.
pub fn learnt(content: &str) -> BTreeMap<oneiro::MessageId, Vec<oneiro::Memory>> {
    let memory = beliefs::memory(1, content, oneiro::MemoryStatus::Candidate);
    BTreeMap::from([
        (oneiro::MessageId(101), vec![memory.clone()]),
        (oneiro::MessageId(1), vec![memory]),
    ])
}

pub fn huge_talk() -> ConversationView {
    ConversationView {
        frame: frame(),
        session: session("huge", "A very long day of refactoring"),
        family: vec![],
        messages: conversation::huge(talk::MESSAGES),
        earlier: Some(Cursor { order: 1, key: 1 }),
        later: Some(Cursor { order: 2, key: 2 }),
        hidden: false,
        at: None,
        pinned: vec![],
        learnt: BTreeMap::new(),
    }
}

pub fn family() -> Vec<Relative> {
    use oneiro::Lineage::{Branch, Continuation, Delegate};
    let member = |id: &str, title: &str, parent: Option<(&str, oneiro::Lineage)>| Relative {
        id: made::id(id),
        title: Some(title.to_owned()),
        parent: parent.map(|(parent, _)| made::id(parent)),
        lineage: parent.map(|(_, lineage)| lineage),
        message_count: 12 + title.len() as i64,
    };
    vec![
        member("root", "Job leases, first design", None),
        member("sub-1", "Read the scheduler of three other projects", Some(("root", Delegate))),
        member("lease-2", "Job leases", Some(("root", Continuation))),
        member("redis", "What if it were Redis", Some(("lease-2", Branch))),
        member("redis-2", "What if it were Redis, with streams", Some(("redis", Continuation))),
        member(
            "lease-flake",
            "The lease test that fails on Mondays",
            Some(("lease-2", Continuation)),
        ),
        member("bisect", "Bisect the flake", Some(("lease-flake", Delegate))),
    ]
}

pub fn long_message() -> MessageView {
    let message = conversation::messages().into_iter().find(|message| message.id.0 == 104).unwrap();
    MessageView { frame: frame(), message, session: made::main_session() }
}

pub fn login_form() -> LoginView {
    let mut frame = frame();
    frame.space = String::new();
    LoginView {
        frame,
        refused: Some("This token is not known.".to_owned()),
        next: LocalPath::parse("/sessions").unwrap(),
    }
}

pub fn not_found() -> ProblemView {
    let error = Error::new(ErrorKind::NotFound, "there is no session \"tuesday\"")
        .remedy("`oneiro session list` shows those there are");
    ProblemView { frame: frame(), error, back: LocalPath::parse("/memories") }
}
