//! Decides what happens to one note and its file: which side changed since both were last in sync. It
//! knows hashes only, no store and no files.

/// Note and file when they were last in sync.
#[derive(Debug, Clone, Copy)]
pub(super) struct Base<'h> {
    /// The hash of the note's text; `None` if there was no note.
    pub(super) note: &'h str,
    /// The hash of the file's bytes.
    pub(super) file: &'h str,
}

/// A file as it is now.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileNow<'h> {
    /// The hash of its bytes.
    pub(super) bytes: &'h str,
    /// The hash of the text that the note would have if it had the text of the file.
    pub(super) note: &'h str,
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Both are in sync.
    Nothing,
    /// Both say the same: record that they are in sync.
    Record,
    /// The note gets the text of the file.
    TakeFile,
    /// Both changed: the note gets both changes.
    Merge,
    /// Both exist and nothing is known of how they came apart.
    KeepBoth,
    /// The file was deleted, and the note is.
    DeleteNote,
    /// The file gets the text of the note.
    WriteFile,
    /// The note was deleted, and the file is.
    DeleteFile,
    /// Both are gone.
    Forget,
}

/// What to do with a note and its file. An edit on one side outweighs a deletion on the other.
pub(super) fn decide(
    base: Option<Base<'_>>,
    note: Option<&str>,
    file: Option<FileNow<'_>>,
) -> Action {
    match (base, note, file) {
        (None, None, None) => Action::Nothing,
        (None, Some(_), None) => Action::WriteFile,
        (None, None, Some(_)) => Action::TakeFile,
        (None, Some(note), Some(file)) if note == file.note => Action::Record,
        (None, Some(_), Some(_)) => Action::KeepBoth,
        (Some(_), None, None) => Action::Forget,
        (Some(base), Some(note), None) if note == base.note => Action::DeleteNote,
        (Some(_), Some(_), None) => Action::WriteFile,
        (Some(base), None, Some(file)) if file.bytes == base.file => Action::DeleteFile,
        (Some(_), None, Some(_)) => Action::TakeFile,
        (Some(base), Some(note), Some(file)) => {
            match (note == base.note, file.bytes == base.file) {
                (true, true) => Action::Nothing,
                (false, true) => Action::WriteFile,
                (true, false) => Action::TakeFile,
                (false, false) if note == file.note => Action::Record,
                (false, false) => Action::Merge,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Base, note, file and action. A letter is a text; a file with a capital letter has the text of
    /// the small one in other bytes, such as other line ends; `-` is none.
    const TABLE: &[(char, char, char, Action)] = &[
        ('-', '-', '-', Action::Nothing),
        ('-', 'a', '-', Action::WriteFile),
        ('-', '-', 'a', Action::TakeFile),
        ('-', 'a', 'a', Action::Record),
        ('-', 'a', 'A', Action::Record),
        ('-', 'a', 'b', Action::KeepBoth),
        ('a', '-', '-', Action::Forget),
        ('a', 'a', '-', Action::DeleteNote),
        ('a', 'b', '-', Action::WriteFile),
        ('a', '-', 'a', Action::DeleteFile),
        ('a', '-', 'b', Action::TakeFile),
        ('a', 'a', 'a', Action::Nothing),
        ('a', 'b', 'a', Action::WriteFile),
        ('a', 'a', 'b', Action::TakeFile),
        ('a', 'a', 'A', Action::TakeFile),
        ('a', 'b', 'b', Action::Record),
        ('a', 'b', 'B', Action::Record),
        ('a', 'b', 'c', Action::Merge),
    ];

    #[test]
    fn every_case_of_base_note_and_file_has_its_action() {
        for (base, note, file, action) in TABLE {
            let text = |letter: char| (letter != '-').then(|| letter.to_string());
            let (base, note, bytes) = (text(*base), text(*note), text(*file));
            let meant = bytes.as_ref().map(|bytes| bytes.to_lowercase());
            let decided = decide(
                base.as_deref().map(|base| Base { note: base, file: base }),
                note.as_deref(),
                bytes.as_deref().zip(meant.as_deref()).map(|(bytes, note)| FileNow { bytes, note }),
            );
            assert_eq!(decided, *action, "base {base:?}, note {note:?}, file {bytes:?}");
        }
    }

    /// Whatever differs from the base on the side of the file is never overwritten by the note alone.
    #[test]
    fn a_changed_file_is_never_just_overwritten_or_deleted() {
        for (base, _, file, action) in TABLE {
            if *file != '-' && file != base {
                let overwrites = matches!(action, Action::WriteFile | Action::DeleteFile);
                assert!(!overwrites, "{base} {file} {action:?}");
            }
        }
    }
}
