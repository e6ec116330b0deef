//! Trust in an existing file: its root, and whether the rest is what was stored.

use spirit_index::form::root;
use spirit_index::form::root::Root;
use spirit_index::ground::PARTS_START;
use spirit_mem::{Dram, FilePart, HeapFile, Identity, Medium, Region, Residency};

use crate::config::durability::Mode;
use crate::config::error::OpenError;
use crate::config::options::Options;

/// The states of a root: the index is open, or was closed in an orderly way.
pub(crate) const OPEN: u64 = 1;
pub(crate) const CLOSED: u64 = 2;

/// Maps a part of a file.
pub(crate) fn map(file: &HeapFile, start: u64, bytes: u64) -> Result<Region, OpenError> {
    let part = FilePart { file, start, bytes };
    Region::reserve_tiers(Some(part), Dram::Private, bytes, Residency::OnTouch)
        .map_err(OpenError::from)
}

/// Maps the beginning of a file, before the executors' parts: root and list of fields.
pub(crate) fn root_region(file: &HeapFile) -> Result<Region, OpenError> {
    map(file, 0, PARTS_START)
}

/// Finds the root of an existing index, and its region. Updates `options` to the index's settings.
pub(crate) fn find_root(
    file: &HeapFile,
    options: &mut Options,
) -> Result<(Root, Region), OpenError> {
    let wrong = |why: String| OpenError::Root { path: file.path().into(), why };
    let has = file.bytes();
    if has < PARTS_START {
        return Err(wrong(format!(
            "it has {has} bytes, less than the {PARTS_START} bytes of every index; it was cut, or \
             is not an index"
        )));
    }
    let region = root_region(file)?;
    let root = root::read(&region).map_err(|error| wrong(error.to_string()))?;
    if root.file_bytes() != Some(has) {
        let says = root.file_bytes().map_or("too many".into(), |b| b.to_string());
        return Err(wrong(format!(
            "it has {has} bytes, and its root says {says} bytes; it was cut, or is an unfinished \
             copy"
        )));
    }
    options
        .take_over(&root)
        .map_err(|what| wrong(format!("this version does not know the {what} in its root")))?;
    Ok((root, region))
}

/// Returns an error if a file that no process has open for writing cannot be trusted.
pub(crate) fn check(file: &HeapFile, options: &Options, root: &Root) -> Result<(), OpenError> {
    let path = || file.path().into();
    if root.state == CLOSED {
        Ok(())
    } else if options.mode == Mode::Graceful {
        Err(OpenError::Unclean { path: path() })
    } else {
        let identity = file.identity().map_err(OpenError::from)?;
        if is_copy(root, identity) {
            Err(OpenError::Copied { path: path() })
        } else if outlives_all(file, options) || is_cached(root, identity) == Some(true) {
            Ok(())
        } else {
            Err(OpenError::Untrusted { path: path() })
        }
    }
}

/// True if the writer that has the index open trusts it. The writer may see it through another
/// mount.
pub(crate) fn is_relied_on(
    file: &HeapFile,
    options: &Options,
    root: &Root,
) -> Result<bool, OpenError> {
    let identity = file.identity().map_err(OpenError::from)?;
    let is_kept = outlives_all(file, options) || is_cached(root, identity) != Some(false);
    Ok(is_kept && !is_copy(root, identity))
}

/// True if the file is a copy of the one that the writer had open. The writer may have stored while
/// it was copied, so its blocks may be of several moments. No checksum finds that, since each block
/// is whole.
///
/// A snapshot of the file system, or an image of a disk, has the file itself, as it was at one
/// moment. It is as good as a power cut. Its birth time and inode are the file's, though the device
/// may be another. Some file systems have no birth time, and some renumber inodes at each mount. So
/// the inode decides only if a birth time is missing.
fn is_copy(root: &Root, identity: Identity) -> bool {
    if root.birth != 0 && identity.birth != 0 {
        root.birth != identity.birth
    } else {
        root.inode != identity.inode
    }
}

/// True if the contents were synced, or end with the machine. On a disk at level process they are
/// complete only if the page cache that holds them still exists.
fn outlives_all(file: &HeapFile, options: &Options) -> bool {
    file.medium() != Medium::File || options.is_os_level()
}

/// True if the page cache that the last writer stored to is still the file's; none if unknown.
///
/// The page cache ends with the machine's boot and with its file system. A clean unmount would have
/// written it back. A forced one, or a disk that was pulled, looks the same afterwards. The page
/// cache does not end with the writer's mount. A mount is one of several views, and a container's
/// ends with it. None if only the mount could tell, and it is another one.
fn is_cached(root: &Root, identity: Identity) -> Option<bool> {
    let same_file = (root.device, root.inode) == (identity.device, identity.inode);
    if !same_file || [root.boot_low, root.boot_high] != boot_id() {
        return Some(false);
    }
    if root.file_system != 0 && identity.file_system != 0 {
        return Some(root.file_system == identity.file_system);
    }
    (root.mount == identity.mount).then_some(true)
}

/// Writes to `root` the identity and the place of its file.
pub(crate) fn note_place(root: &mut Root, identity: Identity) {
    let Identity { device, inode, mount, file_system, birth } = identity;
    let [boot_low, boot_high] = boot_id();
    *root = Root { device, inode, mount, file_system, birth, boot_low, boot_high, ..*root };
}

/// Returns the id of the machine's boot; zeros if unknown.
fn boot_id() -> [u64; 2] {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    let half = |range| digits.get(range).and_then(|h| u64::from_str_radix(h, 16).ok()).unwrap_or(0);
    [half(0..16), half(16..32)]
}
