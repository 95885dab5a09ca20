//! Compaction: passes that replace messages or summaries by a new summary, one transaction each,
//! until the goal is met. A lease keeps other processes from compacting the same session; new
//! messages are not affected.

use super::commit::Committed;
use super::lines::line;
use super::markup;
use super::outline::Outline;
use super::plan::Plan;
use super::preamble::system_head;
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

/// How long a compaction waits for another one of the same session.
const LEASE_WAIT: Duration = Duration::from_secs(10);

/// Age at which the lease is renewed, well before it expires.
const LEASE_RENEW_AFTER: Duration = Duration::from_secs(20);

/// Maximum number of passes. Every pass makes the context smaller, so more would be a bug.
const PASSES_MAX: usize = 100_000;

/// Consecutive passes that may find the context changed.
const RETRIES_MAX: usize = 8;

/// Minimum tokens of a leaf under pressure: as much as one expansion returns.
pub(super) const LEAF_TOKENS_MIN: i64 = 4_000;

/// The goal of a compaction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Goal {
    /// Maximum tokens of the context; without it, whatever is eligible is compacted.
    pub(super) until: Option<i64>,
    /// Whether a model may be called.
    pub(super) model: bool,
    /// The deadline.
    pub(super) deadline: Option<Instant>,
}

/// A running compaction.
pub(super) struct Compaction<'a> {
    pub(super) oneiro: &'a Oneiro,
    pub(super) key: i64,
    pub(super) id: &'a SessionId,
    pub(super) rules: Arc<Settings>,
    pub(super) goal: Goal,
    /// The holder of the lease, unique per compaction: threads of one process must not share it.
    holder: String,
    /// When the lease was last taken or renewed.
    leased: Instant,
    /// Tokens of a window before the context.
    pub(super) prompt_tokens: i64,
    created: Vec<SummaryId>,
    /// The erasure count when the current pass read its source.
    generation: i64,
    /// The counts of history changes at the previous pass and now.
    history: Option<i64>,
    changes: usize,
    /// First messages of leaves and condensed nodes that would not have been smaller.
    pub(super) not_smaller: HashSet<i64>,
}

/// The outcome of a pass.
enum Pass {
    Made,
    /// The context has changed; plan again.
    Again,
    Stopped(&'static str),
}

impl Context<'_> {
    /// Compacts the context of a session: eligible messages without `until`; with it, until the
    /// context has at most that many tokens or nothing can become smaller.
    pub fn compact(&self, id: &SessionId, request: &CompactRequest) -> Result<Compacted> {
        self.oneiro.compact_by(id, request, true)
    }
}

impl Oneiro {
    /// The same, with or without the model.
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
        let compacting = Compaction::begin(self, (key, id), (goal, &holder))?;
        loop {
            self.cancel.check()?;
            if self.lease_context(key, &holder)? {
                break;
            }
            if started.elapsed() > LEASE_WAIT {
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

    /// Compacts immediately; returns the number of summaries created, 0 if another compaction of
    /// the session runs.
    pub(super) fn compact_now(&self, session: (i64, &SessionId), goal: Goal) -> Result<usize> {
        let holder = self.compactor();
        let compacting = Compaction::begin(self, session, (goal, &holder))?;
        if !self.lease_context(session.0, &holder)? {
            return Ok(0);
        }
        let mut lease = self.release_on_drop(session.0, &holder);
        let made = compacting.finish(false)?.created.len();
        lease.is_finished = true;
        Ok(made)
    }
}

impl<'a> Compaction<'a> {
    fn begin(
        oneiro: &'a Oneiro,
        (key, id): (i64, &'a SessionId),
        (goal, holder): (Goal, &str),
    ) -> Result<Compaction<'a>> {
        let (session, settings) =
            oneiro.store.read(|tx| Ok((whole(tx, key)?, oneiro.settings_in(tx)?)))?;
        let head = system_head(&session, |text| oneiro.prompt_tokens(text));
        Ok(Compaction {
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

    /// Compacts until there is nothing left to do, and reports the result.
    fn finish(mut self, redo: bool) -> Result<Compacted> {
        let tokens_before = self.tokens()?;
        let redone = if redo {
            self.while_held(|| self.oneiro.redo_extracts((self.key, self.id), usize::MAX))?
        } else {
            Vec::new()
        };
        let stopped = self.run()?;
        let tokens_after = self.tokens()?;
        let stopped = stopped.to_owned();
        Ok(Compacted { created: self.created, redone, tokens_before, tokens_after, stopped })
    }

    /// Runs long work while another thread renews the lease.
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
        for pass in 0..PASSES_MAX {
            // Always make one pass, however short the time: otherwise a busy caller would never
            // begin.
            self.oneiro.cancel.check()?;
            let late = self.goal.deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if late && pass > 0 {
                return Ok("time");
            }
            match self.pass()? {
                Pass::Made => again = 0,
                Pass::Again if again < RETRIES_MAX => again += 1,
                Pass::Again => return Ok("changed"),
                Pass::Stopped(why) => return Ok(why),
            }
        }
        Ok("passes")
    }

    /// One pass towards the goal, with the least pressure that helps.
    fn pass(&mut self) -> Result<Pass> {
        let mut pressure = Pressure::None;
        loop {
            let (plan, generation, history) = self.oneiro.store.read(|tx| {
                let outline = Outline::read(tx, (self.key, self.id), false)?;
                let generation = segments::state(tx)?.generation;
                Ok((self.plan(tx, &outline, pressure)?, generation, outline.epoch.history))
            })?;
            self.generation = generation;
            // A constantly changing history would undo every pass.
            let before = self.history.replace(history);
            self.changes += usize::from(before.is_some_and(|before| before != history));
            if self.changes > RETRIES_MAX {
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

    /// The current nodes with their text; deleted ones are left out.
    fn with_words(&self, nodes: Vec<Node>) -> Result<Vec<Node>> {
        self.oneiro.store.read(|tx| {
            let found = nodes.iter().map(|node| summaries::get(tx, node.key));
            Ok(found.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
        })
    }

    /// Renews the lease if it is old enough; fails if another process holds it.
    fn keep_lease_between_passes(&mut self) -> Result<()> {
        if self.leased.elapsed() > LEASE_RENEW_AFTER {
            self.keep_lease()?;
            self.leased = Instant::now();
        }
        Ok(())
    }

    fn keep_lease(&self) -> Result<()> {
        if self.oneiro.lease_context(self.key, &self.holder)? {
            Ok(())
        } else {
            Err(Error::conflict("another process took over the compaction of this session")
                .remedy("compact it again if it is still too large"))
        }
    }

    fn make_leaf(&mut self, items: &[Cost], target: i64) -> Result<Pass> {
        let (Some(first), Some(last)) = (items.first(), items.last()) else {
            return Ok(Pass::Again);
        };
        self.keep_lease_between_passes()?;
        let (said, prior) = self.oneiro.store.read(|tx| {
            let said = messages::between(tx, (self.key, self.id), (first.seq - 1, last.seq + 1))?;
            // Only a model uses the previous summary; a long context has hundreds.
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
        if !self.write_node_text(&mut node, &lines, (&prior, target)) {
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
                day: None,
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
        if !self.write_node_text(&mut node, &lines, (&[], target)) {
            self.not_smaller.insert(-first.key);
            return Ok(Pass::Again);
        }
        self.commit(node, Covered::Summaries(nodes.iter().map(|node| node.key).collect()))
    }

    /// Shortens a single summary.
    fn shrink(&mut self, node: &Node, target: i64) -> Result<Pass> {
        let lines = [Line {
            when: String::new(),
            day: None,
            speaker: String::new(),
            text: node.content.clone(),
        }];
        let mut shorter = node.clone();
        shorter.source_tokens = node.tokens;
        if !self.write_node_text(&mut shorter, &lines, (&[], target)) {
            self.not_smaller.insert(-node.key);
            return Ok(Pass::Again);
        }
        // An extract that only stands in for an interrupted model call is not kept.
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

    /// A node without coverage.
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

    /// One transaction: the node, its coverage, and its position in the context.
    fn commit(&mut self, node: Node, covered: Covered) -> Result<Pass> {
        // An extract that only stands in for an interrupted model call is not kept.
        self.oneiro.cancel.check()?;
        let id = node.id.clone();
        let (key, session, holder) = (self.key, self.id.clone(), self.holder.clone());
        let (now, generation) = (self.oneiro.now(), self.generation);
        // Not synced individually: releasing the lease syncs the log, and with it everything
        // before.
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
