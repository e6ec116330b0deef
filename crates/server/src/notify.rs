//! What systemd hears of a service of `Type=notify`: that it is ready, and that it stops.

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// The variable with the socket that a service manager listens on.
const SOCKET: &str = "NOTIFY_SOCKET";

/// The server answers.
pub(crate) const READY: &str = "READY=1";
/// The server ends.
pub(crate) const STOPPING: &str = "STOPPING=1";

/// Says a state to the service manager, if there is one. A failure is worth a line, not an end.
pub(crate) fn notify(state: &str) {
    let Some(socket) = std::env::var_os(SOCKET).filter(|socket| !socket.is_empty()) else { return };
    if let Err(error) = send(&socket, state) {
        tracing::warn!(%error, socket = ?socket, "the service manager does not listen");
    }
}

fn send(socket: &OsStr, state: &str) -> io::Result<()> {
    // A name that begins with `@` is of the kernel's own list of names.
    let address = match socket.as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
        _ => SocketAddr::from_pathname(socket)?,
    };
    UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address)?;
    Ok(())
}
