//! A leaf: one term of a query at work in one executor, segment after segment.
//!
//! A list is read as a sequence of *runs*, each ascending by rank. A flushed segment's list is one
//! run, in place. A fresh segment's list is its buffer and then its blocks. Their runs are copied,
//! reversed, to the query's scratch memory when they are reached, each run larger than the one
//! before. Blocks below the target are skipped. So one set of kernels serves both, and a query that
//! stops early has copied little.
//!
//! A [packed](crate::packed) list is unpacked to scratch memory block by block, and only the blocks
//! needed.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use spirit_index::form::{EntryWords, OlderAt};
use spirit_index::fresh::Extent;
use spirit_index::ground::Term;
use spirit_index::ground::{LOCAL_MAX, rank, rank_of};
use spirit_index::lists::PackedList;
use spirit_index::lists::{Chain, Head};
use spirit_index::snapshot::Segment;
use spirit_index::terms::{Entries, Entry, EntryList};
use spirit_kernel::Level;
use spirit_mem::{Region, Span};

use crate::packed;
use crate::tuning::{LINES_AHEAD, RUN_WORDS_FIRST};

/// The rank that means "no more": above every rank.
pub(crate) const END: u32 = LOCAL_MAX + 1;
/// Words of a leaf's scratch memory: the largest block.
pub(crate) const SCRATCH_WORDS: usize = 1024;
/// Cache lines of the first run.
const LINES_FIRST: usize = RUN_WORDS_FIRST / 16 + 1;

/// The place of a run.
#[derive(Clone, Copy, Debug)]
enum Place {
    Region(Span<AtomicU32>),
    /// The posting of this entry.
    Entry(usize),
    /// This many words at the start of the leaf's scratch memory.
    Scratch(usize),
}

/// A packed list, and the block behind the current run.
#[derive(Clone, Copy, Debug)]
struct PackedAt {
    list: PackedList,
    next: usize,
}

/// A query's term, its entries, and its open list in the current segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    /// The term's entries in the segments of this part.
    entries: Source,
    /// The number of entries not visited yet.
    pub(crate) left: usize,
    /// The place from which its entries in older segments are read next.
    pub(crate) older: OlderAt,
    /// The current run in the current segment.
    place: Place,
    /// The position in the current run.
    at: usize,
    /// The unread blocks of a fresh list.
    chain: Option<Chain>,
    /// The words read of the newest of these blocks.
    used: usize,
    /// The length of the next run, in words.
    run_words: usize,
    /// The list, if it is packed.
    packed: Option<PackedAt>,
    /// The entry of a registered list.
    pub(crate) entry: Entry,
    /// The bitmap of the whole list, if it is dense.
    pub(crate) bits: Option<Span<AtomicU64>>,
    /// The maxima of its blocks, if it has any.
    maxima: Option<Span<AtomicU64>>,
    /// The number of its postings, exact for a flushed list.
    pub(crate) postings: u32,
    /// The term's ordinal in the current segment, if the list has it.
    pub(crate) ordinal: Option<u32>,
}

impl Default for Leaf {
    fn default() -> Leaf {
        Leaf {
            entries: Source::Dictionary(Entries::default()),
            left: 0,
            older: OlderAt::default(),
            place: Place::Scratch(0),
            at: 0,
            chain: None,
            used: 0,
            run_words: RUN_WORDS_FIRST,
            packed: None,
            entry: Entry::NONE,
            bits: None,
            maxima: None,
            postings: 0,
            ordinal: None,
        }
    }
}

/// The place of a leaf's entries.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// In the DRAM dictionary.
    Dictionary(Entries),
    /// Among the entries copied for the query: the first, and one past the last.
    Lent(usize, usize),
}

/// The memory from which entries are read.
#[derive(Clone, Copy)]
pub(crate) struct Lists<'a> {
    pub(crate) region: &'a Region,
    /// Copies of entries of segments that the DRAM dictionary does not cover.
    pub(crate) lent: &'a [EntryWords],
}

/// The memory from which leaves are read.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) lists: Lists<'a>,
    pub(crate) level: Level,
    /// The current segment's extent, if it is fresh.
    pub(crate) extent: Option<Extent<'a>>,
}

impl Leaf {
    /// Returns the leaf of a term with these entries in the DRAM dictionary.
    pub(crate) fn new(entries: Entries) -> Leaf {
        let left = entries.len();
        Leaf { entries: Source::Dictionary(entries), left, ..Leaf::default() }
    }

    /// Continues with entries that were copied: those from `first` to before `end`.
    pub(crate) fn lend(&mut self, first: usize, end: usize) {
        let entries = Source::Lent(first, end);
        *self = Leaf { entries, left: end - first, older: self.older, ..Leaf::default() };
    }

    /// Returns the term's entries in the segments of this part.
    #[inline(always)]
    pub(crate) fn entries<'a>(&self, lists: Lists<'a>) -> EntryList<'a> {
        match self.entries {
            Source::Dictionary(entries) => entries.view(lists.region),
            Source::Lent(first, end) => EntryList::new(&lists.lent[first..end]),
        }
    }

    /// Makes the list empty.
    pub(crate) fn close(&mut self) {
        let Leaf { entries, left, older, .. } = *self;
        *self = Leaf { entries, left, older, ..Leaf::default() };
    }

    /// Opens the term's list in a fresh segment.
    pub(crate) fn open_fresh(
        &mut self,
        extent: &Extent<'_>,
        term: Term<'_>,
        hash: u64,
        words: &[AtomicU32],
    ) {
        self.close();
        let Some(ordinal) = extent.find(term, hash) else { return };
        self.ordinal = Some(ordinal);
        let list = extent.record(ordinal).list();
        // Prefetched before the rest is read, since it comes from the ingest role's core.
        list.chain().prefetch(extent.area(), extent.blocks(), LINES_FIRST);
        let head: Head = list.read();
        for (to, from) in words.iter().zip(head.buffer[..head.buffered].iter().rev()) {
            to.store(*from, Relaxed);
        }
        self.place = Place::Scratch(head.buffered);
        self.chain = Some(head.chain);
        self.postings = head.buffered as u32 + head.chain.postings();
    }

    /// Counts the postings of the open fresh list from the rank `first` on, up to those visible
    /// before it was opened. `None` if the segment is not fresh.
    pub(crate) fn count_fresh(&self, context: &Context<'_>, first: u32) -> Option<u32> {
        let extent = context.extent.as_ref()?;
        let Some(ordinal) = self.ordinal else { return Some(0) };
        let list = extent.record(ordinal).list();
        Some(list.count_below(rank_of(first) + 1, extent.area(), extent.blocks()))
    }

    /// Opens the list of the entry at `index`.
    #[inline]
    pub(crate) fn open_entry(&mut self, segment: &Segment<'_>, index: usize, entry: Entry) {
        let flushed = segment.flushed();
        let packed = segment.packed(entry);
        self.place = match packed {
            _ if entry.postings == 1 => Place::Entry(index),
            // No block is unpacked before one is asked for.
            Some(_) => Place::Scratch(0),
            None => Place::Region(flushed.list(entry)),
        };
        self.at = 0;
        self.chain = None;
        self.packed = packed.map(|list| PackedAt { list, next: 0 });
        self.entry = entry;
        self.bits = flushed.bitmap(entry);
        self.maxima = flushed.maxima(entry);
        self.postings = entry.postings;
    }

    /// Opens the term's list in a segment, if it has one there. Skips entries of newer segments.
    pub(crate) fn open_at(&mut self, lists: Lists<'_>, segment: &Segment<'_>) {
        let id = segment.id();
        self.close();
        while let Some(index) = self.left.checked_sub(1) {
            let entry = self.entries(lists).get(index);
            if entry.segment.position() < id.position() {
                return;
            }
            self.left = index;
            if entry.segment == id {
                self.open_entry(segment, index, entry);
            }
        }
    }

    /// True if the open list has a posting of the rank `wanted`. The segment is registered, and
    /// `base` is its newest row's rank.
    pub(crate) fn has(&self, context: &Context<'_>, base: u32, wanted: u32) -> bool {
        if let Some(bits) = self.bits {
            let (bits, bit) = (context.lists.region.view(bits), wanted.wrapping_sub(base) as usize);
            return bits
                .get(bit / 64)
                .is_some_and(|word| word.load(Relaxed) >> (bit % 64) & 1 == 1);
        }
        if let Some(packed) = self.packed() {
            return packed.has(context.lists.region, context.level, wanted);
        }
        let list = self.whole(context).unwrap_or(&[]);
        let at = spirit_kernel::seek(context.level, list, 0, wanted);
        list.get(at).is_some_and(|word| rank(word.load(Relaxed)) == wanted)
    }

    /// Returns the rest of the current run.
    #[inline(always)]
    pub(crate) fn run<'a>(&self, context: &Context<'a>, words: &'a [AtomicU32]) -> &'a [AtomicU32] {
        let whole = match self.place {
            Place::Region(span) => context.lists.region.view(span),
            Place::Entry(index) => self.entries(context.lists).single(index),
            Place::Scratch(len) => &words[..len],
        };
        &whole[self.at..]
    }

    /// Returns the whole list, if it is in one piece, in place.
    pub(crate) fn whole<'a>(&self, context: &Context<'a>) -> Option<&'a [AtomicU32]> {
        match self.place {
            Place::Region(list) => Some(context.lists.region.view(list)),
            Place::Entry(index) => Some(self.entries(context.lists).single(index)),
            Place::Scratch(_) => None,
        }
    }

    /// Returns the list, if it is packed.
    pub(crate) fn packed(&self) -> Option<PackedList> {
        self.packed.map(|packed| packed.list)
    }

    /// Returns the whole list, if it is unpacked and in the region. A single posting, a packed list
    /// and a fresh one are not.
    pub(crate) fn list<'a>(&self, context: &Context<'a>) -> Option<&'a [AtomicU32]> {
        match self.place {
            Place::Region(list) => Some(context.lists.region.view(list)),
            _ => None,
        }
    }

    /// Returns the posting, if the list lies in its entry.
    pub(crate) fn single(&self, context: &Context<'_>) -> Option<u32> {
        match self.place {
            Place::Entry(index) => Some(self.entries(context.lists).single(index)[0].load(Relaxed)),
            _ => None,
        }
    }

    /// Returns the maxima of the list's blocks, if it has any.
    pub(crate) fn maxima<'a>(&self, context: &Context<'a>) -> Option<&'a [AtomicU64]> {
        self.maxima.map(|maxima| context.lists.region.view(maxima))
    }

    /// Returns the term's ordinal in the current segment; `None` if it is unknown.
    pub(crate) fn ordinal(&self, context: &Context<'_>) -> Option<u32> {
        let Place::Region(list) = self.place else { return self.ordinal };
        // The ordinal stands before the list.
        let before = context.lists.region.view(Span::<AtomicU32>::new(list.start() - 4, 1));
        Some(before[0].load(Relaxed))
    }

    /// Advances by `count` words of the current run.
    #[inline(always)]
    pub(crate) fn advance(&mut self, count: usize) {
        self.at += count;
    }

    /// Fetches the next run. Returns false if there are no more.
    #[inline]
    pub(crate) fn refill(&mut self, context: &Context<'_>, words: &[AtomicU32]) -> bool {
        self.refill_from(context, words, 0)
    }

    /// Like [`refill`](Self::refill), but may skip runs without a rank from `target` on.
    pub(crate) fn refill_from(
        &mut self,
        context: &Context<'_>,
        words: &[AtomicU32],
        target: u32,
    ) -> bool {
        if let Some(packed) = &mut self.packed {
            let Some(count) = packed.unpack(context, words, target) else { return false };
            (self.place, self.at) = (Place::Scratch(count), 0);
            return true;
        }
        let (Some(newest), Some(extent)) = (self.chain, &context.extent) else { return false };
        let (area, blocks) = (extent.area(), extent.blocks());
        let chain = newest.from_rank(area, blocks, target);
        if chain != newest {
            self.used = 0;
        }
        let Some((block, older)) = chain.next(area, blocks) else { return false };
        let left = block.len() - self.used.min(block.len());
        let count = left.min(self.run_words).min(words.len());
        if count == left {
            older.prefetch(area, blocks, LINES_AHEAD);
            (self.chain, self.used) = (Some(older), 0);
        } else {
            (self.chain, self.used) = (Some(chain), self.used + count);
        }
        spirit_kernel::reverse_into(context.level, &block[left - count..left], words);
        self.place = Place::Scratch(count);
        self.at = 0;
        self.run_words = self.run_words.saturating_mul(2);
        true
    }

    /// Sets the bits of the list's ranks from `start` on, up to the end of `bits`. `base` is the
    /// rank of a bitmap's first bit, and `start` is a multiple of 64 from it.
    pub(crate) fn add_to(
        &mut self,
        context: &Context<'_>,
        words: &[AtomicU32],
        base: u32,
        start: u32,
        bits: &mut [u64],
    ) {
        if let Some(dense) = self.bits {
            let dense = context.lists.region.view(dense);
            return spirit_kernel::or_bits(context.level, dense, (start - base) as usize, bits);
        }
        // Terminates: each round takes a run, until one reaches past `bits` or the list ends.
        loop {
            let run = self.run(context, words);
            let used = spirit_kernel::set_bits(context.level, run, start, bits);
            self.at += used;
            if used < run.len() || !self.refill_from(context, words, start) {
                return;
            }
        }
    }

    /// Returns the first rank from `target` on, or [`END`].
    #[inline]
    pub(crate) fn seek(&mut self, context: &Context<'_>, words: &[AtomicU32], target: u32) -> u32 {
        loop {
            let run = self.run(context, words);
            let skip = spirit_kernel::seek(context.level, run, 0, target);
            self.at += skip;
            if let Some(word) = run.get(skip) {
                return rank(word.load(Relaxed));
            }
            if !self.refill_from(context, words, target) {
                return END;
            }
        }
    }
}

impl PackedAt {
    /// Unpacks the next block that may contain a rank from `target` on. Returns the number of its
    /// postings.
    fn unpack(&mut self, context: &Context<'_>, words: &[AtomicU32], target: u32) -> Option<usize> {
        let (region, level) = (context.lists.region, context.level);
        let block = self.list.block_of(region, level, self.next, target)?;
        self.next = block + 1;
        Some(packed::unpack(self.list, region, level, block, words).count)
    }
}
