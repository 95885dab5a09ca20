//! Who calls a tool: an opened space and what may be done in it. It must not know how that was
//! found out.

use oneiro::{Actor, ActorKind, ActorSurface, Oneiro, TokenRole};

/// Who calls. Over HTTP, whoever lets a request in puts this into its extensions.
#[derive(Clone)]
pub struct Caller {
    /// The space.
    pub oneiro: Oneiro,
    /// What may be done in it.
    pub role: TokenRole,
    /// Who acts; the client's own name is added when it is known.
    pub actor: Actor,
}

impl Caller {
    /// An agent on standard input and output.
    pub fn local(oneiro: Oneiro, role: TokenRole) -> Caller {
        Caller { oneiro, role, actor: Actor::new(ActorKind::Agent, ActorSurface::Mcp) }
    }
}

/// A caller whose last clone goes away on a thread that may block, because the PostgreSQL client
/// may not be dropped on any other.
pub(crate) struct Held {
    caller: Option<Caller>,
    role: TokenRole,
}

impl Held {
    pub(crate) fn new(caller: Caller) -> Held {
        Held { role: caller.role, caller: Some(caller) }
    }

    /// Who calls, for a thread that may block.
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
