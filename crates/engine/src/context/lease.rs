//! The lease on the compaction of a session.

use crate::Oneiro;
use crate::lease_holder::has_exited;
use oneiro_model::{Result, SessionId};
use oneiro_store::contexts;

impl Oneiro {
    /// A new holder name for one compaction.
    pub(super) fn compactor(&self) -> String {
        format!("{}.{}", self.holder, SessionId::from_random(self.ids.random()))
    }

    pub(super) fn lease_context(&self, key: i64, holder: &str) -> Result<bool> {
        // Not synced: a lease lost in a power cut has no holder any more.
        let now = self.now();
        let is_taken =
            self.store.write_derived(|tx| contexts::acquire_lease(tx, key, holder, now))?;
        let other =
            if is_taken { None } else { self.store.read(|tx| contexts::lease_holder(tx, key))? };
        let Some(gone) = other.filter(|other| has_exited(other)) else { return Ok(is_taken) };
        self.store.write_derived(|tx| {
            contexts::release_lease(tx, key, &gone)?;
            contexts::acquire_lease(tx, key, holder, now)
        })
    }

    /// Releases the lease when dropped, also after a panic.
    pub(super) fn release_on_drop<'a>(&'a self, key: i64, holder: &'a str) -> HeldContext<'a> {
        HeldContext { oneiro: self, key, holder, is_finished: false }
    }

    fn release_context(&self, key: i64, holder: &str, is_finished: bool) {
        let (holder, now) = (holder.to_owned(), self.now());
        let released = self.store.write(move |tx| {
            if is_finished {
                contexts::record_attempt(tx, key, now)?;
            }
            contexts::release_lease(tx, key, &holder)
        });
        if let Err(error) = released {
            // The lease expires by itself.
            tracing::info!(%error, "a lease was not given back");
        }
    }
}

/// A held lease.
pub(super) struct HeldContext<'a> {
    oneiro: &'a Oneiro,
    key: i64,
    holder: &'a str,
    /// Whether the compaction finished, so that an idle session is not queued again.
    pub(super) is_finished: bool,
}

impl Drop for HeldContext<'_> {
    fn drop(&mut self) {
        self.oneiro.release_context(self.key, self.holder, self.is_finished);
    }
}
