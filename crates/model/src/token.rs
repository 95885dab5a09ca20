//! Tokens: who may reach a space from elsewhere, and how far. The text of a token names its space;
//! its secret is shown once and kept only as a hash.

use crate::contract::Request;
use crate::id::ALPHABET;
use crate::{ActorKind, Error, ErrorKind, Remedy, Result, SpaceName, Timestamp, TokenId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

json_name! {
    /// How far a token reaches; each role may do what the ones before it may.
    TokenRole "role" {
        /// Look at everything in the space.
        Read "read",
        /// Add and change as well.
        Write "write",
        /// Remove, copy and hand out tokens as well.
        Admin "admin",
    }
}

impl TokenRole {
    /// Refuses what this role may not do.
    pub fn require(self, least: TokenRole) -> Result<()> {
        if self >= least {
            Ok(())
        } else {
            Err(Error::new(
                ErrorKind::Forbidden,
                format!(
                    "this needs the role {}, and the token has {}",
                    least.as_str(),
                    self.as_str()
                ),
            )
            .remedy(Remedy::CreateToken { role: least.as_str().to_owned() }))
        }
    }
}

/// A token to make.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewToken {
    /// Permission level.
    pub role: TokenRole,
    /// Whom or what it is for.
    #[serde(default)]
    #[schemars(length(max = TOKEN_NAME_MAX), regex(pattern = "^[ -~]*$"))]
    pub name: Option<String>,
    /// When it ends; never when absent.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
    /// Who acts with it: a person or an agent.
    #[serde(default = "default_actor")]
    #[schemars(extend("enum" = ["person", "agent"]))]
    pub actor: ActorKind,
}

fn default_actor() -> ActorKind {
    ActorKind::Agent
}

/// The most characters of a token's name.
pub const TOKEN_NAME_MAX: usize = 200;

impl Request for NewToken {}

impl NewToken {
    /// A token for an agent that never ends.
    pub fn new(role: TokenRole) -> NewToken {
        NewToken { role, name: None, expires_at: None, actor: ActorKind::Agent }
    }
}

/// A token as it is kept and listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Token {
    /// Its id, which is no secret.
    pub id: TokenId,
    /// The space it opens.
    pub space: String,
    /// Permission level.
    pub role: TokenRole,
    /// Whom or what it is for.
    pub name: Option<String>,
    /// The token itself: only in the answer to making it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Who acts with it.
    pub actor: ActorKind,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
    /// When it was taken back.
    pub revoked_at: Option<Timestamp>,
}

/// Letters of a secret: 256 bits at five bits each.
const SECRET_LETTERS: usize = 52;

/// The text of a token, taken apart: `oneiro_<space>_<secret>`. Never shown whole by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenText {
    space: SpaceName,
    secret: String,
}

impl TokenText {
    /// A token for a space from 256 random bits.
    pub fn new(space: SpaceName, random: [u8; 32]) -> TokenText {
        let mut secret = String::with_capacity(SECRET_LETTERS);
        let (mut bits, mut held) = (0u32, 0);
        for byte in random.into_iter().chain([0]) {
            (bits, held) = ((bits << 8) | u32::from(byte), held + 8);
            while held >= 5 && secret.len() < SECRET_LETTERS {
                held -= 5;
                let letter = ALPHABET.get((bits >> held) as usize & 31).copied().unwrap_or(b'a');
                secret.push(char::from(letter));
            }
        }
        TokenText { space, secret }
    }

    /// Reads what somebody presents. What is wrong with it is not told in detail.
    pub fn parse(text: &str) -> Result<TokenText> {
        let parts = text.strip_prefix("oneiro_").and_then(|rest| rest.rsplit_once('_'));
        let good = parts.and_then(|(space, secret)| {
            let space = SpaceName::new(space).ok()?;
            let whole = secret.len() == SECRET_LETTERS;
            (whole && secret.bytes().all(|byte| ALPHABET.contains(&byte)))
                .then(|| TokenText { space, secret: secret.to_owned() })
        });
        good.ok_or_else(bad_token)
    }

    /// The space it names.
    pub fn space(&self) -> &SpaceName {
        &self.space
    }

    /// What is hashed.
    pub fn secret(&self) -> &str {
        &self.secret
    }

    /// The whole text, to be shown once.
    pub fn reveal(&self) -> String {
        format!("oneiro_{}_{}", self.space, self.secret)
    }
}

impl fmt::Debug for TokenText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "oneiro_{}_...", self.space)
    }
}

/// The one answer to a token that is unknown, ended, taken back or no token at all: who guesses
/// learns nothing from it.
pub fn bad_token() -> Error {
    Error::new(ErrorKind::Unauthorized, "the token is not valid").remedy(Remedy::SendToken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_names_its_space_and_keeps_its_secret() {
        for name in ["default", "team_a-1", "a_b_c"] {
            let space = SpaceName::new(name).unwrap();
            let token = TokenText::new(space.clone(), [7; 32]);
            let read = TokenText::parse(&token.reveal()).unwrap();
            assert_eq!((read.space(), read.secret()), (&space, token.secret()));
            assert!(!format!("{token:?}").contains(token.secret()));
        }
    }

    #[test]
    fn every_bit_of_the_randomness_is_in_the_secret() {
        let secret = |random| TokenText::new(SpaceName::default(), random).secret().to_owned();
        let zero = secret([0; 32]);
        assert_eq!(zero.len(), SECRET_LETTERS);
        for bit in 0..256 {
            let mut random = [0; 32];
            random[bit / 8] = 1 << (bit % 8);
            assert_ne!(secret(random), zero, "bit {bit}");
        }
    }

    #[test]
    fn what_is_no_token_is_refused_alike() {
        let good = TokenText::new(SpaceName::default(), [1; 32]).reveal();
        let bad = ["", "oneiro_", "oneiro_x", "Bearer", "oneiro__aaaa", "oneiro_A_aaaa"];
        let changed = [good.to_uppercase(), format!("{good}a"), good[..good.len() - 1].to_owned()];
        for text in bad.iter().map(|text| (*text).to_owned()).chain(changed) {
            let error = TokenText::parse(&text).unwrap_err();
            assert_eq!(
                (error.kind(), error.message()),
                (ErrorKind::Unauthorized, bad_token().message())
            );
        }
    }

    #[test]
    fn roles_are_ordered() {
        assert!(TokenRole::Admin.require(TokenRole::Write).is_ok());
        assert!(TokenRole::Read.require(TokenRole::Read).is_ok());
        let error = TokenRole::Read.require(TokenRole::Write).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Forbidden);
    }
}
