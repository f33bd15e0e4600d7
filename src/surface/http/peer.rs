//! Whose process asks. A browser sends the cookies of this machine to every port of it, so a server of
//! another user that it opens sees ours; that user's own processes are told by the kernel.

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
    /// Returns the ends of a connection that was accepted; nothing where it is gone already.
    pub fn of(stream: &TcpStream) -> Option<Self> {
        Some(Self { client: stream.peer_addr().ok()?, server: stream.local_addr().ok()? })
    }

    /// Returns whether the client is a process of another user than this one and root, as far as the system says.
    pub fn is_others(&self) -> bool {
        peer::is_of_another_user(self.client, self.server)
    }
}
