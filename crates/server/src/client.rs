//! Where a request came from.

use std::fmt;
use std::net::IpAddr;

/// Where a request came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Client {
    Address(IpAddr),
    /// The Unix socket.
    Socket,
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // An address of IPv4 has one form, however it was listened for.
            Client::Address(address) => address.to_canonical().fmt(f),
            Client::Socket => f.write_str("socket"),
        }
    }
}
