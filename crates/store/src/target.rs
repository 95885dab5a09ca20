//! The location of a space: a SQLite file or a PostgreSQL schema.

use crate::backend::files::resolve;
use oneiro_model::{Error, ErrorKind, Remedy, Result, SpaceName};
use std::fmt;
use std::path::{Path, PathBuf};

/// The location of a space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// One SQLite file.
    File {
        /// The file.
        path: PathBuf,
        /// The space's name.
        space: SpaceName,
    },
    /// A schema `oneiro_<space>` of a PostgreSQL database.
    Postgres {
        /// The connection string, which may hold a password.
        url: String,
        /// The space's name.
        space: SpaceName,
    },
}

impl Target {
    /// Parses a store: `postgres://...`, a `.db` file, or a folder of spaces.
    pub fn parse(store: &str, space: Option<&SpaceName>) -> Result<Target> {
        let named = space.cloned().unwrap_or_default();
        if store.starts_with("postgres://") || store.starts_with("postgresql://") {
            return Ok(Target::Postgres { url: store.to_owned(), space: named });
        }
        if store.is_empty() {
            return Err(Error::field("store", "is empty")
                .remedy("give a folder, a file ending in .db, or postgres://..."));
        }
        let scheme = store.split_once("://").map(|(scheme, _)| scheme);
        if let Some(scheme) = scheme.or(store.starts_with("file:").then_some("file")) {
            return Err(Error::field("store", format!("{scheme}: is not a kind of store"))
                .remedy("give a folder, a file ending in .db, or postgres://..."));
        }
        let path = PathBuf::from(store);
        if !is_file_like(&path) {
            return Ok(Target::File { path: path.join(format!("{named}.db")), space: named });
        }
        if path.is_dir() {
            return Err(Error::field("store", format!("{store} is a folder, not a store file"))
                .remedy("name the file inside it, or a folder whose name does not end in .db"));
        }
        match space {
            Some(space) if space.as_str() != "default" => Err(Error::field(
                "space",
                format!("{store} is a single space, so it has no space {space}"),
            )
            .remedy(Remedy::SingleSpace)),
            _ => Ok(Target::File { path, space: named }),
        }
    }

    /// The space's name.
    pub fn space(&self) -> &SpaceName {
        match self {
            Target::File { space, .. } | Target::Postgres { space, .. } => space,
        }
    }

    /// The same place without symbolic links.
    pub(crate) fn resolved(&self) -> Target {
        match self {
            Target::File { path, space } => {
                Target::File { path: resolve(path), space: space.clone() }
            }
            Target::Postgres { .. } => self.clone(),
        }
    }

    /// Refuses a file that does not exist.
    pub(crate) fn check_exists(&self) -> Result<()> {
        match self {
            Target::File { path, .. } if !path.exists() => Err(Error::new(
                ErrorKind::NotFound,
                format!("there is no store at {}", path.display()),
            )
            .remedy(Remedy::CheckStore)),
            _ => Ok(()),
        }
    }

    /// Refuses to create a PostgreSQL schema; an empty file may be a store that is being created.
    pub(crate) fn refuse_new(&self) -> Result<()> {
        match self {
            Target::File { .. } => Ok(()),
            Target::Postgres { space, .. } => {
                Err(Error::new(ErrorKind::NotFound, format!("there is no space {space} in {self}"))
                    .remedy(Remedy::CheckSpace))
            }
        }
    }
}

/// Whether a path names a single file: it exists as one, or has the extension of a database.
fn is_file_like(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    path.is_file() || matches!(extension, Some("db" | "sqlite" | "sqlite3"))
}

impl fmt::Display for Target {
    /// The place without secrets, for people and logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::File { path, .. } => path.display().fmt(f),
            Target::Postgres { url, space } => {
                let (scheme, rest) = url.split_once("://").unwrap_or(("postgres", url));
                // The password first: it may hold a question mark.
                let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
                let place = place.split('?').next().unwrap_or_default();
                write!(f, "{scheme}://{place} (schema oneiro_{space})")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_are_parsed_and_displayed_without_secrets() {
        let team = SpaceName::new("team").unwrap();
        let show = |store: &str, space: Option<&SpaceName>| {
            Target::parse(store, space).unwrap().to_string()
        };
        assert_eq!(show("x.db", None), "x.db");
        let shown = show("postgres://u:hun?ter2@h/d?sslmode=require", None);
        assert_eq!(shown, "postgres://h/d (schema oneiro_default)");
        assert_eq!(show("folder", None), "folder/default.db");
        assert_eq!(show("folder", Some(&team)), "folder/team.db");
        assert_eq!(
            show("postgres://u:secret@h:5432/d?sslmode=disable", Some(&team)),
            "postgres://h:5432/d (schema oneiro_team)"
        );
        for bad in ["", "mysql://h/d"] {
            assert!(Target::parse(bad, None).is_err());
        }
        assert!(Target::parse("x.db", Some(&team)).is_err());
    }
}
