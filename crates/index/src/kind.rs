//! What an indexed text is. Numbers of all kinds come from one sequence, so that no two texts
//! share one and a number alone names its text.

/// What a text is. The values are stored in segments: they are never changed or used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum Kind {
    /// A message of a session.
    #[default]
    Message = 0,
    /// A version of a memory.
    Memory = 1,
    /// A chunk of a document.
    Chunk = 2,
    /// An entry of a note.
    Note = 3,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 4] = [Kind::Message, Kind::Memory, Kind::Chunk, Kind::Note];

    /// The kind with this value; `None` for one of a later version.
    pub(crate) fn of(value: u8) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| *kind as u8 == value)
    }
}

/// A set of kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kinds(u32);

impl Kinds {
    /// The set of some kinds.
    pub fn of(kinds: &[Kind]) -> Kinds {
        Kinds(kinds.iter().fold(0, |set, kind| set | 1 << *kind as u8))
    }

    /// Whether a kind is among them.
    #[inline]
    pub fn has(self, kind: Kind) -> bool {
        self.0 >> kind as u8 & 1 == 1
    }

    /// Whether all of them are among `others`.
    pub fn are_in(self, others: Kinds) -> bool {
        self.0 & !others.0 == 0
    }

    /// The kinds of both.
    #[must_use]
    pub fn and(self, others: Kinds) -> Kinds {
        Kinds(self.0 | others.0)
    }
}
