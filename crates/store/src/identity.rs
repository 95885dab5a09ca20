//! The identity of a space: an id that its operations carry into other stores, and the secret that
//! keys the hashes of its statements.

use crate::Tx;
use crate::aggregates::Table;
use oneiro_model::Result;

statements! {
    GET = "SELECT store_id, secret FROM store_identity WHERE id = 1";
    CREATE = "INSERT INTO store_identity (id, store_id, secret) VALUES (1, ?1, ?2) \
              ON CONFLICT (id) DO NOTHING";
}

pub(crate) const TABLES: &[Table] =
    &[Table { name: "store_identity", columns: "id, store_id, secret" }];

/// The identity of a space.
#[derive(Clone)]
pub struct Identity {
    /// The id of the store.
    pub store_id: String,
    secret: Vec<u8>,
}

impl Identity {
    /// An identity with this secret.
    pub fn new(store_id: String, secret: Vec<u8>) -> Identity {
        Identity { store_id, secret }
    }

    /// A hash that only this space can compute: erased text cannot be guessed from it.
    pub fn hash(&self, parts: &[&str]) -> String {
        let key = blake3::derive_key("oneiro 2026 statements of a space", &self.secret);
        let mut hasher = blake3::Hasher::new_keyed(&key);
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    /// The hasher of served lines.
    pub fn line_hasher(&self) -> LineHasher {
        LineHasher { key: blake3::derive_key("oneiro 2026 served lines of a space", &self.secret) }
    }
}

/// Hashes words of lines, so that only this space knows them again.
pub struct LineHasher {
    key: [u8; 32],
}

impl LineHasher {
    /// The first eight bytes of the hash of some words, one after the other.
    pub fn hash<'w>(&self, words: impl Iterator<Item = &'w str>) -> u64 {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        for word in words {
            hasher.update(word.as_bytes()).update(b"\0");
        }
        let mut first = [0; 8];
        hasher.finalize_xof().fill(&mut first);
        u64::from_le_bytes(first)
    }
}

/// The identity of the space, which is created from `id` and `secret` if it has none.
pub fn get_or_create(tx: &Tx<'_>, id: &str, secret: &[u8; 32]) -> Result<Identity> {
    tx.execute(CREATE, &[id.into(), secret.as_slice().into()])?;
    tx.one(GET, &[], |row| {
        Ok(Identity { store_id: row.text(0)?.to_owned(), secret: row.bytes(1)?.to_vec() })
    })
}

/// The identity of the space, if it has one.
pub fn get(tx: &Tx<'_>) -> Result<Option<Identity>> {
    tx.first(GET, &[], |row| {
        Ok(Identity { store_id: row.text(0)?.to_owned(), secret: row.bytes(1)?.to_vec() })
    })
}
