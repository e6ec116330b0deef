//! The keeper of a cache: decides what it holds, and changes it. One thread at a time has it.

use std::sync::atomic::AtomicU64;

use spirit_mem::Region;

use crate::aliases::Aliases;
use crate::allocator::{Allocator, Block, Usage};
use crate::key::Key;
use crate::policy::Policy;
use crate::table::{Place, Table};

/// Entries that leave for the room of another one, at most. A fill takes a query's time.
const EVICTIONS_MAX: usize = 256;

/// What became of a value that was filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// It is kept.
    Kept,
    /// Another thread was filling something in.
    Busy,
    /// It takes more than half of the heap.
    TooLarge,
    /// The heap has no room for it, though many entries left.
    NoRoom,
    /// The policy does not want it.
    Refused,
}

/// What decides about a cache's entries.
pub(crate) struct Keeper {
    policy: Box<dyn Policy>,
    blocks: Blocks,
}

/// The blocks of the heap, each of an entry.
struct Blocks {
    allocator: Box<dyn Allocator>,
    evicted: u64,
    words: u64,
}

/// The memory of a cache.
#[derive(Clone, Copy)]
pub(crate) struct Store<'c> {
    pub(crate) region: &'c Region,
    pub(crate) table: &'c Table,
    pub(crate) aliases: &'c Aliases,
    pub(crate) heap: &'c [AtomicU64],
}

/// What is filled in.
#[derive(Clone, Copy)]
pub(crate) struct Filling<'f> {
    pub(crate) key: Key<'f>,
    pub(crate) value: &'f [u64],
    /// The same ones for equal keys.
    pub(crate) aliases: &'f [u64],
}

/// What a keeper counts.
pub(crate) struct Kept {
    pub(crate) entries: u32,
    pub(crate) evicted: u64,
    /// Words of keys and values.
    pub(crate) words: u64,
    pub(crate) usage: Usage,
    pub(crate) policy_bytes: u64,
}

impl Keeper {
    pub(crate) fn new(policy: Box<dyn Policy>, allocator: Box<dyn Allocator>) -> Keeper {
        Keeper { policy, blocks: Blocks { allocator, evicted: 0, words: 0 } }
    }

    /// Lets the policy know that an entry was found, which may have left since.
    pub(crate) fn touch(&mut self, store: Store<'_>, entry: u32) {
        if store.table.place(store.region, entry).is_some() {
            self.policy.touch(entry);
        }
    }

    /// Keeps a value, in place of an earlier one of the key.
    pub(crate) fn fill(&mut self, store: Store<'_>, filling: Filling<'_>) -> Fill {
        if filling.words() > store.heap.len() as u64 / 2 {
            self.remove(store, filling.key);
            return Fill::TooLarge;
        }
        match store.table.find(store.region, store.heap, filling.key) {
            Some(entry) => self.replace(store, entry, filling),
            None => self.add(store, filling),
        }
    }

    /// Lets a key's entry go.
    pub(crate) fn remove(&mut self, store: Store<'_>, key: Key<'_>) {
        if let Some(entry) = store.table.find(store.region, store.heap, key) {
            self.policy.remove(entry);
            self.blocks.release(store, entry);
        }
    }

    /// Counts what is kept. Walks the heap.
    pub(crate) fn kept(&self, heap: &[AtomicU64]) -> Kept {
        Kept {
            entries: self.policy.len(),
            evicted: self.blocks.evicted,
            words: self.blocks.words,
            usage: self.blocks.allocator.usage(heap),
            policy_bytes: self.policy.bytes(),
        }
    }

    fn add(&mut self, store: Store<'_>, filling: Filling<'_>) -> Fill {
        let Keeper { policy, blocks } = self;
        let mut leave = |entry| blocks.evict(store, entry);
        let Some(entry) = policy.admit(filling.key.hash, &mut leave) else {
            return Fill::Refused;
        };
        self.place(store, entry, filling)
    }

    /// Puts the key and value of an entry that the policy has into the table. Others may leave for
    /// it. Without room, the entry leaves too.
    fn place(&mut self, store: Store<'_>, entry: u32, filling: Filling<'_>) -> Fill {
        let Filling { key, value, aliases } = filling;
        // Half of the heap at most: they fit.
        let (key_words, value_words) = (key.words.len() as u32, value.len() as u32);
        let Some(block) = self.make_room(store, entry, key_words + value_words) else {
            return Fill::NoRoom;
        };
        let place = Place { block, key_words, value_words };
        place.write(store.heap, key, value);
        store.table.link(store.region, entry, key.hash, place);
        store.aliases.link(store.region, entry, aliases);
        self.blocks.words += place.words();
        Fill::Kept
    }

    /// Allocates a block for an entry without one.
    fn make_room(&mut self, store: Store<'_>, new: u32, words: u32) -> Option<Block> {
        for _ in 0..EVICTIONS_MAX {
            if let Some(block) = self.blocks.allocator.allocate(store.heap, words) {
                return Some(block);
            }
            let leaving = self.policy.evict()?;
            if leaving == new {
                return None;
            }
            self.blocks.evict(store, leaving);
        }
        self.policy.remove(new);
        None
    }

    fn replace(&mut self, store: Store<'_>, entry: u32, filling: Filling<'_>) -> Fill {
        let Filling { key, value, .. } = filling;
        let Some(old) = store.table.place(store.region, entry) else { return Fill::Refused };
        let room = u64::from(self.blocks.allocator.words(store.heap, old.block));
        if filling.words() > room || filling.words() < room / 2 {
            self.blocks.release(store, entry);
            return self.place(store, entry, filling);
        }
        let new = Place { value_words: value.len() as u32, ..old };
        store.table.close(store.region, entry);
        new.write(store.heap, key, value);
        store.table.open(store.region, entry, new);
        self.blocks.words = self.blocks.words - old.words() + new.words();
        Fill::Kept
    }
}

impl Filling<'_> {
    /// Returns the words of key and value.
    fn words(&self) -> u64 {
        self.key.words.len() as u64 + self.value.len() as u64
    }
}

impl Blocks {
    fn evict(&mut self, store: Store<'_>, entry: u32) {
        self.release(store, entry);
        self.evicted += 1;
    }

    /// Takes an entry out of the table, and gives its block back.
    fn release(&mut self, store: Store<'_>, entry: u32) {
        if let Some(place) = store.table.unlink(store.region, entry) {
            store.aliases.unlink(store.region, entry);
            self.allocator.free(store.heap, place.block);
            self.words -= place.words();
        }
    }
}
