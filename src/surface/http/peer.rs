//! Finds the user whose process sent a request. A browser sends the cookies of this machine to all of its ports, so a
//! server of another user receives ours and could replay them; the kernel knows which user owns the client's socket.

use std::net::SocketAddr;

use tokio::net::TcpStream;

use crate::platform::peer;

/// The two ends of a connection.
#[derive(Debug, Clone, Copy)]
pub struct Ends {
    client: SocketAddr,
    server: SocketAddr,
}

impl Ends {
    /// Returns the addresses of an accepted connection, or `None` if it is already closed.
    pub fn of(stream: &TcpStream) -> Option<Self> {
        Some(Self { client: stream.peer_addr().ok()?, server: stream.local_addr().ok()? })
    }

    /// Returns whether the client is known to be a process of a user other than this one and root.
    pub fn is_others(&self) -> bool {
        peer::is_of_another_user(self.client, self.server)
    }
}
