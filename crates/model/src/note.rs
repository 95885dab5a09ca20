//! Notes: Markdown files with budgets, edited by entries, and the requests that change them.

use crate::contract::Request;
use crate::{Error, Result, RevisionId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Maximum bytes of a note.
pub const NOTE_BYTES_MAX: usize = 1 << 20;
/// Maximum number of edits in one request.
const EDITS_MAX: usize = 100;
/// Maximum characters of what a revision says about itself.
pub const REVISION_MESSAGE_CHARS_MAX: usize = 500;

/// The name of a note: a relative path inside the folder of notes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct NoteName(String);

impl NoteName {
    /// Maximum characters of a name.
    pub const MAX_CHARS: usize = 200;

    /// Reads a name: parts separated by `/`, none of which leaves the folder or is hidden.
    pub fn parse(name: &str) -> Result<NoteName> {
        let wrong = |problem: &str| {
            Err(Error::field("name", format!("{name:?} {problem}"))
                .remedy("give a relative path such as MEMORY.md or memory/2026-01-31.md"))
        };
        if name.is_empty() {
            return wrong("is empty");
        }
        if name.chars().count() > NoteName::MAX_CHARS {
            let shown: String = name.chars().take(40).collect();
            let limit = NoteName::MAX_CHARS;
            return Err(Error::field(
                "name",
                format!("{shown:?}… has more than {limit} characters"),
            )
            .remedy("give a shorter name"));
        }
        if name.chars().any(|letter| letter.is_control() || letter == '\\') {
            return wrong("contains a control character or a backslash");
        }
        let is_drive = name.as_bytes().get(1) == Some(&b':');
        if name.starts_with('/') || is_drive {
            return wrong("is absolute");
        }
        for part in name.split('/') {
            if part.is_empty() || part == "." || part == ".." {
                return wrong("has an empty, `.` or `..` part");
            }
            if part.starts_with('.') {
                return wrong("has a part that starts with a dot");
            }
            if part.trim() != part || part.ends_with('.') {
                return wrong("has a part with a space around it or a dot at its end");
            }
        }
        Ok(NoteName(name.to_owned()))
    }

    /// The note in which dreams tell what they did.
    pub const DIARY: &'static str = "DREAMS.md";

    /// The note about what is known.
    pub fn memory() -> NoteName {
        NoteName("MEMORY.md".to_owned())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last part of the name.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }
}

parsed_from_text!(NoteName);
text_schema!(NoteName "minLength": 1, "maxLength": NoteName::MAX_CHARS,
    "pattern": crate::contract::schema::WITHOUT_NUL);

impl fmt::Display for NoteName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Note {
    /// Its name.
    pub name: NoteName,
    /// Its text.
    pub content: String,
    /// Characters of its text, without spaces and line ends around it.
    pub chars: usize,
    /// The most characters it may have, if it has a budget.
    pub limit: Option<usize>,
    /// Changes with the text; give it as `base` to change only what was read.
    pub etag: String,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// The revision that made this text.
    pub revision: Option<RevisionId>,
}

/// A note without its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NoteInfo {
    /// Its name.
    pub name: NoteName,
    /// Characters of its text, without spaces and line ends around it.
    pub chars: usize,
    /// The most characters it may have, if it has a budget.
    pub limit: Option<usize>,
    /// Changes with the text.
    pub etag: String,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// Which notes to list.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ListNotes {
    /// Only notes whose name starts with this, such as `memory/`.
    #[schemars(length(max = NoteName::MAX_CHARS))]
    pub prefix: Option<String>,
}

impl Request for ListNotes {}

/// The whole text of a note.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteNote {
    /// The text.
    pub content: String,
    /// The `etag` of the text that this one is based on. What others changed since is kept, or the
    /// answer is a conflict. Without it, the note is overwritten.
    #[serde(default)]
    #[schemars(length(min = 1, max = 100))]
    pub base: Option<String>,
    /// What the revision says about itself.
    #[serde(default)]
    #[schemars(length(max = REVISION_MESSAGE_CHARS_MAX))]
    pub message: Option<String>,
}

impl Request for WriteNote {}

/// How a note is deleted. It can be restored.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DeleteNote {
    /// The `etag` of the text that was read; another text is not deleted.
    #[schemars(length(min = 1, max = 100))]
    pub base: Option<String>,
    /// What the revision says about itself.
    #[schemars(length(max = REVISION_MESSAGE_CHARS_MAX))]
    pub message: Option<String>,
}

impl Request for DeleteNote {}

json_name! {
    /// What an edit does.
    EditAction "action" {
        /// Add an entry; one that is there already is not added again.
        Add "add",
        /// Replace an entry by a text.
        Replace "replace",
        /// Remove an entry.
        Remove "remove",
    }
}

json_name! {
    /// How entries are written in a note that does not show it yet.
    EntryStyle "style" {
        /// As list items.
        List "list",
        /// Separated by lines with a section sign.
        Delimited "delimited",
    }
}

/// One edit of a note.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoteEdit {
    /// What it does.
    pub action: EditAction,
    /// The text of the new entry.
    #[serde(default)]
    pub text: Option<String>,
    /// A part of the entry to replace or remove; only one entry may contain it.
    #[serde(default)]
    pub old: Option<String>,
}

/// Edits of a note, all or none.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditNote {
    /// The edits, one after the other.
    #[schemars(length(min = 1, max = EDITS_MAX))]
    pub edits: Vec<NoteEdit>,
    /// How entries are written if the note does not show it; as list items when absent.
    #[serde(default)]
    pub style: Option<EntryStyle>,
    /// What the revision says about itself.
    #[serde(default)]
    #[schemars(length(max = REVISION_MESSAGE_CHARS_MAX))]
    pub message: Option<String>,
}

impl Request for EditNote {
    fn check(&self) -> Result<()> {
        if self.edits.is_empty() {
            return Err(Error::field("edits", "is empty").remedy("give at least one edit"));
        }
        for (place, edit) in self.edits.iter().enumerate() {
            let wrong = |name: &str, problem: &str| {
                Err(Error::field(format!("edits[{place}].{name}"), problem))
            };
            let action = edit.action;
            match (action, &edit.text, &edit.old) {
                (EditAction::Add | EditAction::Replace, None, _) => {
                    return wrong("text", "is missing");
                }
                (EditAction::Replace | EditAction::Remove, _, None) => {
                    return wrong("old", "is missing");
                }
                (EditAction::Add, _, Some(_)) => return wrong("old", "is not used by an addition"),
                (EditAction::Remove, Some(_), _) => {
                    return wrong("text", "is not used by a removal");
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The answer to a change of a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangedNote {
    /// The note as it is now.
    #[serde(flatten)]
    pub note: Note,
    /// Whether anything changed. If not, there is no new revision.
    pub changed: bool,
    /// Whether changes of others were kept beside this one.
    pub merged: bool,
}

/// Which text goes into a prompt.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NotePromptRequest {
    /// As of this revision: the answer stays the same, whatever is changed later.
    #[schemars(length(min = 1, max = 40))]
    pub revision: Option<String>,
}

impl Request for NotePromptRequest {}

/// The notes for a prompt. The text stays the same for one revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NotePrompt {
    /// The blocks one after the other; empty if no note has anything to show.
    pub text: String,
    /// The notes shown, each with its block.
    pub blocks: Vec<NoteBlock>,
    /// The revision that the text is of.
    pub revision: Option<RevisionId>,
}

/// One note in a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NoteBlock {
    /// The note.
    pub name: NoteName,
    /// Its header and text.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_inside_the_folder() {
        for good in
            ["MEMORY.md", "memory/2026-01-31.md", "projects/P/notes.md", "ä/漢字.md", "a..b"]
        {
            assert_eq!(NoteName::parse(good).unwrap().as_str(), good);
        }
        let long = "x".repeat(201);
        let bad = [
            "",
            "/etc/passwd",
            "../x",
            "a/../b",
            "a//b",
            "a/",
            "./a",
            ".git/config",
            "a\\b",
            "C:/x",
            "a\0b",
            "a\nb",
            " a",
            "a /b",
            "a.",
            &long,
        ];
        for name in bad {
            assert_eq!(NoteName::parse(name).unwrap_err().field_name(), Some("name"), "{name:?}");
        }
    }
}
