//! The table of entries: from a key to its value in the heap.
//!
//! | part | what |
//! |---|---|
//! | heads | for each bucket, one more than the number of its first entry; 0: none |
//! | entries | four words each, below |
//!
//! | word of an entry | low half | high half |
//! |---|---|---|
//! | 0 | [stamp](crate::stamp) | |
//! | 1 | the key's hash | |
//! | 2 | first word of its block | one more than the next entry's number |
//! | 3 | words of the key | words of the value |
//!
//! A block of the heap has the words of the key, then those of the value. An entry without a key is
//! free, and its stamp is odd.
//!
//! A reader follows the chain of its bucket. Entries may leave the chain meanwhile and enter
//! another one, so a reader may get lost. Then it finds nothing, which is a miss. It takes a bounded
//! number of steps, and believes nothing before it has compared the stamp.
//!
//! [Aliases](crate::aliases) lead to an entry by its number. Its reader has the words of the key that
//! is stored there too, and compares them itself.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use spirit_mem::{Region, Span};
use std::sync::atomic::AtomicU32;

use crate::allocator::Block;
use crate::key::Key;
use crate::stamp;
use crate::value::Value;

/// Words of an entry.
const ENTRY_WORDS: u64 = 4;
/// Entries of a chain that a reader visits, at most. With a bucket for each entry, chains are
/// seldom longer than five.
const STEPS_MAX: usize = 32;

/// The places of a cache's parts in its region.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table {
    heads: Span<AtomicU32>,
    entries: Span<AtomicU64>,
}

/// The place and size of an entry's key and value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) block: Block,
    pub(crate) key_words: u32,
    pub(crate) value_words: u32,
}

impl Table {
    /// Returns the table of this many entries, which begins at byte `at`, a multiple of 8.
    pub(crate) fn new(at: u64, entries: u32) -> Table {
        let entries = Span::new(at, u64::from(entries) * ENTRY_WORDS);
        let buckets = (entries.len() / ENTRY_WORDS).next_power_of_two().max(2);
        Table { heads: Span::new(entries.end(), buckets), entries }
    }

    /// Returns the offset behind it.
    pub(crate) fn end(&self) -> u64 {
        self.heads.end()
    }

    /// Finds the entry of a key, and lets `read` read its value.
    #[inline]
    pub(crate) fn look_up<T>(
        &self,
        region: &Region,
        heap: &[AtomicU64],
        key: Key<'_>,
        read: impl FnOnce(Value<'_>) -> Option<T>,
    ) -> Option<(u32, T)> {
        let mut next = self.head(region, key.hash).load(Acquire);
        for _ in 0..STEPS_MAX {
            let entry = next.checked_sub(1)?;
            let words = self.entry(region, entry)?;
            if words[1].load(Acquire) == key.hash {
                let of_key = || Place::of(words).value_of(heap, key).and_then(read);
                return stamp::read(&words[0], of_key).map(|found| (entry, found));
            }
            next = (words[2].load(Acquire) >> 32) as u32;
        }
        None
    }

    /// Lets `read` read an entry's key and value. The entry may have any key by now.
    pub(crate) fn read<T>(
        &self,
        region: &Region,
        heap: &[AtomicU64],
        entry: u32,
        read: impl FnOnce(Value<'_>, Value<'_>) -> Option<T>,
    ) -> Option<T> {
        let words = self.entry(region, entry)?;
        stamp::read(&words[0], || {
            let place = Place::of(words);
            let (key, value) = Value(place.view(heap)?).split_at(place.key_words as usize);
            read(key, value)
        })
    }

    /// Finds the entry of a key. For the owner.
    pub(crate) fn find(&self, region: &Region, heap: &[AtomicU64], key: Key<'_>) -> Option<u32> {
        self.chain(region, key.hash).find(|entry| {
            let words = self.words(region, *entry);
            words[1].load(Relaxed) == key.hash && Place::of(words).value_of(heap, key).is_some()
        })
    }

    /// Puts a free entry with its key and value into the chain of its bucket. The owner alone calls
    /// this and all that follow.
    pub(crate) fn link(&self, region: &Region, entry: u32, hash: u64, place: Place) {
        let (words, head) = (self.words(region, entry), self.head(region, hash));
        stamp::close(&words[0]);
        words[1].store(hash, Release);
        words[2].store(place.block.0 as u64 | u64::from(head.load(Relaxed)) << 32, Release);
        words[3].store(place.sizes(), Release);
        stamp::open(&words[0]);
        head.store(entry + 1, Release);
    }

    /// Begins a change of an entry's block.
    pub(crate) fn close(&self, region: &Region, entry: u32) {
        stamp::close(&self.words(region, entry)[0]);
    }

    /// Ends a change of an entry's block.
    pub(crate) fn open(&self, region: &Region, entry: u32, place: Place) {
        let words = self.words(region, entry);
        let next = words[2].load(Relaxed) & !u64::from(u32::MAX);
        words[2].store(place.block.0 as u64 | next, Release);
        words[3].store(place.sizes(), Release);
        stamp::open(&words[0]);
    }

    /// Takes an entry out of its chain. Returns its place, unless it was free.
    pub(crate) fn unlink(&self, region: &Region, entry: u32) -> Option<Place> {
        let words = self.words(region, entry);
        let place = Place::of(words);
        if place.key_words == 0 {
            return None;
        }
        let hash = words[1].load(Relaxed);
        let next = (words[2].load(Relaxed) >> 32) as u32;
        match self.chain(region, hash).find(|before| self.next(region, *before) == entry + 1) {
            Some(before) => {
                let link = &self.words(region, before)[2];
                let block = link.load(Relaxed) & u64::from(u32::MAX);
                link.store(block | u64::from(next) << 32, Release);
            }
            None => self.head(region, hash).store(next, Release),
        }
        stamp::close(&words[0]);
        words[3].store(0, Release);
        Some(place)
    }

    /// Returns the place of an entry's key and value, unless it is free.
    pub(crate) fn place(&self, region: &Region, entry: u32) -> Option<Place> {
        Some(Place::of(self.words(region, entry))).filter(|place| place.key_words > 0)
    }

    fn chain<'t>(&'t self, region: &'t Region, hash: u64) -> impl Iterator<Item = u32> + 't {
        let first = self.head(region, hash).load(Relaxed).checked_sub(1);
        std::iter::successors(first, |entry| self.next(region, *entry).checked_sub(1))
    }

    fn next(&self, region: &Region, entry: u32) -> u32 {
        (self.words(region, entry)[2].load(Relaxed) >> 32) as u32
    }

    #[inline]
    fn head<'r>(&self, region: &'r Region, hash: u64) -> &'r AtomicU32 {
        let heads = region.dram(self.heads);
        &heads[(hash >> 32) as usize & (heads.len() - 1)]
    }

    fn words<'r>(&self, region: &'r Region, entry: u32) -> &'r [AtomicU64] {
        self.entry(region, entry).expect("the owner knows the entries' numbers")
    }

    #[inline]
    fn entry<'r>(&self, region: &'r Region, entry: u32) -> Option<&'r [AtomicU64]> {
        let first = entry as usize * ENTRY_WORDS as usize;
        region.dram(self.entries).get(first..first + ENTRY_WORDS as usize)
    }
}

impl Place {
    #[inline]
    fn of(words: &[AtomicU64]) -> Place {
        let sizes = words[3].load(Acquire);
        let block = Block(words[2].load(Acquire) as u32);
        Place { block, key_words: sizes as u32, value_words: (sizes >> 32) as u32 }
    }

    fn sizes(self) -> u64 {
        u64::from(self.key_words) | u64::from(self.value_words) << 32
    }

    /// Returns the words of key and value.
    pub(crate) fn words(self) -> u64 {
        u64::from(self.key_words) + u64::from(self.value_words)
    }

    /// Returns the words of the heap that it covers, if they are there.
    fn view(self, heap: &[AtomicU64]) -> Option<&[AtomicU64]> {
        let first = self.block.0 as usize;
        heap.get(first..first.checked_add(usize::try_from(self.words()).ok()?)?)
    }

    /// Returns the value, if it is that of `key`.
    #[inline]
    fn value_of<'h>(self, heap: &'h [AtomicU64], key: Key<'_>) -> Option<Value<'h>> {
        if self.key_words as usize != key.words.len() {
            return None;
        }
        let (stored, value) = self.view(heap)?.split_at(key.words.len());
        let is_equal = stored.iter().zip(key.words).all(|(at, word)| at.load(Acquire) == *word);
        is_equal.then_some(Value(value))
    }

    /// Writes key and value to the block.
    pub(crate) fn write(self, heap: &[AtomicU64], key: Key<'_>, value: &[u64]) {
        let to = self.view(heap).expect("the allocator gives blocks of the heap");
        for (to, word) in to.iter().zip(key.words.iter().chain(value)) {
            to.store(*word, Release);
        }
    }
}
