//! An index's directory: its one file, the root at the file's beginning, and the executors' parts behind it.
//!
//! | file | |
//! |---|---|
//! | `heap` | root, then a part for each executor; locked while the index is open for writing |
//! | `heap.new` | an index that is being made: it gets its name when all of it is there |
//! | `readers`, `readers.N` | what processes that only read [share](spirit_mem::reader_file) with the writer |

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use spirit_door::trace::Trace;
use spirit_door::{Barrier, Door};
use spirit_index::nvm::layout::{NvmLayout, NvmSettings};
use spirit_index::nvm::root::{self, ROOT_BYTES, Root};
use spirit_index::nvm::tier::Tier;
use spirit_mem::{FilePart, HeapFile, HeapFileError, Medium, ReaderFile, Region, Residency};

use crate::durability::Mode;
use crate::error::OpenError;
use crate::options::Options;

const OPEN: u64 = 1;
pub(crate) const CLOSED: u64 = 2;
/// The space of the root in a trace; executors count from 1.
const ROOT_SPACE: u8 = 0;

/// An open index directory.
pub(crate) struct Store {
    file: Arc<HeapFile>,
    region: Region,
    door: Door,
    root: Mutex<Root>,
    trace: Option<Arc<Trace>>,
    barrier: Barrier,
    /// There was more DRAM the last time.
    has_less_dram: bool,
    /// Where processes that only read say what they read.
    readers: Arc<ReaderFile>,
}

impl Store {
    /// Opens the index in `directory`, or makes it. `options` then says what the index says.
    pub(crate) fn open(directory: &Path, options: &mut Options) -> Result<Store, OpenError> {
        let path = directory.join("heap");
        std::fs::create_dir_all(directory).map_err(failed(directory, "create the directory"))?;
        // Whoever else wants to make the index here waits, and finds it; so does who wants to read it.
        let _held = lock_directory(directory)?;
        if path.exists() {
            Self::open_existing(&path, options)
        } else {
            Self::create(directory, &path, options)
        }
    }

    fn create(directory: &Path, path: &Path, options: &Options) -> Result<Store, OpenError> {
        let failed = |action, reason| {
            let path: PathBuf = directory.into();
            OpenError::File(HeapFileError::System { path, action, reason })
        };
        let new = directory.join("heap.new");
        match std::fs::remove_file(&new) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(failed("remove a heap.new that was not finished", e));
            }
            _ => {}
        }
        let settings = options.memory();
        let nvm = settings.nvm.expect("an index in a directory has a second tier");
        let executors = options.executors as u64;
        let file =
            HeapFile::create(&new, ROOT_BYTES + executors * nvm.bytes).map_err(OpenError::File)?;
        let layout = NvmLayout::new(nvm, settings.segment_bytes);
        file.reserve(0, ROOT_BYTES).map_err(OpenError::File)?;
        for number in 0..executors {
            let bytes = if options.reserve_full { nvm.bytes } else { layout.short.0 };
            let start = ROOT_BYTES + number * nvm.bytes;
            file.reserve(start, bytes).map_err(OpenError::File)?;
            if options.is_os_level() {
                file.write_zeros(start + layout.log.0, layout.log.1).map_err(OpenError::File)?;
            }
        }
        let root = Root {
            state: OPEN,
            salt: random_salt(),
            executors,
            segment_bytes: settings.segment_bytes,
            nvm_bytes: nvm.bytes,
            log_bytes: nvm.log_bytes,
            positions: options.positions.into(),
            mode: options.mode.number(),
            level: options.durability.number(),
            analyzer: name_word(options.analyzer.name()),
            document_bytes_max: options.document_bytes_max as u64,
            on_full: options.on_full.number(),
            created_ms: now_ms(),
            dram_bytes: options.dram_bytes,
            retain_ms: options.retain.map_or(0, |age| age.as_millis() as u64),
            ..Root::default()
        };
        let store = Self::with_root(file, options, root)?;
        store.write_root()?;
        // All of it is on the disk before it has its name, and so is the name.
        store.file.sync_all().map_err(OpenError::File)?;
        std::fs::rename(&new, path).map_err(|e| failed("name the index's file", e))?;
        let entry = std::fs::File::open(directory).and_then(|directory| directory.sync_all());
        entry.map_err(|e| failed("sync the directory", e))?;
        Ok(store)
    }

    fn open_existing(path: &Path, options: &mut Options) -> Result<Store, OpenError> {
        let file = HeapFile::open(path).map_err(OpenError::File)?;
        let found = found_root(&file, options)?;
        check_trust(&file, options, &found)?;
        let next = Root {
            generation: found.generation + 1,
            incarnation: found.incarnation + 1,
            state: OPEN,
            dram_bytes: options.dram_bytes,
            ..found
        };
        let mut store = Self::with_root(file, options, next)?;
        store.has_less_dram = options.dram_bytes < found.dram_bytes;
        store.write_root()?;
        Ok(store)
    }

    fn with_root(file: HeapFile, options: &Options, root: Root) -> Result<Store, OpenError> {
        if options.is_os_level() && file.medium() == Medium::Tmpfs {
            return Err(OpenError::Durability { path: file.path().into(), medium: file.medium() });
        }
        let region = root_region(&file)?;
        // Before anything is changed: processes that read may forbid it.
        let directory = file.path().parent().expect("the file is in the directory");
        let readers = ReaderFile::of_writer(directory).map_err(OpenError::File)?;
        let barrier = barrier(&file, options);
        let trace = options.trace.clone();
        let door = door(barrier, ROOT_SPACE, trace.as_ref());
        Ok(Store {
            file: Arc::new(file),
            region,
            door,
            root: Mutex::new(root),
            trace,
            barrier,
            has_less_dram: false,
            readers,
        })
    }

    fn write_root(&self) -> Result<(), OpenError> {
        let mut root = self.root.lock().unwrap_or_else(PoisonError::into_inner);
        let identity = self.file.identity().map_err(OpenError::File)?;
        (root.device, root.inode, root.mount) = (identity.device, identity.inode, identity.mount);
        [root.boot_low, root.boot_high] = boot_id();
        root::write(&self.region, &self.door, &root);
        Ok(())
    }

    /// What the log of each executor begins its checksums with, and the number of this start.
    pub(crate) fn log_identity(&self) -> (u32, u32) {
        let root = self.root.lock().unwrap_or_else(PoisonError::into_inner);
        (root.salt as u32, root.incarnation as u32)
    }

    /// The second tier of executor `number`.
    pub(crate) fn tier(&self, number: usize, settings: NvmSettings) -> Tier {
        let space = number as u8 + 1;
        Tier {
            file: self.file.clone(),
            start: ROOT_BYTES + number as u64 * settings.bytes,
            door: door(self.barrier, space, self.trace.as_ref()),
        }
    }

    /// Where processes that only read say what they read.
    pub(crate) fn readers(&self) -> &Arc<ReaderFile> {
        &self.readers
    }

    /// Whether there was more DRAM the last time.
    pub(crate) fn has_less_dram(&self) -> bool {
        self.has_less_dram
    }

    /// What the file lies on.
    pub(crate) fn medium(&self) -> Medium {
        self.file.medium()
    }

    /// Says in the root that the index was closed in an orderly way, when all else is on the medium.
    pub(crate) fn close(&self) -> Result<(), HeapFileError> {
        self.file.sync_all()?;
        let mut root = self.root.lock().unwrap_or_else(PoisonError::into_inner);
        root.generation += 1;
        root.state = CLOSED;
        root::write(&self.region, &self.door, &root);
        self.file.sync_all()
    }
}

/// Keeps others from making or opening the index in `directory` for as long as the answer is kept.
pub(crate) fn lock_directory(directory: &Path) -> Result<std::fs::File, OpenError> {
    let held = std::fs::File::open(directory).map_err(failed(directory, "open the directory"))?;
    held.lock().map_err(failed(directory, "lock the directory"))?;
    Ok(held)
}

fn failed(directory: &Path, action: &'static str) -> impl FnOnce(std::io::Error) -> OpenError {
    let path: PathBuf = directory.into();
    move |reason| OpenError::File(HeapFileError::System { path, action, reason })
}

/// The root of an index that is there; `options` then says what it says.
pub(crate) fn found_root(file: &HeapFile, options: &mut Options) -> Result<Root, OpenError> {
    let path = file.path();
    let wrong = |why: String| OpenError::Root { path: path.into(), why };
    if file.bytes() < ROOT_BYTES {
        return Err(wrong(format!(
            "it has {} bytes, and a root alone has {ROOT_BYTES}",
            file.bytes()
        )));
    }
    let region = root_region(file)?;
    let found = root::read(&region).map_err(|e| wrong(e.to_string()))?;
    let bytes =
        found.executors.checked_mul(found.nvm_bytes).and_then(|b| b.checked_add(ROOT_BYTES));
    if bytes != Some(file.bytes()) {
        return Err(wrong(format!(
            "it has {} bytes, and its root says {}; it was cut, or is a copy that was not finished",
            file.bytes(),
            bytes.map_or("more than there can be".into(), |b| b.to_string())
        )));
    }
    options
        .take_over(&found)
        .map_err(|what| wrong(format!("its root names no {what} that this version knows")))?;
    Ok(found)
}

/// Whether what nobody has open for writing may be relied on.
pub(crate) fn check_trust(
    file: &HeapFile,
    options: &Options,
    found: &Root,
) -> Result<(), OpenError> {
    let path = file.path();
    if options.mode == Mode::Graceful && found.state != CLOSED {
        return Err(OpenError::Unclean { path: path.into() });
    }
    if found.state != CLOSED && !is_trusted(file, options, found)? {
        return Err(OpenError::Untrusted { path: path.into() });
    }
    Ok(())
}

/// Whether everything that was stored while the index was open last is there. On a disk, at level process, it is if the
/// page cache that holds it is still the same.
fn is_trusted(file: &HeapFile, options: &Options, root: &Root) -> Result<bool, OpenError> {
    if file.medium() != Medium::File || options.is_os_level() {
        return Ok(true);
    }
    let identity = file.identity().map_err(OpenError::File)?;
    let same_file =
        (root.device, root.inode, root.mount) == (identity.device, identity.inode, identity.mount);
    Ok(same_file && [root.boot_low, root.boot_high] == boot_id())
}

fn root_region(file: &HeapFile) -> Result<Region, OpenError> {
    let part = FilePart { file, start: 0, bytes: ROOT_BYTES };
    Region::reserve_tiers(Some(part), ROOT_BYTES, Residency::OnTouch)
        .map_err(|e| OpenError::Memory(e.into()))
}

/// What the medium needs for the level that was asked for.
fn barrier(file: &HeapFile, options: &Options) -> Barrier {
    match file.medium() {
        Medium::Dax => Barrier::WriteBack,
        Medium::File if options.is_os_level() => Barrier::Sync,
        Medium::Tmpfs | Medium::File if options.force_barriers => Barrier::WriteBack,
        Medium::Tmpfs | Medium::File => Barrier::Order,
    }
}

fn door(barrier: Barrier, space: u8, trace: Option<&Arc<Trace>>) -> Door {
    let door = Door::new(barrier);
    match trace {
        Some(trace) => door.traced(space, trace.clone()),
        None => door,
    }
}

/// A name of at most 8 bytes as a word.
pub(crate) fn name_word(name: &str) -> u64 {
    let mut bytes = [0; 8];
    bytes[..name.len().min(8)].copy_from_slice(&name.as_bytes()[..name.len().min(8)]);
    u64::from_le_bytes(bytes)
}

pub(crate) fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// A number that nobody can guess: from the seed that the standard library draws for each hash map.
fn random_salt() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(now_ms()) & 0xFFFF_FFFF
}

/// Which start of the machine this is; zeros where it does not say.
fn boot_id() -> [u64; 2] {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    let half = |range| digits.get(range).and_then(|h| u64::from_str_radix(h, 16).ok()).unwrap_or(0);
    [half(0..16), half(16..32)]
}
