//! Text that wants to be more than text, in every place that text can stand.

use super::conversation::{found, message};
use super::made::{frame, session, stats};
use super::{by_id, job_list, listing, searching};
use oneiro::{Error, Message, Session};
use oneiro_page::lineage::Relative;
use oneiro_page::login::{self, LoginView};
use oneiro_page::message::{self as one, MessageView};
use oneiro_page::overview::{self, OverviewView};
use oneiro_page::plot::Day;
use oneiro_page::problem::{self, ProblemView};
use oneiro_page::search::{self, Outcome};
use oneiro_page::session::{self as talk, ConversationView};
use oneiro_page::sessions;
use oneiro_page::{LocalPath, jobs as job_page};
use serde_json::json;

/// Breaks out of text, attributes, comments, scripts, styles and directions of writing.
pub const EVIL: &str = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>--></style>\u{202E}\u{2066}`<svg/onload=alert(3)> javascript:alert(4)";

pub fn evil_session() -> Session {
    let evil = || Some(EVIL.to_owned());
    let mut made = session(EVIL, EVIL);
    made.source = EVIL.to_owned();
    (made.user_id, made.model, made.system_prompt) = (evil(), evil(), evil());
    (made.project, made.end_reason, made.preview) = (evil(), evil(), evil());
    made.ended_at = Some(made.started_at);
    made
}

pub fn evil_messages() -> Vec<Message> {
    let deep = format!("{}deep{}", "> ".repeat(3_000), "[".repeat(500));
    vec![
        message(1, 9, json!({"role": "user", "name": EVIL, "content": EVIL})),
        message(
            2,
            8,
            json!({"role": "assistant", "content": "[a](javascript:alert(1)) [b](data:text/html,x) ![i](https://evil.example/pixel.png) <b onclick=x>hi</b> <https://ok.example/> [c](HTTPS://ok.example/?a=\"b\"&c) [d](//evil.example) https://ok.example/<script> http:// xhttps://no.example", "reasoning": EVIL}),
        ),
        message(3, 7, json!({"role": "assistant", "content": deep})),
        message(4, 6, json!({"role": "assistant", "content": "x".repeat(1 << 20)})),
        message(
            5,
            5,
            json!({"role": "assistant", "content": "", "tool_calls": [{"id": EVIL, "function": {"name": EVIL, "arguments": json!({EVIL: EVIL, "path": EVIL, "b": "x\ny"}).to_string()}}, {"id": "q", "function": {"arguments": EVIL}}]}),
        ),
        message(6, 4, json!({"role": "tool", "tool_call_id": EVIL, "content": EVIL})),
        message(
            7,
            3,
            json!({"role": "tool", "content": [{"type": EVIL}, {"type": "text", "text": EVIL}]}),
        ),
        message(
            8,
            2,
            json!({"role": "user", "content": [{"type": "image", "source": {"media_type": EVIL}}, {"type": "text", "text": format!("```{EVIL}\n{EVIL}\n```\n# {EVIL}\n| a |\n|---|\n| {EVIL} |")}]}),
        ),
        message(
            9,
            1,
            json!({"role": "<b>", "content": "\0\u{1b}[31m \u{9b} \u{7f}", "visibility": "rewound"}),
        ),
        message(10, 1, json!({"role": "system", "content": EVIL})),
        message(11, 0, json!({"role": "user"})),
    ]
}

/// The hostile states, by name.
pub fn all() -> Vec<(&'static str, String)> {
    let relative = |name: &str| Relative {
        id: oneiro::SessionId::new(format!("{name}{EVIL}")).unwrap(),
        title: Some(EVIL.to_owned()),
        parent: None,
        lineage: None,
        message_count: -1,
    };
    let conversation = ConversationView {
        frame: frame(),
        session: evil_session(),
        family: vec![relative("a"), relative("b")],
        messages: evil_messages(),
        earlier: None,
        later: None,
        hidden: true,
        at: None,
        pinned: vec![],
        learnt: super::learnt(EVIL),
    };
    let mut found = found();
    for hit in &mut found.hits {
        hit.session_id = evil_session().id;
        hit.snippet = EVIL.to_owned();
        hit.highlights = vec![(0, 3), (2, 9_999)];
        hit.name = Some(EVIL.to_owned());
        hit.neighbours.iter_mut().for_each(|one| one.text = EVIL.to_owned());
        hit.trace
            .iter_mut()
            .flat_map(|trace| &mut trace.words)
            .for_each(|word| word.word = EVIL.to_owned());
    }
    found.note = Some(EVIL.to_owned());
    let mut search = searching(
        EVIL,
        Outcome::Found {
            found: Box::new(found),
            sessions: by_id(vec![evil_session()]),
            millis: f64::NAN,
        },
    );
    search.sources.push(EVIL.to_owned());
    (search.form.since, search.form.role) = (EVIL.to_owned(), EVIL.to_owned());
    let mut list = listing(vec![evil_session()]);
    (list.form.q, list.form.project) = (EVIL.to_owned(), EVIL.to_owned());
    let mut stats = stats();
    (stats.store, stats.engine, stats.index.vectors) =
        (EVIL.to_owned(), EVIL.to_owned(), Some(EVIL.to_owned()));
    stats.projects.iter_mut().for_each(|group| group.name = EVIL.to_owned());
    let mut jobs = job_list();
    jobs.jobs
        .items
        .iter_mut()
        .for_each(|job| (job.kind, job.last_error) = (EVIL.to_owned(), Some(EVIL.to_owned())));
    let mut evil_frame = frame();
    evil_frame.space = EVIL.to_owned();
    let days = vec![Day { date: EVIL.to_owned(), user: i64::MAX / 8, ..Day::default() }];
    let overview = OverviewView {
        frame: evil_frame,
        stats,
        beliefs: super::beliefs::beliefs(),
        digest: Some(super::dreams::one(2, EVIL, 3).detail),
        packs: super::packs::stats(EVIL),
        days,
        minutes: vec![],
        recent: vec![evil_session()],
        failed_jobs: usize::MAX,
    };
    let error = Error::invalid(EVIL).remedy(EVIL);
    let view = |message| MessageView { frame: frame(), message, session: evil_session() };
    let mut pages = vec![
        ("hostile-jobs", job_page::page(&jobs)),
        ("hostile-session", talk::page(&conversation)),
        ("hostile-search", search::page(&search)),
        ("hostile-refused", search::page(&searching(EVIL, Outcome::Refused(error.clone())))),
        ("hostile-sessions", sessions::page(&list)),
        ("hostile-overview", overview::page(&overview)),
        ("hostile-problem", problem::page(&ProblemView { frame: frame(), error, back: None })),
        (
            "hostile-login",
            login::page(&LoginView {
                frame: frame(),
                refused: Some(EVIL.to_owned()),
                next: LocalPath::parse("/search?q='()*;=javascript:alert(4)").unwrap(),
            }),
        ),
    ];
    let messages = evil_messages().into_iter().filter(|message| message.id.0 != 4);
    pages.extend(messages.map(|message| ("hostile-message", one::page(&view(message)))));
    pages
}
