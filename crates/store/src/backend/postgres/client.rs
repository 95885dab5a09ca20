//! A blocking PostgreSQL client whose calls always end, even if the server hangs.
//!
//! The server's own time-outs work only while the server runs, and TCP only notices a machine that is
//! down: the kernel of a stopped or hung server still acknowledges packets. So every call has a limit
//! on the client, and while it waits it opens a second connection every [`Dialer::connect_timeout`]
//! as a probe: a server that responds is working on a long statement; otherwise the call fails and
//! its connection is closed. If an address names several servers, each gets the full connect
//! time-out, so that one that hangs does not block the next.

use super::address::Address;
use super::hosts;
use super::tls::{Connector, TlsMode};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::config::SslMode;
use tokio_postgres::error::Severity;
use tokio_postgres::{Config, Error};

/// Why a call failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The server or the driver returned an error.
    Driver(Error),
    /// The server did not respond to a new connection.
    NotResponding,
    /// The server responds, but did not complete this call within its limit.
    TimedOut(Duration),
    /// The connection was closed or lost before.
    Closed,
    /// The runtime of the client could not be started.
    Runtime(std::io::Error),
}

impl Failure {
    /// Whether the connection cannot be used again.
    pub(super) fn ends_connection(&self) -> bool {
        match self {
            Failure::Driver(error) => error.as_db_error().is_some_and(|error| {
                matches!(error.parsed_severity(), Some(Severity::Fatal | Severity::Panic))
            }),
            _ => true,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Driver(error)
    }
}

/// Opens connections to the servers of one address.
pub(super) struct Dialer {
    /// One configuration per host.
    hosts: Vec<Config>,
    connector: Connector,
    tls: TlsMode,
    /// How long each IP address may take to accept and set up a new connection.
    connect_timeout: Duration,
}

type Driver = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

impl Dialer {
    pub(super) fn new(address: Address) -> Dialer {
        let Address { config, tls, connect_timeout } = address;
        let hosts = hosts::split_hosts(&config);
        Dialer { hosts, connector: tls.connector(), tls: tls.mode(), connect_timeout }
    }

    /// How long each IP address may take to accept and set up a new connection.
    pub(super) fn connect_timeout(&self) -> Duration {
        self.connect_timeout
    }

    pub(super) fn connect(self: &Arc<Dialer>) -> Result<Client, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let mut client = Client {
            runtime: Some(runtime.map_err(Failure::Runtime)?),
            connection: None,
            dialer: Arc::clone(self),
        };
        let Some(runtime) = &client.runtime else { return Err(Failure::Closed) };
        client.connection = Some(runtime.block_on(self.dial())?);
        Ok(client)
    }

    /// A connection to the first server that accepts the login. If none does, the error is the last
    /// one that a server returned, or `NotResponding` if none returned any.
    async fn dial(&self) -> Result<OpenConnection, Failure> {
        let mut failure = Failure::NotResponding;
        for host in hosts::connection_order(&self.hosts) {
            let found = match timeout(self.connect_timeout, hosts::resolve_addresses(host)).await {
                Ok(Ok(found)) => found,
                // The driver reports better what is wrong with the name.
                Ok(Err(_)) => vec![host.clone()],
                Err(_) => continue,
            };
            for address in found {
                match self.dial_address(address).await {
                    Ok(connection) => return Ok(connection),
                    Err(Failure::NotResponding) => {}
                    Err(other) => failure = other,
                }
            }
        }
        Err(failure)
    }

    /// A connection to one IP address, or an error within the connect time-out. The driver's own
    /// time-out covers only the TCP handshake, which the kernel of a hung server still completes.
    async fn dial_address(&self, address: Config) -> Result<OpenConnection, Failure> {
        let mut plain = address.clone();
        plain.ssl_mode(SslMode::Disable);
        let dialled = timeout(self.connect_timeout, async {
            match self.tls {
                TlsMode::Disabled => self.dial_with(&plain).await,
                TlsMode::Preferred => match self.dial_with(&address).await {
                    Err(error) if is_tls(&error) => self.dial_with(&plain).await,
                    dialled => dialled,
                },
                TlsMode::Required => self.dial_with(&address).await,
            }
        });
        let (client, driver) = dialled.await.map_err(|_| Failure::NotResponding)??;
        Ok(OpenConnection { client, driver: Some(driver), address })
    }

    async fn dial_with(&self, config: &Config) -> Result<(tokio_postgres::Client, Driver), Error> {
        let (client, connection) = config.connect(self.connector.clone()).await?;
        Ok((client, Box::pin(connection)))
    }

    /// Whether the server at this address responds to a new connection, if only with an error.
    async fn responds(&self, address: &Config) -> bool {
        match self.dial_address(address.clone()).await {
            Ok(_) => true,
            Err(Failure::Driver(error)) => error.as_db_error().is_some(),
            Err(_) => false,
        }
    }

    /// Completes when a call that started now must fail: at its limit, or when the server no longer
    /// responds.
    async fn watch(&self, address: &Config, limit: Option<Duration>) -> Failure {
        let started = Instant::now();
        loop {
            let left = limit.map(|limit| limit.saturating_sub(started.elapsed()));
            sleep(left.map_or(self.connect_timeout, |left| left.min(self.connect_timeout))).await;
            if let Some(limit) = limit
                && started.elapsed() >= limit
            {
                return Failure::TimedOut(limit);
            }
            if !self.responds(address).await {
                return Failure::NotResponding;
            }
        }
    }
}

/// Whether an error is that of a TLS handshake; the driver shows it only in its text.
pub(super) fn is_tls(error: &Error) -> bool {
    error.to_string().starts_with("error performing TLS handshake")
}

struct OpenConnection {
    client: tokio_postgres::Client,
    /// Transfers bytes between the client and the socket while polled; `None` once it has ended.
    driver: Option<Driver>,
    /// The server that is probed; another one of the same address proves nothing about it.
    address: Config,
}

impl OpenConnection {
    /// Transfers bytes until `work` is done.
    async fn run<T>(
        driver: &mut Option<Driver>,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let mut work = pin!(work);
        poll_fn(|context| {
            let mut ended = Ok(());
            if let Some(running) = driver
                && let Poll::Ready(result) = running.as_mut().poll(context)
            {
                *driver = None;
                ended = result;
            }
            // A response that arrived before the connection ended counts.
            match (work.as_mut().poll(context), ended) {
                (Poll::Ready(Ok(value)), _) => Poll::Ready(Ok(value)),
                (_, Err(error)) => Poll::Ready(Err(error)),
                (polled, Ok(())) => polled,
            }
        })
        .await
    }
}

/// A connection to the server, used from one thread at a time. Calls block the thread, so they
/// must not be made on a thread of an async runtime.
pub(super) struct Client {
    runtime: Option<Runtime>,
    /// `None` once the connection was closed.
    connection: Option<OpenConnection>,
    dialer: Arc<Dialer>,
}

impl Client {
    /// Makes a call that ends within `limit`, or, without a limit, when the server stops responding.
    pub(super) fn call<T>(
        &mut self,
        limit: Option<Duration>,
        work: impl AsyncFnOnce(&tokio_postgres::Client) -> Result<T, Error>,
    ) -> Result<T, Failure> {
        let (Some(runtime), Some(connection)) = (&self.runtime, &mut self.connection) else {
            return Err(Failure::Closed);
        };
        let OpenConnection { client, driver, address } = connection;
        let finished = runtime.block_on(async {
            let work = pin!(OpenConnection::run(driver, work(client)));
            race(work, pin!(self.dialer.watch(address, limit))).await
        });
        let result = finished.and_then(|result| result.map_err(Failure::Driver));
        if result.as_ref().is_err_and(Failure::ends_connection) {
            self.connection = None;
        }
        result
    }

    pub(super) fn is_closed(&self) -> bool {
        let is_open = |open: &OpenConnection| open.driver.is_some() && !open.client.is_closed();
        !self.connection.as_ref().is_some_and(is_open)
    }
}

impl Drop for Client {
    /// Sends the termination message if the socket accepts it at once; never waits.
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        if let Some(OpenConnection { client, driver, .. }) = self.connection.take() {
            drop(client);
            let _entered = runtime.enter();
            if let Some(mut driver) = driver {
                let _ = driver.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            }
        }
        // A pending DNS lookup would otherwise block the drop.
        runtime.shutdown_background();
    }
}

/// The result of `work`, or the failure if `watch` completes first.
async fn race<T>(
    mut work: Pin<&mut impl Future<Output = T>>,
    mut watch: Pin<&mut impl Future<Output = Failure>>,
) -> Result<T, Failure> {
    poll_fn(|context| {
        if let Poll::Ready(result) = work.as_mut().poll(context) {
            return Poll::Ready(Ok(result));
        }
        watch.as_mut().poll(context).map(Err)
    })
    .await
}
