//! Copies of indexes as they were at one moment, in a directory of this process.
//!
//! A copy is a backup of the index, restored below the server's directory and opened for reading. A
//! directory that a process left is removed at the next start. So that none removes another's, a process
//! holds a lock on its own.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock, Weak};

use spirit::backup::Backup;
use spirit::error::BackupError;
use spirit::{Index, OpenError};
use spirit_opensearch::error::Refusal;

use crate::rest::made_id::made_id;
use crate::rest::refused::Answered;
use crate::rest::stats::Numbers;
use crate::served::{HEAP, Served, Taken};
use crate::settings::Settings;

/// The beginning of the names of directories with copies. No index has such a name.
const PREFIX: &str = "_points-";
/// The backup from which a copy is made.
const BACKUP: &str = "backup";
/// The readers of a copy beside those of the threads that answer.
const READERS_BESIDE: usize = 8;
/// Bytes of a block, as file systems count them.
const BLOCK: u64 = 512;

/// The directory of all copies, and what they take.
#[derive(Debug)]
pub(super) struct Copies {
    within: PathBuf,
    own: OnceLock<Own>,
    readers_max: usize,
    bytes: AtomicU64,
    dram: AtomicU64,
    bytes_max: u64,
    dram_max: u64,
}

/// The directory of this process.
#[derive(Debug)]
struct Own {
    path: PathBuf,
    /// Held until the process ends.
    _lock: File,
}

/// A copy of an index. Its directory is removed when it is dropped.
#[derive(Debug)]
pub(super) struct Copy {
    /// The copy, by the index's name.
    pub(super) served: Arc<Served>,
    /// The index that was copied. It may be deleted meanwhile.
    pub(super) of: Weak<Served>,
    _room: Room,
}

/// What a copy takes of the limits, and its directory.
#[derive(Debug)]
struct Room {
    copies: Arc<Copies>,
    taken: Taken,
    path: PathBuf,
}

impl Copies {
    /// Removes what other processes left.
    pub(super) fn new(settings: &Settings) -> Copies {
        let within = settings.directory.clone();
        for left in fs::read_dir(&within).into_iter().flatten().flatten() {
            if left.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX)) {
                remove_left(&left.path());
            }
        }
        Copies {
            within,
            own: OnceLock::new(),
            readers_max: settings.query_threads + READERS_BESIDE,
            bytes: AtomicU64::new(0),
            dram: AtomicU64::new(0),
            bytes_max: settings.pit_bytes,
            dram_max: settings.pit_dram,
        }
    }

    /// Returns the directory of this process, which is made at the first call.
    fn own(&self) -> io::Result<&Path> {
        if let Some(own) = self.own.get() {
            return Ok(&own.path);
        }
        let path = self.within.join(format!("{PREFIX}{}", made_id()));
        DirBuilder::new().mode(0o700).create(&path)?;
        let lock = File::open(&path)?;
        lock.lock()?;
        let own = self.own.get_or_init(|| Own { path: path.clone(), _lock: lock });
        if own.path != path {
            // Another thread was faster.
            fs::remove_dir(&path)?;
        }
        Ok(&own.path)
    }

    /// Copies an index. It has all that was acknowledged before the call.
    pub(super) fn copy(self: &Arc<Copies>, of: &Arc<Served>) -> Answered<Copy> {
        let Numbers { bytes, .. } = Numbers::of(of)?;
        let mut room = self.room(bytes, of.taken().dram)?;
        let (path, backup) = (&room.path, room.path.join(BACKUP));
        DirBuilder::new().mode(0o700).create(path)?;
        of.index.backup(&backup).map_err(|error| failed(of, &error))?;
        Backup::at(&backup).restore(path).map_err(|error| failed(of, &error))?;
        fs::remove_file(&backup)?;
        let opened = Index::builder()
            .directory(path)
            .dram_bytes(room.taken.dram)
            .readers_max(self.readers_max)
            .read_only(true)
            .open();
        let index = opened.map_err(|error: OpenError| failed(of, &error))?;
        let bytes = fs::metadata(path.join(HEAP))?.blocks() * BLOCK;
        room.grow(bytes)?;
        let served = Arc::new(Served::new(of.name.clone(), index));
        Ok(Copy { served, of: Arc::downgrade(of), _room: room })
    }

    /// Takes room for a copy.
    fn room(self: &Arc<Copies>, bytes: u64, dram: u64) -> Answered<Room> {
        let path = self.own()?.join(made_id());
        take(&self.bytes, bytes, self.bytes_max, "pit-bytes")?;
        let copies = self.clone();
        // From here on its drop gives back what was taken.
        let mut room = Room { copies, taken: Taken { nvm: bytes, dram: 0 }, path };
        take(&self.dram, dram, self.dram_max, "pit-dram")?;
        room.taken.dram = dram;
        Ok(room)
    }
}

impl Drop for Copies {
    fn drop(&mut self) {
        if let Some(own) = self.own.get() {
            // It has no copies any more. What cannot be removed now is removed at the next start.
            let _ = fs::remove_dir(&own.path);
        }
    }
}

impl Room {
    /// Takes as many bytes of files as the copy has, once that is known.
    fn grow(&mut self, bytes: u64) -> Answered<()> {
        let more = bytes.saturating_sub(self.taken.nvm);
        take(&self.copies.bytes, more, self.copies.bytes_max, "pit-bytes")?;
        self.taken.nvm += more;
        Ok(())
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // What cannot be removed now is removed at the next start.
        let _ = fs::remove_dir_all(&self.path);
        self.copies.bytes.fetch_sub(self.taken.nvm, Relaxed);
        self.copies.dram.fetch_sub(self.taken.dram, Relaxed);
    }
}

fn take(of: &AtomicU64, more: u64, max: u64, setting: &str) -> Answered<()> {
    let taken = of.fetch_update(Relaxed, Relaxed, |taken| {
        taken.checked_add(more).filter(|taken| *taken <= max)
    });
    match taken {
        Ok(_) => Ok(()),
        Err(_) => Err(Refusal::rejected(format!(
            "points in time would take more than {max} bytes: close those that are not needed, or start \
             the server with a larger --{setting}"
        ))
        .into()),
    }
}

fn failed(of: &Served, error: &(dyn std::error::Error + 'static)) -> Refusal {
    let reason = format!("[{}] cannot be copied for a point in time: {error}", of.name);
    match error.downcast_ref::<BackupError>() {
        Some(BackupError::Graceful { .. } | BackupError::Volatile) => {
            Refusal::illegal_argument(reason)
        }
        Some(BackupError::Restless { .. }) => Refusal::rejected(reason),
        _ => Refusal::new("engine_exception", 500, reason),
    }
}

/// Removes a directory unless the process that made it runs.
fn remove_left(path: &Path) {
    if File::open(path).is_ok_and(|left| left.try_lock().is_ok()) {
        // What stays is tried again at the next start.
        let _ = fs::remove_dir_all(path);
    }
}
