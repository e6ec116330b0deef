//! Followers: processes that read an index from the memory of the process that writes it. The next
//! query finds all that the writer has acknowledged.
//!
//! A process that only reads calls the writer at the [socket](spirit_mem::rendezvous) in the
//! directory. It maps the writer's memory, and gets a group of its reader slots. Without a writer,
//! it makes a private copy. It maps the file so that stores stay in this process, and replays the
//! log into its own memory, by the code of a start. It changes nothing, locks nothing, and needs
//! only read permission.
//!
//! Each query ends with a look at the root ([`View::is_outdated`]). If a writer has started since,
//! the answer is dropped, and the query asks that writer's memory.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use spirit_door::{Barrier, Door};
use spirit_index::form::root;
use spirit_index::ground::PARTS_START;
use spirit_index::ground::{Geometry, Settings};
use spirit_index::memory::Memory;
use spirit_index::tier::Tier;
use spirit_mem::reader_words::{GROUP_SLOTS, GROUPS};
use spirit_mem::{Dram, HeapFile, Pins, ReaderWords, Region, Residency, SharedMemory, rendezvous};

use super::Engine;
use crate::config::clock::Clock;
use crate::config::error::OpenError;
use crate::config::options::Options;
use crate::config::policies::EngravePolicy;
use crate::storage::fields::Fields;
use crate::storage::live::Welcome;
use crate::storage::retention::Retention;
use crate::storage::shared::{Numbers, Shared};
use crate::storage::trust;
use crate::storage::view::{Followed, Source, View};

/// The most readers in a process that reads a writer's memory. One slot of its group is for
/// statistics.
pub(crate) const READERS_MAX: usize = GROUP_SLOTS - 1;
/// The longest wait for a writer that is about to serve or to end, and the time between two looks
/// for it.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(2);

/// The state of a process that only reads.
pub(crate) struct Follower {
    directory: PathBuf,
    /// The options as given.
    asked: Options,
    current: Mutex<Arc<View>>,
}

impl Follower {
    /// Opens the index in `directory`, and updates `options` to the index's settings.
    pub(crate) fn open(directory: &Path, options: &mut Options) -> Result<Follower, OpenError> {
        // Reading adds no field.
        options.fields.clear();
        let asked = options.clone();
        let view = Arc::new(find(directory, options)?);
        Ok(Follower { directory: directory.into(), asked, current: Mutex::new(view) })
    }

    /// Returns the current view.
    pub(crate) fn view(&self) -> Arc<View> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the view of the writer that made `outdated` out of date.
    pub(crate) fn view_after(&self, outdated: &Arc<View>) -> Result<Arc<View>, OpenError> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        // Another reader may have been faster.
        if Arc::ptr_eq(&*current, outdated) || current.is_outdated() {
            *current = Arc::new(find(&self.directory, &mut self.asked.clone())?);
        }
        Ok(current.clone())
    }
}

/// Finds a view: the writer's memory, or a private copy of the file. The loop ends after
/// `PATIENCE`.
fn find(directory: &Path, options: &mut Options) -> Result<View, OpenError> {
    let path = directory.join("heap");
    let asked = options.clone();
    let begun = Instant::now();
    loop {
        *options = asked.clone();
        let file = HeapFile::open_read_only(&path).map_err(OpenError::from)?;
        let found = match rendezvous::call(directory).map_err(failed(directory, "connect to"))? {
            Some(writer) => of_writer(file, writer, options)?,
            None if file.has_writer().map_err(OpenError::from)? => None,
            None => of_file(&file, &asked, options)?,
        };
        match found {
            Some(view) => return Ok(view),
            // The writer has just ended, or is about to serve.
            None if begun.elapsed() < PATIENCE => std::thread::sleep(LOOK),
            None => return Err(OpenError::NoAnswer { path: directory.join("live") }),
        }
    }
}

/// Returns an error of the system at the socket in `directory`.
fn failed(directory: &Path, action: &'static str) -> impl Fn(std::io::Error) -> OpenError + use<> {
    let path = directory.join("live");
    move |reason| OpenError::File { path: path.clone(), action, reason }
}

/// Maps the memory of the process that writes; none if it has ended.
fn of_writer(
    file: HeapFile,
    writer: UnixStream,
    options: &mut Options,
) -> Result<Option<View>, OpenError> {
    let path = file.path().to_owned();
    let directory = path.parent().unwrap_or(Path::new(".")).to_owned();
    let heard = rendezvous::listen(&writer).map_err(failed(&directory, "hear from"))?;
    let Some((message, descriptors)) = heard else { return Ok(None) };
    let other = || OpenError::OtherWriter { path: path.clone() };
    let welcome = Welcome::read(&message).ok_or_else(other)?;
    let group = welcome.group.ok_or(OpenError::TooManyFollowers { followers_max: GROUPS })?;
    let [words, memory] = <[_; 2]>::try_from(descriptors).map_err(|_| other())?;
    let identity = file.identity().map_err(OpenError::from)?;
    if welcome.file != (identity.device, identity.inode) {
        return Err(other());
    }
    let (roots, starts) = looked_at(&file)?;
    let (start, source) = (welcome.start, Source::Writer(writer));
    let followed = Followed { roots, starts, start, medium: file.medium(), source };
    let (root, _) = trust::find_root(&file, options)?;
    options.dram_bytes = welcome.dram_bytes;
    options.dram_parts = welcome.dram_parts;
    options.fixed_blocks = welcome.fixed_blocks;
    options.reader_lease = welcome.lease;
    options.readers_max = READERS_MAX;
    let settings = Settings { residency: Residency::OnTouch, ..options.memory() };
    let geometry = Geometry::fitting(settings).map_err(OpenError::from)?;
    if geometry.fingerprint() != welcome.fingerprint {
        return Err(other());
    }
    let adopted = failed(&directory, "map the shared memory");
    let words = ReaderWords::adopt(words).map_err(&adopted)?;
    let memory = SharedMemory::adopt(memory).map_err(&adopted)?;
    let pins = Arc::new(Pins::follower(words, group));
    let fields = Arc::new(Fields::follow(&file, &root, options)?);
    let clock = Arc::new(Clock::at(welcome.time_ms, options.clock.as_ref()));
    let retention = Retention::new(options, &clock);
    let file = Arc::new(file);
    let part = |number: usize| {
        let tier = settings.nvm.map(|nvm| Tier {
            file: file.clone(),
            start: PARTS_START + number as u64 * nvm.bytes,
            door: Door::new(Barrier::Order),
            is_new: false,
            verify: options.verifies(),
        });
        let start = geometry.shared_start(number as u64);
        let dram = Dram::Shared { memory: &memory, start };
        let memory = Memory::attach(settings, tier, dram, pins.clone());
        let memory = memory.map_err(OpenError::from)?;
        let (numbers, fields) = (Arc::new(Numbers::default()), fields.clone());
        Ok(Arc::new(Shared::new(memory, numbers, fields, options, retention.clone())))
    };
    let parts = (0..options.executors).map(part).collect::<Result<_, OpenError>>()?;
    let stats_pin = pins.acquire().ok_or_else(other)?;
    Ok(Some(View::new(parts, pins, fields, stats_pin, Some(followed))))
}

/// Makes a private copy of a file without a writer; none if a writer has come meanwhile.
fn of_file(
    file: &HeapFile,
    asked: &Options,
    options: &mut Options,
) -> Result<Option<View>, OpenError> {
    let (roots, starts) = looked_at(file)?;
    // Engraving here only moves bytes within this process's memory, so it waits until DRAM runs
    // short.
    let asked = Options { engrave: EngravePolicy::Lazy, ..asked.clone() };
    let opened = Engine::open(Options { read_only: false, private: true, ..asked });
    let has_changed = || root::starts(&roots) != starts;
    let engine = match opened {
        // A writer that came meanwhile may be the reason.
        Err(_) if has_changed() => return Ok(None),
        opened => opened?,
    };
    if has_changed() {
        return Ok(None);
    }
    *options = engine.options.clone();
    let view = &engine.view;
    let (parts, pins, fields) = (view.parts.clone(), view.pins.clone(), view.fields.clone());
    let Some(stats_pin) = pins.acquire() else { return Ok(None) };
    let source = Source::Own(Box::new(engine));
    let followed = Followed { roots, starts, start: starts[0], medium: file.medium(), source };
    Ok(Some(View::new(parts, pins, fields, stats_pin, Some(followed))))
}

/// Maps the root and loads its start numbers, before anything else is read.
fn looked_at(file: &HeapFile) -> Result<(Region, [u64; 2]), OpenError> {
    // Before the file is mapped: a file that is too short for a root is refused.
    trust::find_root(file, &mut Options::default())?;
    let roots = trust::root_region(file)?;
    let starts = root::starts(&roots);
    Ok((roots, starts))
}
