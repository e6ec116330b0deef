//! Serving other processes: how the process that writes an index lets others read it.
//!
//! Its DRAM lies in memory that they can map. A thread hands it to each process that connects to
//! the [socket](spirit_mem::rendezvous) in the index's directory.
//!
//! | word of the message | |
//! |---|---|
//! | 0 | magic number and version |
//! | 1 | 0; 1 if the largest number of processes is connected already |
//! | 2 | the group of reader slots |
//! | 3 | the number of the writer's start, as in its root |
//! | 4 | the geometry's fingerprint |
//! | 5, 6 | device and inode of the index's file |
//! | 7, 8, 9 | DRAM in bytes, 1 for fixed blocks, readers' lease in milliseconds |
//! | 10 | the index's time, in milliseconds; 0 if documents are kept as long as there is room |
//!
//! The descriptors are the [reader words](spirit_mem::ReaderWords) and the memory. The memory's
//! descriptor allows only reading. Everything else is in the file or in that memory.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicI32;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::thread::JoinHandle;
use std::time::Duration;

use spirit_index::ground::{Geometry, Parts};
use spirit_mem::reader_words::GROUPS;
use spirit_mem::rendezvous::{self, Message, Rendezvous};
use spirit_mem::shared_pins::{self, SharedPins};
use spirit_mem::{Dram, HeapFile, HeapFileError, Identity, ReaderWords, SharedMemory};

use crate::config::clock::Clock;
use crate::config::options::Options;

/// The magic number, which includes the version.
const MAGIC: u64 = u64::from_le_bytes(*b"SPRTLIV3");
/// The pause if no process can be served: if this process has too many files open, for example.
const REST: Duration = Duration::from_millis(50);

/// The message of the writer to a process that connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Welcome {
    /// The group of reader slots; none if the largest number of processes is connected already.
    pub(crate) group: Option<usize>,
    pub(crate) start: u64,
    pub(crate) fingerprint: u64,
    pub(crate) file: (u64, u64),
    pub(crate) dram_bytes: u64,
    pub(crate) dram_parts: Parts,
    pub(crate) fixed_blocks: bool,
    pub(crate) lease: Duration,
    pub(crate) time_ms: u64,
}

impl Welcome {
    pub(crate) fn of(options: &Options, geometry: &Geometry, file: Identity, start: u64) -> Self {
        Welcome {
            group: None,
            start,
            fingerprint: geometry.fingerprint(),
            file: (file.device, file.inode),
            dram_bytes: options.dram_bytes,
            dram_parts: options.dram_parts,
            fixed_blocks: options.fixed_blocks,
            lease: options.reader_lease,
            time_ms: 0,
        }
    }

    fn message(&self) -> Message {
        let mut words = Message::default();
        words[..14].copy_from_slice(&[
            MAGIC,
            self.group.is_none().into(),
            self.group.unwrap_or(0) as u64,
            self.start,
            self.fingerprint,
            self.file.0,
            self.file.1,
            self.dram_bytes,
            self.fixed_blocks.into(),
            self.lease.as_millis() as u64,
            self.time_ms,
            self.dram_parts.short,
            self.dram_parts.long,
            self.dram_parts.dictionary,
        ]);
        words
    }

    /// Reads a message; none if it is of another version.
    pub(crate) fn read(words: &Message) -> Option<Welcome> {
        let [magic, is_full, group, start, fingerprint, device, inode, rest @ ..] = *words;
        let [dram_bytes, fixed, ms, time_ms, short, long, dictionary, ..] = rest;
        (magic == MAGIC).then_some(Welcome {
            group: (is_full == 0).then_some(group as usize),
            start,
            fingerprint,
            file: (device, inode),
            dram_bytes,
            dram_parts: Parts { short, long, dictionary },
            fixed_blocks: fixed != 0,
            lease: Duration::from_millis(ms),
            time_ms,
        })
    }
}

/// The memory that the writer shares with processes that read, and the socket.
pub(crate) struct Live {
    memory: SharedMemory,
    words: Arc<ReaderWords>,
    rendezvous: Rendezvous,
    /// The process of each group, by its id in our namespace; 0 for a free group.
    processes: Arc<[AtomicI32; GROUPS]>,
}

impl Live {
    /// Reserves the memory, and lets processes connect. They wait until they are
    /// [served](Self::serve). The caller has locked `file`.
    pub(crate) fn open(file: &HeapFile, options: &Options) -> Result<Live, HeapFileError> {
        let directory = file.path().parent().unwrap_or(Path::new("."));
        let failed = |action| {
            move |reason| HeapFileError::System { path: directory.join("live"), action, reason }
        };
        // Impossible sizes are refused later, when the executors reserve their memory.
        let bytes = match Geometry::fitting(options.memory()) {
            Ok(geometry) => geometry.shared_start(options.executors as u64),
            Err(_) => 0,
        };
        let memory =
            SharedMemory::create("spirit-dram", bytes).map_err(failed("create shared memory"))?;
        let words = ReaderWords::create().map_err(failed("create reader slots"))?;
        let mode = file.mode()?;
        let rendezvous = Rendezvous::bind(directory, mode).map_err(failed("create it"))?;
        Ok(Live { memory, words, rendezvous, processes: Arc::default() })
    }

    /// Returns the DRAM of executor `number`.
    pub(crate) fn dram(&self, geometry: &Geometry, number: usize) -> Dram<'_> {
        Dram::Shared { memory: &self.memory, start: geometry.shared_start(number as u64) }
    }

    /// Returns the reader slots of other processes.
    pub(crate) fn words(&self) -> Arc<ReaderWords> {
        self.words.clone()
    }

    /// Returns the process of each group of slots.
    pub(crate) fn processes(&self) -> Arc<[AtomicI32; GROUPS]> {
        self.processes.clone()
    }

    /// Serves processes from now on. The index must have all that was acknowledged.
    pub(crate) fn serve(self, welcome: Welcome, clock: Option<Arc<Clock>>) -> io::Result<Host> {
        let (stop, wake) = UnixStream::pair()?;
        let _processes = self.processes();
        let thread = std::thread::Builder::new()
            .name("spirit-live".into())
            .spawn(move || Serving { live: self, welcome, clock, groups: Vec::new() }.run(&wake))?;
        Ok(Host { stop: Some(stop), thread: Some(thread), _processes })
    }
}

/// The thread that serves processes that read. Dropping this ends it.
pub(crate) struct Host {
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
    /// The last reference. So the table is freed after all threads that used it have ended.
    _processes: Arc<[AtomicI32; GROUPS]>,
}

impl Drop for Host {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread is a bug, and was printed.
            let _ = thread.join();
        }
    }
}

struct Serving {
    live: Live,
    welcome: Welcome,
    /// The index's time, if documents are kept for a time.
    clock: Option<Arc<Clock>>,
    /// The group of each process that is connected.
    groups: Vec<usize>,
}

impl Serving {
    fn run(mut self, wake: &UnixStream) {
        let mut guests = Vec::new();
        loop {
            if self.live.rendezvous.wait(&guests, wake.as_fd()).is_err() {
                std::thread::sleep(REST);
            }
            if rendezvous::has_ended(wake) {
                return;
            }
            self.let_go(&mut guests);
            if self.let_in(&mut guests).is_err() {
                std::thread::sleep(REST);
            }
        }
    }

    /// Frees the slots of processes that have ended.
    fn let_go(&mut self, guests: &mut Vec<UnixStream>) {
        for index in (0..guests.len()).rev() {
            if rendezvous::has_ended(&guests[index]) {
                guests.swap_remove(index);
                self.give_up(self.groups[index]);
                self.groups.swap_remove(index);
            }
        }
    }

    fn give_up(&self, group: usize) {
        self.live.processes[group].store(0, Relaxed);
        shared_pins::clear(&*self.live.words, group);
    }

    fn let_in(&mut self, guests: &mut Vec<UnixStream>) -> io::Result<()> {
        while let Some(guest) = self.live.rendezvous.accept()? {
            let taken = self.live.words.groups().load(Acquire);
            let group = (0..GROUPS).find(|group| taken >> group & 1 == 0);
            let time_ms = self.clock.as_ref().map_or(0, |clock| clock.now_ms());
            let welcome = Welcome { group, time_ms, ..self.welcome };
            let Some(group) = group else {
                // If the message is lost, the process finds the connection closed.
                let _ = rendezvous::tell(&guest, &welcome.message(), &[]);
                continue;
            };
            let memory = self.live.memory.for_reading()?;
            shared_pins::enter(&*self.live.words, group);
            let process = rendezvous::process_of(&guest).unwrap_or(0);
            self.live.processes[group].store(process, Relaxed);
            let descriptors = [self.live.words.descriptor(), memory.as_fd()];
            match rendezvous::tell(&guest, &welcome.message(), &descriptors) {
                Ok(()) => {
                    guests.push(guest);
                    self.groups.push(group);
                }
                Err(_) => self.give_up(group),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_what_was_said() {
        let welcome = Welcome {
            group: Some(3),
            start: 4,
            fingerprint: 5,
            file: (6, 7),
            dram_bytes: 8,
            dram_parts: Parts { short: 11, long: 12, dictionary: 13 },
            fixed_blocks: true,
            lease: Duration::from_millis(9),
            time_ms: 10,
        };
        assert_eq!(Welcome::read(&welcome.message()), Some(welcome));
        let full = Welcome { group: None, ..welcome };
        assert_eq!(Welcome::read(&full.message()), Some(full));
        assert_eq!(Welcome::read(&[0; 16]), None);
    }
}
