//! Finds words or a pattern in messages and summaries, within a session's lineage or, if requested
//! and allowed, in the whole space.

use super::matcher::Matcher;
use super::snippet::{HighlightTerms, snippet};
use crate::context::Reach;
use crate::sessions::resolve_in;
use crate::views::Search;
use oneiro_model::{
    ContextScope, Error, Filters, Found, GrepRequest, Grepped, HitKind, Query, Result,
    SEARCH_LIMIT_MAX, SearchRequest, SummaryHit,
};
use oneiro_store::summaries::{self, Node};
use oneiro_store::{Tx, sessions};
use oneiro_text::Analyzer;
use std::collections::HashSet;

/// The sessions that filters include (`None`: no limit), and those they exclude.
fn sessions_of(tx: &Tx<'_>, filters: &Filters) -> Result<(Option<HashSet<i64>>, HashSet<i64>)> {
    let keys = |sessions: &[String], sources: &[String], projects: &[String]| {
        let mut lists: Vec<HashSet<i64>> = Vec::new();
        if !sessions.is_empty() {
            let found = sessions.iter().map(|id| Ok(resolve_in(tx, id)?.0));
            lists.push(found.collect::<Result<_>>()?);
        }
        if !sources.is_empty() {
            let found = sources.iter().map(|source| sessions::keys_of_source(tx, source));
            lists.push(found.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect());
        }
        if !projects.is_empty() {
            let found = projects.iter().map(|project| sessions::keys_of_project(tx, project));
            lists.push(found.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect());
        }
        Ok::<_, Error>(lists)
    };
    let only = keys(&filters.sessions, &filters.sources, &filters.projects)?;
    let only = only.into_iter().reduce(|a, b| a.intersection(&b).copied().collect());
    let not = keys(&filters.exclude_sessions, &filters.exclude_sources, &filters.exclude_projects)?;
    Ok((only, not.into_iter().flatten().collect()))
}

/// Newest summaries of a space that are read.
const SUMMARIES_READ_MAX: usize = 20_000;

impl Search<'_> {
    /// Finds a pattern in messages, summaries or both.
    pub fn grep(&self, request: &GrepRequest) -> Result<Grepped> {
        if request.limit == 0 || request.limit > SEARCH_LIMIT_MAX {
            return Err(Error::field("limit", format!("is not between 1 and {SEARCH_LIMIT_MAX}")));
        }
        let (summaries, summary_total) = if request.summaries && request.roles.is_empty() {
            self.search_summaries(request)?
        } else {
            (Vec::new(), 0)
        };
        let messages =
            if request.messages { self.grep_messages(request)?.hits } else { Vec::new() };
        Ok(Grepped { summaries, messages, summary_total })
    }

    fn grep_messages(&self, request: &GrepRequest) -> Result<Found> {
        let lineage = match &request.scope {
            ContextScope::Lineage(id) => Some(id.clone()),
            ContextScope::Space => None,
        };
        self.oneiro.store.read(|tx| Reach::of(self.oneiro, tx, &request.scope).map(|_| ()))?;
        self.run(&SearchRequest {
            roles: request.roles.clone(),
            project: request.project.clone(),
            lineage,
            since: request.since,
            until: request.until,
            limit: request.limit,
            ..SearchRequest::new(request.pattern.clone())
        })
    }

    /// Summaries that match a query, best first, and how many there are in total.
    fn search_summaries(&self, request: &GrepRequest) -> Result<(Vec<SummaryHit>, usize)> {
        let query = Query::parse(&request.pattern, self.oneiro.now())?;
        let mut analyzer = Analyzer::default();
        let Some(expr) = &query.expr else { return Ok((Vec::new(), 0)) };
        let exact = Matcher::new(expr, &mut analyzer)?;
        let nodes = self.oneiro.store.read(|tx| {
            let reach = Reach::of(self.oneiro, tx, &request.scope)?;
            match reach.keys() {
                None => summaries::newest(tx, SUMMARIES_READ_MAX),
                Some(keys) => {
                    let mut nodes = Vec::new();
                    for key in keys {
                        nodes.append(&mut summaries::of_session(tx, *key)?);
                    }
                    Ok(nodes)
                }
            }
        })?;
        let filters = &query.filters;
        // Summaries have no speaker, so a filter on speakers excludes all of them.
        if !filters.roles.is_empty() || !filters.names.is_empty() {
            return Ok((Vec::new(), 0));
        }
        let (only, not) = self.oneiro.store.read(|tx| {
            let (only, not) = sessions_of(tx, filters)?;
            let Some(project) = &request.project else { return Ok((only, not)) };
            let of_project: HashSet<i64> =
                sessions::keys_of_project(tx, project)?.into_iter().collect();
            let only = match only {
                Some(only) => only.intersection(&of_project).copied().collect(),
                None => of_project,
            };
            Ok((Some(only), not))
        })?;
        let since = request.since.max(filters.since);
        let until = [request.until, filters.until].into_iter().flatten().min();
        let within = |node: &Node| {
            since.is_none_or(|since| node.latest_at >= since)
                && until.is_none_or(|until| node.earliest_at < until)
                && only.as_ref().is_none_or(|only| only.contains(&node.session_key))
                && !not.contains(&node.session_key)
        };
        let words = analyzer.query_words(&query.text);
        let terms: Vec<String> = words.into_iter().flat_map(|word| word.terms).collect();
        let mut patterns = Vec::new();
        let mut prefixes = Vec::new();
        exact.patterns(&mut patterns, &mut prefixes);
        let wanted = HighlightTerms {
            terms: &terms,
            prefixes: &prefixes,
            phrases: &[],
            patterns: &patterns,
        };
        let mut hits = Vec::new();
        for node in nodes.into_iter().filter(within) {
            if !exact.matches(&node.content, &mut analyzer) {
                continue;
            }
            let (snippet, marks) =
                snippet(&mut analyzer, &node.content, &(0..node.content.len()), &wanted);
            // More matches visible in the snippet rank higher; of equals, the lower node, which is
            // closer to the messages.
            let score = marks.len() as f64 / (1.0 + node.depth as f64);
            hits.push((score, node, snippet));
        }
        let total = hits.len();
        hits.sort_by(|a, b| {
            b.0.total_cmp(&a.0).then(b.1.latest_at.cmp(&a.1.latest_at)).then(a.1.key.cmp(&b.1.key))
        });
        hits.truncate(request.limit);
        let hits = self.oneiro.store.read(|tx| {
            let hits = hits.iter().map(|(score, node, snippet)| {
                let session = sessions::id_and_project(tx, node.session_key)?;
                Ok(SummaryHit {
                    kind: HitKind::Summary,
                    id: node.id.clone(),
                    session_id: node.session_id.clone(),
                    project: session.and_then(|(_, project)| project),
                    summary_kind: node.kind,
                    depth: node.depth,
                    score: *score,
                    snippet: snippet.clone(),
                    earliest_at: node.earliest_at,
                    at: node.latest_at,
                })
            });
            hits.collect::<Result<Vec<_>>>()
        })?;
        Ok((hits, total))
    }
}
