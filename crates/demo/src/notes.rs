//! Notes of the demonstration, with a short history: written by agents and by the person, corrected,
//! and one change undone.

use crate::memories::person;
use oneiro::{
    Actor, ActorKind, ActorSurface, DreamId, EditAction, EditNote, EraseTarget, ListNotes,
    ListRevisions, NoteEdit, NoteName, Oneiro, Result, Revision, Span, Timestamp, WriteNote,
};

/// Where the day of a dated note stands in its name.
const DAY: &str = "{day}";

/// One change of a note.
pub(crate) struct NoteStep {
    /// The note.
    pub(crate) note: &'static str,
    /// Minutes before the end of the month.
    before: i64,
    by_agent: bool,
    change: Change,
    /// What the revision says; it marks the note as one of the demonstration.
    message: &'static str,
}

enum Change {
    Write(&'static str),
    Add(&'static str),
    /// A part of an entry, and its new text.
    Replace(&'static str, &'static str),
    /// Undoes the newest change of the note that no dream made.
    Undo,
}

/// Maximum number of changes of one note by the demonstration.
const REVISIONS_MAX: usize = 100;

const DAY_MINUTES: i64 = 24 * 60;

/// The changes, oldest first.
pub(crate) const STEPS: &[NoteStep] = &[
    NoteStep {
        note: "USER.md",
        before: 27 * DAY_MINUTES + 200,
        by_agent: false,
        change: Change::Write(
            "# Mira\n\n- Freelance developer; maintains sluice.\n- Answers: short, numbers first.\n",
        ),
        message: "Who I am, for every agent",
    },
    NoteStep {
        note: "MEMORY.md",
        before: 24 * DAY_MINUTES + 95,
        by_agent: true,
        change: Change::Add("The bathroom costs at most 9,000 €, everything included."),
        message: "Note the limit for the bathroom",
    },
    NoteStep {
        note: "MEMORY.md",
        before: 22 * DAY_MINUTES + 310,
        by_agent: false,
        change: Change::Write(
            "# Memory\n\n## Running\n\n- Mira runs in the morning, before breakfast.\n\n\
             ## Flat\n\n- The bathroom costs at most 9,000 €, everything included.\n\
             - No noise between 14:00 and 16:00: Dona Fernanda sleeps.\n",
        ),
        message: "Put headings in",
    },
    NoteStep {
        note: "MEMORY.md",
        before: 13 * DAY_MINUTES + 40,
        by_agent: true,
        change: Change::Add("The bathroom walls get sea green tiles."),
        message: "Note the colour of the tiles",
    },
    NoteStep {
        note: "MEMORY.md",
        before: 11 * DAY_MINUTES + 15,
        by_agent: true,
        change: Change::Replace("in the morning", "Mira runs in the evening, around 19:00."),
        message: "Running moved to the evening",
    },
    NoteStep {
        note: "USER.md",
        before: 9 * DAY_MINUTES + 500,
        by_agent: true,
        change: Change::Add("Editor: Helix."),
        message: "Note the editor",
    },
    NoteStep {
        note: "MEMORY.md",
        before: 6 * DAY_MINUTES + 70,
        by_agent: true,
        change: Change::Add("Mira wants a rain shower fixed to the ceiling."),
        message: "Note the shower",
    },
    NoteStep {
        note: "MEMORY.md",
        before: 6 * DAY_MINUTES - 25,
        by_agent: false,
        change: Change::Undo,
        message: "That was only a question",
    },
    NoteStep {
        note: "memory/{day}.md",
        before: 3 * DAY_MINUTES + 130,
        by_agent: true,
        change: Change::Add("Tiler came, measured 21.4 m², starts on the 3rd."),
        message: "What happened today",
    },
    NoteStep {
        note: "MEMORY.md",
        before: 3 * DAY_MINUTES + 128,
        by_agent: true,
        change: Change::Replace("sea green", "The bathroom walls get white tiles, 10 x 10."),
        message: "White tiles instead of sea green",
    },
    NoteStep {
        note: "memory/{day}.md",
        before: 3 * DAY_MINUTES + 20,
        by_agent: false,
        change: Change::Add("Ask him about the socket behind the mirror."),
        message: "One more thing for the tiler",
    },
];

impl NoteStep {
    /// When it happens in a month that ends at `now`.
    pub(crate) fn at(&self, now: Timestamp) -> Timestamp {
        now.plus(Span::seconds(-60 * self.before))
    }

    /// Who makes the change.
    pub(crate) fn actor(&self) -> Actor {
        if self.by_agent {
            Actor::new(ActorKind::Agent, ActorSurface::Mcp).with_client("claude-code")
        } else {
            person()
        }
    }

    fn name(&self, now: Timestamp) -> Result<NoteName> {
        let day: String = self.at(now).date_text();
        NoteName::parse(&self.note.replace(DAY, &day))
    }

    /// Makes the change, in a month that ends at `now`.
    pub(crate) fn apply(&self, oneiro: &Oneiro, now: Timestamp) -> Result<()> {
        let (notes, name) = (oneiro.notes(), self.name(now)?);
        let message = Some(self.message.to_owned());
        let edit = |action, text: &str, old: Option<&str>| {
            let edit =
                NoteEdit { action, text: Some(text.to_owned()), old: old.map(str::to_owned) };
            EditNote { edits: vec![edit], style: None, message: message.clone() }
        };
        match self.change {
            Change::Write(text) => {
                let request =
                    WriteNote { content: text.to_owned(), base: None, message: message.clone() };
                notes.write(&name, request).map(|_| ())
            }
            Change::Add(text) => notes.edit(&name, edit(EditAction::Add, text, None)).map(|_| ()),
            Change::Replace(old, text) => {
                notes.edit(&name, edit(EditAction::Replace, text, Some(old))).map(|_| ())
            }
            Change::Undo => {
                let log = ListRevisions { note: Some(name), ..ListRevisions::default() };
                let mut log = notes.log(&log)?.items.into_iter();
                let last = log.find(|revision| revision.dream_id.is_none());
                let id = last.map(|revision| revision.id.to_string()).unwrap_or_default();
                notes.undo(&id, message).map(|_| ())
            }
        }
    }
}

/// Whether the space has a note with the name of one of these.
pub(crate) fn any_name_taken(oneiro: &Oneiro, now: Timestamp) -> Result<bool> {
    let listed = oneiro.notes().list(&ListNotes::default())?;
    for step in STEPS {
        let name = step.name(now)?;
        if listed.iter().any(|note| note.name == name) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The notes that only the demonstration and its dreams have changed, to erase.
pub(crate) fn existing(oneiro: &Oneiro, dreams: &[DreamId]) -> Result<Vec<EraseTarget>> {
    let mut found = Vec::new();
    for note in oneiro.notes().list(&ListNotes::default())? {
        let all = ListRevisions {
            note: Some(note.name.clone()),
            limit: REVISIONS_MAX,
            ..ListRevisions::default()
        };
        let page = oneiro.notes().log(&all)?;
        let is_ours = |revision: &Revision| match &revision.dream_id {
            Some(dream) => dreams.iter().any(|ours| ours.as_str() == dream),
            None => STEPS.iter().any(|step| step.message == revision.message),
        };
        // A note with more changes than the demonstration makes has others.
        let all_ours = page.next.is_none() && page.items.iter().all(is_ours);
        if all_ours {
            found.push(EraseTarget::Note(note.name));
        }
    }
    Ok(found)
}
