//! The caller of a tool: an open space, a role and an actor. It does not know how they were
//! authenticated.

use oneiro::{Actor, ActorKind, ActorSurface, Oneiro, TokenRole};

/// The caller of a tool. Over HTTP, authentication puts it into the extensions of the request.
#[derive(Clone)]
pub struct Caller {
    /// The space.
    pub oneiro: Oneiro,
    /// The caller's role in it.
    pub role: TokenRole,
    /// The actor of its operations; the name of the client is added when it is known.
    pub actor: Actor,
}

impl Caller {
    /// An agent on standard input and output.
    pub fn local(oneiro: Oneiro, role: TokenRole) -> Caller {
        Caller { oneiro, role, actor: Actor::new(ActorKind::Agent, ActorSurface::Mcp) }
    }
}

/// A caller whose last clone is dropped on a thread that may block, as the PostgreSQL client
/// requires.
pub(crate) struct Held {
    caller: Option<Caller>,
    role: TokenRole,
}

impl Held {
    pub(crate) fn new(caller: Caller) -> Held {
        Held { role: caller.role, caller: Some(caller) }
    }

    /// A clone for use on a thread that may block.
    pub(crate) fn caller(&self) -> Option<Caller> {
        self.caller.clone()
    }

    pub(crate) fn role(&self) -> TokenRole {
        self.role
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let caller = self.caller.take();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            drop(runtime.spawn_blocking(move || drop(caller)));
        }
    }
}
