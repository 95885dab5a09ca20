//! Filters of a query by role, source, session, speaker, project and time.

use super::when::stretch;
use crate::{Error, Result, Role, Timestamp};

/// Conditions besides the words. The values of one field are alternatives, all fields must match,
/// and exclusions take precedence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filters {
    /// Included roles; any if empty.
    pub roles: Vec<Role>,
    /// Excluded roles.
    pub exclude_roles: Vec<Role>,
    /// Included sources; any if empty.
    pub sources: Vec<String>,
    /// Excluded sources.
    pub exclude_sources: Vec<String>,
    /// Included session ids; any if empty.
    pub sessions: Vec<String>,
    /// Excluded session ids.
    pub exclude_sessions: Vec<String>,
    /// Included names of speakers; any if empty.
    pub names: Vec<String>,
    /// Excluded names of speakers.
    pub exclude_names: Vec<String>,
    /// Included projects; any if empty.
    pub projects: Vec<String>,
    /// Excluded projects.
    pub exclude_projects: Vec<String>,
    /// At or after this time.
    pub since: Option<Timestamp>,
    /// Before this time.
    pub until: Option<Timestamp>,
}

/// A field that a query can filter by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Role,
    Source,
    Session,
    Name,
    Project,
    Since,
    Until,
}

/// Names are lower case only: `Name:` starts many ordinary lines.
pub(super) const FIELDS: [(&str, Field); 7] = [
    ("role", Field::Role),
    ("source", Field::Source),
    ("session", Field::Session),
    ("name", Field::Name),
    ("project", Field::Project),
    ("since", Field::Since),
    ("until", Field::Until),
];

/// A field and its value as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Condition {
    pub(super) field: Field,
    pub(super) value: String,
    /// Whether the value was quoted.
    pub(super) quoted: bool,
}

impl Filters {
    /// Whether there is no filter.
    pub fn is_empty(&self) -> bool {
        *self == Filters::default()
    }

    /// Adds a condition or its negation. The narrowest time range applies.
    pub(super) fn add(&mut self, condition: Condition, not: bool, now: Timestamp) -> Result<()> {
        let Condition { field, value, quoted } = condition;
        match field {
            Field::Role => {
                let role = role(&value, quoted)?;
                keep(if not { &mut self.exclude_roles } else { &mut self.roles }, role);
            }
            Field::Source => {
                keep(if not { &mut self.exclude_sources } else { &mut self.sources }, value);
            }
            Field::Session => {
                keep(if not { &mut self.exclude_sessions } else { &mut self.sessions }, value);
            }
            Field::Name => {
                keep(if not { &mut self.exclude_names } else { &mut self.names }, value);
            }
            Field::Project => {
                keep(if not { &mut self.exclude_projects } else { &mut self.projects }, value);
            }
            Field::Since => self.bound(time("since", &value, now)?.0, !not),
            Field::Until => self.bound(time("until", &value, now)?.1, not),
        }
        Ok(())
    }

    /// The negation of `since` is `until`, and vice versa.
    fn bound(&mut self, moment: Timestamp, lower: bool) {
        if lower {
            self.since = Some(self.since.map_or(moment, |since| since.max(moment)));
        } else {
            self.until = Some(self.until.map_or(moment, |until| until.min(moment)));
        }
    }
}

fn keep<T: PartialEq>(values: &mut Vec<T>, value: T) {
    if !values.contains(&value) {
        values.push(value);
    }
}

/// A role that providers define, in any case. Other roles must be quoted, so that a typing error is
/// not taken for a host's own role.
fn role(value: &str, quoted: bool) -> Result<Role> {
    let role = if quoted { Role::parse(value)? } else { Role::parse(&value.to_lowercase())? };
    match role {
        Role::Other(_) if !quoted => {
            Err(Error::field("role", format!("{:?} is not a role", shorten(value))).remedy(
                "write role:user, assistant, system, developer or tool; a role of your own in \
                 quotes, role:\"name\"; to search for the words, put all of it in quotes",
            ))
        }
        role => Ok(role),
    }
}

fn time(field: &'static str, value: &str, now: Timestamp) -> Result<(Timestamp, Timestamp)> {
    stretch(value, now).ok_or_else(|| {
        Error::field(field, format!("{:?} is not a date, a time or an age", shorten(value))).remedy(
            "write a date (2026, 2026-01, 2026-01-31), a time (2026-01-31T09:30:00Z), an age \
             (30min, 12h, 3d, 2w, 6mo, 1y), today or yesterday; to search for the words, put all \
             of it in quotes",
        )
    })
}

fn shorten(text: &str) -> String {
    text.chars().take(60).collect()
}
