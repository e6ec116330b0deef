//! A cache: its memory, and what threads may do with it.
//!
//! Any number of threads look up at once, without a lock: see [`stamp`](crate::stamp) and
//! `table.rs`. A thread that fills something in must be the keeper (`keeper.rs`). If another thread
//! is, the value is not kept, and nobody waits. So neither a look-up nor a fill ever
//! waits, calls the system or allocates.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};

use spirit_mem::{FilePart, HeapFile, Region, Span};

use crate::aliases::Aliases;
use crate::config::{CacheConfig, CacheError};
use crate::keeper::{Fill, Filling, Keeper, Kept, Store};
use crate::key::Key;
use crate::stats::CacheStats;
use crate::table::Table;
use crate::touches::Touches;
use crate::value::Value;

/// A cache of fixed size.
pub struct Cache {
    region: Region,
    table: Table,
    aliases: Aliases,
    heap: Span<AtomicU64>,
    keeper: Mutex<Keeper>,
    touches: Touches,
    counts: Counts,
    entries_max: u32,
}

/// What a look-up by a key or an alias reads.
#[derive(Clone, Copy, Debug)]
pub enum Found<'h> {
    /// The value of the key.
    Own(Value<'h>),
    /// An entry that probably has an alias. Its key must be compared: different aliases may be equal,
    /// and the entry may have got another key.
    Other {
        /// The alias' number.
        alias: usize,
        /// The words of the entry's key.
        key: Value<'h>,
        /// Its value.
        value: Value<'h>,
    },
}

/// What is counted for statistics.
#[derive(Default)]
struct Counts {
    found_by_alias: AtomicU64,
    missed: AtomicU64,
    filled: AtomicU64,
    busy: AtomicU64,
    without_room: AtomicU64,
}

impl Cache {
    /// Reserves a cache. With a file, its table and heap lie there.
    pub fn new(config: &CacheConfig, file: Option<&HeapFile>) -> Result<Cache, CacheError> {
        let plan = config.plan()?;
        let part = file.map(|file| FilePart { file, start: 0, bytes: plan.region_bytes });
        let dram = spirit_mem::Dram::Private;
        let bytes = plan.region_bytes;
        let region = Region::reserve_tiers(part, dram, bytes, config.residency)
            .map_err(CacheError::Reserve)?;
        let table = Table::new(0, plan.entries);
        let aliases = Aliases::new(table.end(), plan.entries, plan.aliases);
        let heap = Span::new(aliases.end(), (plan.region_bytes - aliases.end()) / 8);
        let keeper =
            Keeper::new(config.policy.make(plan.entries), config.allocator.make(heap.len()));
        Ok(Cache {
            region,
            table,
            aliases,
            heap,
            keeper: Mutex::new(keeper),
            touches: Touches::new(),
            counts: Counts::default(),
            entries_max: plan.entries,
        })
    }

    /// Looks a key up. `read` makes something of its value, or `None` if that is of no use; it must
    /// take any words, since the value may change meanwhile. Then its result is dropped.
    #[inline]
    pub fn look_up<T>(&self, key: Key<'_>, read: impl FnOnce(Value<'_>) -> Option<T>) -> Option<T> {
        let found = self.table.look_up(&self.region, self.heap(), key, read);
        self.note(found)
    }

    /// Like [`look_up`](Self::look_up), for a thread that has just looked the key up: statistics and
    /// policy learn nothing of it.
    pub fn look_up_again<T>(
        &self,
        key: Key<'_>,
        read: impl FnOnce(Value<'_>) -> Option<T>,
    ) -> Option<T> {
        self.table.look_up(&self.region, self.heap(), key, read).map(|(_, found)| found)
    }

    /// Looks a key up, and if that finds nothing, entries with any of these aliases, one alias after
    /// the other. `read` is like that of [`look_up`](Self::look_up). It counts as one look-up, and
    /// touches the entry that was found.
    pub fn look_up_any<T>(
        &self,
        key: Key<'_>,
        aliases: &[u64],
        mut read: impl FnMut(Found<'_>) -> Option<T>,
    ) -> Option<T> {
        let own = |value: Value<'_>| read(Found::Own(value));
        let found = self.table.look_up(&self.region, self.heap(), key, own).or_else(|| {
            let mut by_alias = |(alias, hash): (usize, &u64)| {
                self.aliases.find(&self.region, *hash, |entry| {
                    let found = self.table.read(&self.region, self.heap(), entry, |key, value| {
                        read(Found::Other { alias, key, value })
                    });
                    found.map(|found| (entry, found))
                })
            };
            let found = aliases.iter().enumerate().find_map(&mut by_alias)?;
            self.counts.found_by_alias.fetch_add(1, Relaxed);
            Some(found)
        });
        self.note(found)
    }

    /// Notes what a look-up found.
    #[inline(always)]
    fn note<T>(&self, found: Option<(u32, T)>) -> Option<T> {
        match found {
            Some((entry, found)) => {
                if self.touches.push(entry) {
                    self.learn();
                }
                Some(found)
            }
            None => {
                self.counts.missed.fetch_add(1, Relaxed);
                None
            }
        }
    }

    /// Keeps a value, in place of an earlier one of the key.
    pub fn fill(&self, key: Key<'_>, value: &[u64]) -> Fill {
        self.fill_as(key, value, &[])
    }

    /// Keeps a value, in place of an earlier one of the key, whose aliases were the same. Those
    /// beyond [`CacheConfig::aliases`] are left out.
    pub fn fill_as(&self, key: Key<'_>, value: &[u64], aliases: &[u64]) -> Fill {
        let Some(mut keeper) = self.try_keep() else {
            self.counts.busy.fetch_add(1, Relaxed);
            return Fill::Busy;
        };
        self.touches.take(|entry| keeper.touch(self.store(), entry));
        let fill = keeper.fill(self.store(), Filling { key, value, aliases });
        match fill {
            Fill::Kept => self.counts.filled.fetch_add(1, Relaxed),
            Fill::Refused | Fill::Busy => 0,
            Fill::TooLarge | Fill::NoRoom => self.counts.without_room.fetch_add(1, Relaxed),
        };
        fill
    }

    /// Lets a key's entry go, unless another thread is filling something in.
    pub fn remove(&self, key: Key<'_>) {
        if let Some(mut keeper) = self.try_keep() {
            keeper.remove(self.store(), key);
        }
    }

    /// Returns sizes and counts. Walks the heap; fills of other threads are not kept meanwhile.
    pub fn stats(&self) -> CacheStats {
        let kept = self.keeper.lock().unwrap_or_else(PoisonError::into_inner).kept(self.heap());
        let Kept { entries, evicted, words, usage, policy_bytes } = kept;
        let count = |count: &AtomicU64| count.load(Relaxed);
        CacheStats {
            bytes: self.region_bytes() + policy_bytes + self.touches.bytes(),
            table_bytes: self.aliases.end(),
            policy_bytes: policy_bytes + self.touches.bytes(),
            heap_bytes: self.heap.bytes(),
            kept_bytes: words * 8,
            block_bytes: usage.used * 8,
            free_bytes: usage.free * 8,
            largest_free_bytes: usage.largest * 8,
            entries,
            entries_max: self.entries_max,
            found: self.touches.count(),
            found_by_alias: count(&self.counts.found_by_alias),
            missed: count(&self.counts.missed),
            filled: count(&self.counts.filled),
            evicted,
            busy: count(&self.counts.busy),
            without_room: count(&self.counts.without_room),
        }
    }

    #[cold]
    fn learn(&self) {
        if let Some(mut keeper) = self.try_keep() {
            self.touches.take(|entry| keeper.touch(self.store(), entry));
        }
    }

    /// Becomes the keeper, unless another thread is. After a panic nobody can.
    fn try_keep(&self) -> Option<MutexGuard<'_, Keeper>> {
        self.keeper.try_lock().ok()
    }

    fn store(&self) -> Store<'_> {
        let Cache { region, table, aliases, .. } = self;
        Store { region, table, aliases, heap: self.heap() }
    }

    #[inline]
    fn heap(&self) -> &[AtomicU64] {
        self.region.dram(self.heap)
    }

    fn region_bytes(&self) -> u64 {
        self.aliases.end() + self.heap.bytes()
    }
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cache")
            .field("heap_bytes", &self.heap.bytes())
            .field("entries_max", &self.entries_max)
            .finish_non_exhaustive()
    }
}
