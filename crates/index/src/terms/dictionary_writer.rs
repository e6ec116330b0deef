//! The dictionary's writer. A term enters with its first segment and leaves with its last.
//!
//! Entries are written first, then published by a release store of the head. The memory that the
//! head leaves is reused when no reader can hold it. Terms without entries are removed. So the
//! dictionary's size follows the retained documents, not all that were ever seen. Records, arrays
//! and long terms share one pool of [buddies](spirit_mem::buddies).

use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU8, AtomicU32};

use spirit_mem::{Buddies, Region, Span};

use crate::ground::footing::Footing;
use crate::ground::geometry::Geometry;
use crate::ground::ids::{Position, SegmentId};
use crate::ground::term::{Term, TermKey};
use crate::terms::dictionary::{Dictionary, Head, RECORD_BYTES, TermId};
use crate::terms::entries::{ENTRY_BYTES, Entry};

/// Number of terms per line of the table: five of its seven slots, so that the table never gets
/// crowded.
const TERMS_PER_LINE: u64 = 5;
/// Number of entries that fit in a record.
const INLINE_ENTRIES: u32 = 2;
/// Number of entries of a term's first array.
const ARRAY_ENTRIES_MIN: u32 = 4;

/// The dictionary has no room for another term or for a longer array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DictionaryFull;

/// A block of the pool that waits for its last reader before it is reused.
#[derive(Clone, Copy, Debug)]
struct Garbage {
    at: u64,
    bytes: u64,
}

/// A place for one more entry of a term: a new array for all its entries, or `None` if the term's
/// own array has room.
#[derive(Debug)]
pub struct Place(Option<Garbage>);

/// The dictionary's writer. The flush stage owns it.
pub struct DictionaryWriter {
    pool: Buddies,
    pool_start: u64,
    terms: u64,
    terms_max: u64,
    /// Bytes of the pool that are kept for rewrites.
    reserve: u64,
    limbo: VecDeque<(u64, Garbage)>,
    /// Number of blocks of the current step in `limbo`. The step's end stamps them.
    unstamped: usize,
}

impl DictionaryWriter {
    /// Makes the writer of an empty dictionary.
    pub fn new(geometry: &Geometry) -> DictionaryWriter {
        let pool = geometry.dictionary_pool;
        DictionaryWriter {
            pool: Buddies::new(pool),
            pool_start: pool.start(),
            terms: 0,
            terms_max: geometry.dictionary_lines.len() * TERMS_PER_LINE,
            limbo: VecDeque::with_capacity(1024),
            reserve: 0,
            unstamped: 0,
        }
    }

    /// Keeps one in `share` bytes of the pool for rewrites, which need room to make room.
    pub fn set_reserve(&mut self, share: u64) {
        self.reserve = self.pool.bytes() / share;
    }

    /// True if some bytes of the pool are kept for rewrites.
    pub fn has_reserve(&self) -> bool {
        self.reserve > 0
    }

    /// Takes a block, if the reserve stays whole.
    fn allocate(&mut self, region: &Region, bytes: u64) -> Result<u64, DictionaryFull> {
        if self.pool.used() + Buddies::rounded(bytes) + self.reserve > self.pool.bytes() {
            return Err(DictionaryFull);
        }
        self.allocate_reserved(region, bytes)
    }

    fn allocate_reserved(&mut self, region: &Region, bytes: u64) -> Result<u64, DictionaryFull> {
        self.pool.allocate(region, bytes).ok_or(DictionaryFull)
    }

    /// Returns the number of terms that still find a place, if none of them is long or frequent.
    pub fn room(&self) -> u64 {
        let lines = self.free().saturating_sub(self.reserve) / RECORD_BYTES;
        lines.min(self.terms_max - self.terms)
    }

    /// True if less than half of the pool is free. A rewrite gives terms new arrays before it
    /// frees the old ones. So it may need as much memory again as is used.
    pub fn is_half_full(&self) -> bool {
        self.pool.used() > self.pool.bytes() / 2
    }

    /// True if less than an eighth of the pool is free beside the reserve, or of the places for
    /// terms.
    pub fn is_crowded(&self) -> bool {
        self.pool.used() + self.reserve > self.pool.bytes() / 8 * 7
            || self.terms > self.terms_max / 8 * 7
    }

    /// Returns the number of terms that have entries.
    pub fn terms(&self) -> u64 {
        self.terms
    }

    /// Returns the bytes of the pool that no record, array or long term takes.
    pub fn free(&self) -> u64 {
        self.pool.bytes() - self.pool.used()
    }

    /// Returns the bytes of the pool outside its largest free block.
    pub fn beyond_largest_free(&self, footing: &Footing) -> u64 {
        let pool = footing.geometry.dictionary_pool.bytes();
        pool - self.pool.largest_free(&footing.region)
    }

    /// Returns the bytes in records, arrays and long terms.
    pub fn bytes(&self) -> u64 {
        self.pool.used()
    }

    /// Returns the number of a term, and enters a new term.
    pub fn intern(
        &mut self,
        footing: &Footing,
        term: Term<'_>,
        hash: u64,
    ) -> Result<TermId, DictionaryFull> {
        let dictionary = Dictionary::new(&footing.region, &footing.geometry);
        if let Some(id) = dictionary.find(term, hash) {
            return Ok(id);
        }
        let (id, long) = self.take_record(footing, term)?;
        let record = dictionary.record(id);
        record.0.pair(0).store(term.key.low, Relaxed);
        record.0.pair(1).store(term.key.high, Relaxed);
        record.set_apart(long, INLINE_ENTRIES);
        record.set_head(Head::default());
        if dictionary.table.insert(&footing.region, hash, id.0 as u64).is_err() {
            self.return_record(footing, id, record.key(), long);
            return Err(DictionaryFull);
        }
        self.terms += 1;
        Ok(id)
    }

    /// Enters a new term with its entries, oldest first, in one step for readers.
    pub fn enter(
        &mut self,
        footing: &Footing,
        term: Term<'_>,
        hash: u64,
        entries: &[Entry],
    ) -> Result<TermId, DictionaryFull> {
        let region = &footing.region;
        let dictionary = Dictionary::new(region, &footing.geometry);
        let (id, long) = self.take_record(footing, term)?;
        let record = dictionary.record(id);
        record.0.pair(0).store(term.key.low, Relaxed);
        record.0.pair(1).store(term.key.high, Relaxed);
        record.set_apart(long, INLINE_ENTRIES);
        let mut head = Head { array: 0, first: 0, end: entries.len() as u32 };
        if head.end > INLINE_ENTRIES {
            let bytes = Buddies::rounded(entries.len() as u64 * ENTRY_BYTES);
            let Ok(at) = self.allocate(region, bytes) else {
                self.return_record(footing, id, record.key(), long);
                return Err(DictionaryFull);
            };
            record.set_apart(long, (bytes / ENTRY_BYTES).min(u16::MAX as u64) as u32);
            head.array = self.unit(at);
        }
        write_entries(footing, dictionary.array(id, head), entries.iter().copied());
        record.set_head(head);
        if dictionary.table.insert(region, hash, id.0 as u64).is_err() {
            self.discard_array(head.array, record.apart().1);
            self.return_record(footing, id, record.key(), long);
            return Err(DictionaryFull);
        }
        self.terms += 1;
        Ok(id)
    }

    /// Takes a record for a term. Returns it with the place of the term's bytes if it is a long
    /// one.
    fn take_record(
        &mut self,
        footing: &Footing,
        term: Term<'_>,
    ) -> Result<(TermId, u32), DictionaryFull> {
        if self.terms == self.terms_max {
            return Err(DictionaryFull);
        }
        let region = &footing.region;
        let at = self.allocate(region, RECORD_BYTES)?;
        let id = TermId(((at - self.pool_start) / RECORD_BYTES) as u32);
        if !term.key.is_long() {
            return Ok((id, 0));
        }
        match self.write_long(footing, term.bytes) {
            Ok(long) => Ok((id, long)),
            Err(full) => {
                self.pool.free(region, at, RECORD_BYTES);
                Err(full)
            }
        }
    }

    /// Takes back a record that no reader has seen, and its long bytes.
    fn return_record(&mut self, footing: &Footing, id: TermId, key: TermKey, long: u32) {
        self.pool.free(&footing.region, self.place(id), RECORD_BYTES);
        if key.is_long() {
            self.pool.free(&footing.region, self.at_unit(long), key.len() as u64);
        }
    }

    /// Returns the offset of a term's record.
    fn place(&self, id: TermId) -> u64 {
        self.pool_start + id.0 as u64 * RECORD_BYTES
    }

    /// Returns the offset of a block from its number of units from the pool's start.
    fn at_unit(&self, unit: u32) -> u64 {
        self.pool_start + unit as u64 * ENTRY_BYTES
    }

    fn unit(&self, at: u64) -> u32 {
        ((at - self.pool_start) / ENTRY_BYTES) as u32
    }

    fn write_long(&mut self, footing: &Footing, bytes: &[u8]) -> Result<u32, DictionaryFull> {
        let region = &footing.region;
        let at = self.allocate(region, bytes.len() as u64)?;
        for (to, from) in
            region.view(Span::<AtomicU8>::new(at, bytes.len() as u64)).iter().zip(bytes)
        {
            to.store(*from, Relaxed);
        }
        Ok(self.unit(at))
    }

    /// Appends a segment's postings to a term. The segment is newer than all others of the term.
    /// Appending is idempotent, so an interrupted registration can be repeated.
    pub fn append(
        &mut self,
        footing: &Footing,
        id: TermId,
        segment: SegmentId,
        postings: u32,
        payload: u32,
    ) -> Result<(), DictionaryFull> {
        let region = &footing.region;
        let dictionary = Dictionary::new(region, &footing.geometry);
        let entries = dictionary.entries(id);
        let last = entries.len().checked_sub(1).map(|i| entries.get(region, i));
        if last.is_some_and(|last| last.segment == segment) {
            return Ok(());
        }
        debug_assert!(last.is_none_or(|last| last.segment < segment));
        let total = last.map_or(0, |last| last.total);
        self.make_room(footing, &dictionary, id)?;
        self.push(footing, id, Entry { segment, postings, payload, total, alone: 0 });
        Ok(())
    }

    /// Writes an entry behind the newest of a term, whose array has room. `entry.total` is the
    /// total of the entries before it.
    fn push(&mut self, footing: &Footing, id: TermId, entry: Entry) {
        let dictionary = Dictionary::new(&footing.region, &footing.geometry);
        let record = dictionary.record(id);
        let head = record.head();
        let at = dictionary.array(id, head) + head.end as u64 * ENTRY_BYTES;
        let words = &footing.region.view(Span::<AtomicU32>::new(at, 4));
        let total = entry.total.wrapping_add(entry.postings);
        let values = [entry.segment.0, entry.postings, entry.payload, total];
        words.iter().zip(values).for_each(|(word, value)| word.store(value, Relaxed));
        record.set_head(Head { end: head.end + 1, ..head });
    }

    /// Makes a free place behind the newest entry of a term.
    fn make_room(
        &mut self,
        footing: &Footing,
        dictionary: &Dictionary<'_>,
        id: TermId,
    ) -> Result<(), DictionaryFull> {
        let record = dictionary.record(id);
        let head = record.head();
        if head.end < record.apart().1 {
            return Ok(());
        }
        let live = head.end - head.first;
        // Leave a quarter of room: entries leave at the front as they come at the end, so the used
        // part moves on.
        self.resize(footing, dictionary, id, (live + 1) * 5 / 4)
    }

    /// Moves a term's entries to an array for at least `capacity` of them.
    fn resize(
        &mut self,
        footing: &Footing,
        dictionary: &Dictionary<'_>,
        id: TermId,
        capacity: u32,
    ) -> Result<(), DictionaryFull> {
        let region = &footing.region;
        let record = dictionary.record(id);
        let (head, (long, capacity_old)) = (record.head(), record.apart());
        let live = head.end - head.first;
        let bytes = Buddies::rounded(capacity.max(ARRAY_ENTRIES_MIN) as u64 * ENTRY_BYTES);
        let capacity = (bytes / ENTRY_BYTES).min(u16::MAX as u64) as u32;
        if live >= capacity {
            return Err(DictionaryFull);
        }
        let at = self.allocate(region, bytes)?;
        let from = dictionary.entries(id).words;
        let to = region.view(Span::<AtomicU32>::new(at, from.len()));
        for (to, from) in to.iter().zip(region.view(from)) {
            to.store(from.load(Relaxed), Relaxed);
        }
        record.set_apart(long, capacity);
        record.set_head(Head { array: self.unit(at), first: 0, end: live });
        self.discard_array(head.array, capacity_old);
        Ok(())
    }

    fn discard_array(&mut self, array: u32, capacity: u32) {
        if array != 0 {
            self.discard(self.at_unit(array), capacity as u64 * ENTRY_BYTES);
        }
    }

    fn discard(&mut self, at: u64, bytes: u64) {
        self.limbo.push_back((u64::MAX, Garbage { at, bytes }));
        self.unstamped += 1;
    }

    /// Removes `segment`'s entry from a term, if it has one. A term that is left without entries is
    /// removed. Readers skip the entry already: the window has passed the segment, or another
    /// version superseded it.
    pub fn remove(
        &mut self,
        footing: &Footing,
        id: TermId,
        segment: SegmentId,
    ) -> Result<(), DictionaryFull> {
        let region = &footing.region;
        let dictionary = Dictionary::new(region, &footing.geometry);
        let entries = dictionary.entries(id);
        let Some(index) = entries.find(region, segment) else { return Ok(()) };
        if index == 0 {
            self.drop_front(footing, &dictionary, id, 1);
            return Ok(());
        }
        let left =
            entries.iter(region).filter(|entry| entry.segment != segment).collect::<Vec<_>>();
        self.rebuild(footing, id, &left)
    }

    /// Removes the entries of segments before `boundary` from a term. No reader uses them any more.
    pub fn cut(&mut self, footing: &Footing, id: TermId, boundary: Position) {
        let dictionary = Dictionary::new(&footing.region, &footing.geometry);
        let entries = dictionary.entries(id).iter(&footing.region);
        let gone = entries.take_while(|entry| entry.segment.position() < boundary).count();
        if gone > 0 {
            self.drop_front(footing, &dictionary, id, gone as u32);
        }
    }

    /// Removes the oldest `gone` entries from a term. A term that is left without entries is
    /// removed.
    fn drop_front(
        &mut self,
        footing: &Footing,
        dictionary: &Dictionary<'_>,
        id: TermId,
        gone: u32,
    ) {
        let record = dictionary.record(id);
        let head = record.head();
        let live = head.end - head.first - gone;
        if live == 0 {
            return self.forget(footing, dictionary, id);
        }
        record.set_head(Head { first: head.first + gone, ..head });
        let capacity = record.apart().1;
        if capacity > ARRAY_ENTRIES_MIN && live * 4 <= capacity {
            // Memory of dropped segments must be reclaimed, or dropping them makes no room. If
            // there is no room for the smaller array either, the large one stays in use.
            let _ = self.resize(footing, dictionary, id, live * 2);
        }
    }

    /// Replaces a term's entries of segments before `from` by `older`, oldest first. Enters a new
    /// term.
    pub fn prepend(
        &mut self,
        footing: &Footing,
        term: Term<'_>,
        hash: u64,
        older: &[Entry],
        from: Position,
    ) -> Result<(), DictionaryFull> {
        let dictionary = Dictionary::new(&footing.region, &footing.geometry);
        let Some(id) = dictionary.find(term, hash) else {
            return self.enter(footing, term, hash, older).map(|_| ());
        };
        let mut all = older.to_vec();
        let entries = dictionary.entries(id).iter(&footing.region);
        all.extend(entries.filter(|entry| entry.segment.position() >= from));
        self.rebuild(footing, id, &all)
    }

    /// Takes a place for a term's entry of `segment`. The term has an entry of another version of
    /// that segment. The caller [fills](Self::add_version) the place or [gives it
    /// back](Self::give_back).
    pub fn place_version(
        &mut self,
        footing: &Footing,
        id: TermId,
        segment: SegmentId,
    ) -> Result<Place, DictionaryFull> {
        let region = &footing.region;
        let dictionary = Dictionary::new(region, &footing.geometry);
        let (head, capacity) = (dictionary.record(id).head(), dictionary.record(id).apart().1);
        let entries = dictionary.entries(id);
        let is_newest = entries.count_before(region, segment) == entries.len();
        if is_newest && head.end < capacity {
            return Ok(Place(None));
        }
        let bytes = Buddies::rounded((entries.len() as u64 + 1) * ENTRY_BYTES);
        Ok(Place(Some(Garbage { at: self.allocate_reserved(region, bytes)?, bytes })))
    }

    /// Gives back a place that was not filled.
    pub fn give_back(&mut self, footing: &Footing, place: Place) {
        if let Place(Some(Garbage { at, bytes })) = place {
            self.pool.free(&footing.region, at, bytes);
        }
    }

    /// Writes a term's entry for another version of a segment to the place that was taken for it.
    pub fn add_version(&mut self, footing: &Footing, id: TermId, entry: Entry, place: Place) {
        let region = &footing.region;
        let dictionary = Dictionary::new(region, &footing.geometry);
        let entries = dictionary.entries(id);
        let Place(Some(array)) = place else {
            let older = entries.len().checked_sub(1).map_or(0, |i| entries.get(region, i).total);
            return self.push(footing, id, Entry { total: older, ..entry });
        };
        let mut all = entries.iter(region).collect::<Vec<_>>();
        all.insert(entries.count_before(region, entry.segment), entry);
        self.replace(footing, id, array, &all);
    }

    /// Replaces a term's array by a new one with `entries`.
    fn rebuild(
        &mut self,
        footing: &Footing,
        id: TermId,
        entries: &[Entry],
    ) -> Result<(), DictionaryFull> {
        let bytes = Buddies::rounded(entries.len() as u64 * ENTRY_BYTES);
        let at = self.allocate_reserved(&footing.region, bytes)?;
        self.replace(footing, id, Garbage { at, bytes }, entries);
        Ok(())
    }

    /// Makes `array` the term's, with `entries`. The old array is garbage.
    fn replace(&mut self, footing: &Footing, id: TermId, array: Garbage, entries: &[Entry]) {
        let Garbage { at, bytes } = array;
        write_entries(footing, at, entries.iter().copied());
        let record = Dictionary::new(&footing.region, &footing.geometry).record(id);
        let head = record.head();
        let (long, capacity) = record.apart();
        record.set_apart(long, (bytes / ENTRY_BYTES).min(u16::MAX as u64) as u32);
        record.set_head(Head { array: self.unit(at), first: 0, end: entries.len() as u32 });
        self.discard_array(head.array, capacity);
    }

    /// Removes a term.
    fn forget(&mut self, footing: &Footing, dictionary: &Dictionary<'_>, id: TermId) {
        let record = dictionary.record(id);
        dictionary.table.remove(&footing.region, record.key().hash(), id.0 as u64);
        let (long, capacity) = record.apart();
        self.discard_array(record.head().array, capacity);
        if record.key().is_long() {
            let bytes = record.key().len() as u64;
            self.discard(self.at_unit(long), bytes);
        }
        self.discard(self.place(id), RECORD_BYTES);
        self.terms -= 1;
    }

    /// True if memory will come back as soon as readers have left.
    pub fn is_reclaiming(&self) -> bool {
        !self.limbo.is_empty()
    }

    /// Ends a step. Stamps the blocks that it discarded, and frees those that no reader holds any
    /// more.
    pub fn collect(&mut self, footing: &Footing) {
        if self.unstamped > 0 {
            let stamp = footing.pins.retire();
            for (when, _) in self.limbo.iter_mut().rev().take(self.unstamped) {
                *when = stamp;
            }
            self.unstamped = 0;
        }
        if self.limbo.is_empty() {
            return;
        }
        let horizon = footing.pins.horizon();
        while let Some((_, garbage)) = self.limbo.pop_front_if(|(stamp, _)| *stamp < horizon) {
            self.pool.free(&footing.region, garbage.at, garbage.bytes);
        }
    }
}

/// Writes entries, oldest first, from `at` on, with their running totals.
fn write_entries(footing: &Footing, at: u64, entries: impl ExactSizeIterator<Item = Entry>) {
    let words = &footing.region.view(Span::<AtomicU32>::new(at, entries.len() as u64 * 4));
    let mut total = 0u32;
    for (words, entry) in words.chunks(4).zip(entries) {
        total = total.wrapping_add(entry.postings);
        let values = [entry.segment.0, entry.postings_word(), entry.payload, total];
        words.iter().zip(values).for_each(|(word, value)| word.store(value, Relaxed));
    }
}
