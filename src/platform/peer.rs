//! The owner of the process at the other end of a local connection.

use std::net::SocketAddr;

/// Whether the system can report the owner of that process. Only Linux can.
pub const IS_KNOWN: bool = cfg!(target_os = "linux");

/// Returns whether the process that connected from `client` to `server` is known to belong to a user other than the
/// current user and root. Returns false if there is no such process, because connections through the host of a virtual
/// machine have none here, and on systems that do not report it; see [`IS_KNOWN`].
pub fn is_of_another_user(client: SocketAddr, server: SocketAddr) -> bool {
    #[cfg(target_os = "linux")]
    {
        linux::is_of_another_user(client, server)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (client, server);
        false
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::net::SocketAddr;

    pub fn is_of_another_user(client: SocketAddr, server: SocketAddr) -> bool {
        let known = [rustix::process::geteuid().as_raw(), 0];
        owner(client, server).is_some_and(|owner| !known.contains(&owner))
    }

    fn owner(client: SocketAddr, server: SocketAddr) -> Option<u32> {
        let table = if client.is_ipv4() { "/proc/net/tcp" } else { "/proc/net/tcp6" };
        let table = std::fs::read_to_string(table).ok()?;
        table.lines().find_map(|line| owner_in(line, client, server))
    }

    /// Returns the user in a line of proc_net(5), if the line is about the client.
    fn owner_in(line: &str, client: SocketAddr, server: SocketAddr) -> Option<u32> {
        let mut words = line.split_whitespace().skip(1);
        let is_client = words.next() == Some(&*shown(client)) && words.next() == Some(&*shown(server));
        if is_client { words.nth(4)?.parse().ok() } else { None }
    }

    /// Formats an address like the kernel: in hex, as 32-bit words in the byte order of this machine.
    fn shown(address: SocketAddr) -> String {
        let bytes = match address {
            SocketAddr::V4(address) => address.ip().octets().to_vec(),
            SocketAddr::V6(address) => address.ip().octets().to_vec(),
        };
        let word = |bytes: &[u8]| bytes.try_into().map(u32::from_ne_bytes).unwrap_or_default();
        let host: String = bytes.chunks(4).map(|bytes| format!("{:08X}", word(bytes))).collect();
        format!("{host}:{:04X}", address.port())
    }

    #[cfg(test)]
    mod tests {
        use std::net::{TcpListener, TcpStream};

        use super::*;

        #[test]
        #[cfg(target_endian = "little")]
        fn the_owner_of_the_clients_end_is_found() {
            let (here, there) = ("127.0.0.1:45000".parse().unwrap(), "127.0.0.1:7865".parse().unwrap());
            let client =
                "   5: 0100007F:AFC8 0100007F:1EB9 01 00000000:00000000 00:00000000 00000000  1000        0 91 1";
            let server =
                "   6: 0100007F:1EB9 0100007F:AFC8 01 00000000:00000000 00:00000000 00000000     0        0 92 1";
            let owner = |line| owner_in(line, here, there);
            assert_eq!((owner(client), owner(server), owner("  sl  local_address")), (Some(1000), None, None));
            assert_eq!(shown("[::1]:80".parse().unwrap()), "00000000000000000000000001000000:0050");
        }

        #[test]
        fn our_own_connection_is_not_of_another_user() {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (client, server) = (stream.local_addr().unwrap(), stream.peer_addr().unwrap());
            assert_eq!(owner(client, server), Some(rustix::process::geteuid().as_raw()));
            assert!(!is_of_another_user(client, server));
        }
    }
}
