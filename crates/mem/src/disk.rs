//! Sizes of disks.

use std::io;
use std::path::Path;

/// Returns the bytes of the file system of `path`, or of its nearest existing parent; none if
/// unknown.
pub fn disk_bytes(path: &Path) -> Option<u64> {
    let above = path.ancestors().map(|path| match path.as_os_str().is_empty() {
        true => Path::new("."),
        false => path,
    });
    let found = above.into_iter().find_map(|path| rustix::fs::statvfs(path).ok())?;
    Some(found.f_blocks.saturating_mul(found.f_frsize))
}

/// Returns the bytes that are free on the file system of `path`, for users other than root.
pub fn disk_free(path: impl AsRef<Path>) -> io::Result<u64> {
    let found = rustix::fs::statvfs(path.as_ref())?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}
