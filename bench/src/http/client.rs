//! A minimal HTTP client: one connection, one request at a time.

use oneiro::{Error, Result};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);

/// A persistent connection.
pub(super) struct Client {
    stream: BufReader<TcpStream>,
    host: String,
}

impl Client {
    /// Connects to `host:port`.
    pub(super) fn connect(host: &str) -> Result<Client> {
        let connect = || {
            let stream = TcpStream::connect(host)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(RESPONSE_TIMEOUT))?;
            Ok(stream)
        };
        let stream = connect().map_err(lost)?;
        Ok(Client { stream: BufReader::new(stream), host: host.to_owned() })
    }

    /// Sends a JSON body and returns the body of the response. Any status but success is an error.
    pub(super) fn post(&mut self, path: &str, body: &str) -> Result<Vec<u8>> {
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.host,
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes()).map_err(lost)?;
        let (status, length) = self.head()?;
        let mut answer = vec![0; length];
        self.stream.read_exact(&mut answer).map_err(lost)?;
        match status {
            200..=299 => Ok(answer),
            _ => {
                let text = String::from_utf8_lossy(&answer);
                Err(Error::internal(format!("POST {path} answered {status}: {text}")))
            }
        }
    }

    /// Reads the status and the length of the body.
    fn head(&mut self) -> Result<(u16, usize)> {
        let strange = || Error::internal("the server's answer is not HTTP with a length");
        let mut line = self.line()?;
        let status = line.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.ok_or_else(strange)?;
        let mut length = None;
        loop {
            line = self.line()?;
            match line.split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().ok();
                }
                Some(_) => {}
                None => return length.map(|length| (status, length)).ok_or_else(strange),
            }
        }
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        match self.stream.read_line(&mut line).map_err(lost)? {
            0 => Err(Error::internal("the server closed the connection")),
            _ => Ok(line.trim_end().to_owned()),
        }
    }
}

fn lost(error: std::io::Error) -> Error {
    Error::internal(format!("the connection to the server: {error}")).because(error)
}
