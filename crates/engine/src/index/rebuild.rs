//! Building the index anew beside the one that answers, and putting it in its place: after damage,
//! or when a new version reads texts or writes segments differently. Writes and searches go on; a build that was
//! interrupted is taken up where it stopped.

use super::fold::{Merged, Merger, fold_build, merge, sweep};
use super::texts::texts;
use crate::Clock;
use oneiro_index::{Reader, Source};
use oneiro_model::Result;
use oneiro_store::Store;
use oneiro_store::segments::{self, IndexState, Segment, Stage};

/// Texts of one step.
const STEP_TEXTS: usize = 4_096;

/// How a build is made.
pub(crate) struct Rebuild<'r> {
    pub(crate) store: &'r Store,
    pub(crate) clock: &'r dyn Clock,
    pub(crate) stopped: &'r dyn Fn() -> bool,
}

impl Rebuild<'_> {
    /// Builds and swaps; answers whether it came to the end. `told` hears the last message that the
    /// new build covers, and the newest there is.
    pub(crate) fn run(&self, reader: &mut Reader, told: &mut dyn FnMut(i64, i64)) -> Result<bool> {
        let build = self.next(reader.model())?;
        loop {
            if (self.stopped)() {
                return Ok(false);
            }
            let now = self.clock.now();
            let folded =
                fold_build(self.store, std::slice::from_mut(reader), (build, STEP_TEXTS), now)?;
            told(folded.reach, self.store.read(|tx| texts(tx).last())?);
            let merger = Merger { store: self.store, clock: self.clock, stopped: self.stopped };
            while !(self.stopped)() && merge(merger, build)? == Merged::Done {}
            if !folded.more && self.swap(build)? {
                break;
            }
        }
        while !(self.stopped)() && sweep(self.store, self.clock.now())? {}
        self.store.write_derived(segments::remove_orphans)?;
        Ok(true)
    }

    /// The build to write: one that was begun by this version and the model of today, or a new one.
    fn next(&self, model: Option<&str>) -> Result<i64> {
        let (state, all) = self.store.read(|tx| Ok((segments::state(tx)?, segments::all(tx)?)))?;
        let highest = all.iter().map(|segment| segment.build).max().unwrap_or(state.build);
        let begun = |segment: &Segment| {
            segment.build > state.build
                && segment.stage == Stage::Live
                && segment.analyzer == oneiro_index::VERSION
                && segment.embedder.as_deref() == model
        };
        let resumed = all.iter().filter(|segment| begun(segment)).map(|s| s.build).max();
        Ok(resumed.unwrap_or(highest.max(state.build) + 1))
    }

    /// Lets the new build answer, unless texts came that the old one covers and it does not.
    fn swap(&self, build: i64) -> Result<bool> {
        self.store.write_derived(|tx| {
            let state = segments::state(tx)?;
            let (new, old) =
                (segments::last_covered(tx, build)?, segments::last_covered(tx, state.build)?);
            if new < old && texts(tx).count(new + 1, old)? > 0 {
                return Ok(false);
            }
            for segment in segments::all(tx)? {
                if segment.build != build {
                    segments::set_stage(tx, segment.id, Stage::Dead)?;
                }
            }
            segments::put_state(tx, IndexState { build, ..state })?;
            Ok(true)
        })
    }
}
