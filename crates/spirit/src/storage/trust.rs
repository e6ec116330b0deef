//! What an index's file that is there says of itself: its root, and whether what lies behind it is what was stored.

use spirit_index::form::root::{self, Root};
use spirit_index::ground::layout::PARTS_START;
use spirit_mem::{Dram, FilePart, HeapFile, Identity, Medium, Region, Residency};

use crate::config::durability::Mode;
use crate::config::error::OpenError;
use crate::config::options::Options;

/// States of a root: whether the index is open, or was closed in an orderly way.
pub(crate) const OPEN: u64 = 1;
pub(crate) const CLOSED: u64 = 2;

/// A part of a file, mapped.
pub(crate) fn map(file: &HeapFile, start: u64, bytes: u64) -> Result<Region, OpenError> {
    let part = FilePart { file, start, bytes };
    Region::reserve_tiers(Some(part), Dram::Private, bytes, Residency::OnTouch)
        .map_err(|reason| OpenError::Memory(reason.into()))
}

/// What is before the executors' parts of a file, mapped: root and list of fields.
pub(crate) fn root_region(file: &HeapFile) -> Result<Region, OpenError> {
    map(file, 0, PARTS_START)
}

/// The root of an index that is there, and where it lies; `options` then says what it says.
pub(crate) fn find_root(
    file: &HeapFile,
    options: &mut Options,
) -> Result<(Root, Region), OpenError> {
    let wrong = |why: String| OpenError::Root { path: file.path().into(), why };
    let has = file.bytes();
    if has < PARTS_START {
        return Err(wrong(format!(
            "it has {has} bytes, and what each begins with has {PARTS_START}"
        )));
    }
    let region = root_region(file)?;
    let root = root::read(&region).map_err(|error| wrong(error.to_string()))?;
    if root.file_bytes() != Some(has) {
        let says = root.file_bytes().map_or("more than there can be".into(), |b| b.to_string());
        return Err(wrong(format!(
            "it has {has} bytes, and its root says {says}; it was cut, or is a copy that was not finished"
        )));
    }
    options
        .take_over(&root)
        .map_err(|what| wrong(format!("its root names no {what} that this version knows")))?;
    Ok((root, region))
}

/// Whether what nobody has open for writing may be relied on.
pub(crate) fn check(file: &HeapFile, options: &Options, root: &Root) -> Result<(), OpenError> {
    let path = || file.path().into();
    if root.state == CLOSED {
        Ok(())
    } else if options.mode == Mode::Graceful {
        Err(OpenError::Unclean { path: path() })
    } else {
        let identity = file.identity().map_err(OpenError::File)?;
        if is_copy(root, identity) {
            Err(OpenError::Copied { path: path() })
        } else if outlives_all(file, options) || is_cached(root, identity) == Some(true) {
            Ok(())
        } else {
            Err(OpenError::Untrusted { path: path() })
        }
    }
}

/// Whether the writer that has the index open relies on it, who may see it through another mount.
pub(crate) fn is_relied_on(
    file: &HeapFile,
    options: &Options,
    root: &Root,
) -> Result<bool, OpenError> {
    let identity = file.identity().map_err(OpenError::File)?;
    let is_kept = outlives_all(file, options) || is_cached(root, identity) != Some(false);
    Ok(is_kept && !is_copy(root, identity))
}

/// True if the file is a copy of the one that the writer had open. The writer may have stored while it was copied, so its blocks may
/// be of several moments. No checksum finds that, since each block is whole.
///
/// A snapshot of the file system, or the image of a disk, has the file itself, as it was at one moment: made when it was made,
/// under its number, though the device may be another. That is as good as a power cut. Not all file systems say when a file was
/// made, and some number files anew each time they come up, so the number decides only where the time is missing.
fn is_copy(root: &Root, identity: Identity) -> bool {
    if root.birth != 0 && identity.birth != 0 {
        root.birth != identity.birth
    } else {
        root.inode != identity.inode
    }
}

/// Whether what counts was synced, or goes with the machine. On a disk, at level process, it is there if the page cache that
/// holds it is still the same.
fn outlives_all(file: &HeapFile, options: &Options) -> bool {
    file.medium() != Medium::File || options.is_os_level()
}

/// True if the page cache that the last writer stored to is still the file's. It ends with the machine's start and with its file
/// system: a clean unmount would have written it back, but one that was forced, or whose disk was pulled, looks the same afterwards. Not
/// with the writer's mount: that is one of several views, and a container's goes with it. `None` if only the mount would tell, and it
/// is another.
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

/// Says in `root` which file it is of, and where that is.
pub(crate) fn note_place(root: &mut Root, identity: Identity) {
    let Identity { device, inode, mount, file_system, birth } = identity;
    let [boot_low, boot_high] = boot_id();
    *root = Root { device, inode, mount, file_system, birth, boot_low, boot_high, ..*root };
}

/// Which start of the machine this is; zeros where it does not say.
fn boot_id() -> [u64; 2] {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    let half = |range| digits.get(range).and_then(|h| u64::from_str_radix(h, 16).ok()).unwrap_or(0);
    [half(0..16), half(16..32)]
}
