//! Form tokens: what a form of the page must carry to change something, which pages of other sites
//! cannot know. They hold for one space, one login and the life of the server.

use crate::auth::Authenticated;
use oneiro::{Error, ErrorKind, Ids, RandomIds, Result};
use std::sync::OnceLock;

/// Makes and checks form tokens.
#[derive(Default)]
pub(crate) struct FormTokens {
    key: OnceLock<[u8; 32]>,
}

impl FormTokens {
    /// The token for the forms of a visitor.
    pub(crate) fn issue(&self, visitor: &Authenticated) -> Result<String> {
        Ok(self.hash(visitor)?.to_hex().to_string())
    }

    /// Refuses a form of another space, another login or another run of the server.
    pub(super) fn check(&self, visitor: &Authenticated, token: &str) -> Result<()> {
        let own = self.hash(visitor)?;
        // Hashes are compared in constant time.
        if blake3::Hash::from_hex(token).is_ok_and(|token| token == own) {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Forbidden, "this form is out of date, or of another space")
            .remedy("reload the page, and decide again"))
    }

    fn hash(&self, visitor: &Authenticated) -> Result<blake3::Hash> {
        let key = match self.key.get() {
            Some(key) => key,
            None => {
                let key = RandomIds.secret()?;
                self.key.get_or_init(|| key)
            }
        };
        let space = visitor.oneiro()?.target().space().to_string();
        let login = visitor.actor.token_id.as_ref().map(ToString::to_string).unwrap_or_default();
        // Neither a space nor a token id has a line break.
        Ok(blake3::keyed_hash(key, format!("{space}\n{login}").as_bytes()))
    }
}
