//! Notes for a prompt: one block per note with how full it is. As of a revision the text never
//! changes, so the beginning of a prompt stays the same while notes are edited.

use super::budget::{Budgets, MEMORY_NOTE, USER_NOTE, chars, usage};
use super::history::{resolve, text_of};
use super::screen::without_blocked;
use crate::settings::Settings;
use crate::views::Notes;
use oneiro_model::{NoteBlock, NoteName, NotePrompt, NotePromptRequest, Result};
use oneiro_store::{revisions, settings};

/// Letters of the lines around a header.
const RULE_CHARS: usize = 46;

impl Notes<'_> {
    /// The notes that belong into a prompt, as text. Empty notes, and notes that equal their template,
    /// are left out.
    pub fn prompt(&self, request: &NotePromptRequest) -> Result<NotePrompt> {
        self.oneiro.sync_mounts();
        self.oneiro.store.read(|tx| {
            let revision = match &request.revision {
                Some(id) => Some(resolve(tx, id)?),
                None => revisions::last(tx)?,
            };
            let settings = Settings::read(&settings::all(tx)?)?;
            let budgets = Budgets::of(&settings);
            let mut blocks = Vec::new();
            for name in &settings.prompt_notes {
                let Some(revision) = &revision else { break };
                let text = text_of(tx, name, revision.key)?.unwrap_or_default();
                let template = settings.note_templates.get(name.as_str());
                let is_template = template.is_some_and(|it| it.trim() == text.trim());
                if !text.trim().is_empty() && !is_template {
                    blocks.push(block(name, &text, budgets.limit(name)));
                }
            }
            let texts: Vec<&str> = blocks.iter().map(|block| block.text.as_str()).collect();
            Ok(NotePrompt {
                text: texts.join("\n\n"),
                blocks,
                revision: revision.map(|stored| stored.revision.id),
            })
        })
    }
}

/// A note as a model sees it.
pub(super) fn block(name: &NoteName, text: &str, limit: Option<usize>) -> NoteBlock {
    let title = match name.as_str() {
        MEMORY_NOTE => "MEMORY (your personal notes)",
        USER_NOTE => "USER PROFILE (who the user is)",
        other => other,
    };
    let usage = limit.map(|limit| format!(" [{}]", usage(chars(text), limit)));
    let shown = without_blocked(text);
    let rule = "═".repeat(RULE_CHARS);
    let text = format!("{rule}\n{title}{}\n{rule}\n{}", usage.unwrap_or_default(), shown.trim());
    NoteBlock { name: name.clone(), text }
}
