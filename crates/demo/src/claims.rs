//! What is remembered of the month: statements with the words they rest on, and what becomes of them.

use oneiro::MemoryKind;

/// A statement and the words it rests on.
pub(crate) struct Claim {
    /// What later steps call it.
    pub(crate) name: &'static str,
    pub(crate) kind: MemoryKind,
    pub(crate) subject: &'static str,
    pub(crate) project: Option<&'static str>,
    pub(crate) content: &'static str,
    pub(crate) session: &'static str,
    /// Words of a message of that session.
    pub(crate) quote: &'static str,
    pub(crate) by: By,
    /// The earlier statement that it corrects.
    pub(crate) replaces: Option<&'static str>,
    /// Days after today from which it holds.
    pub(crate) valid_from: Option<i64>,
}

/// Who records a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Person,
    /// An agent, which is believed if the words are the user's own.
    Agent,
    /// An agent that asks for review.
    Proposal,
}

/// What happens to a statement later.
pub(crate) struct Step {
    /// The statement.
    pub(crate) name: &'static str,
    /// Minutes after it was recorded.
    pub(crate) after: i64,
    pub(crate) kind: StepKind,
}

pub(crate) enum StepKind {
    Promote,
    Reject(&'static str),
    Confirm,
    Forget(&'static str),
    /// Undoes the last step on the statement.
    Undo(&'static str),
    /// An answer to this question rested on it.
    Use(&'static str),
}

const CLAIM: Claim = Claim {
    name: "",
    kind: MemoryKind::Knowledge,
    subject: "Mira",
    project: None,
    content: "",
    session: "",
    quote: "",
    by: By::Agent,
    replaces: None,
    valid_from: None,
};

pub(crate) const CLAIMS: &[Claim] = &[
    Claim {
        name: "budget",
        kind: MemoryKind::Project,
        subject: "bathroom",
        project: Some("flat"),
        content: "The bathroom costs at most 9,000 €, everything included.",
        session: "demo-flat-tiler",
        quote: "the bathroom may not cost more than 9,000 all in",
        by: By::Person,
        ..CLAIM
    },
    Claim {
        name: "mornings",
        kind: MemoryKind::Preference,
        project: Some("running"),
        content: "Mira runs in the morning, before breakfast.",
        session: "demo-run-plan",
        quote: "I only run in the morning, before breakfast.",
        ..CLAIM
    },
    Claim {
        name: "evenings",
        kind: MemoryKind::Preference,
        project: Some("running"),
        content: "Mira runs in the evening, around 19:00.",
        session: "demo-run-evening",
        quote: "from now on evenings, forget the mornings",
        replaces: Some("mornings"),
        ..CLAIM
    },
    Claim {
        name: "goal-first",
        kind: MemoryKind::Project,
        subject: "half marathon",
        project: Some("running"),
        content: "The goal for the half marathon is 1:55.",
        session: "demo-run-plan",
        quote: "1:55 is 5:27 per km.",
        by: By::Proposal,
        ..CLAIM
    },
    Claim {
        name: "goal",
        kind: MemoryKind::Project,
        subject: "half marathon",
        project: Some("running"),
        content: "The goal for the half marathon is 1:58.",
        session: "demo-run-check",
        quote: "1:58. I decided. 1:55 is for next year.",
        by: By::Person,
        ..CLAIM
    },
    Claim {
        name: "coffee",
        kind: MemoryKind::Preference,
        content: "Mira drinks no coffee after 14:00.",
        session: "demo-run-evening",
        quote: "I'm off coffee after 2 anyway, otherwise I don't sleep.",
        ..CLAIM
    },
    Claim {
        name: "quiet",
        kind: MemoryKind::Project,
        subject: "noise",
        project: Some("flat"),
        content: "No noise in the flat between 14:00 and 16:00: Dona Fernanda sleeps.",
        session: "demo-flat-1",
        quote: "She's 84, sleeps from 2 to 4. No hammering in that window.",
        ..CLAIM
    },
    Claim {
        name: "quiet-again",
        kind: MemoryKind::Project,
        subject: "noise",
        project: Some("flat"),
        content: "No noise in the flat between 14:00 and 16:00.",
        session: "demo-today-open",
        quote: "But no noise between 2 and 4.",
        by: By::Proposal,
        ..CLAIM
    },
    Claim {
        name: "licence",
        subject: "Azulejos Prata",
        project: Some("flat"),
        content: "The licence of Azulejos Prata lapsed in spring.",
        session: "demo-flat-decide",
        quote: "Prata: licence lapsed in spring, 12 reviews, 3.1, two open complaints about leaking showers.",
        ..CLAIM
    },
    Claim {
        name: "shower",
        kind: MemoryKind::Preference,
        project: Some("flat"),
        content: "Mira wants a rain shower fixed to the ceiling.",
        session: "demo-flat-1",
        quote: "rain shower fixed to the ceiling or a normal rail?",
        by: By::Proposal,
        ..CLAIM
    },
    Claim {
        name: "tiles-first",
        kind: MemoryKind::Project,
        subject: "bathroom walls",
        project: Some("flat"),
        content: "The bathroom walls get sea green tiles.",
        session: "demo-flat-colour",
        quote: "Sea green walls, grey terrazzo floor.",
        ..CLAIM
    },
    Claim {
        name: "tiles",
        kind: MemoryKind::Project,
        subject: "bathroom walls",
        project: Some("flat"),
        content: "The bathroom walls get white tiles, 10 x 10.",
        session: "demo-flat-2",
        quote: "I changed to white, 10 x 10, the uneven ones.",
        replaces: Some("tiles-first"),
        ..CLAIM
    },
    Claim {
        name: "rate-first",
        kind: MemoryKind::Project,
        subject: "Nordlicht",
        project: Some("nordlicht"),
        content: "The day rate at Nordlicht is 620 €.",
        session: "demo-nordlicht-kickoff",
        quote: "Vertrag 40 Tage, 620/Tag, Zahlungsziel 30 Tage.",
        ..CLAIM
    },
    Claim {
        name: "rate",
        kind: MemoryKind::Project,
        subject: "Nordlicht",
        project: Some("nordlicht"),
        content: "The day rate at Nordlicht is 680 €.",
        session: "demo-today-rate",
        quote: "She said yes before I'd swallowed.",
        by: By::Person,
        replaces: Some("rate-first"),
        valid_from: Some(8),
    },
    Claim {
        name: "lease-short",
        kind: MemoryKind::Project,
        subject: "claim lease",
        project: Some("nordlicht"),
        content: "The lease of a claimed job is 2 hours.",
        session: "demo-nordlicht-race",
        quote: "4 hours is too long, technicians are on a turbine for 90 minutes at most. 2 hours.",
        ..CLAIM
    },
    Claim {
        name: "lease",
        kind: MemoryKind::Project,
        subject: "claim lease",
        project: Some("nordlicht"),
        content: "The lease of a claimed job is 3 hours.",
        session: "demo-nordlicht-race",
        quote: "She wants 3 hours, because offshore has no reception. OK for me.",
        by: By::Person,
        ..CLAIM
    },
    Claim {
        name: "limits",
        kind: MemoryKind::Adaptation,
        subject: "tests",
        project: Some("sluice"),
        content: "Every limit in the code gets a test at the limit plus one.",
        session: "demo-sluice-yank",
        quote: "every limit in the code gets a test at limit + 1.",
        ..CLAIM
    },
    Claim {
        name: "hook",
        kind: MemoryKind::Project,
        subject: "metrics hook",
        project: Some("sluice"),
        content: "The metrics hook may be published in sluice.",
        session: "demo-sluice-0-7",
        quote: "which is friendly and not a licence grant",
        ..CLAIM
    },
    Claim {
        name: "editor",
        kind: MemoryKind::Preference,
        project: Some("machine"),
        content: "Mira's editor is Helix.",
        session: "demo-cli-shell-again",
        quote: "Editor stays Helix, whatever else I say at 11 at night.",
        ..CLAIM
    },
    Claim {
        name: "invoices",
        kind: MemoryKind::Adaptation,
        subject: "Rechnungen",
        project: Some("nordlicht"),
        content: "Rechnungen nach Deutschland tragen die USt-IdNr beider Seiten (Umsatzsteuer-Nummern).",
        session: "demo-nordlicht-invoice",
        quote: "Die USt-IdNr muss drauf, sonst schickt ihre Buchhaltung sie zurück.",
        ..CLAIM
    },
];

pub(crate) const STEPS: &[Step] = &[
    Step { name: "shower", after: 90, kind: StepKind::Reject("It was a question, not a wish.") },
    Step { name: "limits", after: 2 * 24 * 60, kind: StepKind::Confirm },
    Step {
        name: "limits",
        after: 3 * 24 * 60,
        kind: StepKind::Use("which tests does a shard need"),
    },
    Step {
        name: "limits",
        after: 5 * 24 * 60,
        kind: StepKind::Use("how many keys should the test try"),
    },
    Step { name: "hook", after: 4, kind: StepKind::Promote },
    Step { name: "hook", after: 9, kind: StepKind::Undo("Katrin has not agreed in writing.") },
    Step { name: "editor", after: 24 * 60, kind: StepKind::Forget("I try another one.") },
    Step { name: "editor", after: 3 * 24 * 60, kind: StepKind::Undo("Back to Helix.") },
    Step { name: "evenings", after: 4 * 24 * 60, kind: StepKind::Use("when do I run this week") },
];
