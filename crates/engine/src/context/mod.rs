//! Lossless context: any conversation in any budget, with every word still reachable. It owns what
//! a prompt shows of a session; messages themselves it never changes.
