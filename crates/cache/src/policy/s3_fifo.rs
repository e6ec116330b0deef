//! S3-FIFO (Yang, Zhang, Qiu, Yue, Rashmi, SOSP 2023): three queues and two bits an entry.
//!
//! | queue | has | its oldest |
//! |---|---|---|
//! | small | new entries, a tenth | moves to main if found twice, else becomes a ghost |
//! | main | useful entries, the rest | starts again if it was found, else leaves |
//! | ghosts | keys that left small, as many as main has entries | is forgotten |
//!
//! A hit only counts, up to 3: no entry moves. A start again in main costs one of the count, a move
//! to main all of it. A key that is a ghost enters main.
//!
//! If the cache is full, small pays if it has its tenth, else main. An entry that moves to main and
//! makes it larger than its share lets main pay, so that one entry leaves for each that is
//! admitted. A step of a victim's search takes from a count or moves an entry to main. Each was
//! paid for by a hit or an admission, so the search is constant, amortized.

use super::ghosts::Ghosts;
use super::lists::Lists;
use super::numbers::Numbers;
use super::{Policy, possible, require};

/// The largest count of hits.
const HITS_MAX: u8 = 3;
/// The hits with which an entry of the small queue moves to main.
const HITS_TO_MOVE: u8 = 2;
/// The queues' numbers.
const SMALL: usize = 0;
const MAIN: usize = 1;

/// An entry's key, queue and hits since it entered the queue.
#[derive(Clone, Copy, Default)]
struct Entry {
    key: u64,
    queue: u8,
    hits: u8,
}

/// The policy S3-FIFO.
pub struct S3Fifo {
    entries: Box<[Entry]>,
    queues: Lists,
    lens: [u32; 2],
    /// The small queue pays for admissions if it has this many entries.
    small: u32,
    ghosts: Ghosts,
    free: Numbers,
}

impl S3Fifo {
    /// Returns an empty policy for `capacity` entries, at least 1 and at most
    /// [`CAPACITY_MAX`](super::CAPACITY_MAX).
    pub fn new(capacity: u32) -> S3Fifo {
        let capacity = possible(capacity);
        let small = (capacity / 10).max(1);
        S3Fifo {
            entries: vec![Entry::default(); capacity as usize].into(),
            queues: Lists::new(capacity, 2),
            lens: [0; 2],
            small,
            ghosts: Ghosts::new(capacity - small),
            free: Numbers::new(capacity),
        }
    }

    fn enter(&mut self, queue: usize, entry: u32) {
        self.queues.push(queue as u32, entry);
        self.lens[queue] += 1;
        self.entries[entry as usize].queue = queue as u8;
    }

    fn leave(&mut self, entry: u32) {
        self.queues.remove(entry);
        self.lens[usize::from(self.entries[entry as usize].queue)] -= 1;
    }

    /// Evicts the oldest entry of the small queue that does not move to main, or one of main if
    /// main gets too large. Ends at the latest when the small queue is empty.
    fn evict_small(&mut self) -> Option<u32> {
        while let Some(oldest) = self.queues.first(SMALL as u32) {
            self.leave(oldest);
            let Entry { key, hits, .. } = self.entries[oldest as usize];
            if hits < HITS_TO_MOVE {
                self.ghosts.push(key);
                return Some(oldest);
            }
            self.entries[oldest as usize].hits = 0;
            self.enter(MAIN, oldest);
            if self.lens[MAIN] > self.capacity() - self.small {
                break;
            }
        }
        self.evict_main()
    }

    /// Evicts the oldest entry of main that was not found. Ends because every other step takes a
    /// hit away.
    fn evict_main(&mut self) -> Option<u32> {
        while let Some(oldest) = self.queues.first(MAIN as u32) {
            let hits = &mut self.entries[oldest as usize].hits;
            if *hits == 0 {
                self.leave(oldest);
                return Some(oldest);
            }
            *hits -= 1;
            self.queues.renew(MAIN as u32, oldest);
        }
        None
    }

    /// Returns a rule that is broken, if one is. Walks all entries: for tests.
    pub fn check(&self) -> Result<(), &'static str> {
        for queue in [SMALL, MAIN] {
            let mut entries = 0;
            for number in self.queues.nodes(queue as u32) {
                let entry = self.entries[number as usize];
                require(usize::from(entry.queue) == queue, "an entry knows its queue")?;
                require(entry.hits <= HITS_MAX, "hits have two bits")?;
                require(!self.free.is_free(number), "a queued entry is not free")?;
                entries += 1;
            }
            require(entries == self.lens[queue], "the lengths are those of the queues")?;
        }
        require(self.lens[SMALL] + self.lens[MAIN] == self.len(), "all entries are queued")?;
        self.ghosts.check()
    }
}

impl Policy for S3Fifo {
    fn touch(&mut self, entry: u32) {
        let hits = &mut self.entries[entry as usize].hits;
        *hits = HITS_MAX.min(*hits + 1);
    }

    fn admit(&mut self, key: u64, evicted: &mut dyn FnMut(u32)) -> Option<u32> {
        if self.free.is_used_up() {
            evicted(self.evict()?);
        }
        let entry = self.free.take()?;
        self.entries[entry as usize] = Entry { key, ..Entry::default() };
        let queue = if self.ghosts.take(key) { MAIN } else { SMALL };
        self.enter(queue, entry);
        Some(entry)
    }

    fn evict(&mut self) -> Option<u32> {
        let small_pays = self.lens[SMALL] >= self.small || self.lens[MAIN] == 0;
        let victim = if small_pays { self.evict_small() } else { self.evict_main() }?;
        self.free.give(victim);
        Some(victim)
    }

    fn remove(&mut self, entry: u32) {
        self.leave(entry);
        self.free.give(entry);
    }

    fn len(&self) -> u32 {
        self.free.used()
    }

    fn capacity(&self) -> u32 {
        self.entries.len() as u32
    }

    fn bytes(&self) -> u64 {
        let entries = size_of_val(&*self.entries) as u64;
        entries + self.queues.bytes() + self.ghosts.bytes() + self.free.bytes()
    }
}
