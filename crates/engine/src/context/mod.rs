//! Lossless context: any conversation in any budget, with every word still reachable. It owns what
//! a prompt shows of a session; messages themselves it never changes.

#[allow(dead_code, reason = "assembly calls it")]
mod form;
mod media;
#[allow(dead_code, reason = "assembly calls it")]
mod pairs;
mod part;
#[allow(dead_code, reason = "assembly calls it")]
mod render;
#[cfg(test)]
mod samples;
