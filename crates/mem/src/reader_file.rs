//! The file in which processes that read an index tell its writer what they still read.
//!
//! | file of the index's directory | |
//! |---|---|
//! | `readers` | the [shared words](crate::shared_pins), mapped by the writer and by all that read |
//! | `readers.N` | locked by the process whose group N is, for as long as it lives |
//!
//! | bytes of `readers` | |
//! |---|---|
//! | 0 .. 16 | magic number; version, byte order mark |
//! | 128, 256, 384 | epoch, changes, groups |
//! | from 4096 | slots of 128 bytes, group by group |
//!
//! Nothing in it has to survive a crash of the machine: a writer that finds no process that reads begins anew. The lock
//! says who lives, not a process number, which means nothing in another namespace: the kernel lets go of it when the last
//! descriptor is closed. Whoever opens the file, enters or leaves holds a lock of the directory meanwhile, which is the
//! caller's matter.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use rustix::fs::{FlockOperation, OFlags};

use crate::heap_file::{FilePart, HeapFile, HeapFileError};
use crate::pins::{EPOCH_FIRST, EPOCH_MASK};
use crate::region::{Region, Residency};
use crate::shared_pins::{self, SharedPins};
use crate::span::Span;

/// Processes that read at once.
pub const GROUPS: usize = 32;
/// Slots of each.
pub const GROUP_SLOTS: usize = 32;

/// `SPIRITRD`.
const MAGIC: u64 = u64::from_le_bytes(*b"SPIRITRD");
const VERSION: u64 = 1 | 0x0102_0304 << 32;
const MAGIC_AT: u64 = 0;
const VERSION_AT: u64 = 8;
const EPOCH_AT: u64 = 128;
const CHANGES_AT: u64 = 256;
const GROUPS_AT: u64 = 384;
const SLOTS_AT: u64 = 4096;
/// As in memory of one process: alone on a pair of cache lines.
const SLOT_BYTES: u64 = 128;
const BYTES: u64 = SLOTS_AT + (GROUPS * GROUP_SLOTS) as u64 * SLOT_BYTES;

/// The file, mapped.
pub struct ReaderFile {
    region: Region,
    directory: PathBuf,
}

/// A process that reads: its group is its own until this is dropped, or the process ends.
pub struct Registration {
    file: Arc<ReaderFile>,
    group: usize,
    /// Locked.
    _lock: File,
}

/// Whose a group is.
enum Owner {
    Lives,
    /// Nobody's, for as long as its lock is kept, if it has one.
    Gone {
        _lock: Option<File>,
    },
}

impl ReaderFile {
    /// Opens the file in `directory` as the writer; makes it anew where that disturbs nobody.
    pub fn of_writer(directory: &Path) -> Result<Arc<ReaderFile>, HeapFileError> {
        let Some(file) = Self::open(directory)? else { return Self::make(directory) };
        let groups = file.groups().load(Acquire);
        for group in (0..GROUPS).filter(|group| groups >> group & 1 == 1) {
            // What is left of processes that have ended. A group's bit is the first of it to be set and the last to go.
            file.reap(group);
        }
        Ok(Arc::new(file))
    }

    /// Opens it as a process that reads. If nobody has the index open for writing, it is made where it is not there.
    pub fn of_follower(
        directory: &Path,
        has_writer: bool,
    ) -> Result<Arc<ReaderFile>, HeapFileError> {
        match Self::open(directory)? {
            Some(file) => Ok(Arc::new(file)),
            None if has_writer => Err(HeapFileError::Readers { path: directory.join("readers") }),
            None => Self::make(directory),
        }
    }

    /// Removes it from a directory in which there is no index after all.
    pub fn remove(directory: &Path) {
        for name in ["readers", "readers.new"] {
            // What stays behind is taken over, or made anew.
            let _ = std::fs::remove_file(directory.join(name));
        }
    }

    /// The file that is there, if it is one.
    fn open(directory: &Path) -> Result<Option<ReaderFile>, HeapFileError> {
        let file = match HeapFile::open_shared(&directory.join("readers")) {
            Err(HeapFileError::System { reason, .. }) if reason.kind() == ErrorKind::NotFound => {
                return Ok(None);
            }
            file => file?,
        };
        if file.bytes() != BYTES {
            return Ok(None);
        }
        let file = Self::map(&file, directory)?;
        let is_sound = file.word(MAGIC_AT).load(Acquire) == MAGIC
            && file.word(VERSION_AT).load(Relaxed) == VERSION
            && (EPOCH_FIRST..EPOCH_MASK / 2).contains(&file.epoch().load(Relaxed));
        Ok(is_sound.then_some(file))
    }

    /// Makes one, unless a process that lives may have another.
    fn make(directory: &Path) -> Result<Arc<ReaderFile>, HeapFileError> {
        for group in 0..GROUPS {
            if let Owner::Lives = owner(directory, group)? {
                return Err(HeapFileError::Readers { path: directory.join("readers") });
            }
        }
        let (path, new) = (directory.join("readers"), directory.join("readers.new"));
        // One that was not finished; if it cannot be removed, making it says so.
        let _ = std::fs::remove_file(&new);
        let file = HeapFile::create(&new, BYTES)?;
        file.reserve(0, BYTES)?;
        let made = Self::map(&file, directory)?;
        made.epoch().store(EPOCH_FIRST, Relaxed);
        made.word(VERSION_AT).store(VERSION, Relaxed);
        made.word(MAGIC_AT).store(MAGIC, Release);
        std::fs::rename(&new, &path).map_err(|reason| file.failed("name it", reason))?;
        Ok(Arc::new(made))
    }

    fn map(file: &HeapFile, directory: &Path) -> Result<ReaderFile, HeapFileError> {
        let part = FilePart { file, start: 0, bytes: BYTES };
        let region = Region::reserve_tiers(Some(part), BYTES, Residency::OnTouch)
            .map_err(|reason| file.failed("map it", std::io::Error::other(reason)))?;
        Ok(ReaderFile { region, directory: directory.into() })
    }

    /// A group for this process; none if all are taken.
    pub fn register(self: Arc<Self>) -> Result<Option<Registration>, HeapFileError> {
        for group in 0..GROUPS {
            let path = lock_path(&self.directory, group);
            let flags = OFlags::RDWR | OFlags::CREATE;
            let lock = HeapFile::open_file(&path, flags, "open it")?;
            if try_lock(&lock, &path)? {
                shared_pins::enter(&*self, group);
                return Ok(Some(Registration { file: self, group, _lock: lock }));
            }
        }
        Ok(None)
    }

    fn word(&self, at: u64) -> &AtomicU64 {
        &self.region.view(Span::<AtomicU64>::new(at, 1))[0]
    }
}

impl SharedPins<AtomicU64> for ReaderFile {
    fn epoch(&self) -> &AtomicU64 {
        self.word(EPOCH_AT)
    }

    fn changes(&self) -> &AtomicU64 {
        self.word(CHANGES_AT)
    }

    fn groups(&self) -> &AtomicU64 {
        self.word(GROUPS_AT)
    }

    fn group_slots(&self) -> usize {
        GROUP_SLOTS
    }

    fn groups_max(&self) -> usize {
        GROUPS
    }

    fn slot(&self, group: usize, slot: usize) -> &AtomicU64 {
        self.word(SLOTS_AT + (group * GROUP_SLOTS + slot) as u64 * SLOT_BYTES)
    }

    fn reap(&self, group: usize) -> bool {
        // What cannot be told now is asked again. The lock is kept until the group is cleared.
        let owner = owner(&self.directory, group);
        let gone = matches!(owner, Ok(Owner::Gone { .. }));
        if gone {
            shared_pins::clear(self, group);
        }
        gone
    }
}

impl Registration {
    /// Where the slots are.
    pub fn file(&self) -> &Arc<ReaderFile> {
        &self.file
    }

    /// The group.
    pub fn group(&self) -> usize {
        self.group
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        // Before the lock goes, so nobody has entered the group.
        shared_pins::clear(&*self.file, self.group);
    }
}

fn lock_path(directory: &Path, group: usize) -> PathBuf {
    directory.join(format!("readers.{group}"))
}

fn owner(directory: &Path, group: usize) -> Result<Owner, HeapFileError> {
    let path = lock_path(directory, group);
    match HeapFile::open_file(&path, OFlags::RDWR, "open it") {
        Ok(lock) if try_lock(&lock, &path)? => Ok(Owner::Gone { _lock: Some(lock) }),
        Ok(_) => Ok(Owner::Lives),
        Err(HeapFileError::System { reason, .. }) if reason.kind() == ErrorKind::NotFound => {
            Ok(Owner::Gone { _lock: None })
        }
        Err(error) => Err(error),
    }
}

fn try_lock(file: &File, path: &Path) -> Result<bool, HeapFileError> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        Err(e) => {
            let (path, action) = (path.into(), "lock it");
            Err(HeapFileError::System { path, action, reason: e.into() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pins;
    use crate::test_directory::TestDirectory;

    fn follow(directory: &TestDirectory, has_writer: bool) -> Registration {
        let file = ReaderFile::of_follower(directory.path(), has_writer).unwrap();
        file.register().unwrap().expect("a group is free")
    }

    #[test]
    fn groups_are_bounded_and_come_back() {
        let directory = TestDirectory::new("groups");
        let writer = ReaderFile::of_writer(directory.path()).unwrap();
        let mut all: Vec<_> = (0..GROUPS).map(|_| follow(&directory, true)).collect();
        let more = ReaderFile::of_follower(directory.path(), true).unwrap();
        assert!(more.clone().register().unwrap().is_none());
        assert_eq!(writer.groups().load(Relaxed).count_ones() as usize, GROUPS);
        assert_eq!(all.pop().unwrap().group(), GROUPS - 1);
        assert_eq!(more.register().unwrap().unwrap().group(), GROUPS - 1);
        drop(all);
        assert_eq!(writer.groups().load(Relaxed), 0);
    }

    #[test]
    fn a_process_that_lives_is_not_reaped() {
        let directory = TestDirectory::new("alive");
        let reader = follow(&directory, false);
        let writer = ReaderFile::of_writer(directory.path()).unwrap();
        let pins = Pins::new(1).shared(writer.clone());
        let reading = Pins::follower(reader.file().clone(), reader.group());
        let slot = reading.acquire().unwrap();
        reading.pin(&slot);
        let stamp = pins.retire();
        pins.reap();
        assert!(pins.horizon() <= stamp);
        // As a process that is killed: its lock goes, and nothing else.
        let Registration { file, _lock, .. } = &reader;
        rustix::fs::flock(_lock, FlockOperation::Unlock).unwrap();
        assert_eq!(file.groups().load(Relaxed), 1);
        pins.reap();
        assert!(pins.horizon() > stamp);
        assert_eq!(file.groups().load(Relaxed), 0);
    }

    #[test]
    fn a_damaged_file_is_made_anew_when_nobody_reads() {
        let directory = TestDirectory::new("damaged");
        let reader = follow(&directory, false);
        let path = directory.path().join("readers");
        for damage in [&b"too short"[..], &[0xFF; BYTES as usize]] {
            std::fs::remove_file(&path).unwrap();
            std::fs::write(&path, damage).unwrap();
            let error = ReaderFile::of_writer(directory.path()).err().expect("a process reads");
            assert!(error.to_string().contains("missing or damaged"), "{error}");
        }
        drop(reader);
        assert!(ReaderFile::of_follower(directory.path(), true).is_err(), "the writer's");
        let made = ReaderFile::of_writer(directory.path()).unwrap();
        made.changes().store(9, Relaxed);
        assert_eq!(ReaderFile::of_writer(directory.path()).unwrap().changes().load(Relaxed), 9);
    }
}
