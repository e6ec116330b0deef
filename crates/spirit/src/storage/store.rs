//! An index's directory: its one file, with the root at the beginning and the executors' parts
//! after it.
//!
//! | file | |
//! |---|---|
//! | `heap` | root, then a part for each executor; locked while the index is open for writing |
//! | `heap.new` | an index that is being made: it is renamed once it is complete |
//! | `volatile.new` | the second tier of a volatile index, which loses its name once it is complete |
//! | `live` | the [socket](spirit_mem::rendezvous) that hands the writer's memory to readers |

use std::path::{Path, PathBuf};
use std::sync::Arc;

use spirit_door::sim::SlowMedium;
use spirit_door::trace::Trace;
use spirit_door::{Barrier, Door, Failure};
use spirit_index::form::root::Root;
use spirit_index::ground::{EXECUTOR_BYTES_MAX, Geometry};
use spirit_index::ground::{NvmLayout, NvmSettings, PARTS_START};
use spirit_index::log::LogSpace;
use spirit_index::tier::{Nvm, Tier};
use spirit_mem::{HeapFile, HeapFileError, Medium, Region};

use crate::config::clock::{Clock, now_ms};
use crate::config::durability::Mode;
use crate::config::error::OpenError;
use crate::config::options::{Options, name_word};
use crate::storage::fields::Fields;
use crate::storage::live::{Live, Welcome};
use crate::storage::open_root::{OpenRoot, reading};
use crate::storage::trust::{self, OPEN};

/// The space of the root in a trace; executors count from 1.
const ROOT_SPACE: u8 = 0;

/// An open index directory.
pub(crate) struct Store {
    /// The memory and socket for processes that only read. First, so that it is dropped before the
    /// file is unlocked.
    live: Option<Live>,
    file: Arc<HeapFile>,
    root: Arc<OpenRoot>,
    trace: Option<Arc<Trace>>,
    /// True if pages are compared with their checksums when they are first read.
    verify: bool,
    barrier: Barrier,
    /// What the second tier is slowed to, for measurements.
    slow: Option<SlowMedium>,
    /// The failure that all doors to the file share.
    failure: Failure,
    /// True if runs of bytes are written to the file instead of stored to its mapping.
    writes_file: bool,
    /// True if this process made the index.
    is_new: bool,
    /// True if the index had more DRAM the last time.
    has_less_dram: bool,
    /// The fields of its documents.
    fields: Arc<Fields>,
}

impl Store {
    /// Opens the index in `directory`, or makes it. Updates `options` to the index's settings.
    pub(crate) fn open(directory: &Path, options: &mut Options) -> Result<Store, OpenError> {
        let path = directory.join("heap");
        // An unreadable directory may hold an index: no other is made in its place.
        let is_there = || path.try_exists().map_err(failed(&path, "check that it exists"));
        if options.private {
            return Self::open_private(&path, options);
        }
        if !is_there()? {
            make_directory(directory)?;
        }
        // Another process that wants to make the index here waits, and then finds it.
        let _held = lock_directory(directory)?;
        let is_volatile = options.mode == Mode::Volatile;
        if is_there()? {
            if is_volatile {
                return Err(OpenError::NotVolatile { path });
            }
            Self::open_existing(&path, options)
        } else if is_volatile {
            Self::make_nameless(directory, options)
        } else {
            Self::create(directory, &path, options)
        }
    }

    /// Makes the index. An error leaves nothing that takes space.
    fn create(directory: &Path, path: &Path, options: &mut Options) -> Result<Store, OpenError> {
        let new = directory.join("heap.new");
        remove_unfinished(&new)?;
        let made = Self::make(&new, options).and_then(|store| {
            std::fs::rename(&new, path).map_err(failed(&new, "rename it"))?;
            sync_directory(directory).inspect_err(|_| drop(std::fs::remove_file(path)))?;
            Ok(store)
        });
        // If the removal fails too, the next start tries again.
        made.inspect_err(|_| {
            drop(std::fs::remove_file(&new));
        })
    }

    /// Makes the second tier of a volatile index: a file without a name, which ends with the index.
    fn make_nameless(directory: &Path, options: &mut Options) -> Result<Store, OpenError> {
        let new = directory.join("volatile.new");
        remove_unfinished(&new)?;
        let made = Self::make(&new, options);
        remove_unfinished(&new)?;
        made
    }

    /// Makes the index's file under the name `new`. All of it is on the disk on return.
    fn make(new: &Path, options: &mut Options) -> Result<Store, OpenError> {
        options.check_sizes()?;
        let settings = options.memory();
        let nvm = settings.nvm.expect("an index in a directory has a second tier");
        options.fix_sizes(settings.segment_bytes, nvm);
        let executors = options.executors as u64;
        let file = make_file(new, executors, nvm, settings.segment_bytes, options)?;
        let root = Root {
            state: OPEN,
            salt: random() & 0xFFFF_FFFF,
            executors,
            segment_bytes: settings.segment_bytes,
            nvm_bytes: nvm.bytes,
            log_bytes: nvm.log_bytes,
            positions: options.positions.into(),
            store: options.store_number(),
            mode: options.mode.number(),
            level: options.durability.number(),
            analyzer: name_word(options.analyzer.name()),
            document_bytes_max: options.document_bytes_max as u64,
            on_full: options.on_full.number(),
            created_ms: now_ms(),
            dram_bytes: options.dram_bytes,
            retain_ms: options.retain.map_or(0, |age| age.as_millis() as u64),
            strict: options.strict.into(),
            postings: options.postings() as u64,
            short_bytes: nvm.parts.short,
            long_bytes: nvm.parts.long,
            dictionary_bytes: nvm.parts.dictionary,
            start: random(),
            ..Root::default()
        };
        let region = trust::root_region(&file)?;
        let mut store = Self::with_root(file, region, options, root, None)?;
        store.is_new = true;
        store.root.say_open().map_err(OpenError::from)?;
        store.file.sync_all().map_err(OpenError::from)?;
        Ok(store)
    }

    fn open_existing(path: &Path, options: &mut Options) -> Result<Store, OpenError> {
        let file = HeapFile::open(path).map_err(OpenError::from)?;
        let (found, region) = trust::find_root(&file, options)?;
        trust::check(&file, options, &found)?;
        check_medium(&file, options)?;
        let next = Root {
            dram_bytes: options.dram_bytes,
            postings: options.postings() as u64,
            start: random(),
            ..next_root(&found)
        };
        let mut store = Self::with_root(file, region, options, next, Some(found))?;
        store.has_less_dram = options.dram_bytes < found.dram_bytes;
        Ok(store)
    }

    /// Opens a private copy of the index at `path`: stores stay in this process.
    ///
    /// A copy drops nothing. So it needs room for everything that the writer had in DRAM, which the
    /// log holds. It also needs the space that is kept free ahead of need.
    fn open_private(path: &Path, options: &mut Options) -> Result<Store, OpenError> {
        let file = HeapFile::open_private(path).map_err(OpenError::from)?;
        let (found, region) = trust::find_root(&file, options)?;
        trust::check(&file, options, &found)?;
        let dram_max = EXECUTOR_BYTES_MAX * found.executors;
        let dram_wanted = found.dram_bytes.saturating_mul(2).min(dram_max);
        options.dram_bytes = options.dram_bytes.max(dram_wanted);
        Self::with_root(file, region, options, next_root(&found), Some(found))
    }

    fn with_root(
        file: HeapFile,
        region: Region,
        options: &Options,
        root: Root,
        found: Option<Root>,
    ) -> Result<Store, OpenError> {
        // Another process could not map what lies in files without a name.
        let is_live = !options.keeps_nothing() && !options.media.has_directory();
        let live = is_live.then(|| Live::open(&file, options));
        let live = live.transpose().map_err(OpenError::from)?;
        let barrier = barrier(&file, options);
        let trace = options.trace.clone();
        let failure = Failure::default();
        let door = door(barrier, ROOT_SPACE, &failure, trace.as_ref());
        let file = Arc::new(file);
        let clock =
            options.retain.map(|_| Arc::new(Clock::since(reading(&root), options.clock.as_ref())));
        let root = OpenRoot::new(file.clone(), region, door, root, found, clock);
        let root = Arc::new(root);
        root.sync_found().map_err(OpenError::from)?;
        let door = self::door(barrier, ROOT_SPACE, &failure, trace.as_ref()).behind(root.clone());
        let fields = Fields::open(trust::root_region(&file)?, door, root.clone(), options)?;
        let fields = Arc::new(fields);
        Ok(Store {
            file,
            root,
            trace,
            verify: options.verifies(),
            barrier,
            slow: options.slow_medium,
            failure,
            writes_file: options.media.writes_file,
            has_less_dram: false,
            is_new: false,
            live,
            fields,
        })
    }

    /// Returns the salt of the logs' checksums, and the incarnation of this start.
    pub(crate) fn log_identity(&self) -> (u32, u32) {
        self.root.log_identity()
    }

    /// Returns the log of an executor, and the incarnation of this start; none if operations are
    /// not logged.
    pub(crate) fn log_of(&self, nvm: &Nvm, options: &Options) -> Option<(LogSpace, u32)> {
        let (salt, incarnation) = self.log_identity();
        let (start, bytes) = nvm.layout().log;
        options.is_logged().then_some((LogSpace { start, bytes, salt }, incarnation))
    }

    /// True if closing must write the root: it does not say closed.
    pub(crate) fn is_open(&self) -> bool {
        self.root.is_open()
    }

    /// Returns the second tier of executor `number`.
    pub(crate) fn tier(&self, number: usize, settings: NvmSettings) -> Tier {
        let space = number as u8 + 1;
        let start = PARTS_START + number as u64 * settings.bytes;
        let door = door(self.barrier, space, &self.failure, self.trace.as_ref());
        let door = if self.writes_file { door.writing(self.file.clone(), start) } else { door };
        let door = match self.slow {
            Some(medium) => door.slowed(medium),
            None => door,
        };
        Tier {
            file: self.file.clone(),
            start,
            door: door.behind(self.root.clone()),
            is_new: self.is_new,
            verify: self.verify,
        }
    }

    /// Returns the fields of its documents.
    pub(crate) fn fields(&self) -> &Arc<Fields> {
        &self.fields
    }

    /// Removes and returns the memory and socket for processes that only read, to serve them.
    pub(crate) fn take_live(&mut self) -> Option<Live> {
        self.live.take()
    }

    /// Returns the message for processes that only read.
    pub(crate) fn welcome(
        &self,
        options: &Options,
        geometry: &Geometry,
    ) -> Result<Welcome, OpenError> {
        let identity = self.file.identity().map_err(OpenError::from)?;
        Ok(Welcome::of(options, geometry, identity, self.root.start()))
    }

    /// Returns the root, for the thread that keeps its time correct.
    pub(crate) fn root(&self) -> &Arc<OpenRoot> {
        &self.root
    }

    /// True if the index was closed in an orderly way the last time.
    pub(crate) fn was_closed(&self) -> bool {
        self.root.is_closed()
    }

    /// True if the index had more DRAM the last time.
    pub(crate) fn has_less_dram(&self) -> bool {
        self.has_less_dram
    }

    /// Returns the path of the file. A new file was renamed after it was opened.
    pub(crate) fn path(&self) -> PathBuf {
        self.file.path().with_file_name("heap")
    }

    /// Returns the medium of the file.
    pub(crate) fn medium(&self) -> Medium {
        self.file.medium()
    }

    /// Writes to the root that the index was closed in an orderly way, once everything else is on
    /// the medium.
    pub(crate) fn close(&self) -> Result<(), HeapFileError> {
        self.root.say_closed()
    }

    /// Lets other processes write the file, which readers of this process may still have mapped.
    pub(crate) fn unlock(&self) -> Result<(), HeapFileError> {
        self.file.unlock()
    }
}

/// Returns the root of the next start.
fn next_root(found: &Root) -> Root {
    Root {
        generation: found.generation + 1,
        incarnation: found.incarnation + 1,
        state: OPEN,
        ..*found
    }
}

/// Returns an error of the system at `path`.
fn failed(path: &Path, action: &'static str) -> impl Fn(std::io::Error) -> OpenError {
    move |reason| OpenError::File { path: path.into(), action, reason }
}

/// Makes the directory and its missing parents. Each is on the disk before the next is made.
pub(crate) fn make_directory(directory: &Path) -> Result<(), OpenError> {
    if directory.is_dir() {
        return Ok(());
    }
    let above = directory.parent().filter(|above| !above.as_os_str().is_empty());
    let above = above.unwrap_or(Path::new("."));
    make_directory(above)?;
    match std::fs::create_dir(directory) {
        // Another process was faster.
        Err(_) if directory.is_dir() => Ok(()),
        made => made.map_err(failed(directory, "create the directory")),
    }?;
    sync_directory(above)
}

/// Syncs the names in `directory` to the disk.
fn sync_directory(directory: &Path) -> Result<(), OpenError> {
    let synced = std::fs::File::open(directory).and_then(|directory| directory.sync_all());
    synced.map_err(failed(directory, "sync the directory"))
}

/// Makes the file of an index. Reserves disk space for root, slots, and the beginnings of logs and
/// dictionaries, which grow. First returns an error if the medium cannot keep the level.
pub(crate) fn make_file(
    path: &Path,
    executors: u64,
    nvm: NvmSettings,
    segment_bytes: u64,
    options: &Options,
) -> Result<HeapFile, OpenError> {
    let file =
        HeapFile::create(path, PARTS_START + executors * nvm.bytes).map_err(OpenError::from)?;
    check_medium(&file, options)?;
    let layout = NvmLayout::new(nvm, segment_bytes);
    file.reserve(0, PARTS_START).map_err(OpenError::from)?;
    for number in 0..executors {
        let all = [(0, nvm.bytes)];
        let parts = layout.parts_at_first();
        let parts: &[_] = if options.reserve_full { &all } else { &parts };
        for (start, bytes) in parts {
            let start = PARTS_START + number * nvm.bytes + start;
            file.reserve(start, *bytes).map_err(OpenError::from)?;
        }
        if options.is_os_level() {
            let log = PARTS_START + number * nvm.bytes + layout.log.0;
            file.write_zeros(log, layout.log_at_first()).map_err(OpenError::from)?;
        }
    }
    Ok(file)
}

/// Returns an error if the medium cannot keep the level.
fn check_medium(file: &HeapFile, options: &Options) -> Result<(), OpenError> {
    if options.is_os_level() && file.medium() == Medium::Tmpfs {
        return Err(OpenError::Durability {
            path: file.path().into(),
            medium: file.medium().to_string(),
        });
    }
    Ok(())
}

/// Removes an unfinished `heap.new`.
pub(crate) fn remove_unfinished(new: &Path) -> Result<(), OpenError> {
    match std::fs::remove_file(new) {
        Err(reason) if reason.kind() != std::io::ErrorKind::NotFound => {
            Err(failed(new, "remove this unfinished file")(reason))
        }
        _ => Ok(()),
    }
}

/// Locks `directory`: other processes neither make nor open the index while the result lives.
pub(crate) fn lock_directory(directory: &Path) -> Result<std::fs::File, OpenError> {
    let held = std::fs::File::open(directory).map_err(failed(directory, "open the directory"))?;
    held.lock().map_err(failed(directory, "lock the directory"))?;
    Ok(held)
}

/// Returns the barrier that the medium needs for the level.
fn barrier(file: &HeapFile, options: &Options) -> Barrier {
    if file.is_private() || options.mode == Mode::Volatile {
        return Barrier::Order;
    }
    match file.medium() {
        Medium::Dax => Barrier::WriteBack,
        Medium::File if options.is_os_level() => Barrier::Sync,
        Medium::Tmpfs | Medium::File if options.force_barriers => Barrier::WriteBack,
        Medium::Tmpfs | Medium::File => Barrier::Order,
    }
}

fn door(barrier: Barrier, space: u8, failure: &Failure, trace: Option<&Arc<Trace>>) -> Door {
    let door = Door::new(barrier).sharing(failure.clone());
    match trace {
        Some(trace) => door.traced(space, trace.clone()),
        None => door,
    }
}

/// Returns a number that is hard to guess, from the standard library's seed of hash maps.
fn random() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(now_ms())
}
