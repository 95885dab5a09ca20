//! Access tokens: create, list, revoke and authenticate. The secret is returned once and stored as
//! a hash; with 256 random bits it needs no slow hash.

use crate::operations::is_person;
use crate::views::Tokens;
use oneiro_model::{
    ActorKind, Cursor, Error, ErrorKind, NewToken, Page, Remedy, Result, Token, TokenId, TokenText,
    bad_token,
};
use oneiro_store::tokens;

/// Maximum length of a token's name.
const NAME_CHARS: usize = 200;

impl Tokens<'_> {
    /// Creates a token for this space; its text is only in this answer.
    pub fn create(&self, token: NewToken) -> Result<Token> {
        let now = self.oneiro.now();
        if !matches!(token.actor, ActorKind::Person | ActorKind::Agent) {
            return Err(Error::field("actor", "is neither person nor agent"));
        }
        if token.expires_at.is_some_and(|at| at <= now) {
            return Err(Error::field("expires_at", "is not in the future"));
        }
        let named = token.name.as_deref().unwrap_or_default();
        if named.chars().count() > NAME_CHARS || named.chars().any(char::is_control) {
            return Err(Error::field("name", format!("is not one line of up to {NAME_CHARS}")));
        }
        let id = TokenId::from_random(self.oneiro.ids.random());
        let text = TokenText::new(self.oneiro.target().space().clone(), self.oneiro.ids.secret()?);
        let hash = *blake3::hash(text.secret().as_bytes()).as_bytes();
        let answer = Token {
            id: id.clone(),
            space: text.space().to_string(),
            role: token.role,
            name: token.name.clone(),
            token: Some(text.reveal()),
            actor: token.actor,
            created_at: now,
            expires_at: token.expires_at,
            revoked_at: None,
        };
        self.oneiro.store.write(move |tx| {
            // Otherwise any agent could make itself a person.
            if token.actor == ActorKind::Person && !is_person(tx) {
                let problem = "an agent cannot create a token for a person";
                return Err(Error::new(ErrorKind::Forbidden, problem)
                    .remedy("create it at a terminal, or with a token of a person"));
            }
            tokens::add(tx, &id, (&token, &hash), now)
        })?;
        Ok(answer)
    }

    /// Tokens, newest first, including expired and revoked ones.
    pub fn list(&self, cursor: Option<Cursor>, limit: usize) -> Result<Page<Token>> {
        let before = cursor.map_or(i64::MAX, |cursor| cursor.key);
        let space = self.oneiro.target().space();
        let found = self
            .oneiro
            .store
            .read(|tx| tokens::list(tx, space, before, limit.saturating_add(1)))?;
        Ok(Page::of(found, limit))
    }

    /// Revokes the token with this id or unambiguous id prefix, for all processes.
    pub fn revoke(&self, id: &str) -> Result<Token> {
        let (id, now, space) =
            (id.to_owned(), self.oneiro.now(), self.oneiro.target().space().clone());
        self.oneiro.store.write(move |tx| {
            let found = if id.len() > TokenId::PREFIX.len() {
                tokens::by_id_prefix(tx, &space, &id)?
            } else {
                Vec::new()
            };
            let mut found = found.into_iter();
            match (found.next(), found.next()) {
                (Some(one), other) if other.is_none() || one.id.as_str() == id => {
                    let is_new = tokens::revoke(tx, &one.id, now)?;
                    let revoked_at = if is_new { Some(now) } else { one.revoked_at };
                    Ok(Token { revoked_at, ..one })
                }
                (Some(_), _) => {
                    Err(Error::conflict(format!("{id:?} is the beginning of several tokens"))
                        .remedy("type more of the id"))
                }
                (None, _) => Err(Error::not_found(format!("space {space} has no token {id:?}"))
                    .remedy(Remedy::ListTokens { space: space.to_string() })),
            }
        })
    }

    /// The presented token, if it is valid for this space now.
    pub fn authenticate(&self, presented: &TokenText) -> Result<Token> {
        let now = self.oneiro.now();
        let hash = blake3::hash(presented.secret().as_bytes());
        let space = self.oneiro.target().space();
        let found =
            self.oneiro.store.read(|tx| tokens::by_hash_prefix(tx, space, hash.as_bytes()))?;
        let (token, kept) = found.ok_or_else(bad_token)?;
        // Comparing this type takes constant time.
        let same = blake3::Hash::from_slice(&kept).is_ok_and(|kept| kept == hash);
        let ended = token.revoked_at.is_some() || token.expires_at.is_some_and(|at| at <= now);
        if same && !ended && presented.space() == space { Ok(token) } else { Err(bad_token()) }
    }

    /// Whether the space has a valid token.
    pub fn any(&self) -> Result<bool> {
        let now = self.oneiro.now();
        Ok(self.oneiro.store.read(|tx| tokens::count_valid(tx, now))? > 0)
    }
}
