//! Compaction: passes that each put some messages or summaries under a new summary, in one
//! transaction, until there is room. A lease keeps two processes from doing it to one session at
//! once; what arrives meanwhile stays where it is.

use super::around::bare_head;
use super::commit::Committed;
use super::lines::line;
use super::markup;
use super::outline::Outline;
use super::plan::Plan;
use super::select::Pressure;
use super::summarise::Line;
use crate::Oneiro;
use crate::sessions::{key_of, whole};
use crate::settings::Settings;
use crate::views::Context;
use oneiro_model::{
    CompactRequest, Compacted, Error, ErrorKind, Result, SessionId, SummaryId, SummaryKind,
    SummaryLevel,
};
use oneiro_store::costs::Cost;
use oneiro_store::summaries::Node;
use oneiro_store::{contexts, messages, segments, summaries};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long whoever asks for a compaction waits for another's to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a lease is good without being kept, with much to spare.
const RENEWED: Duration = Duration::from_secs(20);

/// Passes after which something is wrong: every one of them makes the context smaller.
const PASSES: usize = 100_000;

/// Times in a row that a pass may find the context changed under it.
const RETRIES: usize = 8;

/// The smallest chunk that is worth a leaf when room is needed: as much as is expanded at once.
pub(super) const LEAST_CHUNK: i64 = 4_000;

/// How far to go, and by what means.
#[derive(Debug, Clone, Copy)]
pub(super) struct Goal {
    /// Until the context costs no more than this; without, for as long as it is worth it.
    pub(super) until: Option<i64>,
    /// Whether a model may be asked.
    pub(super) model: bool,
    /// When to stop in any case.
    pub(super) deadline: Option<Instant>,
}

/// One compaction under way.
pub(super) struct Compacting<'a> {
    pub(super) oneiro: &'a Oneiro,
    pub(super) key: i64,
    pub(super) id: &'a SessionId,
    pub(super) rules: Arc<Settings>,
    pub(super) goal: Goal,
    /// Whoever compacts, by a name of its own: threads of one process are not one.
    holder: String,
    /// When the lease was last taken or kept.
    leased: Instant,
    /// What every window has before the context.
    pub(super) prompt_tokens: i64,
    created: Vec<SummaryId>,
    /// The erasure up to which the pass that is under way has read.
    generation: i64,
    /// How often history had changed when the pass before read it, and how often it has since.
    history: Option<i64>,
    changes: usize,
    /// Where a leaf or a condensed summary would not have been smaller, by their first message.
    pub(super) not_smaller: HashSet<i64>,
}

/// What a pass did.
enum Pass {
    Made,
    /// The context is not what it was; look again.
    Again,
    Stopped(&'static str),
}

impl Context<'_> {
    /// Compacts the context of a session: without `until`, what is worth it; with it, until the
    /// context has no more than so many tokens, or nothing can become smaller.
    pub fn compact(&self, id: &SessionId, request: &CompactRequest) -> Result<Compacted> {
        self.oneiro.compact_by(id, request, true)
    }
}

impl Oneiro {
    /// The same, with the model or without.
    pub(super) fn compact_by(
        &self,
        id: &SessionId,
        request: &CompactRequest,
        model: bool,
    ) -> Result<Compacted> {
        if request.until == Some(0) {
            return Err(Error::field("until", "is zero").remedy("give a number of tokens"));
        }
        let key = self.store.read(|tx| key_of(tx, id))?;
        self.count_session((key, id))?;
        let until = request.until.map(|until| i64::try_from(until).unwrap_or(i64::MAX));
        let goal = Goal { until, model, deadline: None };
        let (started, holder) = (Instant::now(), self.compactor());
        let compacting = Compacting::begin(self, (key, id), (goal, &holder))?;
        loop {
            self.cancel.check()?;
            if self.lease_context(key, &holder)? {
                break;
            }
            if started.elapsed() > PATIENCE {
                return Err(Error::new(
                    ErrorKind::Busy,
                    format!("session {:?} is being compacted by another process", id.as_str()),
                )
                .remedy("try again when it is done"));
            }
            self.cancel.sleep(Duration::from_millis(50));
        }
        let mut lease = self.release_on_drop(key, &holder);
        let compacted = compacting.finish(request.redo)?;
        lease.is_finished = true;
        Ok(compacted)
    }

    /// Compacts at once, without waiting for anybody: answers the summaries it made, none when
    /// another compacts the session already.
    pub(super) fn compact_now(&self, session: (i64, &SessionId), goal: Goal) -> Result<usize> {
        let holder = self.compactor();
        let compacting = Compacting::begin(self, session, (goal, &holder))?;
        if !self.lease_context(session.0, &holder)? {
            return Ok(0);
        }
        let mut lease = self.release_on_drop(session.0, &holder);
        let made = compacting.finish(false)?.created.len();
        lease.is_finished = true;
        Ok(made)
    }
}

impl<'a> Compacting<'a> {
    fn begin(
        oneiro: &'a Oneiro,
        (key, id): (i64, &'a SessionId),
        (goal, holder): (Goal, &str),
    ) -> Result<Compacting<'a>> {
        let (session, settings) =
            oneiro.store.read(|tx| Ok((whole(tx, key)?, oneiro.settings_in(tx)?)))?;
        let head = bare_head(&session, |text| oneiro.prompt_tokens(text));
        Ok(Compacting {
            oneiro,
            key,
            id,
            rules: Arc::clone(&settings),
            goal,
            holder: holder.to_owned(),
            leased: Instant::now(),
            prompt_tokens: head.prompt_tokens + head.tools_tokens,
            created: Vec::new(),
            generation: 0,
            history: None,
            changes: 0,
            not_smaller: HashSet::new(),
        })
    }

    /// Compacts until there is nothing more to do, and tells what was done.
    fn finish(mut self, redo: bool) -> Result<Compacted> {
        let tokens_before = self.tokens()?;
        let redone = match redo {
            true => {
                self.while_held(|| self.oneiro.redo_extracts((self.key, self.id), usize::MAX))?
            }
            false => Vec::new(),
        };
        let stopped = self.run()?;
        let tokens_after = self.tokens()?;
        let stopped = stopped.to_owned();
        Ok(Compacted { created: self.created, redone, tokens_before, tokens_after, stopped })
    }

    /// Does something that may take long, while a thread beside it keeps the lease.
    pub(super) fn while_held<T>(&self, work: impl FnOnce() -> T) -> T {
        crate::jobs::with_heartbeat(|| self.keep_lease(), work)
    }

    fn tokens(&self) -> Result<usize> {
        let tokens = self.oneiro.store.read(|tx| {
            Ok(Outline::read(tx, (self.key, self.id), false)?.tokens() + self.prompt_tokens)
        })?;
        Ok(usize::try_from(tokens).unwrap_or(0))
    }

    fn run(&mut self) -> Result<&'static str> {
        let mut again = 0;
        for pass in 0..PASSES {
            // One pass is made however little time there is: who never has any would never begin.
            self.oneiro.cancel.check()?;
            let late = self.goal.deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if late && pass > 0 {
                return Ok("time");
            }
            match self.pass()? {
                Pass::Made => again = 0,
                Pass::Again if again < RETRIES => again += 1,
                Pass::Again => return Ok("changed"),
                Pass::Stopped(why) => return Ok(why),
            }
        }
        Ok("passes")
    }

    /// One step towards the goal: the gentlest that helps.
    fn pass(&mut self) -> Result<Pass> {
        let mut pressure = Pressure::None;
        loop {
            let (plan, generation, history) = self.oneiro.store.read(|tx| {
                let outline = Outline::read(tx, (self.key, self.id), false)?;
                let generation = segments::state(tx)?.generation;
                Ok((self.plan(tx, &outline, pressure)?, generation, outline.epoch.history))
            })?;
            self.generation = generation;
            // A history that never holds still takes out what is made as it is made.
            let before = self.history.replace(history);
            self.changes += usize::from(before.is_some_and(|before| before != history));
            if self.changes > RETRIES {
                return Ok(Pass::Stopped("changed"));
            }
            match (plan, self.goal.until) {
                (Plan::Enough, _) => return Ok(Pass::Stopped("under")),
                (Plan::Leaf { items, target }, _) => return self.make_leaf(&items, target),
                (Plan::Condense { nodes, target }, _) => {
                    return self.condense(&self.with_words(nodes)?, target);
                }
                (Plan::Shrink { node, target }, _) => {
                    let nodes = self.with_words(vec![*node])?;
                    let Some(node) = nodes.first() else { return Ok(Pass::Again) };
                    return self.shrink(node, target);
                }
                (Plan::Nothing, None) => return Ok(Pass::Stopped("nothing_left")),
                (Plan::Nothing, Some(_)) => match pressure.harder() {
                    Some(harder) => pressure = harder,
                    None => return Ok(Pass::Stopped("newest_turn")),
                },
            }
        }
    }

    /// Nodes with their words, as they are now; those that are gone are left out.
    fn with_words(&self, nodes: Vec<Node>) -> Result<Vec<Node>> {
        self.oneiro.store.read(|tx| {
            let found = nodes.iter().map(|node| summaries::get(tx, node.key));
            Ok(found.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
        })
    }

    /// Keeps the lease, if it has not just been kept; an error when it is another's.
    fn keep_lease_between_passes(&mut self) -> Result<()> {
        if self.leased.elapsed() > RENEWED {
            self.keep_lease()?;
            self.leased = Instant::now();
        }
        Ok(())
    }

    fn keep_lease(&self) -> Result<()> {
        match self.oneiro.lease_context(self.key, &self.holder)? {
            true => Ok(()),
            false => {
                Err(Error::conflict("another process took over the compaction of this session")
                    .remedy("compact it again if it is still too large"))
            }
        }
    }

    fn make_leaf(&mut self, items: &[Cost], target: i64) -> Result<Pass> {
        let (Some(first), Some(last)) = (items.first(), items.last()) else {
            return Ok(Pass::Again);
        };
        self.keep_lease_between_passes()?;
        let (said, prior) = self.oneiro.store.read(|tx| {
            let said = messages::between(tx, (self.key, self.id), (first.seq - 1, last.seq + 1))?;
            // Only a model connects to what went before; a long context has hundreds of summaries.
            let asks = self.goal.model && self.oneiro.llm.is_some();
            let shown = if asks { summaries::in_context(tx, self.key)? } else { Vec::new() };
            let before = shown.iter().rev().filter(|node| node.last_seq < first.seq);
            let mut prior: Vec<String> = before.take(2).map(|node| node.content.clone()).collect();
            prior.reverse();
            Ok((said, prior))
        })?;
        let seqs: Vec<i64> = said.iter().map(|message| message.id.0).collect();
        if seqs != items.iter().map(|cost| cost.seq).collect::<Vec<_>>() {
            return Ok(Pass::Again);
        }
        let source_tokens: i64 = items.iter().map(|cost| cost.tokens).sum();
        let lines: Vec<Line> = said.iter().map(line).collect();
        let mut node = self.node(SummaryKind::Leaf, source_tokens);
        node.message_count = seqs.len() as i64;
        node.message_tokens = source_tokens;
        (node.first_seq, node.last_seq) = (first.seq, last.seq);
        let times = || said.iter().map(|message| message.at);
        node.earliest_at = times().min().unwrap_or(node.created_at);
        node.latest_at = times().max().unwrap_or(node.created_at);
        if !self.put_into_words(&mut node, &lines, (&prior, target)) {
            self.not_smaller.insert(first.seq);
            return Ok(Pass::Again);
        }
        self.commit(node, Covered::Messages(seqs))
    }

    fn condense(&mut self, nodes: &[Node], target: i64) -> Result<Pass> {
        let (Some(first), Some(last), true) = (nodes.first(), nodes.last(), nodes.len() > 1) else {
            return Ok(Pass::Again);
        };
        self.keep_lease_between_passes()?;
        let sum = |of: fn(&Node) -> i64| nodes.iter().map(of).sum::<i64>();
        let lines: Vec<Line> = nodes
            .iter()
            .map(|node| Line {
                when: format!(
                    "{} to {}",
                    markup::minute(node.earliest_at),
                    markup::minute(node.latest_at)
                ),
                speaker: String::new(),
                text: node.content.clone(),
            })
            .collect();
        let mut node = self.node(SummaryKind::Condensed, sum(|node| node.tokens));
        node.depth = nodes.iter().map(|node| node.depth).max().unwrap_or(0) + 1;
        node.message_count = sum(|node| node.message_count);
        node.message_tokens = sum(|node| node.message_tokens);
        (node.first_seq, node.last_seq) = (first.first_seq, last.last_seq);
        node.earliest_at =
            nodes.iter().map(|node| node.earliest_at).min().unwrap_or(node.created_at);
        node.latest_at = nodes.iter().map(|node| node.latest_at).max().unwrap_or(node.created_at);
        if !self.put_into_words(&mut node, &lines, (&[], target)) {
            self.not_smaller.insert(-first.key);
            return Ok(Pass::Again);
        }
        self.commit(node, Covered::Summaries(nodes.iter().map(|node| node.key).collect()))
    }

    /// Puts a summary that stands alone into fewer words.
    fn shrink(&mut self, node: &Node, target: i64) -> Result<Pass> {
        let lines =
            [Line { when: String::new(), speaker: String::new(), text: node.content.clone() }];
        let mut shorter = node.clone();
        shorter.source_tokens = node.tokens;
        if !self.put_into_words(&mut shorter, &lines, (&[], target)) {
            self.not_smaller.insert(-node.key);
            return Ok(Pass::Again);
        }
        // What stands in for a model that was no longer waited for is not worth keeping.
        self.oneiro.cancel.check()?;
        let (key, context, now) = (node.key, self.key, self.oneiro.now());
        let generation = self.generation;
        self.oneiro.store.write(move |tx| {
            if segments::state(tx)?.generation != generation {
                return Ok(());
            }
            let rewriting = summaries::Rewriting {
                content: &shorter.content,
                level: shorter.level,
                model: shorter.model.as_deref(),
                tokens: shorter.tokens,
            };
            if summaries::rewrite(tx, key, &rewriting, now)? {
                contexts::record_change(tx, context, "compaction")?;
            }
            Ok(())
        })?;
        self.not_smaller.insert(-node.key);
        Ok(Pass::Made)
    }

    /// A node that covers nothing yet.
    fn node(&self, kind: SummaryKind, source_tokens: i64) -> Node {
        let now = self.oneiro.now();
        Node {
            key: 0,
            id: SummaryId::from_random(self.oneiro.ids.random()),
            session_id: self.id.clone(),
            session_key: self.key,
            kind,
            depth: 0,
            level: SummaryLevel::Extract,
            model: None,
            content: String::new(),
            tokens: 0,
            source_tokens,
            message_count: 0,
            message_tokens: 0,
            first_seq: 0,
            last_seq: 0,
            earliest_at: now,
            latest_at: now,
            created_at: now,
        }
    }

    /// One compaction, one transaction: the node, what it covers, and its place in the context.
    fn commit(&mut self, node: Node, covered: Covered) -> Result<Pass> {
        // What stands in for a model that was no longer waited for is not worth keeping.
        self.oneiro.cancel.check()?;
        let id = node.id.clone();
        let (key, session, holder) = (self.key, self.id.clone(), self.holder.clone());
        let (now, generation) = (self.oneiro.now(), self.generation);
        // Not synced one by one: the lease is given back by a write that is, and what comes before
        // it in the log is durable with it.
        let committed = self.oneiro.store.write_derived(|tx| {
            super::commit::commit(
                tx,
                &super::commit::NewNode {
                    node: &node,
                    covered: &covered,
                    context: (key, &session),
                    holder: &holder,
                    generation,
                },
                now,
            )
        });
        match committed {
            Ok(Committed::Yes) => {
                self.created.push(id);
                Ok(Pass::Made)
            }
            Ok(Committed::PartsCall) => Ok(Pass::Again),
            Err(error) if error.kind() == ErrorKind::Conflict => {
                tracing::debug!(%error, "a compaction looks again");
                Ok(Pass::Again)
            }
            Err(error) => Err(error),
        }
    }
}

/// What a new node covers.
pub(super) enum Covered {
    Messages(Vec<i64>),
    Summaries(Vec<i64>),
}
