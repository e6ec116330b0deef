//! Reading an index that another process may be writing: what is engraved, as of the beginning of each query.
//!
//! A follower maps the index's file for reading and stores in one place only, its group of the shared
//! [reader slots](spirit_mem::shared_pins). Whether anything changed since the last query is one load; if so, the marks are
//! read again, by one reader at a time.

use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, Mutex, PoisonError};

use spirit_door::{Barrier, Door};
use spirit_index::descriptor::Window;
use spirit_index::geometry::{Geometry, Settings};
use spirit_index::memory::Memory;
use spirit_index::nvm::Corrupt;
use spirit_index::nvm::field_list::PARTS_START;
use spirit_index::nvm::follow::follow;
use spirit_index::nvm::log::LogSpace;
use spirit_index::nvm::tier::Tier;
use spirit_mem::reader_file::{GROUP_SLOTS, GROUPS};
use spirit_mem::{HeapFile, Medium, PinSlot, Pins, ReaderFile, Registration, Residency};

use crate::error::OpenError;
use crate::fields::Fields;
use crate::options::Options;
use crate::shared::{Numbers, Shared};
use crate::store;
use crate::trust;

/// Readers in a process that only reads; one slot of its group is for statistics.
const READERS_MAX: usize = GROUP_SLOTS - 1;

/// The state of a process that only reads.
pub(crate) struct Follower {
    /// One more than the count of changes that the executors were brought up to; 0 before the first time.
    as_of: AtomicU64,
    /// Held while they are brought up to another; what was found to be damaged, and in which.
    damage: Mutex<Option<(usize, Corrupt)>>,
    /// What the log's checksums begin with, if there is a log.
    salt: Option<u32>,
    medium: Medium,
    fields: Arc<Fields>,
    /// This process's group of slots is its own for as long as this lives.
    _registration: Registration,
}

/// What a process that only reads has of an index.
pub(crate) struct Followed {
    pub(crate) follower: Follower,
    pub(crate) pins: Arc<Pins>,
    /// What readers see of each executor.
    pub(crate) parts: Box<[Arc<Shared>]>,
    pub(crate) fields: Arc<Fields>,
}

impl Follower {
    /// Opens the index that is in `directory`; `options` then says what the index says.
    pub(crate) fn open(
        directory: &Path,
        options: &mut Options,
        numbers: &Arc<Numbers>,
    ) -> Result<Followed, OpenError> {
        let path = directory.join("heap");
        let file = HeapFile::open_read_only(&path).map_err(OpenError::File)?;
        // No writer starts or ends its start meanwhile.
        let held = store::lock_directory(directory)?;
        let has_writer = has_writer(&path)?;
        let (root, _) = trust::find_root(&file, options)?;
        if !has_writer {
            trust::check(&file, options, &root)?;
        }
        let readers = ReaderFile::of_follower(directory, has_writer).map_err(OpenError::File)?;
        let registration = readers.register().map_err(OpenError::File)?;
        drop(held);
        let fields = Fields::follow(&file, &root, options)?;
        let fields = Arc::new(fields);
        let registration =
            registration.ok_or(OpenError::TooManyFollowers { followers_max: GROUPS })?;
        options.readers_max = READERS_MAX;
        let pins = Pins::follower(registration.file().clone(), registration.group());
        let (pins, file) = (Arc::new(pins), Arc::new(file));
        let parts = (0..options.executors)
            .map(|number| part(number, options, &file, &pins, (numbers, &fields)))
            .collect::<Result<_, _>>()?;
        let follower = Follower {
            as_of: AtomicU64::new(0),
            damage: Mutex::new(None),
            salt: options.is_logged().then_some(root.salt as u32),
            medium: file.medium(),
            fields: fields.clone(),
            _registration: registration,
        };
        Ok(Followed { follower, pins, parts, fields })
    }

    /// Brings all executors up to what is engraved, for the first time.
    pub(crate) fn begin(
        &self,
        pins: &Pins,
        slot: &PinSlot,
        parts: &[Arc<Shared>],
    ) -> Result<(), OpenError> {
        pins.pin(slot);
        self.catch_up(pins, parts);
        pins.unpin(slot);
        self.damage().map_or(Ok(()), Err)
    }

    /// The same if something changed since. The caller has pinned.
    ///
    /// What an earlier caller found counts as of the changes that it had seen *before* it looked: memory that our pin does not
    /// protect was given up behind a change that we see, so descriptors as of that change or a later one do not lead there.
    #[inline]
    pub(crate) fn catch_up(&self, pins: &Pins, parts: &[Arc<Shared>]) {
        let changes = pins.changes();
        // Acquire: what was found as of that count is there.
        if self.as_of.load(Acquire) <= changes {
            self.look_again(pins, parts, changes);
        }
    }

    #[cold]
    fn look_again(&self, pins: &Pins, parts: &[Arc<Shared>], changes: u64) {
        let mut damage = self.damage.lock().unwrap_or_else(PoisonError::into_inner);
        if self.as_of.load(Relaxed) > changes {
            return;
        }
        let changes = pins.changes();
        for (number, part) in parts.iter().enumerate() {
            if let Err(what) = self.follow_part(part) {
                // What was found before may not be there any more.
                parts.iter().for_each(|part| part.memory.set_window(Window::default()));
                *damage = Some((number, what));
                return self.as_of.store(u64::MAX, Release);
            }
        }
        self.as_of.store(changes + 1, Release);
    }

    /// Brings an executor up to what is engraved, and then the fields up to what that has.
    fn follow_part(&self, part: &Shared) -> Result<(), Corrupt> {
        if let Some(newest) = follow(&part.memory, self.log(&part.memory))? {
            part.accepted.store(newest.accepted, Relaxed);
        }
        self.fields.catch_up()
    }

    fn log(&self, memory: &Memory) -> Option<LogSpace> {
        let (start, bytes) = memory.nvm()?.layout().log;
        self.salt.map(|salt| LogSpace { start, bytes, salt })
    }

    /// What was found not to be what was stored there.
    pub(crate) fn damage(&self) -> Option<OpenError> {
        let damage = self.damage.lock().unwrap_or_else(PoisonError::into_inner);
        damage.clone().map(|(executor, what)| OpenError::Corrupt { executor, what })
    }

    /// What the file lies on.
    pub(crate) fn medium(&self) -> Medium {
        self.medium
    }
}

/// Whether a process has the index open for writing. The directory is locked, so none begins to.
fn has_writer(path: &Path) -> Result<bool, OpenError> {
    let probe = HeapFile::open_read_only(path).map_err(OpenError::File)?;
    probe.keep_writers_out().map(|kept_out| !kept_out).map_err(OpenError::File)
}

/// An executor as its readers need it: the file's part, and a table of segments.
fn part(
    number: usize,
    options: &Options,
    file: &Arc<HeapFile>,
    pins: &Arc<Pins>,
    (numbers, fields): (&Arc<Numbers>, &Arc<Fields>),
) -> Result<Arc<Shared>, OpenError> {
    let settings = Settings { residency: Residency::OnTouch, ..options.memory() };
    let dram_bytes = Geometry::dram_bytes_min(settings).map_err(OpenError::Memory)?;
    let settings = Settings { dram_bytes, ..settings };
    let tier = settings.nvm.map(|nvm| Tier {
        file: file.clone(),
        start: PARTS_START + number as u64 * nvm.bytes,
        door: Door::new(Barrier::Order),
    });
    let memory = Memory::new(settings, tier, pins.clone()).map_err(OpenError::Memory)?;
    Ok(Arc::new(Shared::new(memory.following(), numbers.clone(), fields.clone(), options)))
}
