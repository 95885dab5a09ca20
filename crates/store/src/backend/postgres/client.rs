//! A blocking PostgreSQL client whose every call ends, whatever the server does.
//!
//! The server's own time-outs end a statement only while the server runs, and TCP only notices a
//! machine that is gone: the kernel of a server that is stopped or hung goes on acknowledging. So
//! every call has a limit on this side as well, and a call without an answer asks the server for a
//! second connection every [`Dialer::connect_timeout`]: a server that answers is working on a long
//! statement, one that does not is given up at once. A connection that was given up is closed and
//! never used again. Where an address names several servers, each has the whole connect time-out, so
//! that one that is dead or hangs does not keep us from the next.

use super::address::Address;
use super::routes;
use super::tls::Connector;
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
    /// The server or the driver answered an error.
    Answered(Error),
    /// The server did not answer a new connection.
    NotAnswering,
    /// The server answers, but not this call, within its limit.
    TooLong(Duration),
    /// The connection was given up or lost before.
    Closed,
    /// The runtime of the client could not be started.
    Runtime(std::io::Error),
}

impl Failure {
    /// Whether the connection is of no more use: it was given up, or the server closes it.
    pub(super) fn ends_connection(&self) -> bool {
        match self {
            Failure::Answered(error) => error.as_db_error().is_some_and(|error| {
                matches!(error.parsed_severity(), Some(Severity::Fatal | Severity::Panic))
            }),
            _ => true,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Answered(error)
    }
}

/// Opens connections to the servers of one address.
pub(super) struct Dialer {
    /// One for each host.
    hosts: Vec<Config>,
    connector: Connector,
    tls: TlsUse,
    /// How long each address of a server may take to accept and answer a new connection.
    connect_timeout: Duration,
}

/// When TLS is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TlsUse {
    Never,
    /// After a handshake that failed a connection without TLS is tried.
    Preferred,
    Always,
}

type Driver = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

impl Dialer {
    pub(super) fn new(address: Address) -> Dialer {
        let Address { config, tls, connect_timeout } = address;
        let connector = tls.connector();
        let tls = if tls.is_disabled() {
            TlsUse::Never
        } else if tls.may_fall_back() {
            TlsUse::Preferred
        } else {
            TlsUse::Always
        };
        Dialer { hosts: routes::hosts(&config), connector, tls, connect_timeout }
    }

    /// How long each address of a server may take to accept and answer a new connection.
    pub(super) fn connect_timeout(&self) -> Duration {
        self.connect_timeout
    }

    pub(super) fn connect(self: &Arc<Dialer>) -> Result<Client, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let mut client = Client {
            runtime: Some(runtime.map_err(Failure::Runtime)?),
            live: None,
            dialer: Arc::clone(self),
        };
        let Some(runtime) = &client.runtime else { return Err(Failure::Closed) };
        client.live = Some(runtime.block_on(self.dial())?);
        Ok(client)
    }

    /// A connection to the first server that answers, with the log-in done. Of those that do not,
    /// what the last one said is the error, and what a server said counts for more than silence.
    async fn dial(&self) -> Result<Live, Failure> {
        let mut failure = Failure::NotAnswering;
        for host in routes::in_order(&self.hosts) {
            let found = match timeout(self.connect_timeout, routes::addresses(host)).await {
                Ok(Ok(found)) => found,
                // The driver says better what is wrong with the name.
                Ok(Err(_)) => vec![host.clone()],
                Err(_) => continue,
            };
            for address in found {
                match self.dial_address(address).await {
                    Ok(live) => return Ok(live),
                    Err(Failure::NotAnswering) => {}
                    Err(other) => failure = other,
                }
            }
        }
        Err(failure)
    }

    /// A connection to one address, or an error within the connect time-out. The driver's own
    /// time-out ends with the TCP handshake, which the kernel of a hung server still answers.
    async fn dial_address(&self, address: Config) -> Result<Live, Failure> {
        let mut plain = address.clone();
        plain.ssl_mode(SslMode::Disable);
        let dialled = timeout(self.connect_timeout, async {
            match self.tls {
                TlsUse::Never => self.dial_with(&plain).await,
                TlsUse::Preferred => match self.dial_with(&address).await {
                    Err(error) if is_tls(&error) => self.dial_with(&plain).await,
                    dialled => dialled,
                },
                TlsUse::Always => self.dial_with(&address).await,
            }
        });
        let (client, driver) = dialled.await.map_err(|_| Failure::NotAnswering)??;
        Ok(Live { client, driver: Some(driver), address })
    }

    async fn dial_with(&self, config: &Config) -> Result<(tokio_postgres::Client, Driver), Error> {
        let (client, connection) = config.connect(self.connector.clone()).await?;
        Ok((client, Box::pin(connection)))
    }

    /// Whether the server at this address answers a new connection, if only with a refusal.
    async fn answers(&self, address: &Config) -> bool {
        match self.dial_address(address.clone()).await {
            Ok(_) => true,
            Err(Failure::Answered(error)) => error.as_db_error().is_some(),
            Err(_) => false,
        }
    }

    /// Ends when a call to the server at this address that began now must be given up.
    async fn give_up(&self, address: &Config, limit: Option<Duration>) -> Failure {
        let started = Instant::now();
        loop {
            let left = limit.map(|limit| limit.saturating_sub(started.elapsed()));
            sleep(left.map_or(self.connect_timeout, |left| left.min(self.connect_timeout))).await;
            if let Some(limit) = limit
                && started.elapsed() >= limit
            {
                return Failure::TooLong(limit);
            }
            if !self.answers(address).await {
                return Failure::NotAnswering;
            }
        }
    }
}

/// Whether an error is that of a TLS handshake; the driver tells only by its text.
pub(super) fn is_tls(error: &Error) -> bool {
    error.to_string().starts_with("error performing TLS handshake")
}

struct Live {
    client: tokio_postgres::Client,
    /// Moves bytes between the client and the socket while it is polled; `None` once it has ended.
    driver: Option<Driver>,
    /// Where the server is: another one that answers proves nothing about this one.
    address: Config,
}

impl Live {
    /// Moves bytes until `work` is done.
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
            // An answer that came before the end counts.
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
    /// `None` once the connection was given up.
    live: Option<Live>,
    dialer: Arc<Dialer>,
}

impl Client {
    /// Makes a call that ends within `limit`; without a limit it ends when the server stops
    /// answering.
    pub(super) fn call<T>(
        &mut self,
        limit: Option<Duration>,
        work: impl AsyncFnOnce(&tokio_postgres::Client) -> Result<T, Error>,
    ) -> Result<T, Failure> {
        let (Some(runtime), Some(live)) = (&self.runtime, &mut self.live) else {
            return Err(Failure::Closed);
        };
        let Live { client, driver, address } = live;
        let answered = runtime.block_on(async {
            let work = pin!(Live::run(driver, work(client)));
            race(work, pin!(self.dialer.give_up(address, limit))).await
        });
        let answer = answered.and_then(|answer| answer.map_err(Failure::Answered));
        if answer.as_ref().is_err_and(Failure::ends_connection) {
            self.live = None;
        }
        answer
    }

    pub(super) fn is_closed(&self) -> bool {
        let is_open = |live: &Live| live.driver.is_some() && !live.client.is_closed();
        !self.live.as_ref().is_some_and(is_open)
    }
}

impl Drop for Client {
    /// Says goodbye to the server if the socket takes it at once, and waits for nothing.
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        if let Some(Live { client, driver, .. }) = self.live.take() {
            drop(client);
            let _entered = runtime.enter();
            if let Some(mut driver) = driver {
                let _ = driver.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            }
        }
        // A name that is still being looked up would otherwise hold up whoever drops the client.
        runtime.shutdown_background();
    }
}

/// What `work` answers, or why it was given up.
async fn race<T>(
    mut work: Pin<&mut impl Future<Output = T>>,
    mut give_up: Pin<&mut impl Future<Output = Failure>>,
) -> Result<T, Failure> {
    poll_fn(|context| {
        if let Poll::Ready(answer) = work.as_mut().poll(context) {
            return Poll::Ready(Ok(answer));
        }
        give_up.as_mut().poll(context).map(Err)
    })
    .await
}
