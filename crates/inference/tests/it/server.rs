//! A real HTTP server on loopback that answers from a script.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::Duration;

/// What the server does with one request.
pub enum Reply {
    /// Status, further header lines, body.
    Answer(u16, String, String),
    /// Nothing, for as long as the server is there.
    Hang,
    /// Closes the connection.
    Close,
    /// Begins an answer and sends a byte of it every 20 ms.
    Trickle,
}

pub fn raw(body: &str) -> Reply {
    Reply::Answer(200, String::new(), body.to_owned())
}

/// Runs `work` to its end. One that takes longer than a minute hangs: no test here allows a client
/// to wait that long.
pub fn without_hanging<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let (done, is_done) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || done.send(work()));
        match is_done.recv_timeout(Duration::from_secs(60)) {
            Ok(result) => result,
            // Leaving the scope would wait for the thread.
            Err(mpsc::RecvTimeoutError::Timeout) => {
                eprintln!("a client waits for ever");
                std::process::abort()
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => panic!("the client panicked"),
        }
    })
}

/// A refusal whose complaint repeats the key.
pub fn status(status: u16) -> Reply {
    complains(status, "no luck with sk-secret")
}

pub fn complains(status: u16, complaint: &str) -> Reply {
    Reply::Answer(
        status,
        String::new(),
        serde_json::json!({"error": {"message": complaint}}).to_string(),
    )
}

/// A server that gives the replies in turn and then takes no more; and what it was asked.
pub struct Server {
    pub url: String,
    asked: mpsc::Receiver<String>,
    /// Dropped with the server; connections without an answer stay open until then.
    _alive: mpsc::Sender<()>,
}

impl Server {
    pub fn new(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (tell, asked) = mpsc::channel();
        let (alive, gone) = mpsc::channel::<()>();
        std::thread::spawn(move || {
            let mut held = Vec::new();
            for reply in replies {
                let Ok((stream, _)) = listener.accept() else { return };
                let Some(request) = read(&stream) else { return };
                let _ = tell.send(request);
                held.extend(answer(stream, reply, &gone));
            }
            let _ = gone.recv();
            drop(held);
        });
        Server { url, asked, _alive: alive }
    }

    /// Head and body of each request that was answered.
    pub fn requests(&self) -> Vec<String> {
        self.asked.try_iter().collect()
    }

    /// The body of each request that was answered.
    pub fn bodies(&self) -> Vec<serde_json::Value> {
        let body = |text: &String| text.split("\r\n\r\n").nth(1).unwrap().to_owned();
        let bodies = self.requests().iter().map(body).collect::<Vec<_>>();
        bodies.iter().map(|body| serde_json::from_str(body).unwrap()).collect()
    }
}

fn read(stream: &TcpStream) -> Option<String> {
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

fn answer(mut stream: TcpStream, reply: Reply, gone: &mpsc::Receiver<()>) -> Option<TcpStream> {
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
            // Until the client or the test has gone.
            while gone.recv_timeout(Duration::from_millis(20))
                == Err(mpsc::RecvTimeoutError::Timeout)
                && stream.write_all(b" ").is_ok()
            {}
            None
        }
    }
}
