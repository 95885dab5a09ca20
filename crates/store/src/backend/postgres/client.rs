//! A blocking PostgreSQL client whose every call ends, whatever the server does.
//!
//! The server's own time-outs end a statement only while the server runs, and TCP only notices a
//! machine that is gone: the kernel of a server that is stopped or hung goes on acknowledging. So
//! every call has a limit on this side as well, and a call without an answer asks the server for a
//! second connection every [`Dialer::connect_timeout`]: a server that answers is working on a long
//! statement, one that does not is given up at once. A connection that was given up is closed and
//! never used again.

use super::address::Address;
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

/// Opens connections to one server.
pub(super) struct Dialer {
    config: Config,
    /// The same without TLS: always where TLS is disabled, and where it is only preferred, after
    /// a handshake that failed.
    plain: Option<Config>,
    connector: Connector,
    starts_plain: bool,
    /// How long the server may take to accept and answer a new connection.
    connect_timeout: Duration,
}

type Driver = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

impl Dialer {
    pub(super) fn new(address: Address) -> Dialer {
        let Address { config, tls, connect_timeout } = address;
        // The driver tries one host after the other.
        let hosts = config.get_hosts().len().max(config.get_hostaddrs().len()).max(1);
        let connect_timeout = connect_timeout.saturating_mul(hosts as u32);
        let mut plain = config.clone();
        plain.ssl_mode(SslMode::Disable);
        Dialer {
            config,
            plain: (tls.may_fall_back() || tls.is_disabled()).then_some(plain),
            connector: tls.connector(),
            starts_plain: tls.is_disabled(),
            connect_timeout,
        }
    }

    /// How long the server may take to accept and answer a new connection.
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

    /// One connection, with the log-in done, or an error within the connect time-out. The driver's
    /// own time-out ends with the TCP handshake, which the kernel of a hung server still answers.
    async fn dial(&self) -> Result<Live, Failure> {
        let dialled = timeout(self.connect_timeout, async {
            match &self.plain {
                Some(plain) if self.starts_plain => self.dial_with(plain).await,
                Some(plain) => match self.dial_with(&self.config).await {
                    Err(error) if is_tls(&error) => self.dial_with(plain).await,
                    dialled => dialled,
                },
                None => self.dial_with(&self.config).await,
            }
        });
        Ok(dialled.await.map_err(|_| Failure::NotAnswering)??)
    }

    async fn dial_with(&self, config: &Config) -> Result<Live, Error> {
        let (client, connection) = config.connect(self.connector.clone()).await?;
        Ok(Live { client, driver: Some(Box::pin(connection)) })
    }

    /// Whether the server answers a new connection, if only with a refusal.
    async fn answers(&self) -> bool {
        match self.dial().await {
            Ok(_) => true,
            Err(Failure::Answered(error)) => error.as_db_error().is_some(),
            Err(_) => false,
        }
    }

    /// Ends when a call that began now must be given up.
    async fn give_up(&self, limit: Option<Duration>) -> Failure {
        let started = Instant::now();
        loop {
            let left = limit.map(|limit| limit.saturating_sub(started.elapsed()));
            sleep(left.map_or(self.connect_timeout, |left| left.min(self.connect_timeout))).await;
            if let Some(limit) = limit
                && started.elapsed() >= limit
            {
                return Failure::TooLong(limit);
            }
            if !self.answers().await {
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
        let Live { client, driver } = live;
        let answered = runtime.block_on(async {
            let work = pin!(Live::run(driver, work(client)));
            race(work, pin!(self.dialer.give_up(limit))).await
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
        if let Some(Live { client, driver }) = self.live.take() {
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
