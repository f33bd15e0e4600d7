//! Sends one request to the daemon of this machine. A small HTTP client is enough, since both ends are known.

use std::{
    io::{self, Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    time::Duration,
};

use serde_json::Value;

/// The maximum time to wait for an answer.
const TIME: Duration = Duration::from_secs(5);
/// The maximum size of an answer, in bytes.
const MAX: u64 = 64 << 10;

/// Sends a request to a local port, with the token if one is given.
///
/// # Errors
/// Returns an error if nothing listens, or the listener does not answer in time or is not a git blue server.
pub fn ask(port: u16, method: &str, path: &str, token: Option<&str>) -> io::Result<Value> {
    exchange(port, method, path, token).map_err(|error| match error.kind() {
        // Systems report an expired time limit differently, none of them in these words.
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            io::Error::new(io::ErrorKind::TimedOut, "it does not answer")
        }
        _ => error,
    })
}

fn exchange(port: u16, method: &str, path: &str, token: Option<&str>) -> io::Result<Value> {
    let mut stream = connect(port)?;
    let authorization = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{authorization}Content-Length: 0\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = Vec::new();
    stream.take(MAX).read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer);
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
    serde_json::from_str(body).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it does not speak JSON"))
}

/// Requests a stream that lasts until one side closes it. Returns the connection.
///
/// # Errors
/// Returns an error if nothing listens.
pub fn begin(port: u16, path: &str, token: &str) -> io::Result<TcpStream> {
    let mut stream = connect(port)?;
    // HTTP/1.0, so that the lines are not split into chunks.
    write!(stream, "GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\r\n")?;
    Ok(stream)
}

fn connect(port: u16) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), TIME)?;
    stream.set_read_timeout(Some(TIME))?;
    stream.set_write_timeout(Some(TIME))?;
    Ok(stream)
}

/// Returns whether no process listens on a port.
pub fn is_free(port: u16) -> bool {
    TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), TIME).is_err()
}
