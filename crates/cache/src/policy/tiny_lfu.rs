//! W-TinyLFU (Einziger, Friedman, Manes, ACM ToS 2017): a small LRU for new keys, and a large one
//! for frequent keys.
//!
//! | segment, by recency | has | its oldest entry |
//! |---|---|---|
//! | window | new entries, a hundredth of the capacity | is the candidate for main |
//! | probation | entries of main that were not found there | is the victim |
//! | protected | entries of main that were found there, at most 80 % | goes back to probation |
//!
//! If the cache is full, the candidate moves to probation only if a sketch counts it more often
//! than the victim, which then leaves. Otherwise the candidate leaves. The key that is admitted is
//! in the window and stays.
//!
//! Choices that the paper leaves open. The figures are from `tests/hit_rates.rs`: the share of the
//! way from LRU to the best fixed content, with 1,000, 2,000 and 4,000 entries.
//!
//! * A victim that stays becomes the newest of its segment. So candidates meet all entries of main
//!   in turn, and weak ones do not hide behind a strong one: 75, 82, 86 %, without it 72, 76, 76 %.
//! * The sketch is halved after 64 requests for each entry. Shorter periods do not tell apart keys
//!   that are nearly as frequent: 63 % with 1,000 entries and 32 requests, 75 % with 64, 81 % with
//!   128. Longer ones forget old requests later.
//! * If the hit rate falls suddenly, the requests have changed, and the sketch is halved at once.
//!   In the test that exchanges all frequent keys, hits are back after 20 requests for each entry.
//!   Without this it takes 70.
//! * A counter has 8 bits. It is full only for a key that makes more than two of `capacity`
//!   requests, which is worth an entry in any case.
//! * The sketch has 8 counters a row for each entry, because there are more keys than entries. With
//!   4 it is 66 % with 1,000 entries. There is no doorkeeper: a key that is asked for once costs
//!   little accuracy where good keys have counts near 100.

use super::lists::Lists;
use super::numbers::Numbers;
use super::sketch::Sketch;
use super::watch::Watch;
use super::{Policy, possible, require};

/// The segments' numbers.
const WINDOW: usize = 0;
const PROBATION: usize = 1;
const PROTECTED: usize = 2;

/// Counters of the sketch for each entry, in four rows.
const COUNTERS: u64 = 4 * 8;
/// Requests for each entry after which counters are halved.
const PERIOD: u64 = 64;
/// Requests for each entry in a part of which the hit rate is watched, and of all at least.
const PART: u64 = 2;
const PART_MIN: u64 = 1024;

/// The policy W-TinyLFU.
pub struct TinyLfu {
    keys: Box<[u64]>,
    segments: Box<[u8]>,
    lists: Lists,
    lens: [u32; 3],
    window_max: u32,
    protected_max: u32,
    sketch: Sketch,
    watch: Watch,
    free: Numbers,
}

impl TinyLfu {
    /// Returns an empty policy for `capacity` entries, at least 1 and at most
    /// [`CAPACITY_MAX`](super::CAPACITY_MAX).
    pub fn new(capacity: u32) -> TinyLfu {
        let capacity = possible(capacity);
        let window_max = (capacity / 100).max(1);
        let main = u64::from(capacity - window_max);
        let entries = u64::from(capacity);
        TinyLfu {
            keys: vec![0; capacity as usize].into(),
            segments: vec![0; capacity as usize].into(),
            lists: Lists::new(capacity, 3),
            lens: [0; 3],
            window_max,
            protected_max: (main * 4 / 5) as u32,
            sketch: Sketch::new(COUNTERS * entries, PERIOD * entries),
            watch: Watch::new(PART_MIN.max(PART * entries)),
            free: Numbers::new(capacity),
        }
    }

    /// Notes a request for a key, which has an entry or not.
    fn note(&mut self, key: u64, is_hit: bool) {
        self.sketch.note(key);
        if self.watch.note(is_hit) {
            self.sketch.halve();
        }
    }

    fn enter(&mut self, segment: usize, entry: u32) {
        self.lists.push(segment as u32, entry);
        self.lens[segment] += 1;
        self.segments[entry as usize] = segment as u8;
    }

    fn leave(&mut self, entry: u32) {
        self.lists.remove(entry);
        self.lens[usize::from(self.segments[entry as usize])] -= 1;
    }

    /// Moves an entry to the end of a segment.
    fn renew(&mut self, segment: usize, entry: u32) {
        self.leave(entry);
        self.enter(segment, entry);
    }

    /// Moves an entry of main to the protected segment, and that one's oldest back if it is full.
    fn protect(&mut self, entry: u32) {
        self.renew(PROTECTED, entry);
        if self.lens[PROTECTED] > self.protected_max
            && let Some(oldest) = self.lists.first(PROTECTED as u32)
        {
            self.renew(PROBATION, oldest);
        }
    }

    fn candidate(&self) -> Option<u32> {
        self.lists.first(WINDOW as u32)
    }

    fn victim(&self) -> Option<u32> {
        self.lists.first(PROBATION as u32).or_else(|| self.lists.first(PROTECTED as u32))
    }

    /// True if the candidate's key is asked for more often than the victim's.
    fn beats(&self, candidate: u32, victim: u32) -> bool {
        let count = |entry: u32| self.sketch.count(self.keys[entry as usize]);
        count(candidate) > count(victim)
    }

    /// Makes room in a full window. Returns the entry that leaves, unless there is a free one.
    fn shift(&mut self) -> Option<u32> {
        let candidate = self.candidate()?;
        if !self.free.is_used_up() {
            self.renew(PROBATION, candidate);
            return None;
        }
        let loser = match self.victim() {
            Some(victim) if self.beats(candidate, victim) => {
                self.renew(PROBATION, candidate);
                victim
            }
            Some(victim) => {
                self.renew(usize::from(self.segments[victim as usize]), victim);
                candidate
            }
            None => candidate,
        };
        self.remove(loser);
        Some(loser)
    }

    /// Returns a rule that is broken, if one is. Walks all entries: for tests.
    pub fn check(&self) -> Result<(), &'static str> {
        for segment in [WINDOW, PROBATION, PROTECTED] {
            let mut entries = 0;
            for entry in self.lists.nodes(segment as u32) {
                let own = usize::from(self.segments[entry as usize]);
                require(own == segment, "an entry knows its segment")?;
                require(!self.free.is_free(entry), "a listed entry is not free")?;
                entries += 1;
            }
            require(entries == self.lens[segment], "the lengths are those of the segments")?;
        }
        let main = self.lens[PROBATION] + self.lens[PROTECTED];
        require(self.lens[WINDOW] <= self.window_max, "the window has its share at most")?;
        require(main <= self.capacity() - self.window_max, "main has its share at most")?;
        require(self.lens[PROTECTED] <= self.protected_max, "80 % of main are protected at most")?;
        require(self.lens[WINDOW] + main == self.len(), "all entries are in a segment")
    }
}

impl Policy for TinyLfu {
    fn touch(&mut self, entry: u32) {
        self.note(self.keys[entry as usize], true);
        match usize::from(self.segments[entry as usize]) {
            WINDOW => self.renew(WINDOW, entry),
            _ => self.protect(entry),
        }
    }

    fn admit(&mut self, key: u64, evicted: &mut dyn FnMut(u32)) -> Option<u32> {
        self.note(key, false);
        if self.lens[WINDOW] == self.window_max
            && let Some(loser) = self.shift()
        {
            evicted(loser);
        }
        let entry = self.free.take()?;
        self.keys[entry as usize] = key;
        self.enter(WINDOW, entry);
        Some(entry)
    }

    /// The candidate leaves if the victim is asked for as often, else the victim.
    fn evict(&mut self) -> Option<u32> {
        let loser = match (self.candidate(), self.victim()) {
            (Some(candidate), Some(victim)) if self.beats(candidate, victim) => victim,
            (candidate, victim) => candidate.or(victim)?,
        };
        self.remove(loser);
        Some(loser)
    }

    fn remove(&mut self, entry: u32) {
        self.leave(entry);
        self.free.give(entry);
    }

    fn len(&self) -> u32 {
        self.free.used()
    }

    fn capacity(&self) -> u32 {
        self.keys.len() as u32
    }

    fn bytes(&self) -> u64 {
        let own = size_of_val(&*self.keys) + size_of_val(&*self.segments);
        own as u64 + self.lists.bytes() + self.sketch.bytes() + self.free.bytes()
    }
}
