//! Runs `oneiro serve` and speaks HTTP to it byte by byte, so that tests see what is really sent.

use crate::support::oneiro;
use oneiro_testkit::TestSpace;
use serde_json::Value;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Nothing a test waits for takes longer.
pub const LONG: Duration = Duration::from_secs(30);

/// A server of a test's own, ended with it.
pub struct Server {
    child: Child,
    pub address: String,
    log: PathBuf,
}

impl Server {
    /// Serves a space on a free port, with these further arguments.
    pub fn start(space: &TestSpace, args: &[&str]) -> Server {
        let mut command = oneiro(space);
        command.args(["serve", "--listen", "127.0.0.1:0", "--json"]).args(args);
        Server::run(space, command)
    }

    /// The same in a shell that first runs this, such as `ulimit -n 256`.
    pub fn start_after(space: &TestSpace, shell: &str, args: &[&str]) -> Server {
        let plain = oneiro(space);
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{shell} && exec \"$@\""), "sh"]).arg(plain.get_program());
        command.args(plain.get_args()).env_clear();
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.args(["serve", "--listen", "127.0.0.1:0", "--json"]).args(args);
        Server::run(space, command)
    }

    /// Runs a command that serves; its log goes into the folder of the space.
    pub fn run(space: &TestSpace, mut command: Command) -> Server {
        let log = space.folder().join(format!("serve-{:x}.log", fresh()));
        let file = std::fs::File::create(&log).unwrap();
        command.current_dir(space.folder());
        let mut child = command.stdout(Stdio::piped()).stderr(file).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line)
            .unwrap_or_else(|_| panic!("{line}{}", std::fs::read_to_string(&log).unwrap()));
        let address = ready["url"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
        Server { child, address, log }
    }

    /// The cookie of the page with this name, whose port is that of the server.
    pub fn cookie(&self, name: &str, value: &str) -> String {
        let (_, port) = self.address.rsplit_once(':').unwrap();
        format!("{name}_{port}={value}")
    }

    pub fn client(&self) -> Client {
        Client::connect(&self.address).unwrap()
    }

    /// A call on a connection of its own.
    pub fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Reply {
        self.client().call(method, path, body).unwrap()
    }

    /// What the server logged.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// Megabytes that the server has resident.
    pub fn resident_mb(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1_024
    }

    /// Files and sockets that the server has open.
    pub fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    /// How many files the server may have open.
    pub fn open_files_limit(&self) -> usize {
        let limits = std::fs::read_to_string(format!("/proc/{}/limits", self.child.id())).unwrap();
        let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
        line.split_whitespace().nth(3).unwrap().parse().unwrap()
    }

    /// Connections that the server has open, to its clients and to others.
    pub fn sockets(&self) -> usize {
        let files = std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap();
        let links = files.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
        links.filter(|link| link.to_string_lossy().starts_with("socket:")).count()
    }

    pub fn signal(&self, signal: &str) {
        Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
    }

    /// Waits for the end that was asked for and returns the exit code.
    pub fn wait(&mut self) -> Option<i32> {
        let code = self.child.wait().unwrap().code();
        self.assert_clean_log();
        code
    }

    /// Asks the server to stop; it must end every request by itself, without cutting any off.
    pub fn stop_without_cutting_off(mut self) {
        self.signal("-TERM");
        assert_eq!(self.wait(), Some(0));
        let log = self.log();
        assert!(!log.contains("did not finish in time"), "{log}");
    }

    /// Stops the server, which must go well.
    pub fn stop(mut self) {
        self.signal("-TERM");
        assert_eq!(self.wait(), Some(0));
    }

    /// Nothing that the server did may have panicked.
    pub fn assert_clean_log(&self) {
        let log = self.log();
        assert!(!log.contains("panicked"), "{log}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A number that no other call answers, for names.
pub fn fresh() -> u64 {
    std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0)
}

/// Asks again and again until it is so, for a while.
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + LONG;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether the server has sent nothing yet. The connection does not block any more.
pub fn is_unanswered(client: &Client) -> bool {
    client.stream.get_ref().set_nonblocking(true).unwrap();
    let read = client.stream.get_ref().peek(&mut [0]);
    matches!(read, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
}

/// Waits for an answer to one of the clients and takes it out. Which one the server serves last, and
/// so refuses, is left open; there must be no second.
pub fn take_the_one_answered(clients: &mut Vec<Client>) -> Client {
    let mut answered = Vec::new();
    eventually("nobody is answered", || {
        let (waiting, others) = clients.drain(..).partition(is_unanswered);
        *clients = waiting;
        answered.extend(others);
        !answered.is_empty()
    });
    assert_eq!(answered.len(), 1);
    let client = answered.remove(0);
    client.stream.get_ref().set_nonblocking(false).unwrap();
    client
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}{}", self.head, self.text()))
    }

    /// The JSON of an answer that must have this status.
    pub fn is(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}{}", self.head, self.text());
        self.json()
    }

    pub fn header(&self, name: &str) -> Option<String> {
        self.head.lines().skip(1).find_map(|line| {
            let (there, value) = line.split_once(':')?;
            there.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        })
    }
}

/// A connection.
pub struct Client {
    pub stream: BufReader<TcpStream>,
    host: String,
    headers: String,
}

impl Client {
    pub fn connect(address: &str) -> Result<Client> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(LONG))?;
        stream.set_write_timeout(Some(LONG))?;
        stream.set_nodelay(true)?;
        let host = address.to_owned();
        Ok(Client { stream: BufReader::new(stream), host, headers: String::new() })
    }

    /// Sends this header with every call.
    pub fn with(mut self, name: &str, value: &str) -> Client {
        self.headers.push_str(&format!("{name}: {value}\r\n"));
        self
    }

    /// Shows this token with every call.
    pub fn token(self, token: &str) -> Client {
        self.with("Authorization", &format!("Bearer {token}"))
    }

    pub fn call(&mut self, method: &str, path: &str, body: Option<&Value>) -> Result<Reply> {
        let body = body.map(Value::to_string);
        let length = body.as_ref().map_or(String::new(), |body| {
            format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len())
        });
        let (host, headers) = (&self.host, &self.headers);
        let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n{headers}{length}\r\n");
        self.send((head + &body.unwrap_or_default()).as_bytes())?;
        self.reply(method)
    }

    pub fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream.get_mut().write_all(bytes)
    }

    /// Reads one answer; that of a stream of events only up to its first byte.
    pub fn reply(&mut self, method: &str) -> Result<Reply> {
        let mut head = String::new();
        loop {
            let before = head.len();
            self.line(&mut head)?;
            if head.len() == before + 2 {
                if !head.starts_with("HTTP/1.1 1") {
                    break;
                }
                head.clear();
            }
        }
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| Error::other(format!("no status in {head:?}")))?;
        let mut reply = Reply { status, head, body: Vec::new() };
        let events = reply.header("content-type").is_some_and(|kind| kind.contains("event-stream"));
        if method == "HEAD" || status == 204 || status == 304 || events {
            return Ok(reply);
        }
        if reply.header("transfer-encoding").is_some() {
            reply.body = self.chunks()?;
        } else if let Some(length) = reply.header("content-length") {
            reply.body = vec![0; length.parse().map_err(Error::other)?];
            self.stream.read_exact(&mut reply.body)?;
        } else {
            self.stream.read_to_end(&mut reply.body)?;
        }
        Ok(reply)
    }

    fn line(&mut self, into: &mut String) -> Result<()> {
        match self.stream.read_line(into)? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            _ if into.ends_with("\r\n") => Ok(()),
            _ => Err(Error::other(format!("a line without an end: {into:?}"))),
        }
    }

    fn chunks(&mut self) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk()? {
            body.extend(chunk);
        }
        Ok(body)
    }

    /// One chunk of an answer; none at its end.
    pub fn chunk(&mut self) -> Result<Option<Vec<u8>>> {
        let mut size = String::new();
        self.line(&mut size)?;
        let size = usize::from_str_radix(size.trim_end(), 16).map_err(Error::other)?;
        let mut chunk = vec![0; size + 2];
        self.stream.read_exact(&mut chunk)?;
        chunk.truncate(size);
        Ok((size > 0).then_some(chunk))
    }
}

/// An event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    pub id: String,
    pub kind: String,
    pub data: Value,
}

/// A stream of events that is being read.
pub struct Listening {
    client: Client,
    held: String,
}

impl Listening {
    /// Begins to listen, after the event with this id if one is given.
    pub fn begin(client: Client, after: Option<&str>) -> Listening {
        let mut client = match after {
            Some(id) => client.with("Last-Event-ID", id),
            None => client,
        };
        let reply = client.call("GET", "/v1/events", None).unwrap();
        assert_eq!(reply.status, 200, "{}", reply.head);
        Listening { client, held: String::new() }
    }

    /// The next event; none when the stream ends.
    pub fn next(&mut self) -> Result<Option<Told>> {
        let deadline = Instant::now() + LONG;
        loop {
            if Instant::now() > deadline {
                return Err(ErrorKind::TimedOut.into());
            }
            if let Some((event, rest)) = self.held.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.held = rest;
                let field = |name: &str| {
                    event.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
                };
                if let Some(data) = field("data") {
                    let text = |name| field(name).unwrap_or_default().to_owned();
                    let data = serde_json::from_str(data).unwrap();
                    return Ok(Some(Told { id: text("id"), kind: text("event"), data }));
                }
                continue;
            }
            match self.client.chunk()? {
                Some(chunk) => self.held.push_str(std::str::from_utf8(&chunk).unwrap()),
                None => return Ok(None),
            }
        }
    }
}
