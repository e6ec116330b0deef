//! A Unix socket, for the owner and the group.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use tokio::net::UnixListener;

/// Its owner and its group may connect.
const MODE: u32 = 0o660;
/// What is behind its name until it has its mode.
const NEW: &str = ".new";

/// A socket that goes with the server.
pub(crate) struct Socket {
    path: PathBuf,
}

impl Socket {
    /// Listens on a path. A socket that was left there goes, if nobody listens on it.
    pub(crate) fn listen(path: &Path) -> io::Result<(Socket, UnixListener)> {
        free(path)?;
        let mut new = path.as_os_str().to_owned();
        new.push(NEW);
        let new = PathBuf::from(new);
        free(&new)?;
        // Nobody else can connect before it has its mode: it has another name so long.
        let listener = UnixListener::bind(&new)?;
        fs::set_permissions(&new, fs::Permissions::from_mode(MODE))?;
        fs::rename(&new, path)?;
        Ok((Socket { path: path.to_owned() }, listener))
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Another process may have removed it.
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes a socket on which nobody listens.
fn free(path: &Path) -> io::Result<()> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !metadata.file_type().is_socket() {
        let why = "there is a file that is no socket: choose another path";
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
    }
    match UnixStream::connect(path) {
        Ok(_) => Err(io::Error::new(io::ErrorKind::AddrInUse, "another process listens there")),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) => Err(error),
    }
}
