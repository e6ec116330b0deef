//! How much room a disk has.

use std::io;
use std::path::Path;

/// Bytes that are free on the file system of `path`, for who is no superuser.
pub fn disk_free(path: impl AsRef<Path>) -> io::Result<u64> {
    let found = rustix::fs::statvfs(path.as_ref())?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}
