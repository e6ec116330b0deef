//! Identities: which file an open one is, and which life of its file system it belongs to.
//!
//! A mount is a view: containers, sandboxes and bind mounts have others of one file system. The
//! kernel has one object for each mounted file system, and for most disks a directory of sysfs with
//! the same life. The number of such a directory is not reused while the machine runs. So it
//! distinguishes one life of a file system from the next in every view.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FsWord, Mode, OFlags, Statx, StatxFlags};
use rustix::ioctl::{self, Getter, Opcode, opcode};

/// The identity of a file. A copy has another one, and so has a file system that was unmounted and
/// mounted again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The device number.
    pub device: u64,
    /// The inode number.
    pub inode: u64,
    /// The id of the mount through which the file is seen. Since Linux 6.8 it is unique, so a new
    /// mount has another one. Before, a later mount may get the id of an earlier one.
    pub mount: u64,
    /// A number of the file system from mount to unmount, in all its mounts; 0 if it has none.
    pub file_system: u64,
    /// The birth time, in nanoseconds since 1970; 0 if unknown. A copy was made later.
    pub birth: u64,
}

impl Identity {
    /// Returns the identity of an open file.
    pub(crate) fn of(file: &File) -> std::io::Result<Identity> {
        let stat = rustix::fs::fstat(file)?;
        // Kernels without unique ids ignore this flag, and return the other id.
        const UNIQUE: StatxFlags = StatxFlags::from_bits_retain(0x4000);
        let asked = StatxFlags::MNT_ID | StatxFlags::BTIME | UNIQUE;
        // Without an answer, all mounts have id 0.
        let more = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, asked).ok();
        let mount = more.as_ref().map_or(0, |more| more.stx_mnt_id);
        let birth = more.as_ref().and_then(birth).unwrap_or(0);
        let file_system = file_system(file, stat.st_dev).unwrap_or(0);
        Ok(Identity { device: stat.st_dev, inode: stat.st_ino, mount, file_system, birth })
    }
}

fn birth(found: &Statx) -> Option<u64> {
    let is_known = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::BTIME);
    let seconds = u64::try_from(found.stx_btime.tv_sec).ok().filter(|_| is_known)?;
    seconds.checked_mul(1_000_000_000)?.checked_add(found.stx_btime.tv_nsec.into())
}

/// Returns the inode number of the file system's directory below `/sys/fs`.
fn file_system(file: &File, device: u64) -> Option<u64> {
    const SYSFS: FsWord = 0x6265_6572;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let open = |path: PathBuf| -> Option<OwnedFd> {
        rustix::fs::open(Path::new("/sys/fs").join(path), flags, Mode::empty()).ok()
    };
    let directory = named(file).and_then(open).or_else(|| by_device(device).find_map(open))?;
    // Outside of sysfs such a number has no meaning.
    let is_sysfs = rustix::fs::fstatfs(&directory).is_ok_and(|stat| stat.f_type == SYSFS);
    rustix::fs::fstat(&directory).ok().map(|stat| stat.st_ino).filter(|_| is_sysfs)
}

/// Returns the kernel's name for the directory (Linux 6.10).
fn named(file: &File) -> Option<PathBuf> {
    #[repr(C)]
    struct Name {
        bytes: u8,
        name: [u8; 128],
    }
    /// The request `FS_IOC_GETFSSYSFSPATH`.
    const NAME: Opcode = opcode::read::<Name>(0x15, 1);
    // SAFETY: the number is that of a request which fills a `Name`.
    let request = unsafe { Getter::<NAME, Name>::new() };
    // SAFETY: the kernel writes only a `Name`. A file system without this request returns an error.
    let Name { bytes, name } = unsafe { ioctl::ioctl(file, request) }.ok()?;
    let name = str::from_utf8(name.get(..bytes.into())?).ok()?;
    (!name.is_empty()).then(|| PathBuf::from(name))
}

/// Returns names for older kernels, if the file system is on a block device.
fn by_device(device: u64) -> impl Iterator<Item = PathBuf> {
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let link = std::fs::read_link(format!("/sys/dev/block/{major}:{minor}")).ok();
    let name = link.and_then(|link| link.file_name().map(PathBuf::from));
    let kinds = ["ext4", "xfs", "f2fs"].into_iter();
    kinds.filter_map(move |kind| Some(Path::new(kind).join(name.as_ref()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_the_same_each_time_it_is_looked_at() {
        let path = std::env::current_exe().unwrap();
        let look = || Identity::of(&File::open(&path).unwrap()).unwrap();
        assert_eq!(look(), look());
        assert_ne!(look().inode, 0);
    }

    #[test]
    fn both_names_of_a_file_system_lead_to_one_directory() {
        let file = File::open(std::env::current_exe().unwrap()).unwrap();
        let device = rustix::fs::fstat(&file).unwrap().st_dev;
        let there = |path: &PathBuf| Path::new("/sys/fs").join(path).is_dir();
        let (named, by_device) = (named(&file), by_device(device).find(there));
        if named.is_some() && by_device.is_some() {
            assert_eq!(named, by_device);
        }
        let identity = Identity::of(&file).unwrap();
        assert_eq!(identity.file_system != 0, named.as_ref().or(by_device.as_ref()).is_some());
    }

    #[test]
    fn a_file_system_in_memory_of_the_kernel_has_no_such_number() {
        let identity = Identity::of(&File::open("/proc/self/status").unwrap()).unwrap();
        assert_eq!(identity.file_system, 0);
    }
}
