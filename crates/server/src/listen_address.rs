//! Where the server listens, as people write it, and the names by which it is then reached.

use oneiro::{Error, Result};
use std::net::{SocketAddr, ToSocketAddrs};

/// Where the server listens.
#[derive(Debug, Clone)]
pub(crate) struct Listen {
    pub(crate) address: SocketAddr,
    /// The host name that was given, unless it was an address.
    host: Option<String>,
}

/// A place to listen as it is written, before a name is looked up.
enum Written<'t> {
    Address(SocketAddr),
    Name(&'t str, u16),
}

/// Refuses what is not `HOST:PORT` or a port. A name is not looked up.
pub fn check_listen_address(text: &str) -> Result<()> {
    read(text).map(|_| ())
}

/// Reads `HOST:PORT`; `localhost`, or a port alone, is on this machine.
fn read(text: &str) -> Result<Written<'_>> {
    let port = text.strip_prefix("localhost:").unwrap_or(text);
    if let Ok(port) = port.parse::<u16>() {
        return Ok(Written::Address(SocketAddr::from(([127, 0, 0, 1], port))));
    }
    if let Ok(address) = text.parse() {
        return Ok(Written::Address(address));
    }
    let named = text.rsplit_once(':').filter(|(host, _)| is_host_name(host));
    match named.and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?))) {
        Some((host, port)) => Ok(Written::Name(host, port)),
        None => Err(invalid(format!("{text:?} is not an address and port"))),
    }
}

fn invalid(problem: String) -> Error {
    Error::field("listen", problem).remedy("write 127.0.0.1:4747, or a name of this machine")
}

impl Listen {
    /// Reads where to listen, and looks up a name.
    pub(crate) fn parse(text: &str) -> Result<Listen> {
        let (host, port) = match read(text)? {
            Written::Address(address) => return Ok(Listen { address, host: None }),
            Written::Name(host, port) => (host, port),
        };
        let mut found = (host, port)
            .to_socket_addrs()
            .map_err(|error| invalid(format!("{host:?} has no address: {error}")))?;
        let address = found.next().ok_or_else(|| invalid(format!("{host:?} has no address")))?;
        Ok(Listen { address, host: Some(host.to_ascii_lowercase()) })
    }

    /// Whether only this machine reaches it.
    pub(crate) fn is_loopback(&self) -> bool {
        self.address.ip().is_loopback()
    }

    /// Names of this machine by which requests may come, in lower case. On loopback that is only the
    /// name that was given: a page of another site that a browser was made to look for here may have
    /// the name of the machine, and nothing else would keep it out.
    pub(crate) fn own_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.host.clone().into_iter().collect();
        if !self.is_loopback()
            && let Some(name) = hostname()
        {
            // What multicast DNS calls it.
            names.extend([format!("{name}.local"), name]);
        }
        names
    }
}

/// The name of this machine, in lower case.
pub(crate) fn hostname() -> Option<String> {
    let name = rustix::system::uname().nodename().to_str().ok()?.to_ascii_lowercase();
    is_host_name(&name).then_some(name)
}

/// Whether something may be looked up as a name: an address with a part too many is none.
fn is_host_name(text: &str) -> bool {
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || ".-_".contains(letter);
    text.chars().all(is_allowed) && text.chars().any(|letter| letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_people_write_them() {
        for (written, read) in [
            ("127.0.0.1:4747", "127.0.0.1:4747"),
            ("localhost:0", "127.0.0.1:0"),
            ("4747", "127.0.0.1:4747"),
            ("[::1]:80", "[::1]:80"),
        ] {
            assert_eq!(Listen::parse(written).unwrap().address.to_string(), read);
        }
        for bad in [
            "",
            "foo",
            "127.0.0.1",
            "127.0.0.1:99999",
            "99999",
            "localhost:",
            "1.2.3.4.5:80",
            "a/b:1",
        ] {
            assert!(Listen::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_name_that_was_given_is_an_own_name_wherever_it_leads() {
        for address in ["127.0.0.1:1", "192.0.2.7:1"] {
            let host = Some("memory.example".to_owned());
            let listen = Listen { address: address.parse().unwrap(), host };
            assert!(listen.own_names().contains(&"memory.example".to_owned()), "{address}");
        }
    }
}
