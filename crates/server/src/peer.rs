//! Where a connection comes from.

use std::net::SocketAddr;

/// The address of the client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);
