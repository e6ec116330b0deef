//! Power cuts of one file system, as far as the kernel can make them: for proofs on real files.
//!
//! After the next mount, synced data is there, and other data may be gone, as after a real cut. The
//! effect on sectors that a disk is writing at that moment does not show. The simulator of the
//! `door` crate shows that.

use std::fs::File;
use std::io;

use rustix::ioctl::{self, Opcode, Setter, opcode};

/// Shuts down the file system of `file` at once, for all processes.
///
/// Data that has not reached its device never will, nor will its journal's tail. Every call that
/// needs the device fails from now on. It works again after the next mount.
///
/// # Errors
/// If the process may not administer the system, or if the file system cannot do it. ext4 and XFS
/// can.
pub fn cut(file: &File) -> io::Result<()> {
    /// The request `FS_IOC_SHUTDOWN`. It reads its argument, though its number says that it writes
    /// it.
    const SHUTDOWN: Opcode = opcode::read::<u32>(b'X', 125);
    const NO_LOG_FLUSH: u32 = 2;
    // SAFETY: the number is that of a request which takes a `u32`.
    let request = unsafe { Setter::<SHUTDOWN, u32>::new(NO_LOG_FLUSH) };
    // SAFETY: the kernel reads the four bytes of the argument and writes no memory of ours. A file
    // system without this request returns an error.
    unsafe { ioctl::ioctl(file, request) }.map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_that_cannot_lose_power_says_so() {
        let file = File::open("/proc/self/status").unwrap();
        assert!(cut(&file).is_err());
    }
}
