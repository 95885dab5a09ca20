//! One batch of a transcript, stored in one transaction with the place that was reached. It must
//! not know how lines look.

use super::account::Accounts;
use super::reader::{Facts, TitleFact, TitledBy, Used};
use super::{Agent, Captured};
use crate::Oneiro;
use crate::append::append_prepared;
use crate::sessions::{Draft, create_in, whole};
use oneiro_model::{Lineage, Result, SessionId, Title};
use oneiro_store::messages::Prepared;
use oneiro_store::transcripts::Advance;
use oneiro_store::{Tx, lineage, messages, sequence, sessions, titles, transcripts};
use serde_json::{Value, json};

/// What a batch holds for one session.
pub(super) struct Group {
    pub(super) id: SessionId,
    pub(super) facts: Facts,
    pub(super) draft: Draft,
    pub(super) messages: Vec<Prepared>,
    /// The external id of each message, and what its line tells of use.
    pub(super) told: Vec<(String, Option<Used>)>,
    /// What the session has used, where only the total is told.
    pub(super) total: Option<Used>,
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
    pub(super) base: Option<i64>,
    /// Whether lines are read that were read before.
    pub(super) is_reread: bool,
    pub(super) groups: Vec<Group>,
    /// How far the file is read with this batch.
    pub(super) end: u64,
}

impl Batch<'_> {
    /// Stores the batch; `None` when somebody else has read on in the same file meanwhile.
    pub(super) fn store(
        &self,
        tx: &Tx<'_>,
        accounts: &Accounts,
    ) -> Result<Option<(Captured, Accounts)>> {
        if transcripts::position(tx, self.agent.as_str(), self.path)? != self.base {
            return Ok(None);
        }
        let (mut done, mut accounts) = (Captured::default(), accounts.clone());
        for group in &self.groups {
            self.store_group(tx, group, (&mut done, &mut accounts))?;
        }
        let position = i64::try_from(self.end).unwrap_or(i64::MAX);
        let to = Advance { path: self.path, agent: self.agent.as_str(), position };
        transcripts::advance(tx, to, self.oneiro.now())?;
        Ok(Some((done, accounts)))
    }

    /// What storing the batch would do, and which sessions it would begin.
    pub(super) fn preview(&self, tx: &Tx<'_>) -> Result<(Captured, Vec<SessionId>)> {
        let (mut done, mut begun) = (Captured::default(), Vec::new());
        for group in self.groups.iter().filter(|group| !group.messages.is_empty()) {
            let key = sessions::key(tx, &group.id)?;
            if self.leaves_out(tx, group, key)? {
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
            begun.extend(key.is_none().then(|| group.id.clone()));
            for (external_id, _) in &group.told {
                let is_there = self.is_in(tx, key.as_slice(), external_id)?;
                let is_copy = !is_there && self.is_in(tx, &parent, external_id)?;
                done.copies += usize::from(is_copy);
                match is_there || is_copy {
                    true => done.duplicates += 1,
                    false => done.messages += 1,
                }
            }
        }
        Ok((done, begun))
    }

    /// Whether nothing of a session is to be stored.
    fn leaves_out(&self, tx: &Tx<'_>, group: &Group, key: Option<i64>) -> Result<bool> {
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
        (done, accounts): (&mut Captured, &mut Accounts),
    ) -> Result<()> {
        let there = sessions::key(tx, &group.id)?;
        // A session without a message is not one yet.
        if there.is_none() && group.messages.is_empty() {
            return Ok(());
        }
        if self.leaves_out(tx, group, there)? {
            done.left_out += group.messages.len();
            return Ok(());
        }
        let key = create_in(tx, &group.draft)?;
        done.sessions += usize::from(there.is_none());
        self.descend(tx, group, (key, there.is_none()))?;
        if there.is_none() {
            let lineage = lineage::link(tx, key)?.and_then(|link| link.lineage);
            done.delegates += usize::from(lineage == Some(Lineage::Delegate));
        }
        accounts.recall(tx, (key, &group.id))?;
        let copies = self.copies(tx, group, key)?;
        let taken = sequence::next_messages(tx)?;
        let appended = match copies.iter().any(|is_copy| *is_copy) {
            false => append_prepared(tx, key, taken.first, &group.messages)?,
            true => {
                let kept = group.messages.iter().zip(&copies).filter(|(_, is_copy)| !**is_copy);
                let kept: Vec<Prepared> = kept.map(|(message, _)| message.clone()).collect();
                append_prepared(tx, key, taken.first, &kept)?
            }
        };
        let now = self.oneiro.now();
        let mut ids = appended.ids.iter();
        for ((_, used), is_copy) in group.told.iter().zip(&copies) {
            done.copies += usize::from(*is_copy);
            let is_new = !is_copy && ids.next().is_some_and(|id| id.0 >= taken.first);
            match is_new {
                true => done.messages += 1,
                false => done.duplicates += 1,
            }
            if let Some(used) = used {
                accounts.charge(tx, (key, now), (used, is_new))?;
            }
        }
        if let Some(total) = &group.total {
            accounts.charge(tx, (key, now), (total, true))?;
        }
        give_title(tx, key, &group.facts.titles)
    }

    /// Which messages are copies of what is stored in a session this one descends from. Only Claude
    /// Code keeps the id of a message when it copies it.
    fn copies(&self, tx: &Tx<'_>, group: &Group, key: i64) -> Result<Vec<bool>> {
        let none = vec![false; group.messages.len()];
        if self.agent != Agent::ClaudeCode {
            return Ok(none);
        }
        let above = lineage::ancestors(tx, key, |link| link.lineage != Some(Lineage::Delegate))?;
        let above: Vec<i64> = above.iter().map(|link| link.key).filter(|at| *at != key).collect();
        if above.is_empty() {
            return Ok(none);
        }
        group.told.iter().map(|(external_id, _)| self.is_in(tx, &above, external_id)).collect()
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
    fn descend(&self, tx: &Tx<'_>, group: &Group, (key, is_new): (i64, bool)) -> Result<()> {
        if lineage::link(tx, key)?.is_some_and(|link| link.parent_key.is_some()) {
            return Ok(());
        }
        let told = match &group.facts.parent {
            Some((parent, kind)) => {
                let parent = SessionId::new(parent.as_str()).ok();
                let parent = parent.map(|id| sessions::key(tx, &id)).transpose()?.flatten();
                parent.map(|parent| (parent, *kind))
            }
            None => None,
        };
        let origin = match told {
            None if is_new && group.facts.parent.is_none() => self.origin(tx, group, key)?,
            told => told,
        };
        let Some((parent, kind)) = origin else { return Ok(()) };
        let above = lineage::ancestors(tx, parent, |_| true)?;
        match above.iter().any(|link| link.key == key) {
            true => Ok(()),
            false => lineage::attach(tx, key, parent, kind),
        }
    }

    /// The session that a new one begins as a copy of: one of the same project that holds its first
    /// message. Older versions of Claude Code copied what they resumed under a new id and said
    /// nothing of it.
    fn origin(&self, tx: &Tx<'_>, group: &Group, key: i64) -> Result<Option<(i64, Lineage)>> {
        let project = group.facts.project();
        let (Some((first, _)), Some(project), Agent::ClaudeCode) =
            (group.told.first(), project, self.agent)
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

/// Gives a session the best title its transcript has for it. One that a person gave it here stays:
/// only a title that came from a transcript is replaced by a better one.
fn give_title(tx: &Tx<'_>, key: i64, given: &[TitleFact]) -> Result<()> {
    let mut best: Option<&TitleFact> = None;
    for title in given {
        let is_of_session = match &title.of_message {
            Some(message) => messages::by_external_id(tx, key, message)?.is_some(),
            None => true,
        };
        if is_of_session && best.is_none_or(|best| title.by >= best.by) {
            best = Some(title);
        }
    }
    let Some(best) = best else { return Ok(()) };
    let short: String = best.text.chars().take(Title::MAX_CHARS).collect();
    let Some(title) = Title::clean(&short)? else { return Ok(()) };
    let session = whole(tx, key)?;
    let last = session.metadata.get("titled");
    let last_text = |name: &str| last.and_then(|last| last.get(name)).and_then(Value::as_str);
    if last_text("text") == Some(title.as_str()) {
        return Ok(());
    }
    if let Some(current) = &session.title {
        let is_ours = last_text("title") == Some(current);
        let was_by = last_text("by").and_then(TitledBy::parse);
        if !is_ours || was_by > Some(best.by) {
            return Ok(());
        }
    }
    let free = match titles::holder(tx, title.as_str())? {
        Some(holder) if holder != key => titles::next(tx, title.as_str())?,
        _ => title.as_str().to_owned(),
    };
    titles::set(tx, key, Some(&free))?;
    let mut metadata = session.metadata;
    let titled = json!({"by": best.by.as_str(), "text": title.as_str(), "title": free});
    metadata.insert("titled".to_owned(), titled);
    let metadata = Some(Value::Object(metadata).to_string());
    sessions::overwrite(tx, key, &sessions::Fields { metadata, ..sessions::Fields::default() })
}
