//! Parses a PostgreSQL address: the server, TLS and network time-outs. The parameters are those of
//! libpq.

use super::tls::{Tls, TlsMode};
use oneiro_model::{Error, Result};
use std::time::Duration;
use tokio_postgres::config::{Config, Host, SslMode};

/// How long a server may take to accept and set up a new connection. libpq has no limit.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A connection without traffic for this long is probed; if no probe is answered, it is closed after
/// `KEEPALIVE_IDLE + KEEPALIVE_RETRIES * KEEPALIVE_INTERVAL` = 30 s. The default of Linux is two hours.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(15);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_RETRIES: u32 = 3;

/// How long sent bytes may stay unacknowledged; as long as the keepalives take in total.
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(30);

/// A parsed PostgreSQL address.
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) tls: Tls,
    /// How long each IP address may take to accept and set up a new connection.
    pub(super) connect_timeout: Duration,
}

impl Address {
    pub(super) fn parse(url: &str) -> Result<Address> {
        let query = Query::split(url)?;
        let mut config: Config = query.rest.parse().map_err(|error| {
            Error::field("store", format!("is not a PostgreSQL address: {}", reason(&error)))
                .remedy("write postgres://user:password@host:5432/database")
        })?;
        // An escaped name, such as `sslmod%65`, is not recognised here and reaches the driver.
        if config.get_ssl_mode() != Config::new().get_ssl_mode() {
            return Err(Error::field("store", "has an escaped sslmode parameter")
                .remedy("write ?sslmode=require, without escapes in the name"));
        }
        let tls = Tls::new(query.sslmode.as_deref(), query.sslrootcert.as_deref())?;
        let is_local = !config.get_hosts().is_empty()
            && config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_)));
        // As in libpq, sslmode is ignored on a Unix socket.
        let tls = if is_local { Tls::disabled() } else { tls };
        config.ssl_mode(if tls.mode() == TlsMode::Required {
            SslMode::Require
        } else {
            SslMode::Prefer
        });
        let connect_timeout = config.get_connect_timeout().copied().unwrap_or(CONNECT_TIMEOUT);
        config.connect_timeout(connect_timeout);
        if config.get_application_name().is_none() {
            config.application_name("oneiro");
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(TCP_USER_TIMEOUT);
        }
        if !query.sets_keepalives_idle {
            config.keepalives_idle(KEEPALIVE_IDLE);
        }
        if config.get_keepalives_interval().is_none() {
            config.keepalives_interval(KEEPALIVE_INTERVAL);
        }
        if config.get_keepalives_retries().is_none() {
            config.keepalives_retries(KEEPALIVE_RETRIES);
        }
        Ok(Address { config, tls, connect_timeout })
    }
}

/// The query parameters that the driver does not know, and the address without them.
struct Query {
    rest: String,
    sslmode: Option<String>,
    sslrootcert: Option<String>,
    sets_keepalives_idle: bool,
}

impl Query {
    fn split(url: &str) -> Result<Query> {
        // As the driver reads it, a password ends with the first `@` and may hold a `?`.
        let host = url.find('@').unwrap_or(0);
        let question = url.get(host..).and_then(|rest| rest.find('?')).map(|at| host + at);
        let (base, parameters) = match question {
            Some(at) => (url.get(..at).unwrap_or(url), url.get(at + 1..).unwrap_or("")),
            None => (url, ""),
        };
        let mut query = Query {
            rest: String::new(),
            sslmode: None,
            sslrootcert: None,
            sets_keepalives_idle: false,
        };
        let mut kept = Vec::new();
        for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            match name {
                "sslmode" => query.sslmode = Some(unescape(name, value)?),
                "sslrootcert" => query.sslrootcert = Some(unescape(name, value)?),
                _ => {
                    query.sets_keepalives_idle |= name == "keepalives_idle";
                    kept.push(parameter);
                }
            }
        }
        query.rest =
            if kept.is_empty() { base.to_owned() } else { format!("{base}?{}", kept.join("&")) };
        Ok(query)
    }
}

/// Decodes percent-encoding.
fn unescape(name: &str, value: &str) -> Result<String> {
    let bad = || {
        Error::field("store", format!("{name} in the address is not valid percent-encoded UTF-8"))
    };
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || char::from(rest.next().unwrap_or_default()).to_digit(16);
                let (high, low) = digit().zip(digit()).ok_or_else(bad)?;
                (high * 16 + low) as u8
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).map_err(|_| bad())
}

/// The driver's reason, which names parameters but never their values.
fn reason(error: &tokio_postgres::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), |source| source.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_default_timeouts_unless_it_sets_its_own() {
        let address = Address::parse("postgres://u:p@h/d").unwrap();
        assert_eq!(address.connect_timeout, CONNECT_TIMEOUT);
        assert_eq!(address.config.get_keepalives_idle(), KEEPALIVE_IDLE);
        assert_eq!(address.config.get_tcp_user_timeout(), Some(&TCP_USER_TIMEOUT));
        let address = Address::parse(
            "postgres://u:p@h/d?connect_timeout=2&keepalives_idle=7&sslmode=disable\
             &tcp_user_timeout=9",
        )
        .unwrap();
        assert_eq!(address.connect_timeout, Duration::from_secs(2));
        assert_eq!(address.config.get_keepalives_idle(), Duration::from_secs(7));
        assert_eq!(address.config.get_tcp_user_timeout(), Some(&Duration::from_secs(9)));
    }

    #[test]
    fn a_question_mark_in_the_password_is_not_the_start_of_the_parameters() {
        let query = Query::split("postgres://u:hun?ter2@h/d?sslmode=require&port=1").unwrap();
        assert_eq!(query.sslmode.as_deref(), Some("require"));
        assert_eq!(query.rest, "postgres://u:hun?ter2@h/d?port=1");
        let address = Address::parse("postgres://u:hun?ter2@h/d?sslmode=require").unwrap();
        assert_eq!(address.config.get_ssl_mode(), SslMode::Require);
        assert!(Address::parse("postgres://u:p@h/d?sslmod%65=require").is_err());
    }

    #[test]
    fn a_bad_address_is_refused_and_its_password_is_not_shown() {
        for (query, names) in [
            ("sslmode=always", "sslmode"),
            ("sslmode=verify-full", "sslrootcert"),
            ("sslmode=verify-ca&sslrootcert=/nonexistent/ca.pem", "/nonexistent/ca.pem"),
            ("sslmode=require&sslrootcert=system", "verify-full"),
            ("sslrootcert=%zz", "sslrootcert"),
            ("port=none", "port"),
            ("colour=red", "colour"),
        ] {
            let error = Address::parse(&format!("postgres://u:hunter2@h/d?{query}")).err().unwrap();
            let text = format!("{error} {error:?} {:?}", error.remedy_text());
            assert!(text.contains(names), "{query}: {text}");
            assert!(!text.contains("hunter2"), "{text}");
        }
    }
}
