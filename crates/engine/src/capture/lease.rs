//! The right to read transcripts for a space, held by one process at a time and only while there is
//! something to read.

use crate::Oneiro;
use crate::lease_holder::has_exited;
use oneiro_model::Result;
use oneiro_store::capture;

/// The lease, released when dropped, after a panic too.
pub(super) struct CaptureLease<'a> {
    oneiro: &'a Oneiro,
    holder: String,
}

impl<'a> CaptureLease<'a> {
    /// Takes the lease; `None` when another process reads now.
    pub(super) fn take(oneiro: &'a Oneiro) -> Result<Option<CaptureLease<'a>>> {
        let lease = CaptureLease { oneiro, holder: oneiro.job_holder() };
        if lease.extend()? {
            return Ok(Some(lease));
        }
        let other = oneiro.store.read(capture::holder)?;
        if let Some(gone) = other.filter(|other| has_exited(other)) {
            oneiro.store.write_derived(|tx| capture::release(tx, &gone))?;
            if lease.extend()? {
                return Ok(Some(lease));
            }
        }
        Ok(None)
    }

    /// Holds the lease for longer; false when somebody else has it.
    pub(super) fn extend(&self) -> Result<bool> {
        let now = self.oneiro.now();
        // A lease that is lost with the power was held by nobody who is still there.
        self.oneiro.store.write_derived(|tx| capture::lease(tx, &self.holder, now))
    }
}

impl Drop for CaptureLease<'_> {
    fn drop(&mut self) {
        let released = self.oneiro.store.write_derived(|tx| capture::release(tx, &self.holder));
        if let Err(error) = released {
            tracing::info!(%error, "the lease on transcripts was not released; it expires");
        }
    }
}
