//! Splits a PostgreSQL address with several hosts, or a host name with several IP addresses, into one
//! configuration each, so that each gets its own connect time-out.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use tokio_postgres::config::{Config, Host, LoadBalanceHosts};

const DEFAULT_PORT: u16 = 5432;

/// One configuration for each host in `config`. An inconsistent `config` is returned as it is, so that
/// the driver reports the error.
pub(super) fn split_hosts(config: &Config) -> Vec<Config> {
    let (names, addresses, ports) =
        (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
    let count = names.len().max(addresses.len());
    let is_consistent =
        (names.is_empty() || addresses.is_empty() || names.len() == addresses.len())
            && (ports.len() <= 1 || ports.len() == count);
    if count <= 1 || !is_consistent {
        return vec![config.clone()];
    }
    let one = |at: usize| {
        let mut one = without_hosts(config);
        match names.get(at) {
            Some(Host::Tcp(name)) => drop(one.host(name)),
            Some(Host::Unix(path)) => drop(one.host_path(path)),
            None => {}
        }
        if let Some(address) = addresses.get(at) {
            one.hostaddr(*address);
        }
        one.port(ports.get(at).or(ports.first()).copied().unwrap_or(DEFAULT_PORT));
        one
    };
    (0..count).map(one).collect()
}

/// One configuration for each IP address of a host. TLS still checks the host name.
pub(super) async fn resolve_addresses(host: &Config) -> std::io::Result<Vec<Config>> {
    let [Host::Tcp(name)] = host.get_hosts() else { return Ok(vec![host.clone()]) };
    if !host.get_hostaddrs().is_empty() || name.parse::<IpAddr>().is_ok() {
        return Ok(vec![host.clone()]);
    }
    let port = host.get_ports().first().copied().unwrap_or(DEFAULT_PORT);
    let mut found = Vec::new();
    for address in tokio::net::lookup_host((name.as_str(), port)).await? {
        let mut one = host.clone();
        one.hostaddr(address.ip());
        found.push(one);
    }
    Ok(connection_order(&found).into_iter().cloned().collect())
}

/// The order in which configurations are tried: as given, or random with `load_balance_hosts=random`.
pub(super) fn connection_order(configs: &[Config]) -> Vec<&Config> {
    let mut order: Vec<&Config> = configs.iter().collect();
    let is_random = |one: &&Config| one.get_load_balance_hosts() == LoadBalanceHosts::Random;
    if order.iter().any(is_random) {
        order.sort_by_cached_key(|_| RandomState::new().hash_one(0));
    }
    order
}

/// A copy of `config` without hosts; the driver can add hosts but not remove them.
fn without_hosts(config: &Config) -> Config {
    let mut bare = Config::new();
    bare.ssl_mode(config.get_ssl_mode())
        .ssl_negotiation(config.get_ssl_negotiation())
        .keepalives(config.get_keepalives())
        .keepalives_idle(config.get_keepalives_idle())
        .target_session_attrs(config.get_target_session_attrs())
        .channel_binding(config.get_channel_binding())
        .load_balance_hosts(config.get_load_balance_hosts());
    if let Some(user) = config.get_user() {
        bare.user(user);
    }
    if let Some(password) = config.get_password() {
        bare.password(password);
    }
    if let Some(name) = config.get_dbname() {
        bare.dbname(name);
    }
    if let Some(options) = config.get_options() {
        bare.options(options);
    }
    if let Some(name) = config.get_application_name() {
        bare.application_name(name);
    }
    if let Some(time) = config.get_connect_timeout() {
        bare.connect_timeout(*time);
    }
    if let Some(time) = config.get_tcp_user_timeout() {
        bare.tcp_user_timeout(*time);
    }
    if let Some(time) = config.get_keepalives_interval() {
        bare.keepalives_interval(time);
    }
    if let Some(count) = config.get_keepalives_retries() {
        bare.keepalives_retries(count);
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMETERS: &str = "?options=-c%20a%3Db&application_name=x&connect_timeout=3\
        &tcp_user_timeout=4&keepalives=0&keepalives_idle=5&keepalives_interval=6\
        &keepalives_retries=7&target_session_attrs=read-write&channel_binding=require\
        &sslmode=require&sslnegotiation=direct";

    fn config(hosts: &str) -> Config {
        format!("postgres://u:p@{hosts}/d{PARAMETERS}").parse().unwrap()
    }

    #[test]
    fn each_host_keeps_every_other_parameter_of_the_address() {
        let several = split_hosts(&config("a:1,b:2,%2Ftmp:3"));
        let alone = ["a:1", "b:2", "%2Ftmp:3"].map(config);
        for (one, alone) in several.iter().zip(&alone) {
            assert!(one == alone, "{one:?} {alone:?}");
        }
        assert_eq!(several.len(), alone.len());
    }

    #[test]
    fn ports_and_addresses_belong_to_their_hosts() {
        let config: Config = "host=a,b hostaddr=192.0.2.1,192.0.2.2 port=7".parse().unwrap();
        let second = split_hosts(&config).remove(1);
        assert_eq!(second.get_hosts(), [Host::Tcp("b".to_owned())]);
        assert_eq!(second.get_hostaddrs(), ["192.0.2.2".parse::<IpAddr>().unwrap()]);
        assert_eq!(second.get_ports(), [7]);
        // An inconsistent address is left to the driver to refuse.
        let config: Config = "host=a,b,c port=1,2".parse().unwrap();
        assert_eq!(split_hosts(&config), [config]);
    }
}
