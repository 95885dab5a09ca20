//! The location of a space: a SQLite file or a PostgreSQL schema.

use crate::backend::files::resolve;
use oneiro_model::{Error, Remedy, Result, SpaceInfo, SpaceName, suggest_names};
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
        if !is_single_space(store) {
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

    /// The error of a space that does not exist in a store with these spaces.
    pub(crate) fn not_found(&self, spaces: &[SpaceInfo]) -> Error {
        let names = spaces.iter().map(|space| space.name.as_str());
        if spaces.is_empty() || !self.is_named_by_space() {
            return Error::not_found(format!("there is no store at {self}"))
                .remedy(Remedy::CheckStore);
        }
        let suggestion = suggest_names(self.space().as_str(), names);
        let suggestion = suggestion.map_or(String::new(), |text| {
            if text.ends_with('?') { format!("{text} ") } else { format!("{text}; ") }
        });
        let place = match self {
            Target::File { path, .. } => path.parent().unwrap_or(path).display().to_string(),
            Target::Postgres { .. } => self.to_string(),
        };
        Error::not_found(format!("there is no space {} in {place}", self.space()))
            .remedy(Remedy::CheckSpace { suggestion })
    }

    /// Whether the space's name says where in its store it is; a single file may have any name.
    fn is_named_by_space(&self) -> bool {
        match self {
            Target::File { path, space } => {
                path.file_name().is_some_and(|name| *name == *format!("{space}.db"))
            }
            Target::Postgres { .. } => true,
        }
    }
}

/// Whether a store as people write it has one space only: a path that is a file, or has the
/// extension of one.
pub fn is_single_space(store: &str) -> bool {
    let path = Path::new(store);
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is_url = store.contains("://");
    !is_url && (path.is_file() || matches!(extension, Some("db" | "sqlite" | "sqlite3")))
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
