//! Compaction: prepares the summaries of a session, one transaction each. It takes nothing away: a
//! window shows a summary only in place of what does not fit. A lease keeps other processes from
//! compacting the same session; new messages are not affected.

use super::assemble::{Assembled, Marks};
use super::cells::{condensed_target, leaf_target};
use super::commit::Committed;
use super::lines::line;
use super::new_node::summary_lines;
use super::outline::Outline;
use super::plan::{Plan, Reach, Task};
use super::preamble::system_head;
use super::summarise::Line;
use crate::Oneiro;
use crate::sessions::{fetch_session, key_of};
use crate::settings::Settings;
use crate::views::Context;
use oneiro_model::{
    CompactRequest, Compacted, Error, ErrorKind, Result, SessionId, SummaryId, SummaryKind,
    WindowFormat, WindowRequest,
};
use oneiro_store::contexts::{self, WindowMark};
use oneiro_store::costs::Cost;
use oneiro_store::summaries::Node;
use oneiro_store::{SessionRef, messages, summaries};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a compaction waits for another one of the same session.
const LEASE_WAIT: Duration = Duration::from_secs(10);

/// Age at which the lease is renewed, well before it expires.
const LEASE_RENEW_AFTER: Duration = Duration::from_secs(20);

/// Maximum number of passes. Every pass covers messages or roots that were not covered, so more
/// would be a bug.
const PASSES_MAX: usize = 1_000_000;

/// Passes after the deadline of a compaction that has made no summary yet.
const PASSES_WITHOUT_SUMMARY_MAX: usize = 16;

/// Consecutive passes that may find the context changed.
const RETRIES_MAX: usize = 8;

/// The goal of a compaction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Goal {
    /// How far it goes.
    pub(super) reach: Reach,
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
    prompt_tokens: i64,
    created: Vec<SummaryId>,
    /// The erasure count when the plan was read.
    generation: i64,
}

/// The outcome of a compaction for a window.
pub(super) struct Prepared {
    /// How many summaries it made.
    pub(super) summaries: usize,
    /// Whether it left some to be made.
    pub(super) ran_out_of_time: bool,
}

/// The outcome of a pass.
enum Pass {
    Made(Box<Node>),
    /// The context has changed; plan again.
    Changed,
    /// The summary would not be smaller than what it covers.
    NotSmaller,
}

impl Context<'_> {
    /// Prepares the summaries of a session: without `until` of everything before the fresh tail;
    /// with it until a window of that many tokens leaves nothing uncovered.
    pub fn compact(&self, id: &SessionId, request: &CompactRequest) -> Result<Compacted> {
        let reach = if request.until.is_some() { Reach::NewestTurn } else { Reach::FreshTail };
        self.oneiro.compact_by(id, request, Goal { reach, model: true, deadline: None })
    }
}

impl Oneiro {
    /// Compacts a session when no other process does.
    pub(super) fn compact_by(
        &self,
        id: &SessionId,
        request: &CompactRequest,
        goal: Goal,
    ) -> Result<Compacted> {
        if request.until == Some(0) {
            return Err(Error::field("until", "is zero").remedy("give a number of tokens"));
        }
        let key = self.store.read(|tx| key_of(tx, id))?;
        self.count_session((key, id))?;
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
        let compacted = compacting.finish(request)?;
        lease.is_finished = true;
        Ok(compacted)
    }

    /// Compacts immediately; creates nothing if another compaction of the session runs.
    pub(super) fn compact_now(&self, session: (i64, &SessionId), goal: Goal) -> Result<Prepared> {
        let holder = self.compactor();
        let compacting = Compaction::begin(self, session, (goal, &holder))?;
        if !self.lease_context(session.0, &holder)? {
            return Ok(Prepared { summaries: 0, ran_out_of_time: false });
        }
        let mut lease = self.release_on_drop(session.0, &holder);
        let prepared = compacting.prepare()?;
        lease.is_finished = true;
        Ok(prepared)
    }
}

impl<'a> Compaction<'a> {
    fn begin(
        oneiro: &'a Oneiro,
        (key, id): (i64, &'a SessionId),
        (goal, holder): (Goal, &str),
    ) -> Result<Compaction<'a>> {
        let (session, settings) =
            oneiro.store.read(|tx| Ok((fetch_session(tx, key)?, oneiro.settings_in(tx)?)))?;
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
        })
    }

    /// Makes the summaries of the goal.
    fn prepare(mut self) -> Result<Prepared> {
        let stopped = self.run()?;
        Ok(Prepared { summaries: self.created.len(), ran_out_of_time: stopped == "time" })
    }

    /// Compacts as requested, and reports the result.
    fn finish(mut self, request: &CompactRequest) -> Result<Compacted> {
        let (tokens_before, _) = self.tokens()?;
        let redone = if request.redo {
            self.while_held(|| self.oneiro.redo_extracts((self.key, self.id), usize::MAX))?
        } else {
            Vec::new()
        };
        let (stopped, tokens_after) = match request.until {
            None => (self.run()?, self.tokens()?.1),
            Some(until) => self.run_until(until)?,
        };
        let stopped = stopped.to_owned();
        Ok(Compacted { created: self.created, redone, tokens_before, tokens_after, stopped })
    }

    /// Prepares summaries until a window of `until` tokens leaves nothing uncovered, in every format;
    /// returns why it stopped, and the tokens of that window.
    fn run_until(&mut self, until: usize) -> Result<(&'static str, usize)> {
        let mut stopped = "nothing_left";
        for format in WindowFormat::ALL {
            stopped = self.prepare_window((until, format))?;
            if stopped != "nothing_left" {
                break;
            }
        }
        let window = self.assembled((until, WindowFormat::Openai), Marks::Kept)?.window;
        if stopped == "nothing_left" {
            if window.tokens > until {
                stopped = "newest_turn";
            } else if window.omitted.messages == 0 {
                stopped = "under";
            }
        }
        Ok((stopped, window.tokens))
    }

    /// Prepares what a window of this budget and format needs.
    fn prepare_window(&mut self, of: (usize, WindowFormat)) -> Result<&'static str> {
        let mut fresh = self.assembled(of, Marks::Ignored)?;
        let mut stopped = "nothing_left";
        if !fresh.is_complete {
            stopped = self.run()?;
            fresh = self.assembled(of, Marks::Ignored)?;
            if fresh.window.omitted.messages > 0 {
                self.goal.reach = Reach::Everything;
                stopped = self.run()?;
                fresh = self.assembled(of, Marks::Ignored)?;
            }
            if let Some(wanted) = &fresh.wants_overview
                && self.oneiro.add_overview((self.key, self.id), wanted)
            {
                fresh = self.assembled(of, Marks::Ignored)?;
            }
        }
        self.renew_mark(of, fresh)?;
        Ok(stopped)
    }

    /// Lets the next window of this budget and format begin as `fresh`, if it would otherwise leave
    /// something out: what was prepared for it must not wait until it is full. Its mark has no hash,
    /// so the next window says that it begins differently.
    fn renew_mark(&self, of: (usize, WindowFormat), fresh: Assembled) -> Result<()> {
        let next = self.assembled(of, Marks::Kept)?;
        let is_same_history =
            next.before.as_ref().is_some_and(|before| before.history == fresh.mark.history);
        let is_better = fresh.window.omitted.messages == 0
            && (!next.is_kept || next.window.omitted.messages > 0);
        if !is_same_history || !is_better {
            return Ok(());
        }
        let mark = WindowMark { hash: String::new(), ..fresh.mark };
        let (key, now) = (self.key, self.oneiro.now());
        let (budget, format) = of;
        self.oneiro.store.write_derived(|tx| {
            contexts::set_window(tx, key, ((budget as i64, format.as_str()), &mark), now)
        })
    }

    /// A window of this budget and format.
    fn assembled(
        &self,
        (budget, format): (usize, WindowFormat),
        marks: Marks,
    ) -> Result<Assembled> {
        let request = WindowRequest { budget, format, ..WindowRequest::default() };
        let session = (self.key, self.id);
        self.oneiro.store.read(|tx| self.oneiro.assemble(tx, session, (&request, marks)))
    }

    /// Runs long work while another thread renews the lease.
    pub(super) fn while_held<T>(&self, work: impl FnOnce() -> T) -> T {
        crate::jobs::with_heartbeat(|| self.keep_lease(), work)
    }

    /// Tokens of the prompt with every message in full, and with nothing but roots and what they do
    /// not cover.
    fn tokens(&self) -> Result<(usize, usize)> {
        let (whole, coarsest) = self.oneiro.store.read(|tx| {
            let outline = Outline::read(tx, (self.key, self.id))?;
            let others = outline.roots.iter().filter(|root| root.session_key != self.key);
            let in_full = |root: &Node| root.message_tokens.max(root.tokens);
            let others: i64 = others.map(in_full).sum();
            Ok((outline.together(tx, (0, i64::MAX))?.tokens + others, outline.tokens()))
        })?;
        let tokens = |context: i64| usize::try_from(context + self.prompt_tokens).unwrap_or(0);
        Ok((tokens(whole), tokens(coarsest)))
    }

    /// Makes summaries until the goal is met; returns why it stopped.
    fn run(&mut self) -> Result<&'static str> {
        let mut plan = self.plan()?;
        let (mut retries, mut changes) = (0, 0);
        for pass in 0..PASSES_MAX {
            self.oneiro.cancel.check()?;
            // However short the time, one summary is made: otherwise the windows of a busy machine
            // would never get any further. What is found not to be smaller is not stored, so the
            // next compaction comes to it again.
            let has_begun = !self.created.is_empty() || pass >= PASSES_WITHOUT_SUMMARY_MAX;
            let late = self.goal.deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if late && has_begun {
                return Ok("time");
            }
            let Some(task) = self.oneiro.store.read(|tx| plan.next(tx, &self.rules))? else {
                return Ok("nothing_left");
            };
            self.generation = plan.generation;
            match self.make(&task)? {
                Pass::Made(node) => {
                    retries = 0;
                    match &task {
                        Task::Leaf(items) => plan.add_leaf(*node, items),
                        Task::Condense(children) => plan.add_condensed(*node, children),
                    }
                }
                Pass::NotSmaller => plan.skip(&task),
                Pass::Changed if retries < RETRIES_MAX => {
                    retries += 1;
                    let mut fresh = self.plan()?;
                    // A constantly changing history would undo every pass.
                    changes += usize::from(fresh.history() != plan.history());
                    if changes > RETRIES_MAX {
                        return Ok("changed");
                    }
                    fresh.keep_skipped(plan);
                    plan = fresh;
                }
                Pass::Changed => return Ok("changed"),
            }
        }
        Ok("passes")
    }

    fn plan(&self) -> Result<Plan> {
        let session = (self.key, self.id);
        self.oneiro.store.read(|tx| Plan::read(tx, session, (self.goal.reach, &self.rules)))
    }

    fn make(&mut self, task: &Task) -> Result<Pass> {
        self.keep_lease_between_passes()?;
        match task {
            Task::Leaf(items) => self.make_leaf(items),
            Task::Condense(nodes) => self.condense(&self.with_text(nodes)?),
        }
    }

    /// The current nodes with their text; deleted ones are left out.
    fn with_text(&self, nodes: &[Node]) -> Result<Vec<Node>> {
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

    fn make_leaf(&mut self, items: &[Cost]) -> Result<Pass> {
        let (Some(first), Some(last)) = (items.first(), items.last()) else {
            return Ok(Pass::Changed);
        };
        let source_tokens: i64 = items.iter().map(|cost| cost.tokens).sum();
        let (said, prior) = self.oneiro.store.read(|tx| {
            let said = messages::between(
                tx,
                SessionRef { key: self.key, id: self.id },
                first.seq - 1,
                last.seq + 1,
            )?;
            // Only a model uses the previous summary; a long context has hundreds.
            let asks = self.goal.model && self.is_for_model(source_tokens);
            let roots = if asks { summaries::roots(tx, self.key)? } else { Vec::new() };
            let before = roots.iter().rev().filter(|node| node.last_seq < first.seq);
            let mut prior: Vec<String> = before.take(2).map(|node| node.content.clone()).collect();
            prior.reverse();
            Ok((said, prior))
        })?;
        let seqs: Vec<i64> = said.iter().map(|message| message.id.0).collect();
        if seqs != items.iter().map(|cost| cost.seq).collect::<Vec<_>>() {
            return Ok(Pass::Changed);
        }
        let lines: Vec<Line> = said.iter().map(line).collect();
        let mut node = self.node(SummaryKind::Leaf, source_tokens);
        node.message_count = seqs.len() as i64;
        node.message_tokens = source_tokens;
        (node.first_seq, node.last_seq) = (first.seq, last.seq);
        let times = || said.iter().map(|message| message.at);
        node.earliest_at = times().min().unwrap_or(node.created_at);
        node.latest_at = times().max().unwrap_or(node.created_at);
        let target = leaf_target(source_tokens, &self.rules);
        if !self.write_node_text(&mut node, &lines, (&prior, target)) {
            return Ok(Pass::NotSmaller);
        }
        self.commit(node, Covered::Messages(seqs))
    }

    fn condense(&mut self, nodes: &[Node]) -> Result<Pass> {
        if nodes.len() < 2 {
            return Ok(Pass::Changed);
        }
        let mut node = self.node_over(nodes);
        let lines = if self.goal.model && self.is_for_model(node.message_tokens) {
            self.oneiro.store.read(|tx| self.oneiro.model_lines(tx, nodes, &node))?
        } else {
            summary_lines(nodes)
        };
        let target = condensed_target(node.source_tokens, node.message_tokens, &self.rules);
        if !self.write_node_text(&mut node, &lines, (&[], target)) {
            return Ok(Pass::NotSmaller);
        }
        self.commit(node, Covered::Summaries(nodes.iter().map(|node| node.key).collect()))
    }

    /// Whether the model writes a summary over this many tokens of messages.
    pub(super) fn is_for_model(&self, message_tokens: i64) -> bool {
        self.oneiro.llm.is_some() && message_tokens >= self.rules.model_chunk_tokens as i64
    }

    /// A condensed node without text.
    fn node_over(&self, nodes: &[Node]) -> Node {
        self.oneiro.node_over((self.key, self.id), nodes)
    }

    fn node(&self, kind: SummaryKind, source_tokens: i64) -> Node {
        self.oneiro.node((self.key, self.id), kind, source_tokens)
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
            Ok(Committed::Yes(key)) => {
                self.created.push(id);
                Ok(Pass::Made(Box::new(Node { key, content: String::new(), ..node })))
            }
            Ok(Committed::PartsCall) => Ok(Pass::Changed),
            Err(error) if error.kind() == ErrorKind::Conflict => {
                tracing::debug!(%error, "a compaction plans again");
                Ok(Pass::Changed)
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
