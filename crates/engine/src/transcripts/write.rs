//! Stores a batch of a transcript in one transaction, with the position that was reached.

use super::charged_usage::ChargedUsage;
use super::idle;
use super::reader::{Facts, ReportedUsage};
use super::title::Titled;
use super::{Agent, Captured};
use crate::Oneiro;
use crate::append::append_prepared;
use crate::sessions::{Draft, create_in};
use oneiro_model::{CapturePause, Lineage, Result, SessionId};
use oneiro_store::messages::Prepared;
use oneiro_store::transcripts::{Advance, Reached};
use oneiro_store::{
    Tx, capture, erased_messages, lineage, messages, sequence, sessions, transcripts,
};

/// What a batch holds for one session.
pub(super) struct Group {
    pub(super) id: SessionId,
    pub(super) facts: Facts,
    pub(super) draft: Draft,
    pub(super) messages: Vec<Prepared>,
    /// The external id of each message, and the usage that its line reports.
    pub(super) lines: Vec<(String, Option<ReportedUsage>)>,
    /// The usage of the session, where only the total is reported.
    pub(super) total: Option<ReportedUsage>,
}

/// A batch and where it belongs.
pub(super) struct Batch<'a> {
    pub(super) oneiro: &'a Oneiro,
    pub(super) agent: Agent,
    /// The file.
    pub(super) path: &'a str,
    /// The name of the file without its ending.
    pub(super) stem: &'a str,
    /// How far the file was read when this batch was read from it.
    pub(super) base: Option<Reached>,
    /// Whether lines are read that were read before.
    pub(super) is_reread: bool,
    /// The pauses by which lines were left out, unless pauses do not count.
    pub(super) pauses: Option<&'a [CapturePause]>,
    pub(super) groups: Vec<Group>,
    /// How far the file is read with this batch.
    pub(super) end: Reached,
}

/// What became of a batch.
pub(super) enum BatchOutcome<T> {
    /// It is stored.
    Stored(T),
    /// Nothing is stored: somebody else has read on in the same file meanwhile.
    ReadElsewhere,
    /// Nothing is stored: a pause began or ended since the batch was read.
    PausesChanged,
}

impl<T> BatchOutcome<T> {
    pub(super) fn map<U>(self, change: impl FnOnce(T) -> U) -> BatchOutcome<U> {
        match self {
            BatchOutcome::Stored(stored) => BatchOutcome::Stored(change(stored)),
            BatchOutcome::ReadElsewhere => BatchOutcome::ReadElsewhere,
            BatchOutcome::PausesChanged => BatchOutcome::PausesChanged,
        }
    }
}

/// What is done with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineFate {
    /// It is stored unless it is there.
    Store,
    /// A session that this one descends from has it.
    Copy,
    /// It was erased.
    Erased,
}

impl Batch<'_> {
    /// Stores the batch, unless what it was read by no longer holds.
    pub(super) fn store(
        &self,
        tx: &Tx<'_>,
        charged: &ChargedUsage,
    ) -> Result<BatchOutcome<(Captured, ChargedUsage)>> {
        if transcripts::reached(tx, self.agent.as_str(), self.path)? != self.base {
            return Ok(BatchOutcome::ReadElsewhere);
        }
        if let Some(pauses) = self.pauses
            && capture::pauses(tx)? != pauses
        {
            return Ok(BatchOutcome::PausesChanged);
        }
        let (mut done, mut charged) = (Captured::default(), charged.clone());
        for group in &self.groups {
            self.store_group(tx, group, (&mut done, &mut charged))?;
        }
        let to = Advance { path: self.path, agent: self.agent.as_str(), reached: &self.end };
        transcripts::advance(tx, to, self.oneiro.now())?;
        Ok(BatchOutcome::Stored((done, charged)))
    }

    /// What storing the batch would do, and which sessions it would begin.
    pub(super) fn preview(&self, tx: &Tx<'_>) -> Result<(Captured, Vec<SessionId>)> {
        let (mut done, mut begun) = (Captured::default(), Vec::new());
        for group in self.groups.iter().filter(|group| !group.messages.is_empty()) {
            let key = sessions::key(tx, &group.id)?;
            if self.is_excluded(tx, group, key)? {
                done.left_out += group.messages.len();
                continue;
            }
            let parent = match &group.facts.parent {
                Some((parent, _)) => {
                    SessionId::new(parent.as_str()).map(|id| sessions::key(tx, &id))
                }
                None => Ok(Ok(None)),
            };
            let parent: Vec<i64> = parent.ok().transpose()?.flatten().into_iter().collect();
            let fates = self.fates(tx, group, &parent)?;
            if key.is_none() && self.is_erased(tx, group)? {
                done.left_out += fates.len();
                continue;
            }
            begun.extend(key.is_none().then(|| group.id.clone()));
            for ((external_id, _), fate) in group.lines.iter().zip(fates) {
                if self.is_in(tx, key.as_slice(), external_id)? {
                    done.duplicates += 1;
                } else {
                    done.count(fate, true);
                }
            }
        }
        Ok((done, begun))
    }

    /// Whether nothing of a session is to be stored.
    fn is_excluded(&self, tx: &Tx<'_>, group: &Group, key: Option<i64>) -> Result<bool> {
        let settings = self.oneiro.settings_in(tx)?;
        if settings.ignores(&group.id) || settings.is_stateless(&group.id) {
            return Ok(true);
        }
        // A session that was read before and is not there any more was deleted or erased. Reading
        // its file again must not bring it back.
        let id = group.id.as_str();
        let is_own = self.stem.contains(id) || id.ends_with(self.stem);
        Ok(key.is_none() && self.is_reread && is_own)
    }

    fn store_group(
        &self,
        tx: &Tx<'_>,
        group: &Group,
        (done, charged): (&mut Captured, &mut ChargedUsage),
    ) -> Result<()> {
        let there = sessions::key(tx, &group.id)?;
        // A session without a message is not one yet.
        if there.is_none() && group.messages.is_empty() {
            return Ok(());
        }
        if self.is_excluded(tx, group, there)? {
            done.left_out += group.messages.len();
            return Ok(());
        }
        if there.is_none() && self.is_erased(tx, group)? {
            done.left_out += group.messages.len();
            return Ok(());
        }
        let key = create_in(tx, &group.draft)?;
        done.sessions += usize::from(there.is_none());
        self.attach_parent(tx, group, (key, there.is_none()))?;
        if there.is_none() {
            let lineage = lineage::link(tx, key)?.and_then(|link| link.lineage);
            done.delegates += usize::from(lineage == Some(Lineage::Delegate));
        }
        charged.load(tx, (key, &group.id))?;
        let fates = self.fates(tx, group, &self.ancestors(tx, key)?)?;
        let taken = sequence::next_messages(tx)?;
        let appended = if fates.iter().all(|fate| *fate == LineFate::Store) {
            append_prepared(tx, key, taken.first, &group.messages)?
        } else {
            let kept = group.messages.iter().zip(&fates);
            let kept = kept.filter(|(_, fate)| **fate == LineFate::Store);
            let kept: Vec<Prepared> = kept.map(|(message, _)| message.clone()).collect();
            append_prepared(tx, key, taken.first, &kept)?
        };
        let now = self.oneiro.now();
        let before = done.messages;
        let mut ids = appended.ids.iter();
        for ((_, used), fate) in group.lines.iter().zip(fates) {
            let is_new =
                fate == LineFate::Store && ids.next().is_some_and(|id| id.0 >= taken.first);
            done.count(fate, is_new);
            if let Some(used) = used {
                charged.charge(tx, (key, now), (used, is_new))?;
            }
        }
        if let Some(total) = &group.total {
            charged.charge(tx, (key, now), (total, true))?;
        }
        if done.messages > before {
            idle::reopen_or_end(tx, key, now)?;
        }
        let titled = Titled { key, id: &group.id, agent: self.agent };
        titled.set_best(tx, &group.facts.titles)
    }

    /// The sessions that this one descends from and may have copies of lines of. Only Claude Code
    /// keeps the id of a message when it copies it.
    fn ancestors(&self, tx: &Tx<'_>, key: i64) -> Result<Vec<i64>> {
        if self.agent != Agent::ClaudeCode {
            return Ok(Vec::new());
        }
        let above = lineage::ancestors(tx, key, |link| link.lineage != Some(Lineage::Delegate))?;
        Ok(above.iter().map(|link| link.key).filter(|at| *at != key).collect())
    }

    /// What is done with each line of a session that may have copies of lines of others.
    fn fates(&self, tx: &Tx<'_>, group: &Group, origins: &[i64]) -> Result<Vec<LineFate>> {
        let any_erased = erased_messages::any(tx)?;
        let fate = |(external_id, _): &(String, Option<ReportedUsage>)| {
            if any_erased && erased_messages::is_erased(tx, &group.id, external_id)? {
                Ok(LineFate::Erased)
            } else if self.is_in(tx, origins, external_id)? {
                Ok(LineFate::Copy)
            } else {
                Ok(LineFate::Store)
            }
        };
        group.lines.iter().map(fate).collect()
    }

    /// Whether every line of a session was erased.
    fn is_erased(&self, tx: &Tx<'_>, group: &Group) -> Result<bool> {
        let fates = self.fates(tx, group, &[])?;
        Ok(fates.iter().all(|fate| *fate == LineFate::Erased))
    }

    fn is_in(&self, tx: &Tx<'_>, sessions: &[i64], external_id: &str) -> Result<bool> {
        for key in sessions {
            if messages::by_external_id(tx, *key, external_id)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Gives a session its parent, where one is known and there.
    fn attach_parent(&self, tx: &Tx<'_>, group: &Group, (key, is_new): (i64, bool)) -> Result<()> {
        if lineage::link(tx, key)?.is_some_and(|link| link.parent_key.is_some()) {
            return Ok(());
        }
        let named = match &group.facts.parent {
            Some((parent, kind)) => {
                let parent = SessionId::new(parent.as_str()).ok();
                let parent = parent.map(|id| sessions::key(tx, &id)).transpose()?.flatten();
                parent.map(|parent| (parent, *kind))
            }
            None => None,
        };
        let origin = match named {
            None if is_new && group.facts.parent.is_none() => self.find_origin(tx, group, key)?,
            named => named,
        };
        let Some((parent, kind)) = origin else { return Ok(()) };
        let above = lineage::ancestors(tx, parent, |_| true)?;
        if above.iter().any(|link| link.key == key) {
            Ok(())
        } else {
            lineage::attach(tx, key, parent, kind)
        }
    }

    /// The session that a new one begins as a copy of: one of the same project that has its first
    /// message. Older versions of Claude Code copied what they resumed under a new id, without naming
    /// the old one.
    fn find_origin(&self, tx: &Tx<'_>, group: &Group, key: i64) -> Result<Option<(i64, Lineage)>> {
        let project = group.facts.project();
        let mut kept = group.lines.iter().zip(self.fates(tx, group, &[])?);
        let first = kept.find(|(_, fate)| *fate == LineFate::Store).map(|(line, _)| line);
        let (Some((first, _)), Some(project), Agent::ClaudeCode) = (first, project, self.agent)
        else {
            return Ok(None);
        };
        for other in sessions::keys_of_project(tx, &project)? {
            if other != key && messages::by_external_id(tx, other, first)?.is_some() {
                return Ok(Some((other, Lineage::Branch)));
            }
        }
        Ok(None)
    }
}

impl Captured {
    /// Counts a line; `is_new` when it was not there.
    fn count(&mut self, fate: LineFate, is_new: bool) {
        match fate {
            LineFate::Erased => self.left_out += 1,
            LineFate::Copy => {
                self.copies += 1;
                self.duplicates += 1;
            }
            LineFate::Store if is_new => self.messages += 1,
            LineFate::Store => self.duplicates += 1,
        }
    }
}
