//! `oneiro note`: read and change notes.

use super::mount::{self, MountArgs, UnmountArgs};
use super::revisions::PagerArgs;
use crate::config::DEFAULT_EDITOR;
use crate::context::Context;
use crate::output::{ago, data, plain, raw, table, thousands};
use crate::request::request;
use anyhow::Context as _;
use clap::{Args, Subcommand};
use oneiro::{
    ChangedNote, DeleteNote, EditNote, Error, ListNotes, ListRevisions, NoteInfo, NoteName,
    NotePromptRequest, Oneiro, SpaceUse, WriteNote,
};
use serde_json::{Value, json};
use std::io::{IsTerminal, Read};

/// Read and change notes such as MEMORY.md
///
/// Notes are Markdown with a history. Each change is a revision: `oneiro log` lists them, `oneiro
/// undo` undoes one, and `oneiro blame` shows who wrote each line.
#[derive(Debug, Subcommand)]
pub enum NoteCommand {
    /// List the notes
    List(ListArgs),
    /// Print a note
    Show(ShowArgs),
    /// Add an entry; one that is there already is not added again
    Add(AddArgs),
    /// Replace the entry that contains a text
    Replace(ReplaceArgs),
    /// Remove the entry that contains a text
    Remove(RemoveArgs),
    /// Write the whole note from standard input
    Write(WriteArgs),
    /// Edit the note in your editor ($VISUAL or $EDITOR)
    Edit(EditArgs),
    /// Delete a note; it can be restored
    Delete(DeleteArgs),
    /// Print the notes for a prompt, with how full they are
    Prompt(PromptArgs),
    /// Keep the files of a folder and the notes in sync, both ways
    Mount(MountArgs),
    /// Stop keeping a folder in sync; its files stay
    Unmount(UnmountArgs),
    /// List the mounted folders, with conflicts and files that are not in sync
    Mounts,
    /// Bring mounted files and notes into sync now
    Sync,
}

/// List the notes
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only notes whose name starts with this, such as memory/
    prefix: Option<String>,
}

/// Print a note
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Name of the note
    name: String,
    #[command(flatten)]
    pager: PagerArgs,
}

/// Add an entry
#[derive(Debug, Args)]
pub struct AddArgs {
    /// Name of the note, such as MEMORY.md; it is created if it does not exist
    name: String,
    /// Text of the entry
    #[arg(allow_hyphen_values = true)]
    text: String,
    /// What the revision says about itself
    #[arg(long, short)]
    message: Option<String>,
    /// How entries are written in a new note: list or delimited (by lines with §)
    #[arg(long)]
    style: Option<String>,
}

/// Replace an entry
#[derive(Debug, Args)]
pub struct ReplaceArgs {
    /// Name of the note
    name: String,
    /// A part of the entry, which no other entry contains
    #[arg(allow_hyphen_values = true)]
    old: String,
    /// The new text of the entry
    #[arg(allow_hyphen_values = true)]
    new: String,
    /// What the revision says about itself
    #[arg(long, short)]
    message: Option<String>,
}

/// Remove an entry
#[derive(Debug, Args)]
pub struct RemoveArgs {
    /// Name of the note
    name: String,
    /// A part of the entry, which no other entry contains
    #[arg(allow_hyphen_values = true)]
    old: String,
    /// What the revision says about itself
    #[arg(long, short)]
    message: Option<String>,
}

/// Write the whole note
#[derive(Debug, Args)]
pub struct WriteArgs {
    /// Name of the note
    name: String,
    /// The etag of the text that the new one is based on; what others changed since is kept
    #[arg(long, value_name = "ETAG")]
    base: Option<String>,
    /// What the revision says about itself
    #[arg(long, short)]
    message: Option<String>,
}

/// Edit the note in your editor
#[derive(Debug, Args)]
pub struct EditArgs {
    /// Name of the note
    name: String,
    /// What the revision says about itself
    #[arg(long, short)]
    message: Option<String>,
}

/// Delete a note
#[derive(Debug, Args)]
pub struct DeleteArgs {
    /// Name of the note
    name: String,
    /// What the revision says about itself
    #[arg(long, short)]
    message: Option<String>,
}

/// Print the notes for a prompt
#[derive(Debug, Args)]
pub struct PromptArgs {
    /// As of this revision, which never changes
    #[arg(long, value_name = "ID")]
    revision: Option<String>,
}

impl NoteCommand {
    /// What the command does with the space.
    pub fn space_use(&self) -> SpaceUse {
        match self {
            NoteCommand::Add(_)
            | NoteCommand::Write(_)
            | NoteCommand::Edit(_)
            | NoteCommand::Mount(_) => SpaceUse::CreateMissing,
            _ => SpaceUse::MustExist,
        }
    }

    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        match self {
            NoteCommand::List(args) => {
                let oneiro = context.open()?;
                let list: ListNotes = request(&oneiro, json!({"prefix": args.prefix}))?;
                let page = oneiro::Page::from(oneiro.notes().list(&list)?);
                context.output.show(&page, |page| listed(&page.items, &oneiro))
            }
            NoteCommand::Show(args) => {
                let note = context.open()?.notes().get(&NoteName::parse(&args.name)?)?;
                if context.output.json {
                    return data(&serde_json::to_string(&note)?);
                }
                if !std::io::stdout().is_terminal() {
                    return raw(&note.content);
                }
                args.pager.print(&plain(&note.content))
            }
            NoteCommand::Add(args) => {
                let edit = json!({"action": "add", "text": args.text});
                edit_one(context, &args.name, edit, (args.message, args.style))
            }
            NoteCommand::Replace(args) => {
                let edit = json!({"action": "replace", "old": args.old, "text": args.new});
                edit_one(context, &args.name, edit, (args.message, None))
            }
            NoteCommand::Remove(args) => {
                let edit = json!({"action": "remove", "old": args.old});
                edit_one(context, &args.name, edit, (args.message, None))
            }
            NoteCommand::Write(args) => {
                let content = text_from_stdin()?;
                let write = WriteNote { content, base: args.base, message: args.message };
                written(context, &args.name, write)
            }
            NoteCommand::Edit(args) => edit_in_editor(context, args),
            NoteCommand::Delete(args) => {
                let oneiro = context.open()?;
                let delete: DeleteNote = request(&oneiro, json!({"message": args.message}))?;
                let note = oneiro.notes().delete(&NoteName::parse(&args.name)?, delete)?;
                context.output.show(&note, |note| format!("Deleted {}.", note.name))?;
                note_restoring(context, &oneiro, note.name)
            }
            NoteCommand::Prompt(args) => {
                let oneiro = context.open()?;
                let prompt: NotePromptRequest =
                    request(&oneiro, json!({"revision": args.revision}))?;
                let prompt = oneiro.notes().prompt(&prompt)?;
                context.output.show(&prompt, |prompt| plain(&prompt.text))
            }
            NoteCommand::Mount(args) => args.run(context),
            NoteCommand::Unmount(args) => args.run(context),
            NoteCommand::Mounts | NoteCommand::Sync => mount::list(context),
        }
    }
}

/// The note on standard input. Its size is checked first: a text that is cut may end inside a character.
fn text_from_stdin() -> anyhow::Result<String> {
    let limit = oneiro::NOTE_BYTES_MAX;
    let mut bytes = Vec::new();
    std::io::stdin()
        .take(limit as u64 + 1)
        .read_to_end(&mut bytes)
        .context("cannot read standard input")?;
    if bytes.len() > limit {
        let limit = thousands(limit);
        anyhow::bail!(
            Error::too_large(format!("standard input has more than {limit} bytes"))
                .remedy("split it into several notes")
        );
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Error::invalid(format!("standard input is not UTF-8 text at byte {at}"))
            .remedy("convert it to UTF-8")
    })?;
    Ok(text)
}

/// Says how to bring a deleted note back.
fn note_restoring(context: &Context, oneiro: &Oneiro, name: NoteName) -> anyhow::Result<()> {
    let last = ListRevisions { note: Some(name), limit: 1, ..ListRevisions::default() };
    if let Some(deletion) = oneiro.notes().log(&last)?.items.first() {
        context.output.note(&format!("`oneiro undo {}` restores it.", deletion.id));
    }
    Ok(())
}

fn edit_one(
    context: &Context,
    name: &str,
    edit: Value,
    (message, style): (Option<String>, Option<String>),
) -> anyhow::Result<()> {
    let name = NoteName::parse(name)?;
    let fields = json!({"edits": [edit], "message": message, "style": style});
    let (oneiro, changed) = context.open_to_add(|oneiro| {
        let edit: EditNote = request(oneiro, fields.clone())?;
        Ok(oneiro.notes().edit(&name, edit)?)
    })?;
    show_changed(context, &oneiro, &changed)
}

fn written(context: &Context, name: &str, write: WriteNote) -> anyhow::Result<()> {
    let name = NoteName::parse(name)?;
    let (oneiro, changed) =
        context.open_to_add(|oneiro| Ok(oneiro.notes().write(&name, write.clone())?))?;
    show_changed(context, &oneiro, &changed)
}

fn show_changed(context: &Context, oneiro: &Oneiro, changed: &ChangedNote) -> anyhow::Result<()> {
    context.output.show(changed, changed_line)?;
    context.after(oneiro);
    Ok(())
}

fn changed_line(changed: &ChangedNote) -> String {
    let note = &changed.note;
    let full = note.limit.map(|limit| format!(" of {limit}")).unwrap_or_default();
    let revision = note.revision.as_ref().map(ToString::to_string).unwrap_or_default();
    match (changed.changed, changed.merged) {
        (false, _) => format!("{} has this text already.", note.name),
        (true, true) => format!(
            "{}: {}{full} characters, with what others changed meanwhile ({revision})",
            note.name, note.chars
        ),
        (true, false) => format!("{}: {}{full} characters ({revision})", note.name, note.chars),
    }
}

/// Opens the note in the person's editor, and writes what comes back on top of what others wrote.
fn edit_in_editor(context: &Context, args: EditArgs) -> anyhow::Result<()> {
    // An editor that somebody chose may do without one: scripts set their own.
    if !std::io::stdin().is_terminal() && crate::config::editor() == DEFAULT_EDITOR {
        let hint = format!("write the whole note: oneiro note write {} < FILE", args.name);
        return Err(oneiro::Error::invalid("an editor needs a terminal").remedy(hint).into());
    }
    let name = NoteName::parse(&args.name)?;
    let before = match context.open_if_exists()? {
        Some(oneiro) => match oneiro.notes().get(&name) {
            Ok(note) => Some(note),
            Err(error) if error.kind() == oneiro::ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        },
        None => None,
    };
    let old = before.as_ref().map(|note| note.content.clone()).unwrap_or_default();
    let folder = tempfile::tempdir()?;
    let file = folder.path().join(name.file_name());
    std::fs::write(&file, &old)?;
    let editor = crate::config::editor();
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or(DEFAULT_EDITOR);
    let status = std::process::Command::new(program)
        .args(words)
        .arg(&file)
        .status()
        .with_context(|| format!("the editor {program:?} cannot be started; set EDITOR"))?;
    if !status.success() {
        let problem = format!("the editor ended with {status}; nothing is written");
        return Err(oneiro::Error::invalid(problem).into());
    }
    let content = std::fs::read_to_string(&file).context("the edited text is not UTF-8")?;
    let base = before.map(|note| note.etag);
    written(context, &args.name, WriteNote { content, base, message: args.message })
}

fn listed(notes: &[NoteInfo], oneiro: &Oneiro) -> String {
    if notes.is_empty() {
        return "No notes. `oneiro note add MEMORY.md TEXT` writes the first.".to_owned();
    }
    let row = |note: &NoteInfo| {
        let full = note.limit.map(|limit| format!("{}%", note.chars * 100 / limit.max(1)));
        vec![
            plain(note.name.as_str()),
            thousands(note.chars),
            full.unwrap_or_default(),
            ago(note.updated_at, oneiro.now()),
        ]
    };
    let rows: Vec<_> = notes.iter().map(row).collect();
    table(&["note", "characters", "full", "changed"], &rows)
}
