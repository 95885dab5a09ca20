//! The open spaces of this server: opened on demand, the least recently used closed when there are
//! too many.

use crate::auth::Authenticated;
use crate::watch::Watch;
use oneiro::{Error, Oneiro, Options, Result, ScratchSpace, SpaceInfo, SpaceName, SpaceUse};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of open spaces.
const OPEN_SPACES_MAX: usize = 16;

/// Opens a space by name.
pub type OpenSpace = Box<dyn Fn(&SpaceName, SpaceUse) -> Result<Oneiro> + Send + Sync>;

/// Lists the spaces of the store.
pub type ListSpaces = Box<dyn Fn() -> Result<Vec<SpaceInfo>> + Send + Sync>;

/// One open space.
pub(crate) struct Space {
    oneiro: Option<Oneiro>,
    pub(crate) watch: Watch,
    /// The files of a space that is not of the store; removed after it is closed.
    scratch: Option<ScratchSpace>,
}

impl Space {
    fn new(oneiro: Oneiro) -> Result<Space> {
        let watch = Watch::new(oneiro.clone())?;
        Ok(Space { oneiro: Some(oneiro), watch, scratch: None })
    }

    /// An empty space that is removed when it is closed.
    pub(crate) fn scratch() -> Result<Space> {
        let scratch = ScratchSpace::new(Options::default())?;
        let mut space = Space::new(scratch.clone())?;
        space.scratch = Some(scratch);
        Ok(space)
    }

    /// The handle. It must be used and dropped where blocking is allowed.
    pub(crate) fn oneiro(&self) -> Result<&Oneiro> {
        self.oneiro.as_ref().ok_or_else(|| Error::internal("the space is closed"))
    }
}

impl Drop for Space {
    /// The last owner may be an async thread, where the PostgreSQL client must not be dropped.
    fn drop(&mut self) {
        self.watch.stop();
        let closing = (self.oneiro.take(), self.scratch.take());
        if closing.0.is_some() {
            let thread = std::thread::Builder::new().name("oneiro-close".to_owned());
            // If no thread can be started, the closure is dropped here, and the space with it.
            if let Err(error) = thread.spawn(move || drop(closing)) {
                tracing::warn!(%error, "a space was closed on the thread that used it last");
            }
        }
    }
}

pub(crate) struct Spaces {
    open: OpenSpace,
    list: ListSpaces,
    first: SpaceName,
    /// Most recently used last.
    used: Mutex<Vec<(SpaceName, Arc<Space>)>>,
}

impl Spaces {
    pub(crate) fn new(open: OpenSpace, list: ListSpaces, first: SpaceName) -> Spaces {
        Spaces { open, list, first, used: Mutex::default() }
    }

    /// Opens the default space, creating it if it does not exist.
    pub(crate) fn create_first(&self) -> Result<()> {
        self.space(&self.first, SpaceUse::CreateMissing).map(|_| ())
    }

    /// The name of the default space.
    pub(crate) fn first(&self) -> &SpaceName {
        &self.first
    }

    /// The spaces that a caller may see: with a token its own, otherwise all.
    pub(crate) fn visible_to(&self, caller: &Authenticated) -> Result<Vec<SpaceInfo>> {
        if caller.token.is_none() {
            return (self.list)();
        }
        let stats = caller.oneiro()?.stats()?;
        let name = SpaceName::new(&stats.space)?;
        let bytes = u64::try_from(stats.bytes).unwrap_or(0);
        Ok(vec![SpaceInfo { name, bytes, damaged: false }])
    }

    /// A space, opened on demand.
    pub(crate) fn space(&self, name: &SpaceName, space_use: SpaceUse) -> Result<Arc<Space>> {
        if let Some(space) = self.used(name) {
            return Ok(space);
        }
        // Two threads may open the same space at once; one of the handles is kept.
        let opened = Arc::new(Space::new((self.open)(name, space_use)?)?);
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, space)) = used.iter().find(|(open, _)| open == name) {
            return Ok(Arc::clone(space));
        }
        used.push((name.clone(), Arc::clone(&opened)));
        let old = if used.len() > OPEN_SPACES_MAX {
            used.iter().position(|(name, _)| *name != self.first).map(|at| used.remove(at))
        } else {
            None
        };
        drop(used);
        drop(old);
        Ok(opened)
    }

    fn used(&self, name: &SpaceName) -> Option<Arc<Space>> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let at = used.iter().position(|(open, _)| open == name)?;
        let found = used.remove(at);
        let space = Arc::clone(&found.1);
        used.push(found);
        Some(space)
    }

    /// All open spaces.
    pub(crate) fn all(&self) -> Vec<(SpaceName, Arc<Space>)> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
