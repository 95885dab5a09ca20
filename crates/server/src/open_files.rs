//! The limit on open files: raised to what the connections need or, if that is not possible, the
//! number of connections that fit. A server without free file descriptors can neither accept
//! connections nor open its store.

use crate::connections::Limits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// File descriptors for everything but clients: open spaces with their readers, backups, model
/// calls.
const RESERVED_FILES: usize = 512;

/// Raises the limit on open files as far as needed and allowed; returns the connection limits.
pub(crate) fn limits_within_open_files() -> Limits {
    let wanted = Limits::default();
    let needed = wanted.total + RESERVED_FILES;
    let found = getrlimit(Resource::Nofile);
    let soft = raise(found, needed as u64);
    let limits = fit(wanted, soft);
    let (before, after) = (describe_limit(found.current), describe_limit(soft));
    let connections = limits.total;
    if connections < wanted.total {
        let what = "fewer connections than usual: the hard limit on open files (ulimit -Hn) is low";
        tracing::warn!(open_files = after, connections, "{what}");
    } else if soft != found.current {
        let what = "the limit on open files was raised";
        tracing::info!(open_files = after, before, connections, "{what}");
    }
    limits
}

/// Raises the soft limit towards `needed`; returns the new limit, `None` if unlimited.
fn raise(found: Rlimit, needed: u64) -> Option<u64> {
    let soft = found.current?;
    let wanted = found.maximum.map_or(needed, |hard| hard.min(needed));
    if wanted <= soft {
        return Some(soft);
    }
    match setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..found }) {
        Ok(()) => Some(wanted),
        Err(error) => {
            tracing::info!(%error, "the limit on open files cannot be raised");
            Some(soft)
        }
    }
}

/// The wanted number of connections, reduced to what the open files allow: all but the reserved
/// ones, at least half.
fn fit(wanted: Limits, open_files: Option<u64>) -> Limits {
    let Some(files) = open_files else { return wanted };
    let files = usize::try_from(files).unwrap_or(usize::MAX);
    let total = files.saturating_sub(RESERVED_FILES).max(files / 2).min(wanted.total);
    let share = |part: usize| part * total / wanted.total.max(1);
    Limits { total, per_address: share(wanted.per_address), new: share(wanted.new) }
}

fn describe_limit(limit: Option<u64>) -> String {
    limit.map_or_else(|| "unlimited".to_owned(), |limit| limit.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_fit_below_the_limit_on_open_files_in_their_proportions() {
        let wanted = Limits::default();
        for (files, total) in
            [(None, 1_024), (Some(65_536), 1_024), (Some(1_024), 512), (Some(256), 128)]
        {
            let fitted = fit(wanted, files);
            assert_eq!(fitted.total, total, "{files:?}");
            assert_eq!(fitted.per_address, total * 3 / 4);
            assert_eq!(fitted.new, total / 2);
        }
    }
}
