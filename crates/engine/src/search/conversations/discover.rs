//! Discovers conversations: the best hit of each lineage with the messages around it, preceded by
//! the conversation whose title contains every word of the query.

use super::super::join_notes;
use super::super::query_vector::QueryVector;
use super::super::run::{SearchInput, SearchRun};
use super::{MessageWindow, within, without_system_prompt};
use crate::Oneiro;
use oneiro_index::{Reader, View};
use oneiro_model::{
    ArchivedFilter, CONVERSATION_LIMIT, Confidence, Conversation, Discover, Found, HIDDEN_SOURCES,
    Hit, ListSessions, MACHINE_SOURCES, MESSAGE_WINDOW, Query, Result, Role, SearchRequest,
    Session, SessionFound, Sort, Tier,
};
use oneiro_store::{Tx, lineage, message_rows, sessions, titles};
use oneiro_text::{Analyzer, QueryWord};
use rustc_hash::FxHashSet;

/// Pages that are read for a pattern before the answer is returned incomplete.
const PATTERN_PAGES_MAX: usize = 5;

/// Most recently active sessions whose titles are compared with the query.
const TITLES_COMPARED_MAX: usize = 500;

impl Oneiro {
    pub(super) fn discover(&self, asked: &Discover) -> Result<SessionFound> {
        within("limit", asked.limit, 1..=CONVERSATION_LIMIT.max)?;
        within("window", asked.window, 1..=MESSAGE_WINDOW.max)?;
        let query = Query::parse(&asked.query, self.now())?;
        if query.expr.is_none() && query.filters.is_empty() {
            // An empty query is not a request for the newest conversations: `Browse` is.
            let note = Some("the query has no words".to_owned());
            return Ok(SessionFound::Discover {
                found: Confidence::None,
                tier: None,
                conversations: Vec::new(),
                note,
            });
        }
        let query_vector = self.query_vector(&query)?;
        let (mut found, missing) = self.with_index_view(&query_vector, |tx, view, reader| {
            Discovery { oneiro: self, tx, view, asked, query: &query, query_vector: &query_vector }
                .run(reader)
        })?;
        if let SessionFound::Discover { note, conversations, .. } = &mut found {
            *note = join_notes(note.take(), missing);
            // Outside the snapshot, because a model call may take seconds.
            for conversation in conversations.iter_mut().filter(|_| asked.summarise) {
                let digest = self.context().digest(&conversation.session.id, &query.text)?;
                conversation.digest = Some(digest);
            }
        }
        Ok(found)
    }
}

/// One discovery in its snapshot.
struct Discovery<'s, 'c> {
    oneiro: &'s Oneiro,
    tx: &'s Tx<'c>,
    view: &'s View<'s>,
    asked: &'s Discover,
    query: &'s Query,
    query_vector: &'s QueryVector,
}

/// A conversation before its messages are read.
struct Candidate {
    key: i64,
    root: i64,
    hit: Option<Hit>,
    titled: bool,
}

impl Discovery<'_, '_> {
    fn run(&self, reader: &mut Reader) -> Result<SessionFound> {
        let mut request = self.request();
        let mut found: Vec<Candidate> = Vec::new();
        let mut note = None;
        let mut confidence = Confidence::None;
        for _ in 0..PATTERN_PAGES_MAX {
            let page = self.search(&request, reader)?;
            note = page.note;
            confidence = confidence.min(page.found);
            for hit in page.hits {
                let Some(key) = sessions::key(self.tx, &hit.session_id)? else { continue };
                let root = lineage::root_key(self.tx, key)?;
                if found.iter().all(|there| there.root != root) {
                    found.push(Candidate { key, root, hit: Some(hit), titled: false });
                }
            }
            request.cursor = page.next;
            if found.len() >= self.asked.limit || page.next.is_none() {
                break;
            }
        }
        // A sort by time leaves no place for a match by title.
        if self.asked.sort == Sort::Relevance {
            self.put_titled_first(&mut found, reader)?;
        }
        found.truncate(self.asked.limit);
        let tier = found.iter().find_map(|one| one.hit.as_ref()).map(|hit| hit.tier);
        let conversations = found.into_iter().map(|one| self.conversation(one));
        let conversations = conversations.collect::<Result<Vec<_>>>()?;
        Ok(SessionFound::Discover { found: confidence, tier, conversations, note })
    }

    fn request(&self) -> SearchRequest {
        let (asked, filters) = (self.asked, &self.query.filters);
        // The default filters apply only where neither the request nor the query sets one.
        let named = asked.sources.iter().chain(&filters.sources);
        let named: FxHashSet<&str> = named.map(String::as_str).collect();
        let hidden = HIDDEN_SOURCES.iter().filter(|source| !named.contains(**source));
        let mut exclude_sources = asked.exclude_sources.clone();
        exclude_sources.extend(hidden.map(|source| (*source).to_owned()));
        let roles = if asked.roles.is_empty() && filters.roles.is_empty() {
            vec![Role::User, Role::Assistant]
        } else {
            asked.roles.clone()
        };
        SearchRequest {
            roles,
            sources: asked.sources.clone(),
            exclude_sources,
            project: asked.project.clone(),
            exclude_lineage: asked.exclude_lineage.clone(),
            one_per_lineage: true,
            demote_sources: MACHINE_SOURCES.map(str::to_owned).to_vec(),
            sort: asked.sort,
            limit: asked.limit,
            ..SearchRequest::new(asked.query.clone())
        }
    }

    fn search(&self, request: &SearchRequest, reader: &mut Reader) -> Result<Found> {
        let Discovery { oneiro, tx, view, query, query_vector, .. } = *self;
        SearchRun { oneiro, tx, view, asked: SearchInput { request, query, query_vector } }
            .run(reader)
    }

    fn conversation(&self, one: Candidate) -> Result<Conversation> {
        let session = without_system_prompt(self.tx, one.key)?;
        let anchor = match &one.hit {
            Some(hit) => message_rows::by_ids(self.tx, &[hit.id.0])?.pop(),
            None => None,
        };
        let around = match anchor {
            Some(anchor) => {
                MessageWindow::of(self.tx, anchor, self.asked.window, session.message_count)?
            }
            None => MessageWindow { after: session.message_count, ..MessageWindow::default() },
        };
        let [opening, closing] = around.opening_and_closing(self.tx, one.key)?;
        let root_id = if one.root == one.key {
            None
        } else {
            sessions::id_and_project(self.tx, one.root)?.map(|(id, _)| id)
        };
        Ok(Conversation {
            digest: None,
            session,
            root_id,
            titled: one.titled,
            hit: one.hit,
            window: around.messages,
            before: around.before,
            after: around.after,
            opening,
            closing,
        })
    }

    /// Moves the conversation whose title contains every word of the query to the front.
    fn put_titled_first(&self, found: &mut Vec<Candidate>, reader: &mut Reader) -> Result<()> {
        let Some((key, session)) = self.best_title(&mut reader.analyzer)? else { return Ok(()) };
        let root = lineage::root_key(self.tx, key)?;
        if let Some(at) = found.iter().position(|there| there.root == root) {
            let mut there = found.remove(at);
            there.titled = true;
            found.insert(0, there);
            return Ok(());
        }
        let request = SearchRequest { session: Some(session.id), limit: 1, ..self.request() };
        let hit = self.search(&request, reader)?.hits.pop().filter(|hit| hit.tier < Tier::Semantic);
        // Filters and operators apply to messages, so with them a title alone is not enough.
        if hit.is_some() || (self.query.filters.is_empty() && !self.query.explicit) {
            found.insert(0, Candidate { key, root, hit, titled: true });
        }
        Ok(())
    }

    /// The session whose title contains every word of the query and the fewest others; of several,
    /// the most recently active.
    fn best_title(&self, analyzer: &mut Analyzer) -> Result<Option<(i64, Session)>> {
        let mut words = analyzer.query_words(&self.query.text);
        words.retain(|word| !word.stop);
        if words.is_empty() {
            return Ok(None);
        }
        let everything =
            ListSessions { all: true, archived: ArchivedFilter::Any, ..ListSessions::default() };
        let listed =
            sessions::list(self.tx, &everything, (i64::MAX, i64::MAX), TITLES_COMPARED_MAX)?;
        let mut known: Vec<(i64, Session)> =
            listed.into_iter().map(|listed| (listed.key, listed.session)).collect();
        // A title given in full is found even if its session is not among the recent ones.
        let whole = self.asked.query.trim();
        let titled =
            if whole.contains('\0') { Vec::new() } else { titles::with_base(self.tx, whole)? };
        for (_, key) in titled {
            if known.iter().all(|(there, _)| *there != key) {
                known.push((key, without_system_prompt(self.tx, key)?));
            }
        }
        let not = match &self.asked.exclude_lineage {
            Some(id) => match sessions::key(self.tx, id)? {
                Some(key) => lineage::family(self.tx, key)?,
                None => Vec::new(),
            },
            None => Vec::new(),
        };
        let request = self.request();
        let mut best: Option<(usize, (i64, Session))> = None;
        for (key, session) in known {
            let Some(title) = &session.title else { continue };
            let named = &request.sources;
            let is_wanted = (named.is_empty() || named.contains(&session.source))
                && (request.project.is_none() || request.project == session.project)
                && !request.exclude_sources.contains(&session.source)
                && !request.demote_sources.contains(&session.source)
                && !not.contains(&key);
            if !is_wanted {
                continue;
            }
            let mut terms = FxHashSet::default();
            analyzer.tokens(title, |token| {
                terms.insert(token.term.to_owned());
            });
            let is_better = best.as_ref().is_none_or(|(least, _)| terms.len() < *least);
            if is_better && words.iter().all(|word| has_word(word, &terms)) {
                best = Some((terms.len(), (key, session)));
            }
        }
        Ok(best.map(|(_, found)| found))
    }
}

/// Whether the terms contain a word, whole or in its parts.
fn has_word(word: &QueryWord, terms: &FxHashSet<String>) -> bool {
    let mut each = word.terms.iter().map(|term| terms.contains(term));
    let whole = if word.all { each.all(|has| has) } else { each.any(|has| has) };
    let parts = &word.parts;
    (whole && !word.terms.is_empty())
        || (!parts.is_empty() && parts.iter().all(|part| has_word(part, terms)))
}
