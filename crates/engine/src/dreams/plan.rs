//! Plans the edits of a note that dreams keep: entries that no longer hold leave it, the most
//! valuable claims come in, within the budget. Text that no dream wrote is never touched. It is
//! pure.

use crate::notes::{note_chars, note_entries, with_edits};
use oneiro_model::{EditAction, NoteEdit, Result};
use std::collections::{BTreeMap, BTreeSet};

/// The share of the entries that dreams wrote before which may change in one run: one in this many.
/// One may always change.
const CHANGED_PART: usize = 4;

/// How much more valuable a claim must be to take the place of another.
const DISPLACING_MARGIN: f64 = 0.02;

/// A claim that stands in the note or is to stand there.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Wanted {
    /// The candidate.
    pub(crate) id: String,
    /// The text of its entry.
    pub(crate) line: String,
    /// What it is worth.
    pub(crate) value: f64,
}

/// What to plan.
#[derive(Debug, Clone, Default)]
pub(crate) struct PlanRequest<'p> {
    /// The text of the note.
    pub(crate) text: &'p str,
    /// The most characters of the note; `None` without a budget.
    pub(crate) budget: Option<usize>,
    /// Entries that dreams wrote: text to candidate.
    pub(crate) written: BTreeMap<String, String>,
    /// Candidates that hold, by id.
    pub(crate) wanted: Vec<Wanted>,
    /// Candidates that were replaced or no longer hold; their entries leave first.
    pub(crate) ended: BTreeSet<String>,
    /// Candidates that take the place of others: the new one by the old one.
    pub(crate) successors: BTreeMap<String, String>,
}

/// One edit of a plan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Planned {
    /// An entry comes in.
    Add { id: String, line: String },
    /// An entry leaves because its claim no longer holds.
    Remove { id: String, line: String },
    /// An entry leaves to make room for a more valuable one.
    Displace { id: String, line: String },
    /// An entry gets another text, or that of its successor.
    Replace { id: String, old: String, by: String, line: String },
}

/// A plan.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Plan {
    /// The edits, in order.
    pub(crate) edits: Vec<Planned>,
    /// The text after them.
    pub(crate) text: String,
    /// Candidates for which there is no room.
    pub(crate) without_room: Vec<String>,
    /// Entries that no longer hold and leave in a later run.
    pub(crate) left: Vec<String>,
}

/// Plans the edits of a note.
pub(crate) fn plan(request: &PlanRequest<'_>) -> Result<Plan> {
    let mut planner = Planner::new(request);
    planner.drop_ended()?;
    planner.add_wanted()?;
    Ok(planner.plan)
}

struct Planner<'p, 'r> {
    request: &'r PlanRequest<'p>,
    wanted: BTreeMap<&'r str, &'r Wanted>,
    /// Candidates that stand in the note, with their text there.
    standing: BTreeMap<String, String>,
    /// Prior entries that may still change.
    changes_left: usize,
    plan: Plan,
}

impl<'p, 'r> Planner<'p, 'r> {
    fn new(request: &'r PlanRequest<'p>) -> Planner<'p, 'r> {
        let entries: BTreeSet<String> = note_entries(request.text).into_iter().collect();
        let written = request.written.iter().filter(|(text, _)| entries.contains(*text));
        let standing: BTreeMap<String, String> =
            written.map(|(text, id)| (id.clone(), text.clone())).collect();
        Planner {
            request,
            wanted: request.wanted.iter().map(|one| (one.id.as_str(), one)).collect(),
            changes_left: (standing.len() / CHANGED_PART).max(1),
            standing,
            plan: Plan { text: request.text.to_owned(), ..Plan::default() },
        }
    }

    /// Removes what no longer holds, and replaces what reads differently now.
    fn drop_ended(&mut self) -> Result<()> {
        for (id, line) in self.by_urgency() {
            let successor = self.request.successors.get(&id);
            let successor = successor.and_then(|by| self.wanted.get(by.as_str()).copied());
            let (by, new) = match self.wanted.get(id.as_str()) {
                Some(own) if own.line == line => continue,
                Some(own) => (id.clone(), Some(own.line.clone())),
                None => match successor.filter(|new| !self.standing.contains_key(&new.id)) {
                    Some(new) => (new.id.clone(), Some(new.line.clone())),
                    None => (id.clone(), None),
                },
            };
            if self.changes_left == 0 {
                self.plan.left.push(id);
                continue;
            }
            let replaced = match &new {
                Some(new) => self.applied(EditAction::Replace, Some(new), Some(&line))?,
                None => None,
            };
            match (replaced, new) {
                (Some(text), Some(new)) => {
                    self.plan.text = text;
                    self.standing.remove(&id);
                    self.standing.insert(by.clone(), new.clone());
                    self.plan.edits.push(Planned::Replace { id, old: line, by, line: new });
                }
                _ => {
                    self.remove_entry(&line)?;
                    self.standing.remove(&id);
                    self.plan.edits.push(Planned::Remove { id, line });
                }
            }
            self.changes_left -= 1;
        }
        Ok(())
    }

    /// The standing entries: first those whose claim no longer holds, then others that are not
    /// wanted, then those that stay.
    fn by_urgency(&self) -> Vec<(String, String)> {
        let mut entries: Vec<(String, String)> = self.standing.clone().into_iter().collect();
        entries.sort_by_key(|(id, _)| {
            let is_wanted = self.wanted.contains_key(id.as_str());
            (is_wanted, !self.request.ended.contains(id))
        });
        entries
    }

    /// Adds what is wanted, the most valuable first.
    fn add_wanted(&mut self) -> Result<()> {
        let mut missing: Vec<&Wanted> = self.wanted.values().copied().collect();
        missing.retain(|one| !self.standing.contains_key(&one.id));
        missing.sort_by(|a, b| b.value.total_cmp(&a.value).then_with(|| a.id.cmp(&b.id)));
        for one in missing {
            if let Some(text) = self.applied(EditAction::Add, Some(&one.line), None)? {
                self.add_entry(one, text);
            } else if !self.make_room(one)? {
                self.plan.without_room.push(one.id.clone());
            }
        }
        Ok(())
    }

    /// Removes the least valuable entries until a claim fits; false if it does not. Then nothing
    /// changes: a note full of other text keeps its entries.
    fn make_room(&mut self, one: &Wanted) -> Result<bool> {
        let mut out: Vec<(String, String)> = Vec::new();
        let mut text = self.plan.text.clone();
        while out.len() < self.changes_left {
            let is_out = |id: &str| out.iter().any(|(other, _)| other == id);
            let standing = self.standing.iter().filter(|(id, _)| !is_out(id));
            // Entries of this run are not removed again.
            let valued = standing.filter_map(|(id, line)| {
                let is_prior = self.request.written.contains_key(line);
                is_prior.then_some(())?;
                Some((self.wanted.get(id.as_str())?.value, id, line))
            });
            let least = valued.min_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(b.1)));
            let Some((value, id, line)) = least else { return Ok(false) };
            if value + DISPLACING_MARGIN > one.value {
                return Ok(false);
            }
            text = with_edits(&text, &[removal(line)])?;
            out.push((id.clone(), line.clone()));
            let added = with_edits(&text, &[addition(&one.line)])?;
            if self.fits(&added) {
                for (id, line) in out {
                    self.standing.remove(&id);
                    self.changes_left -= 1;
                    self.plan.edits.push(Planned::Displace { id, line });
                }
                self.add_entry(one, added);
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn add_entry(&mut self, one: &Wanted, text: String) {
        self.plan.text = text;
        self.standing.insert(one.id.clone(), one.line.clone());
        self.plan.edits.push(Planned::Add { id: one.id.clone(), line: one.line.clone() });
    }

    fn remove_entry(&mut self, line: &str) -> Result<()> {
        self.plan.text = with_edits(&self.plan.text, &[removal(line)])?;
        Ok(())
    }

    /// The text after one more edit, if it is within the budget.
    fn applied(
        &self,
        action: EditAction,
        text: Option<&str>,
        old: Option<&str>,
    ) -> Result<Option<String>> {
        let edit = NoteEdit { action, text: text.map(str::to_owned), old: old.map(str::to_owned) };
        let after = with_edits(&self.plan.text, &[edit])?;
        Ok(Some(after).filter(|after| self.fits(after)))
    }

    fn fits(&self, text: &str) -> bool {
        self.request.budget.is_none_or(|budget| note_chars(text) <= budget)
    }
}

fn removal(line: &str) -> NoteEdit {
    NoteEdit { action: EditAction::Remove, text: None, old: Some(line.to_owned()) }
}

fn addition(line: &str) -> NoteEdit {
    NoteEdit { action: EditAction::Add, text: Some(line.to_owned()), old: None }
}

#[cfg(test)]
mod tests;
