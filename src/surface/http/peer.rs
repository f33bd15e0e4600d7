//! Finds the user whose process sent a request. A browser sends the cookies of this machine to every port of it, so a
//! server of another user receives ours and could replay them; the kernel tells which user owns the client's socket.

use std::net::SocketAddr;

use tokio::net::TcpStream;

/// The two addresses of a connection.
#[derive(Debug, Clone, Copy)]
pub struct Ends {
    client: SocketAddr,
    server: SocketAddr,
}

impl Ends {
    /// Returns the addresses of an accepted connection, or `None` if it is closed already.
    pub fn of(stream: &TcpStream) -> Option<Self> {
        Some(Self { client: stream.peer_addr().ok()?, server: stream.local_addr().ok()? })
    }

    /// Returns whether the client is a process of a user other than this one and root. Returns false if the system
    /// does not say: a connection from the host of a virtual machine has no process here.
    pub fn is_others(&self) -> bool {
        let known = [rustix::process::geteuid().as_raw(), 0];
        self.owner().is_some_and(|owner| !known.contains(&owner))
    }

    #[cfg(target_os = "linux")]
    fn owner(&self) -> Option<u32> {
        let table = if self.client.is_ipv4() { "/proc/net/tcp" } else { "/proc/net/tcp6" };
        let table = std::fs::read_to_string(table).ok()?;
        table.lines().find_map(|line| self.owner_in(line))
    }

    #[cfg(not(target_os = "linux"))]
    fn owner(&self) -> Option<u32> {
        None
    }

    /// Returns the user id in a line of `/proc/net/tcp` (proc_net(5)), if the line describes the client's socket.
    #[cfg(target_os = "linux")]
    fn owner_in(&self, line: &str) -> Option<u32> {
        let mut words = line.split_whitespace().skip(1);
        let is_client = words.next() == Some(&*shown(self.client)) && words.next() == Some(&*shown(self.server));
        if is_client { words.nth(4)?.parse().ok() } else { None }
    }
}

/// Returns an address as the kernel prints it: 32-bit words in native byte order, in hex.
#[cfg(target_os = "linux")]
fn shown(address: SocketAddr) -> String {
    let bytes = match address {
        SocketAddr::V4(address) => address.ip().octets().to_vec(),
        SocketAddr::V6(address) => address.ip().octets().to_vec(),
    };
    let word = |bytes: &[u8]| bytes.try_into().map(u32::from_ne_bytes).unwrap_or_default();
    let host: String = bytes.chunks(4).map(|bytes| format!("{:08X}", word(bytes))).collect();
    format!("{host}:{:04X}", address.port())
}

#[cfg(all(test, target_os = "linux", target_endian = "little"))]
mod tests {
    use super::*;

    #[test]
    fn the_owner_of_the_clients_end_is_found() {
        let ends = Ends { client: "127.0.0.1:45000".parse().unwrap(), server: "127.0.0.1:7865".parse().unwrap() };
        let client = "   5: 0100007F:AFC8 0100007F:1EB9 01 00000000:00000000 00:00000000 00000000  1000        0 91 1";
        let server = "   6: 0100007F:1EB9 0100007F:AFC8 01 00000000:00000000 00:00000000 00000000     0        0 92 1";
        assert_eq!(
            (ends.owner_in(client), ends.owner_in(server), ends.owner_in("  sl  local_address")),
            (Some(1000), None, None)
        );
        assert_eq!(shown("[::1]:80".parse().unwrap()), "00000000000000000000000001000000:0050");
    }
}
