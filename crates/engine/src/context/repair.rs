//! Finds and repairs inconsistent contexts. Gaps, overlaps, orphans and tool calls separated from
//! their results are found by comparing a context with the messages and the root summaries, and
//! repaired by rebuilding it from these.

use super::boundaries::{Boundaries, inspect_calls};
use super::invalidate::remove_nodes;
use crate::Oneiro;
use crate::views::Context;
use oneiro_model::{Result, SessionId, SummaryKind};
use oneiro_store::summaries::{self, Node};
use oneiro_store::{Tx, contexts, messages, sessions};
use std::collections::{BTreeMap, BTreeSet};

/// Fewer tokens than the markup of a summary and a few words.
const REMNANT_TOKENS: i64 = 96;

/// The problems of one session's context.
#[derive(Debug, Default)]
struct Problems {
    /// Descriptions.
    problems: Vec<String>,
    /// Nodes to remove.
    dead: BTreeSet<i64>,
    /// Whether its items differ from its roots.
    items: bool,
    /// Problems of tool calls and their results.
    calls: Boundaries,
}

impl Context<'_> {
    /// Rebuilds inconsistent contexts from messages and root summaries; returns the number of
    /// repaired sessions.
    pub fn repair_all(&self) -> Result<usize> {
        self.oneiro.store.write(|tx| {
            let mut repaired = 0;
            for key in summaries::summarised_sessions(tx)? {
                // Removing a node may reveal problems below it.
                for round in 0..4 {
                    let wrong = inspect(tx, key)?;
                    if wrong.problems.is_empty() {
                        break;
                    }
                    repaired += usize::from(round == 0);
                    wrong.calls.recount(tx, key)?;
                    remove_nodes(tx, wrong.dead)?;
                    rebuild(tx, key)?;
                }
            }
            Ok(repaired)
        })
    }

    /// Rebuilds the context of one session from its messages and root summaries.
    pub fn rebuild(&self, id: &SessionId) -> Result<()> {
        let id = id.clone();
        self.oneiro.store.write(move |tx| rebuild(tx, crate::sessions::key_of(tx, &id)?))
    }
}

impl Oneiro {
    /// The problems of all contexts, one line each.
    pub(crate) fn inspect_contexts(&self) -> Result<Vec<String>> {
        self.store.read(|tx| {
            let mut found = Vec::new();
            for key in summaries::summarised_sessions(tx)? {
                found.append(&mut inspect(tx, key)?.problems);
            }
            Ok(found)
        })
    }
}

/// The nodes a context should show: those of the session that none of the session covers, and those
/// of others that it showed or that none of its own covers.
fn roots(tx: &Tx<'_>, key: i64) -> Result<BTreeSet<i64>> {
    let mut roots = BTreeSet::new();
    for node in summaries::of_session(tx, key)?.into_iter().filter(|node| !node.is_overview()) {
        let mut above = false;
        for parent in summaries::parent_keys(tx, node.key)? {
            let covers = |parent: Node| parent.session_key == key && !parent.is_overview();
            above |= summaries::get(tx, parent)?.is_some_and(covers);
        }
        if !above {
            roots.insert(node.key);
        }
    }
    let own: BTreeSet<i64> = summaries::keys_of_session(tx, key)?.into_iter().collect();
    for node in summaries::root_keys(tx, key)?.difference(&own) {
        let parents = summaries::parent_keys(tx, *node)?;
        let mut above = false;
        for parent in parents.iter().filter(|parent| own.contains(parent)) {
            above |= summaries::get(tx, *parent)?.is_some_and(|parent| !parent.is_overview());
        }
        if !above {
            roots.insert(*node);
        }
    }
    Ok(roots)
}

fn rebuild(tx: &Tx<'_>, key: i64) -> Result<()> {
    let roots = roots(tx, key)?;
    summaries::clear_roots(tx, key)?;
    roots.iter().try_for_each(|node| summaries::add_root(tx, key, *node))?;
    contexts::record_change(tx, key, "compaction")
}

fn inspect(tx: &Tx<'_>, key: i64) -> Result<Problems> {
    let mut wrong = Problems::default();
    let Some((id, _)) = sessions::id_and_project(tx, key)? else { return Ok(wrong) };
    let name = format!("session {:?}", id.as_str());
    for node in summaries::of_session(tx, key)? {
        if let Some(problem) = node_problem(tx, &node)? {
            wrong.problems.push(format!("{name}: {} {problem}", node.id));
            wrong.dead.insert(node.key);
        }
    }
    wrong.calls = inspect_calls(tx, (key, &id))?;
    for leaf in &wrong.calls.parting {
        let leaf = summaries::get(tx, *leaf)?.map(|node| node.id.to_string()).unwrap_or_default();
        wrong.problems.push(format!("{name}: {leaf} parts a tool call from its result"));
    }
    wrong.dead.extend(&wrong.calls.parting);
    for (seq, _) in &wrong.calls.miscounted {
        wrong.problems.push(format!("{name}: message {seq} is counted into the wrong step"));
    }
    let (shown, roots) = (summaries::root_keys(tx, key)?, roots(tx, key)?);
    for orphan in roots.difference(&shown) {
        let id = summaries::get(tx, *orphan)?.map(|node| node.id.to_string()).unwrap_or_default();
        wrong.problems.push(format!("{name}: {id} is an orphan: no window shows it"));
        wrong.items = true;
    }
    for extra in shown.difference(&roots) {
        let id = summaries::get(tx, *extra)?.map(|node| node.id.to_string()).unwrap_or_default();
        wrong.problems.push(format!("{name}: {id} is shown beside the summary that covers it"));
        wrong.items = true;
    }
    let mut last: Option<Node> = None;
    let own = summaries::roots(tx, key)?.into_iter();
    for node in own.filter(|node| node.session_key == key && node.last_seq > 0) {
        if let Some(last) = last.filter(|last| last.last_seq >= node.first_seq) {
            wrong.problems.push(format!("{name}: {} and {} overlap", last.id, node.id));
            wrong.dead.insert(node.key);
        }
        last = Some(node);
    }
    Ok(wrong)
}

/// The problem of one node, if any.
fn node_problem(tx: &Tx<'_>, node: &Node) -> Result<Option<&'static str>> {
    if node.kind == SummaryKind::Written {
        return Ok(None);
    }
    // After an erasure the rest of a leaf may be too short for a summary to be smaller.
    let remnant = node.kind == SummaryKind::Leaf && node.source_tokens < REMNANT_TOKENS;
    if node.tokens >= node.source_tokens && !remnant {
        return Ok(Some("is not smaller than what it covers"));
    }
    if node.kind == SummaryKind::Condensed {
        let children = summaries::children(tx, node.key)?;
        let deeper = children.iter().any(|child| child.depth >= node.depth);
        let own = summaries::sessions_under(tx, node.key)? == [node.session_key];
        // Between the roots that an overview stands in for, messages may be uncovered.
        let gap = own
            && !node.is_overview()
            && messages::live_seqs_between(tx, node.session_key, node.first_seq, node.last_seq)?
                != summaries::seqs_under(tx, node.key)?;
        return Ok(match children.len() {
            // An overview shortens a single root where that does not fit.
            1 if node.is_overview() => None,
            0 | 1 => Some("covers fewer than two summaries"),
            _ if deeper => Some("covers a summary that is not below it"),
            _ if gap => Some("leaves a gap among the messages it covers"),
            _ => None,
        });
    }
    let covered = summaries::seqs_under(tx, node.key)?;
    if covered.is_empty() {
        return Ok(Some("covers no message"));
    }
    let live = messages::live_seqs_between(tx, node.session_key, node.first_seq, node.last_seq)?;
    let mut counts: BTreeMap<i64, bool> = live.iter().map(|seq| (*seq, false)).collect();
    for seq in &covered {
        match counts.get_mut(seq) {
            Some(seen) => *seen = true,
            None => return Ok(Some("covers a message that is hidden or elsewhere")),
        }
    }
    Ok(counts.values().any(|seen| !seen).then_some("leaves a gap among the messages it covers"))
}
