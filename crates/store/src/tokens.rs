//! Access tokens, found by a prefix of their hash; the caller compares the rest in constant time.

use crate::aggregates::Table;
use crate::backend::Row;
use crate::{Tx, sequence};
use oneiro_model::{ActorKind, NewToken, Result, SpaceName, Timestamp, Token, TokenId, TokenRole};

statements! {
    INSERT = "INSERT INTO tokens (key, id, label, hash, role, name, actor, created_at, expires_at) \
              VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    BY_HASH_PREFIX = "SELECT id, role, name, actor, created_at, expires_at, revoked_at, hash FROM tokens \
                WHERE label = ?1";
    LIST = "SELECT id, role, name, actor, created_at, expires_at, revoked_at, key FROM tokens \
            WHERE key < CAST(?1 AS BIGINT) ORDER BY key DESC LIMIT CAST(?2 AS BIGINT)";
    BY_ID_PREFIX = "SELECT id, role, name, actor, created_at, expires_at, revoked_at FROM tokens \
             WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT 2";
    REVOKE = "UPDATE tokens SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL";
    COUNT_VALID = "SELECT COUNT(*) FROM tokens WHERE revoked_at IS NULL \
             AND (expires_at IS NULL OR expires_at > CAST(?1 AS BIGINT))";
}

pub(crate) const TABLES: &[Table] = &[Table {
    name: "tokens",
    columns: "key, id, label, hash, role, name, actor, created_at, expires_at, revoked_at",
}];

/// Length of the hash prefix that identifies a token.
const LABEL_BYTES: usize = 8;

/// Adds a token with the hash of its secret.
pub fn add(
    tx: &Tx<'_>,
    id: &TokenId,
    (token, hash): (&NewToken, &[u8; 32]),
    now: Timestamp,
) -> Result<()> {
    let values = [
        sequence::take_key(tx)?.into(),
        id.as_str().into(),
        label(hash).into(),
        hash.as_slice().into(),
        token.role.as_str().into(),
        token.name.as_deref().into(),
        token.actor.as_str().into(),
        now.micros().into(),
        token.expires_at.map(|at| at.micros()).into(),
    ];
    tx.execute(INSERT, &values).map(|_| ())
}

/// The token whose hash has the same prefix, and its full hash.
pub fn by_hash_prefix(
    tx: &Tx<'_>,
    space: &SpaceName,
    hash: &[u8; 32],
) -> Result<Option<(Token, Vec<u8>)>> {
    tx.first(BY_HASH_PREFIX, &[label(hash).into()], |row| {
        Ok((read(row, space)?, row.bytes(7)?.to_vec()))
    })
}

/// Tokens, newest first, below `before`.
pub fn list(
    tx: &Tx<'_>,
    space: &SpaceName,
    before: i64,
    limit: usize,
) -> Result<Vec<(i64, Token)>> {
    let values = [before.into(), (limit as i64).into()];
    tx.all(LIST, &values, |row| Ok((row.int(7)?, read(row, space)?)))
}

/// Up to two tokens whose id starts with `prefix`.
pub fn by_id_prefix(tx: &Tx<'_>, space: &SpaceName, prefix: &str) -> Result<Vec<Token>> {
    let end = format!("{prefix}\u{7f}");
    tx.all(BY_ID_PREFIX, &[prefix.into(), end.as_str().into()], |row| read(row, space))
}

/// Revokes a token; false if it was already revoked.
pub fn revoke(tx: &Tx<'_>, id: &TokenId, now: Timestamp) -> Result<bool> {
    Ok(tx.execute(REVOKE, &[id.as_str().into(), now.micros().into()])? > 0)
}

/// The number of tokens that are valid now.
pub fn count_valid(tx: &Tx<'_>, now: Timestamp) -> Result<i64> {
    tx.one(COUNT_VALID, &[now.micros().into()], |row| row.int(0))
}

fn label(hash: &[u8; 32]) -> &[u8] {
    hash.get(..LABEL_BYTES).unwrap_or(hash)
}

fn read(row: &dyn Row, space: &SpaceName) -> Result<Token> {
    Ok(Token {
        id: TokenId::parse(row.text(0)?)?,
        space: space.to_string(),
        role: TokenRole::parse(row.text(1)?)?,
        name: row.opt_string(2)?,
        token: None,
        actor: ActorKind::parse(row.text(3)?)?,
        created_at: Timestamp::from_micros(row.int(4)?),
        expires_at: row.opt_int(5)?.map(Timestamp::from_micros),
        revoked_at: row.opt_int(6)?.map(Timestamp::from_micros),
    })
}
