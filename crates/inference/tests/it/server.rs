//! An HTTP server on loopback that sends scripted replies.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::Duration;

/// How the server replies to one request.
pub enum Reply {
    /// Status, additional header lines, body.
    Answer(u16, String, String),
    /// Keeps the connection open and sends nothing.
    Hang,
    /// Closes the connection.
    Close,
    /// Sends one byte of a response every 20 ms.
    Trickle,
}

pub fn raw(body: &str) -> Reply {
    Reply::Answer(200, String::new(), body.to_owned())
}

/// Runs `work` and aborts the process if it takes longer than a minute, which no test allows a client.
pub fn without_hanging<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let (done, is_done) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || done.send(work()));
        match is_done.recv_timeout(Duration::from_secs(60)) {
            Ok(result) => result,
            // A panic would leave the scope, which waits for the thread.
            Err(mpsc::RecvTimeoutError::Timeout) => {
                eprintln!("a client hangs");
                std::process::abort()
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => panic!("the client panicked"),
        }
    })
}

/// An error whose message repeats the key.
pub fn status(status: u16) -> Reply {
    error_reply(status, "no luck with sk-secret")
}

pub fn error_reply(status: u16, message: &str) -> Reply {
    Reply::Answer(
        status,
        String::new(),
        serde_json::json!({"error": {"message": message}}).to_string(),
    )
}

/// A server that sends the replies in order, one per request, and records the requests.
pub struct Server {
    pub url: String,
    received: mpsc::Receiver<String>,
    /// Dropped with the server; hanging connections stay open until then.
    _running: mpsc::Sender<()>,
}

impl Server {
    pub fn new(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (record, received) = mpsc::channel();
        let (running, stopped) = mpsc::channel::<()>();
        std::thread::spawn(move || {
            let mut hanging = Vec::new();
            for reply in replies {
                let Ok((stream, _)) = listener.accept() else { return };
                let Some(request) = read_request(&stream) else { return };
                let _ = record.send(request);
                hanging.extend(send_reply(stream, reply, &stopped));
            }
            let _ = stopped.recv();
            drop(hanging);
        });
        Server { url, received, _running: running }
    }

    /// Head and body of each request that got a reply.
    pub fn requests(&self) -> Vec<String> {
        self.received.try_iter().collect()
    }

    /// The body of each request that got a reply.
    pub fn bodies(&self) -> Vec<serde_json::Value> {
        let body = |text: &String| text.split("\r\n\r\n").nth(1).unwrap().to_owned();
        let bodies = self.requests().iter().map(body).collect::<Vec<_>>();
        bodies.iter().map(|body| serde_json::from_str(body).unwrap()).collect()
    }
}

fn read_request(stream: &TcpStream) -> Option<String> {
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    for _ in 0..100 {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        head += &line;
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(head + &String::from_utf8(body).ok()?)
}

/// Returns the connection if it must stay open.
fn send_reply(
    mut stream: TcpStream,
    reply: Reply,
    stopped: &mpsc::Receiver<()>,
) -> Option<TcpStream> {
    match reply {
        Reply::Hang => Some(stream),
        Reply::Close => None,
        Reply::Answer(status, headers, body) => {
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: \
                 {length}\r\nconnection: close\r\n{headers}\r\n{body}"
            );
            None
        }
        Reply::Trickle => {
            let _ = write!(stream, "HTTP/1.1 200 X\r\ncontent-length: 100000\r\n\r\n");
            // Until the client or the server stops.
            while stopped.recv_timeout(Duration::from_millis(20))
                == Err(mpsc::RecvTimeoutError::Timeout)
                && stream.write_all(b" ").is_ok()
            {}
            None
        }
    }
}
