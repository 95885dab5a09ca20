//! Made-up memories and the pages they become, from none at all to hostile.

use super::hostile::EVIL;
use super::made::{ago, frame, id, now};
use oneiro::{
    Actor, ActorKind, ActorSurface, Citation, ConfidenceExplained, ConfidencePart, Cursor, Error,
    GroupId, Memory, MemoryId, MemoryKind, MemoryStatus, MessageId, Operation, OperationId, Page,
    RelatedMemory, Relation, SignalCount, SignalKind, Subject, SubjectKind, Trust, Why, WhyKind,
};
use oneiro_page::decided::Decided;
use oneiro_page::memories::{self, Listed, MemoriesForm, MemoriesView};
use oneiro_page::memory::{self, MemoryDetailView};
use oneiro_page::overview::Beliefs;
use oneiro_page::review::{self, Candidate, Known, ReviewView};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub fn memory_id(seed: u8) -> MemoryId {
    MemoryId::from_random([seed; 10])
}

pub fn memory(seed: u8, content: &str, status: MemoryStatus) -> Memory {
    Memory {
        id: memory_id(seed),
        kind: MemoryKind::Preference,
        subject: Some("Mira".to_owned()),
        content: content.to_owned(),
        status,
        confidence: 0.74,
        trust: Trust::Agent,
        project: Some("running".to_owned()),
        tags: vec!["habit".to_owned()],
        valid_from: None,
        valid_until: None,
        superseded_by: None,
        suspended_by: None,
        replaces: None,
        confirmed_at: None,
        origin: ActorKind::Agent,
        initial_confidence: 0.7,
        reference_count: 2,
        last_referenced_at: Some(ago(60)),
        created_at: ago(3_000),
        updated_at: ago(3_000),
        citations: vec![Citation {
            message_id: Some(MessageId(104)),
            session_id: Some(id("lease-flake")),
            quote: "from now on evenings".to_owned(),
            trust: Trust::Owner,
        }],
    }
}

pub fn operation(seed: u8, kind: &str, subject: &Memory, change: (Value, Value)) -> Operation {
    let some = |value: Value| Some(value).filter(|value| !value.is_null());
    Operation {
        id: OperationId::from_random([seed; 10]),
        kind: kind.to_owned(),
        actor: Actor::new(ActorKind::Agent, ActorSurface::Mcp).with_client("telegram"),
        subject: Subject { kind: SubjectKind::Memory, id: subject.id.to_string() },
        before: some(change.0),
        after: some(change.1),
        reason: Some("she said so".to_owned()),
        group: Some(GroupId::from_random([seed; 10])),
        undoes: None,
        undone_by: None,
        at: ago(2_000),
        store_id: "sto_x".to_owned(),
        erased: false,
    }
}

fn node(kind: WhyKind, id: &str, text: &str, children: Vec<Why>) -> Why {
    let (id, text) = (id.to_owned(), text.to_owned());
    Why { kind, id, text, at: Some(ago(3_000)), actor: None, children }
}

pub fn why(memory: &Memory) -> Why {
    let quote = &memory.citations.first().unwrap().quote;
    let message = node(
        WhyKind::Message,
        "104",
        &format!("user: So: {quote}, forget the mornings."),
        vec![
            node(WhyKind::Neighbour, "103", "assistant: Lunch or evening?", vec![]),
            node(WhyKind::Neighbour, "105", "assistant: Changed.", vec![]),
        ],
    );
    let mut created = node(WhyKind::Operation, "op_x", "memory.create: she said so", vec![]);
    created.actor = Some(Actor::new(ActorKind::Agent, ActorSurface::Mcp).with_client("telegram"));
    let quote = node(WhyKind::Quote, "104", quote, vec![message]);
    node(WhyKind::Memory, memory.id.as_str(), &memory.content, vec![quote, created])
}

pub fn related(memory: &Memory, relation: Relation) -> RelatedMemory {
    RelatedMemory {
        id: memory.id.clone(),
        content: memory.content.clone(),
        status: memory.status,
        relation,
        overlap: 0.8,
        reason: "the time of day differs".to_owned(),
        created_at: memory.created_at,
    }
}

pub fn listed(items: Vec<Memory>) -> MemoriesView {
    let next = (!items.is_empty()).then_some(Cursor { order: 5, key: 5 });
    MemoriesView {
        frame: frame(),
        form: MemoriesForm::default(),
        projects: vec!["running".to_owned()],
        listed: Listed::Found(Page { items, next }),
    }
}

pub fn beliefs() -> Beliefs {
    Beliefs {
        active: 12,
        waiting: 3,
        contradicted: 1,
        newest: vec![memory(1, "Mira runs in the evening.", MemoryStatus::Active)],
    }
}

/// A memory that another one contradicts, which was promoted with a second change.
pub fn detail() -> MemoryDetailView {
    let other = self::memory(2, "Mira runs in the evening.", MemoryStatus::Active);
    let mut memory = self::memory(1, "Mira runs in the morning.", MemoryStatus::Active);
    memory.suspended_by = Some(other.id.clone());
    let created = (Value::Null, json!({"content": memory.content, "status": "candidate"}));
    let promoted = (json!({"status": "candidate"}), json!({"status": "active"}));
    let operations = vec![
        operation(1, "memory.create", &memory, created),
        operation(2, "memory.promote", &memory, promoted),
    ];
    let group_sizes = BTreeMap::from([(GroupId::from_random([2; 10]), 3)]);
    let part = |name: &str, value| ConfidencePart { name: name.to_owned(), value };
    MemoryDetailView {
        frame: frame(),
        explanation: Some(ConfidenceExplained {
            parts: vec![part("initial", 0.7), part("uses", 0.04), part("confidence", 0.74)],
            signals: vec![SignalCount { kind: SignalKind::Used, count: 2 }],
        }),
        related: vec![related(&other, Relation::Contradicts)],
        suspended_by: Some(other),
        superseded_by: None,
        supersedes: vec![self::memory(6, "Mira does not run.", MemoryStatus::Superseded)],
        why: why(&memory),
        decided: Some(Decided::Done {
            operation: Box::new(operations.last().unwrap().clone()),
            memory: Some(Box::new(memory.clone())),
        }),
        operations,
        group_sizes,
        muted_in: vec!["running".to_owned(), EVIL.to_owned()],
        memory,
    }
}

pub fn reviewing() -> ReviewView {
    let memory = memory(3, "Mira runs at 19:00.", MemoryStatus::Candidate);
    let same = self::memory(4, "Mira runs around 19:00.", MemoryStatus::Active);
    let other = self::memory(5, "Mira runs in the morning.", MemoryStatus::Active);
    let known = |memory: Memory, relation| Known { related: related(&memory, relation), memory };
    ReviewView {
        frame: frame(),
        form: MemoriesForm::default(),
        cursor: "7.7".to_owned(),
        waiting: 3,
        decided: Some(Decided::ByOthers {
            memory: Box::new(other.clone()),
            operation: Some(Box::new(operation(
                9,
                "memory.reject",
                &other,
                (json!({}), json!({})),
            ))),
        }),
        candidate: Some(Box::new(Candidate {
            why: why(&memory),
            memory,
            known: vec![known(other, Relation::Contradicts), known(same, Relation::Same)],
            skip: Some("6.6".to_owned()),
        })),
    }
}

/// The same queue without anything in it.
pub fn reviewed(waiting: i64) -> ReviewView {
    ReviewView { waiting, candidate: None, decided: None, ..reviewing() }
}

fn evil(mut memory: Memory) -> Memory {
    let evil = || EVIL.to_owned();
    (memory.content, memory.subject, memory.project) = (evil(), Some(evil()), Some(evil()));
    memory.tags = vec![evil()];
    memory.citations = vec![Citation {
        message_id: Some(MessageId(104)),
        session_id: Some(id(EVIL)),
        quote: evil(),
        trust: Trust::External,
    }];
    memory
}

fn evil_operation(mut operation: Operation) -> Operation {
    operation.kind = EVIL.to_owned();
    operation.actor.client = Some(EVIL.to_owned());
    operation.reason = Some(EVIL.to_owned());
    operation.before = Some(json!({"content": EVIL, EVIL: EVIL, "tags": [EVIL]}));
    operation.after = Some(json!({"content": EVIL, EVIL: {EVIL: EVIL}, "tags": [{"quote": EVIL}]}));
    operation
}

fn evil_why(mut why: Why) -> Why {
    why.text = EVIL.to_owned();
    why.actor.iter_mut().for_each(|actor| actor.client = Some(EVIL.to_owned()));
    why.children = why.children.into_iter().map(evil_why).collect();
    why
}

pub fn hostile() -> Vec<(&'static str, String)> {
    let mut list = listed(vec![evil(memory(1, "", MemoryStatus::Candidate))]);
    let text = || EVIL.to_owned();
    list.form = MemoriesForm {
        text: text(),
        status: text(),
        kind: text(),
        project: text(),
        subject: text(),
        tag: text(),
    };
    let mut refused = list.clone();
    refused.listed = Listed::Refused(Error::field("kind", EVIL));
    let mut detail = detail();
    detail.memory = evil(detail.memory);
    detail.suspended_by = detail.suspended_by.map(evil);
    detail.superseded_by = detail.suspended_by.clone();
    detail.supersedes = detail.supersedes.into_iter().map(evil).collect();
    detail.why = evil_why(detail.why);
    detail.operations = detail.operations.into_iter().map(evil_operation).collect();
    for other in &mut detail.related {
        (other.content, other.reason) = (text(), text());
    }
    detail.decided = Some(Decided::Done {
        operation: Box::new(detail.operations.first().unwrap().clone()),
        memory: Some(Box::new(detail.memory.clone())),
    });
    let mut review = reviewing();
    review.form = list.form.clone();
    review.cursor = text();
    if let Some(candidate) = &mut review.candidate {
        candidate.memory = evil(candidate.memory.clone());
        candidate.why = evil_why(candidate.why.clone());
        for known in &mut candidate.known {
            known.memory = evil(known.memory.clone());
            (known.related.content, known.related.reason) = (text(), text());
        }
    }
    vec![
        ("hostile-memories", memories::page(&list)),
        ("hostile-memories-refused", memories::page(&refused)),
        ("hostile-memory", memory::page(&detail)),
        ("hostile-review", review::page(&review)),
    ]
}

pub fn all() -> Vec<(&'static str, String)> {
    let mut candidates = listed(vec![memory(1, "Mira runs at 19:00.", MemoryStatus::Candidate)]);
    candidates.form.status = "candidate".to_owned();
    assert_eq!(frame().now, now());
    let mut pages = vec![
        ("memories-empty", memories::page(&listed(vec![]))),
        (
            "memories",
            memories::page(&listed(vec![detail().memory, reviewing().candidate.unwrap().memory])),
        ),
        ("memories-waiting", memories::page(&candidates)),
        ("memory", memory::page(&detail())),
        ("review", review::page(&reviewing())),
        ("review-seen", review::page(&reviewed(3))),
        ("review-empty", review::page(&reviewed(0))),
    ];
    pages.extend(hostile());
    pages
}
