//! Accepts connections up to a limit, cuts off slow ones, and finishes running requests after a
//! stop signal.

use crate::connections::{Admission, Connections, InProgress, Requests};
use crate::peer::Peer;
use crate::timeouts::{Timeouts, WriteTimeout};
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use oneiro::Result;
use std::io::ErrorKind;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tower::{Service, ServiceExt, service_fn};

/// Maximum number of request headers.
const HEADERS_MAX: usize = 64;

/// Maximum size of a request head.
const HEAD_BYTES_MAX: usize = 64 << 10;

/// Time limit of running requests after a stop signal.
const REQUEST_GRACE: Duration = Duration::from_secs(2);

/// Time limit for idle connections to close by themselves.
const IDLE_CLOSE_TIMEOUT: Duration = Duration::from_millis(200);

/// Pause after a failed accept.
const RETRY_DELAY: Duration = Duration::from_millis(20);

/// Serves `router` until `stop`.
pub(crate) async fn listen(
    (listener, connections): (TcpListener, Connections),
    (router, timeouts): (Router, Timeouts),
    stop: impl Future<Output = ()>,
) -> Result<()> {
    let graceful = GracefulShutdown::new();
    let accepting = async {
        loop {
            let stream = accept(&listener, &connections).await;
            let peer = stream.1;
            let connection = loop {
                match connections.admit(peer.ip()) {
                    Admission::Admitted(connection) => break Some(connection),
                    Admission::Refused => break None,
                    Admission::Full => connections.changed().await,
                }
            };
            let Some(connection) = connection else {
                tracing::info!(%peer, "too many requests of one address");
                continue;
            };
            let requests = connection.requests();
            let served = serve(stream, router.clone(), (requests.clone(), timeouts), &graceful);
            let task = tokio::spawn(async move {
                served.await;
                drop(connection);
            });
            requests.served_by(task.abort_handle());
        }
    };
    tokio::select! {
        () = accepting => {}
        () = stop => {}
    }
    drop(listener);
    let ending = graceful.shutdown();
    tokio::pin!(ending);
    if tokio::time::timeout(IDLE_CLOSE_TIMEOUT, &mut ending).await.is_err() {
        // Connections with a partial head do not delay the stop.
        connections.close_new();
        if tokio::time::timeout(REQUEST_GRACE - IDLE_CLOSE_TIMEOUT, ending).await.is_err() {
            tracing::warn!("some requests did not finish in time");
            connections.close_all();
        }
    }
    Ok(())
}

/// Accepts the next connection.
async fn accept(
    listener: &TcpListener,
    connections: &Connections,
) -> (TcpStream, std::net::SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            // The client has disconnected already.
            Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
            Err(error) => {
                tracing::info!(%error, "a connection was not accepted");
                // Usually too many open files: closing an idle connection frees one.
                connections.close_one();
                tokio::time::sleep(RETRY_DELAY).await;
            }
        }
    }
}

/// Serves one connection until it ends.
fn serve(
    (stream, peer): (TcpStream, std::net::SocketAddr),
    router: Router,
    (requests, timeouts): (Requests, Timeouts),
    graceful: &GracefulShutdown,
) -> impl Future<Output = ()> + Send + use<> {
    // Answers are small and complete, so Nagle's algorithm only delays them.
    let _ = stream.set_nodelay(true);
    // hyper flushes the stream only after everything was written.
    let of_requests = requests.clone();
    let stream = WriteTimeout::new(stream, timeouts.answer, move || of_requests.flushed());
    let of_requests = requests.clone();
    let service = service_fn(move |mut request: Request<Incoming>| {
        let in_progress = of_requests.begin();
        request.extensions_mut().insert(Peer(peer));
        let mut router = router.clone();
        async move {
            let response = router.as_service().ready().await?.call(request).await?;
            let answered = response.map(|body| TrackedBody { body, _in_progress: in_progress });
            Ok::<_, std::convert::Infallible>(answered)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(timeouts.head)
        .max_headers(HEADERS_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
    let connection = graceful.watch(connection);
    async move {
        tokio::pin!(connection);
        let is_late = async {
            tokio::time::sleep(timeouts.first_head).await;
            if requests.any_begun() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            ended = &mut connection => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "a connection ended");
                }
            }
            () = is_late => tracing::debug!("a new connection sent no request in time"),
        }
    }
}

/// The body of an answer. Its request counts as in progress until the body was handed over or
/// dropped.
struct TrackedBody {
    body: Body,
    _in_progress: InProgress,
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connections::Limits;
    use std::net::{IpAddr, Ipv4Addr};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// Larger than the buffers of two sockets.
    const ANSWER_BYTES: usize = 32 << 20;

    const STRANGER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

    #[tokio::test]
    async fn an_answer_that_is_being_sent_holds_its_place_until_all_of_it_is_taken() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Connections::new(Limits { total: 1, per_address: 8, new: 8 });
        let router = Router::new()
            .route("/", axum::routing::get(|| async { Bytes::from(vec![b'x'; ANSWER_BYTES]) }));
        let timeouts = Timeouts::default();
        let serving = listen(
            (listener, connections.clone()),
            (router, timeouts),
            std::future::pending::<()>(),
        );
        let serving = tokio::spawn(serving);
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        // The first byte arrives after the whole answer was handed over.
        let mut answer = vec![client.read_u8().await.unwrap()];
        assert!(matches!(connections.admit(STRANGER), Admission::Full));
        let head = b"\r\n\r\n";
        while !answer.ends_with(head) {
            answer.push(client.read_u8().await.unwrap());
        }
        client.read_exact(&mut vec![0; ANSWER_BYTES]).await.unwrap();
        while matches!(connections.admit(STRANGER), Admission::Full) {
            connections.changed().await;
        }
        serving.abort();
    }
}
