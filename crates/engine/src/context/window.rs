//! The window of a session: assembles it, prepares the summaries that it lacks, and remembers how it
//! began.

use super::assemble::{Assembled, Marks, window_budget};
use crate::sessions::key_of;
use crate::views::Context;
use crate::{CACHE_WRITE_WAIT, RECORD_WRITE_WAIT};
use oneiro_model::{Result, SessionId, Window, WindowRequest};
use oneiro_store::contexts;

impl Context<'_> {
    /// The prompt content of a session within a budget. Summaries that a window needs are made at
    /// once as far as the time limit allows, the rest in the background. They and the mark of the
    /// window are caches: no other window depends on them.
    pub fn window(&self, id: &SessionId, request: &WindowRequest) -> Result<Window> {
        request.check()?;
        let oneiro = &self.oneiro.with_max_write_wait(CACHE_WRITE_WAIT);
        let key = oneiro.store.read(|tx| key_of(tx, id))?;
        oneiro.count_session((key, id))?;
        let assemble = || -> Result<Assembled> {
            oneiro.store.read(|tx| oneiro.assemble(tx, (key, id), (request, Marks::Kept)))
        };
        let mut assembled = assemble()?;
        if request.peek {
            return Ok(assembled.window);
        }
        let omits = assembled.window.omitted.messages > 0;
        let is_due = !assembled.is_kept || (omits && !oneiro.is_prepared(key));
        if is_due && !assembled.is_complete {
            if oneiro.prepare_at_once((key, id)) {
                assembled = assemble()?;
            }
            if let Some(wanted) = &assembled.wants_overview
                && oneiro.add_overview((key, id), wanted)
            {
                assembled = assemble()?;
            }
        }
        let recorder = self.oneiro.with_max_write_wait(RECORD_WRITE_WAIT);
        recorder.prepare_later((key, id), (request, assembled.window.tokens));
        if assembled.before.as_ref() != Some(&assembled.mark) {
            let (mark, now) = (assembled.mark, oneiro.now());
            let kept = oneiro.store.write_derived(|tx| {
                let of = (window_budget(request), request.format.as_str());
                contexts::set_window(tx, key, (of, &mark), now)
            });
            if let Err(error) = kept {
                // A read-only or full store keeps no mark: the next window is chosen without one.
                tracing::info!(%error, "a window was not marked");
            }
        }
        Ok(assembled.window)
    }
}
