//! Summaries: the nodes of the summary DAG, what each covers, and which of them are roots of a
//! session. The primary key of `summary_messages` puts a message under at most one leaf.

use crate::aggregates::Table;
use crate::backend::Row;
use crate::{Tx, sequence};
use oneiro_model::{
    MessageId, Result, SessionId, Summary, SummaryId, SummaryKind, SummaryLevel, Timestamp,
};
use std::collections::{BTreeSet, HashSet};

macro_rules! columns {
    () => {
        columns!("n.content")
    };
    ($content:literal) => {
        concat!(
            "SELECT n.key, n.id, s.id, n.session_key, n.kind, n.depth, n.level, n.model, ",
            $content,
            ", n.tokens, n.source_tokens, n.message_count, n.message_tokens, n.first_seq, \
             n.last_seq, n.earliest_at, n.latest_at, n.created_at, n.overview FROM summaries n \
             JOIN sessions s ON s.key = n.session_key "
        )
    };
}
/// The nodes under the first parameter, itself included.
macro_rules! under {
    () => {
        "WITH RECURSIVE under (key) AS (SELECT CAST(?1 AS BIGINT) UNION \
         SELECT c.child_key FROM summary_children c JOIN under u ON c.parent_key = u.key) "
    };
}

statements! {
    INSERT = "INSERT INTO summaries (key, id, session_key, kind, depth, level, model, content, \
              tokens, source_tokens, message_count, message_tokens, first_seq, last_seq, \
              earliest_at, latest_at, created_at, overview) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, \
              ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)";
    COVER_MESSAGE = "INSERT INTO summary_messages (seq, summary_key) VALUES (?1, ?2)";
    COVER_CHILD = "INSERT INTO summary_children (parent_key, child_key) VALUES (?1, ?2)";
    ADD_ROOT = "INSERT INTO root_summaries (session_key, summary_key) VALUES (?1, ?2) \
            ON CONFLICT (session_key, summary_key) DO NOTHING";
    REMOVE_ROOT = "DELETE FROM root_summaries WHERE session_key = ?1 AND summary_key = ?2";
    CLEAR_ROOTS = "DELETE FROM root_summaries WHERE session_key = ?1";
    ROOTS = concat!(columns!(), "JOIN root_summaries i ON i.summary_key = n.key \
            WHERE i.session_key = ?1 ORDER BY n.first_seq, n.key");
    ROOTS_WITHOUT_CONTENT = concat!(columns!("''"), "JOIN root_summaries i ON i.summary_key = n.key \
            WHERE i.session_key = ?1 ORDER BY n.first_seq, n.key");
    ROOT_KEYS = "SELECT summary_key FROM root_summaries WHERE session_key = ?1";
    OF_SESSION = concat!(columns!(), "WHERE n.session_key = ?1 ORDER BY n.first_seq, n.depth, n.key");
    BY_KEY = concat!(columns!(), "WHERE n.key = ?1");
    BY_ID_PREFIX = concat!(columns!(), "WHERE n.id >= ?1 AND n.id < ?2 ORDER BY n.id LIMIT 2");
    NEWEST = concat!(columns!(), "ORDER BY n.latest_at DESC, n.key DESC LIMIT CAST(?1 AS BIGINT)");
    CHILDREN = concat!(columns!(), "JOIN summary_children c ON c.child_key = n.key \
               WHERE c.parent_key = ?1 ORDER BY n.first_seq, n.key");
    CHILDREN_WITHOUT_CONTENT = concat!(columns!("''"), "JOIN summary_children c \
               ON c.child_key = n.key WHERE c.parent_key = ?1 ORDER BY n.first_seq, n.key");
    CHILD_KEYS = "SELECT child_key FROM summary_children WHERE parent_key = ?1 ORDER BY child_key";
    PARENT_KEYS = "SELECT parent_key FROM summary_children WHERE child_key = ?1 ORDER BY parent_key";
    CHILD_IDS = "SELECT n.id FROM summaries n JOIN summary_children c ON c.child_key = n.key \
                 WHERE c.parent_key = ?1 ORDER BY n.first_seq, n.key";
    PARENT_IDS = "SELECT n.id FROM summaries n JOIN summary_children c ON c.parent_key = n.key \
                  WHERE c.child_key = ?1 ORDER BY n.first_seq, n.key";
    SESSIONS_WITH_ROOT = "SELECT session_key FROM root_summaries WHERE summary_key = ?1 ORDER BY session_key";
    SEQS_UNDER = concat!(under!(), "SELECT m.seq FROM summary_messages m JOIN under u \
                 ON m.summary_key = u.key ORDER BY m.seq");
    SEQS_OF_LEAF = "SELECT seq FROM summary_messages WHERE summary_key = ?1 \
                    AND seq > CAST(?2 AS BIGINT) ORDER BY seq";
    CHILD_KEYS_AFTER = "SELECT n.key FROM summary_children c JOIN summaries n ON n.key = c.child_key \
                    WHERE c.parent_key = ?1 AND n.last_seq > CAST(?2 AS BIGINT) \
                    ORDER BY n.first_seq DESC, n.key DESC";
    SESSIONS_UNDER = concat!(under!(), "SELECT DISTINCT n.session_key FROM summaries n JOIN under u \
                     ON n.key = u.key");
    SESSIONS_UNDER_ROOTS = "WITH RECURSIVE under (key) AS (\
         SELECT summary_key FROM root_summaries WHERE session_key = ?1 UNION \
         SELECT c.child_key FROM summary_children c JOIN under u ON c.parent_key = u.key) \
         SELECT DISTINCT n.session_key FROM summaries n JOIN under u ON n.key = u.key";
    OVERLAPPING = "SELECT key FROM summaries WHERE session_key = ?1 AND kind <> 'written' \
                   AND first_seq <= CAST(?3 AS BIGINT) AND last_seq >= CAST(?2 AS BIGINT)";
    LEAF_OF = "SELECT summary_key FROM summary_messages WHERE seq = ?1";
    KEYS_OF_SESSION = "SELECT key FROM summaries WHERE session_key = ?1";
    BY_MODELS_AFTER = "SELECT key FROM summaries WHERE session_key = ?1 \
                   AND last_seq >= CAST(?2 AS BIGINT) AND level IN ('model', 'strict')";
    REMOVE = "DELETE FROM summaries WHERE key = ?1";
    REWRITE = "UPDATE summaries SET content = ?2, level = ?3, model = ?4, tokens = ?5, \
               created_at = ?6 WHERE key = ?1 AND tokens >= CAST(?5 AS BIGINT)";
    EXTRACTS = "SELECT n.key FROM summaries n WHERE n.session_key = ?1 AND n.level = 'extract' \
                AND n.overview = 0 AND n.message_tokens >= CAST(?2 AS BIGINT) \
                ORDER BY n.depth, n.first_seq LIMIT CAST(?3 AS BIGINT)";
    OVERVIEWS = concat!(columns!(), "WHERE n.session_key = ?1 AND n.overview > 0 ORDER BY n.key");
    WRITTEN = "SELECT key FROM summaries WHERE session_key = ?1 AND kind = 'written' ORDER BY key";
    WRITTEN_ROOTS = "SELECT n.key FROM root_summaries i JOIN summaries n ON n.key = i.summary_key \
               WHERE i.session_key = ?1 AND n.kind = 'written' ORDER BY n.key";
    STORED = "SELECT content FROM summaries";
    COUNT = "SELECT COUNT(*) FROM summaries";
    SUMMARISED_SESSIONS = "SELECT DISTINCT session_key FROM root_summaries UNION \
                           SELECT DISTINCT session_key FROM summaries";
}

pub(crate) const TABLES: &[Table] = &[
    Table {
        name: "summaries",
        columns: "key, id, session_key, kind, depth, level, model, content, tokens, source_tokens, \
                  message_count, message_tokens, first_seq, last_seq, earliest_at, latest_at, \
                  created_at, overview",
    },
    Table { name: "summary_messages", columns: "seq, summary_key" },
    Table { name: "summary_children", columns: "parent_key, child_key" },
    Table { name: "root_summaries", columns: "session_key, summary_key" },
];

/// A stored summary.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its key.
    pub key: i64,
    /// Its id.
    pub id: SummaryId,
    /// The id of its session.
    pub session_id: SessionId,
    /// The key of its session.
    pub session_key: i64,
    /// What it covers.
    pub kind: SummaryKind,
    /// How many levels of summaries are below it.
    pub depth: i64,
    /// How it was made.
    pub level: SummaryLevel,
    /// The model that wrote it.
    pub model: Option<String>,
    /// Its text.
    pub content: String,
    /// Its tokens in a window.
    pub tokens: i64,
    /// Tokens of what it covers directly.
    pub source_tokens: i64,
    /// Messages under it.
    pub message_count: i64,
    /// Their tokens.
    pub message_tokens: i64,
    /// The first message under it; 0 when there is none.
    pub first_seq: i64,
    /// The last message under it.
    pub last_seq: i64,
    /// When the first was said.
    pub earliest_at: Timestamp,
    /// When the last was said.
    pub latest_at: Timestamp,
    /// When it was made.
    pub created_at: Timestamp,
    /// The length, in tokens, that it was made for as an overview, which stands in for the oldest
    /// roots where even these do not fit and is never a root; 0 for other summaries, 1 for
    /// overviews that earlier versions made.
    pub overview_target: i64,
}

impl Node {
    /// Whether it is an overview.
    pub fn is_overview(&self) -> bool {
        self.overview_target > 0
    }

    /// The summary with its links to others.
    pub fn into_summary(self, tx: &Tx<'_>) -> Result<Summary> {
        let message = |seq: i64| (seq > 0).then_some(MessageId(seq));
        let contexts = sessions_with_root(tx, self.key)?;
        Ok(Summary {
            children: tx
                .all(CHILD_IDS, &[self.key.into()], |row| SummaryId::parse(row.text(0)?))?,
            parents: tx
                .all(PARENT_IDS, &[self.key.into()], |row| SummaryId::parse(row.text(0)?))?,
            in_context: contexts.contains(&self.session_key),
            first_message: message(self.first_seq),
            last_message: message(self.last_seq),
            id: self.id,
            session_id: self.session_id,
            kind: self.kind,
            depth: self.depth,
            level: self.level,
            model: self.model,
            content: self.content,
            tokens: self.tokens,
            source_tokens: self.source_tokens,
            message_count: self.message_count,
            message_tokens: self.message_tokens,
            earliest_at: self.earliest_at,
            latest_at: self.latest_at,
            created_at: self.created_at,
        })
    }
}

/// Inserts a node that covers nothing yet, and returns its new key.
pub fn insert(tx: &Tx<'_>, node: &Node) -> Result<i64> {
    let key = sequence::take_key(tx)?;
    let values = [
        key.into(),
        node.id.as_str().into(),
        node.session_key.into(),
        node.kind.as_str().into(),
        node.depth.into(),
        node.level.as_str().into(),
        node.model.as_deref().into(),
        node.content.as_str().into(),
        node.tokens.into(),
        node.source_tokens.into(),
        node.message_count.into(),
        node.message_tokens.into(),
        node.first_seq.into(),
        node.last_seq.into(),
        node.earliest_at.micros().into(),
        node.latest_at.micros().into(),
        node.created_at.micros().into(),
        node.overview_target.into(),
    ];
    tx.execute(INSERT, &values)?;
    Ok(key)
}

/// Puts messages under a leaf.
pub fn cover_messages(tx: &Tx<'_>, leaf: i64, seqs: &[i64]) -> Result<()> {
    let cover = |seq: &i64| tx.execute(COVER_MESSAGE, &[(*seq).into(), leaf.into()]).map(|_| ());
    seqs.iter().try_for_each(cover)
}

/// Puts nodes under a condensed one.
pub fn cover_children(tx: &Tx<'_>, parent: i64, children: &[i64]) -> Result<()> {
    let cover =
        |child: &i64| tx.execute(COVER_CHILD, &[parent.into(), (*child).into()]).map(|_| ());
    children.iter().try_for_each(cover)
}

/// Makes a node a root of a session.
pub fn add_root(tx: &Tx<'_>, session_key: i64, node: i64) -> Result<()> {
    tx.execute(ADD_ROOT, &[session_key.into(), node.into()]).map(|_| ())
}

/// Takes a node from the roots of a session; false if it was none of them.
pub fn remove_root(tx: &Tx<'_>, session_key: i64, node: i64) -> Result<bool> {
    Ok(tx.execute(REMOVE_ROOT, &[session_key.into(), node.into()])? > 0)
}

/// Removes all roots of a session; the nodes stay.
pub fn clear_roots(tx: &Tx<'_>, session_key: i64) -> Result<()> {
    tx.execute(CLEAR_ROOTS, &[session_key.into()]).map(|_| ())
}

/// The roots of a session, oldest first: the nodes that no other of it covers, but for overviews.
pub fn roots(tx: &Tx<'_>, session_key: i64) -> Result<Vec<Node>> {
    tx.all(ROOTS, &[session_key.into()], read)
}

/// The roots of a session with empty content, oldest first.
pub fn roots_without_content(tx: &Tx<'_>, session_key: i64) -> Result<Vec<Node>> {
    tx.all(ROOTS_WITHOUT_CONTENT, &[session_key.into()], read)
}

/// The keys of the roots of a session.
pub fn root_keys(tx: &Tx<'_>, session_key: i64) -> Result<BTreeSet<i64>> {
    Ok(keys(tx, ROOT_KEYS, session_key)?.into_iter().collect())
}

/// The sessions that have a node as a root.
pub fn sessions_with_root(tx: &Tx<'_>, node: i64) -> Result<Vec<i64>> {
    keys(tx, SESSIONS_WITH_ROOT, node)
}

/// Every node of a session, by the messages they cover.
pub fn of_session(tx: &Tx<'_>, session_key: i64) -> Result<Vec<Node>> {
    tx.all(OF_SESSION, &[session_key.into()], read)
}

/// A node.
pub fn get(tx: &Tx<'_>, key: i64) -> Result<Option<Node>> {
    tx.first(BY_KEY, &[key.into()], read)
}

/// Up to two nodes whose id starts with `prefix`.
pub fn by_id_prefix(tx: &Tx<'_>, prefix: &str) -> Result<Vec<Node>> {
    // `~` sorts after every character of an id.
    let end = format!("{prefix}~");
    tx.all(BY_ID_PREFIX, &[prefix.into(), end.as_str().into()], read)
}

/// The nodes whose messages are newest.
pub fn newest(tx: &Tx<'_>, limit: usize) -> Result<Vec<Node>> {
    tx.all(NEWEST, &[(limit as i64).into()], read)
}

/// The nodes under a condensed one, oldest first.
pub fn children(tx: &Tx<'_>, node: i64) -> Result<Vec<Node>> {
    tx.all(CHILDREN, &[node.into()], read)
}

/// The nodes under a condensed one with empty content, oldest first.
pub fn children_without_content(tx: &Tx<'_>, node: i64) -> Result<Vec<Node>> {
    tx.all(CHILDREN_WITHOUT_CONTENT, &[node.into()], read)
}

/// The keys of the nodes right under one.
pub fn child_keys(tx: &Tx<'_>, node: i64) -> Result<Vec<i64>> {
    keys(tx, CHILD_KEYS, node)
}

/// The keys of the nodes right above one.
pub fn parent_keys(tx: &Tx<'_>, node: i64) -> Result<Vec<i64>> {
    keys(tx, PARENT_KEYS, node)
}

/// The messages under a node, each once.
pub fn seqs_under(tx: &Tx<'_>, node: i64) -> Result<Vec<i64>> {
    keys(tx, SEQS_UNDER, node)
}

/// The first messages under a node after message `after`, at least `enough` if there are that many.
/// Reads only the nodes on the way to them.
pub fn next_seqs_under(tx: &Tx<'_>, node: i64, after: i64, enough: usize) -> Result<Vec<i64>> {
    let (mut seqs, mut open, mut met) = (Vec::new(), vec![node], HashSet::new());
    while let Some(key) = open.pop().filter(|_| seqs.len() < enough) {
        // A damaged store may have a circle.
        if !met.insert(key) {
            continue;
        }
        let values = [key.into(), after.into()];
        seqs.extend(tx.all(SEQS_OF_LEAF, &values, |row| row.int(0))?);
        open.extend(tx.all(CHILD_KEYS_AFTER, &values, |row| row.int(0))?);
    }
    Ok(seqs)
}

/// The sessions whose messages or nodes are under a node.
pub fn sessions_under(tx: &Tx<'_>, node: i64) -> Result<Vec<i64>> {
    keys(tx, SESSIONS_UNDER, node)
}

/// The sessions whose messages or nodes are under the roots of a session.
pub fn sessions_under_roots(tx: &Tx<'_>, session_key: i64) -> Result<Vec<i64>> {
    keys(tx, SESSIONS_UNDER_ROOTS, session_key)
}

/// The nodes of a session whose range of messages overlaps a range.
pub fn overlapping(tx: &Tx<'_>, session_key: i64, range: (i64, i64)) -> Result<Vec<i64>> {
    let values = [session_key.into(), range.0.into(), range.1.into()];
    tx.all(OVERLAPPING, &values, |row| row.int(0))
}

/// The leaf that a message is under.
pub fn leaf_of(tx: &Tx<'_>, seq: i64) -> Result<Option<i64>> {
    tx.first(LEAF_OF, &[seq.into()], |row| row.int(0))
}

/// The keys of every node of a session.
pub fn keys_of_session(tx: &Tx<'_>, session_key: i64) -> Result<Vec<i64>> {
    keys(tx, KEYS_OF_SESSION, session_key)
}

/// The nodes of a session that models wrote and that end at a message or after it. A model sees the
/// summaries before its own and may repeat them.
pub fn by_models_after(tx: &Tx<'_>, session_key: i64, seq: i64) -> Result<Vec<i64>> {
    tx.all(BY_MODELS_AFTER, &[session_key.into(), seq.into()], |row| row.int(0))
}

/// Removes a node and its links.
pub fn remove(tx: &Tx<'_>, node: i64) -> Result<()> {
    tx.execute(REMOVE, &[node.into()]).map(|_| ())
}

/// New text for a node.
pub struct Rewriting<'a> {
    /// The text.
    pub content: &'a str,
    /// How it was made.
    pub level: SummaryLevel,
    /// The model that wrote it.
    pub model: Option<&'a str>,
    /// Its tokens.
    pub tokens: i64,
}

/// Replaces the text of a node; false if the new text has more tokens or the node was removed.
pub fn rewrite(tx: &Tx<'_>, node: i64, to: &Rewriting<'_>, now: Timestamp) -> Result<bool> {
    let values = [
        node.into(),
        to.content.into(),
        to.level.as_str().into(),
        to.model.into(),
        to.tokens.into(),
        now.micros().into(),
    ];
    Ok(tx.execute(REWRITE, &values)? > 0)
}

/// The nodes of a session that are extracts over at least `message_tokens` of messages, the lowest
/// first, without overviews.
pub fn extracts(
    tx: &Tx<'_>,
    session_key: i64,
    message_tokens: i64,
    limit: usize,
) -> Result<Vec<i64>> {
    let values = [session_key.into(), message_tokens.into(), (limit as i64).into()];
    tx.all(EXTRACTS, &values, |row| row.int(0))
}

/// The overviews of a session.
pub fn overviews(tx: &Tx<'_>, session_key: i64) -> Result<Vec<Node>> {
    tx.all(OVERVIEWS, &[session_key.into()], read)
}

/// The nodes of a session that were written by hand.
pub fn written(tx: &Tx<'_>, session_key: i64) -> Result<Vec<i64>> {
    keys(tx, WRITTEN, session_key)
}

/// The roots of a session that were written by hand, its own or those of the session before it.
pub fn written_roots(tx: &Tx<'_>, session_key: i64) -> Result<Vec<i64>> {
    keys(tx, WRITTEN_ROOTS, session_key)
}

/// Calls `each` with the text of every node.
pub(crate) fn each_text(tx: &Tx<'_>, each: &mut dyn FnMut(&[u8])) -> Result<()> {
    tx.each(STORED, &[], |row| {
        each(row.text(0)?.as_bytes());
        Ok(())
    })
}

/// How many nodes there are.
pub fn count(tx: &Tx<'_>) -> Result<i64> {
    tx.one(COUNT, &[], |row| row.int(0))
}

/// The sessions that have nodes of their own or roots of others.
pub fn summarised_sessions(tx: &Tx<'_>) -> Result<Vec<i64>> {
    tx.all(SUMMARISED_SESSIONS, &[], |row| row.int(0))
}

fn keys(tx: &Tx<'_>, sql: &str, key: i64) -> Result<Vec<i64>> {
    tx.all(sql, &[key.into()], |row| row.int(0))
}

fn read(row: &dyn Row) -> Result<Node> {
    Ok(Node {
        key: row.int(0)?,
        id: SummaryId::parse(row.text(1)?)?,
        session_id: SessionId::new(row.text(2)?)?,
        session_key: row.int(3)?,
        kind: SummaryKind::parse(row.text(4)?)?,
        depth: row.int(5)?,
        level: SummaryLevel::parse(row.text(6)?)?,
        model: row.opt_string(7)?,
        content: row.text(8)?.to_owned(),
        tokens: row.int(9)?,
        source_tokens: row.int(10)?,
        message_count: row.int(11)?,
        message_tokens: row.int(12)?,
        first_seq: row.int(13)?,
        last_seq: row.int(14)?,
        earliest_at: Timestamp::from_micros(row.int(15)?),
        latest_at: Timestamp::from_micros(row.int(16)?),
        created_at: Timestamp::from_micros(row.int(17)?),
        overview_target: row.int(18)?,
    })
}
