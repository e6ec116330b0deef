//! A power cut of one file system, as far as the kernel can make one: for proofs on real files.
//!
//! What was synced is there when the file system is mounted again, and what was not may be gone, as after a real cut. What
//! a disk does to the sectors that it is writing at that moment is not shown by it: the simulator of the `door` crate does
//! that.

use std::fs::File;
use std::io;

use rustix::ioctl::{self, Opcode, Setter, opcode};

/// Takes down the file system that `file` is on, for everybody and at once: what has not reached its device never will, its
/// journal's tail included, and every call that would have to fails from now on. Mounted again, it is what it was. Needs the
/// right to administer the system, and a file system that can do it: ext4 and XFS can.
pub fn cut(file: &File) -> io::Result<()> {
    /// `FS_IOC_SHUTDOWN`. It reads its argument, though its number says that it writes it.
    const SHUTDOWN: Opcode = opcode::read::<u32>(b'X', 125);
    const NO_LOG_FLUSH: u32 = 2;
    // SAFETY: the number is that of a request which takes a `u32`.
    let request = unsafe { Setter::<SHUTDOWN, u32>::new(NO_LOG_FLUSH) };
    // SAFETY: the kernel reads the four bytes of the argument and writes no memory of ours; a file that is on no such file
    // system answers with an error.
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
