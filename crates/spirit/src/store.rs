//! An index's directory: its one file, the root at the file's beginning, and the executors' parts behind it.
//!
//! | file | |
//! |---|---|
//! | `heap` | root, then a part for each executor; locked while the index is open for writing |
//! | `heap.new` | an index that is being made: it gets its name when all of it is there |

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use spirit_door::trace::Trace;
use spirit_door::{Barrier, Door};
use spirit_index::memory::Tier;
use spirit_index::nvm::layout::{NvmLayout, NvmSettings};
use spirit_index::nvm::root::{self, ROOT_BYTES, Root};
use spirit_mem::{FilePart, HeapFile, HeapFileError, Medium, Region, Residency};

use crate::durability::{Durability, Mode};
use crate::error::OpenError;
use crate::options::Options;

const OPEN: u64 = 1;
const CLOSED: u64 = 2;
/// The space of the root in a trace; executors count from 1.
const ROOT_SPACE: u8 = 0;

/// An open index directory.
pub(crate) struct Store {
    file: Arc<HeapFile>,
    region: Region,
    door: Door,
    root: Mutex<Root>,
    trace: Option<Arc<Trace>>,
    force_barriers: bool,
}

impl Store {
    /// Opens the index in `directory`, or makes it. `options` then says what the index says.
    pub(crate) fn open(directory: &Path, options: &mut Options) -> Result<Store, OpenError> {
        let path = directory.join("heap");
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
        std::fs::create_dir_all(directory).map_err(|e| failed("create the directory", e))?;
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
            file.reserve(ROOT_BYTES + number * nvm.bytes, bytes).map_err(OpenError::File)?;
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
            ..Root::default()
        };
        let store = Self::with_root(file, options, root)?;
        store.write_root()?;
        std::fs::rename(&new, path).map_err(|e| failed("name the index's file", e))?;
        Ok(store)
    }

    fn open_existing(path: &Path, options: &mut Options) -> Result<Store, OpenError> {
        let file = HeapFile::open(path).map_err(OpenError::File)?;
        let wrong = |why: String| OpenError::Root { path: path.into(), why };
        if file.bytes() < ROOT_BYTES {
            return Err(wrong(format!(
                "it has {} bytes, and a root alone has {ROOT_BYTES}",
                file.bytes()
            )));
        }
        let region = root_region(&file)?;
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
        if options.mode == Mode::Graceful && found.state != CLOSED {
            return Err(OpenError::Unclean { path: path.into() });
        }
        let next = Root {
            generation: found.generation + 1,
            incarnation: found.incarnation + 1,
            state: OPEN,
            ..found
        };
        let store = Self::with_root(file, options, next)?;
        store.write_root()?;
        Ok(store)
    }

    fn with_root(file: HeapFile, options: &Options, root: Root) -> Result<Store, OpenError> {
        if options.mode == Mode::Crash
            && options.durability == Durability::Os
            && file.medium() != Medium::Dax
        {
            return Err(OpenError::Durability { path: file.path().into(), medium: file.medium() });
        }
        let region = root_region(&file)?;
        let force_barriers = options.force_barriers;
        let trace = options.trace.clone();
        let door = door(&file, force_barriers, ROOT_SPACE, trace.as_ref());
        Ok(Store {
            file: Arc::new(file),
            region,
            door,
            root: Mutex::new(root),
            trace,
            force_barriers,
        })
    }

    fn write_root(&self) -> Result<(), OpenError> {
        let mut root = self.root.lock().unwrap_or_else(PoisonError::into_inner);
        let identity = self.file.identity().map_err(OpenError::File)?;
        (root.device, root.inode) = (identity.device, identity.inode);
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
            door: door(&self.file, self.force_barriers, space, self.trace.as_ref()),
        }
    }

    /// What the file lies on.
    pub(crate) fn medium(&self) -> Medium {
        self.file.medium()
    }

    /// Says in the root that the index was closed in an orderly way. All else is durable.
    pub(crate) fn close(&self) {
        let mut root = self.root.lock().unwrap_or_else(PoisonError::into_inner);
        root.generation += 1;
        root.state = CLOSED;
        root::write(&self.region, &self.door, &root);
    }
}

fn root_region(file: &HeapFile) -> Result<Region, OpenError> {
    let part = FilePart { file, start: 0, bytes: ROOT_BYTES };
    Region::reserve_tiers(Some(part), ROOT_BYTES, Residency::OnTouch)
        .map_err(|e| OpenError::Memory(e.into()))
}

fn door(file: &HeapFile, force: bool, space: u8, trace: Option<&Arc<Trace>>) -> Door {
    let barrier = match file.medium() {
        Medium::Dax => Barrier::WriteBack,
        Medium::Tmpfs | Medium::File if force => Barrier::WriteBack,
        Medium::Tmpfs | Medium::File => Barrier::Order,
    };
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
