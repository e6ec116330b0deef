//! A leaf: one term of a query at work in one executor, segment after segment, newest first.
//!
//! A list comes as a sequence of *runs*, each ascending by rank: a flushed segment's list is one run where it
//! lies; a fresh segment's is its buffer and then its blocks, copied (reversed) to the query's scratch memory when
//! they are reached, a little at first and more and more, but for blocks that a query has no use for. So the same kernels work on
//! both, and a query that stops early has copied little. A [packed](crate::packed) list is unpacked there block by block, those alone that are asked for.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use spirit_index::form::older::{EntryWords, OlderAt};
use spirit_index::fresh::extent::Extent;
use spirit_index::ground::posting::{LOCAL_MAX, rank, rank_of};
use spirit_index::ground::term::Term;
use spirit_index::lists::list::{Chain, Head};
use spirit_index::lists::packed::PackedList;
use spirit_index::snapshot::Segment;
use spirit_index::terms::entries::{Entries, Entry, EntryList};
use spirit_kernel::Level;
use spirit_mem::{Region, Span};

use crate::packed;

/// The rank that stands for "no more": above every rank.
pub(crate) const END: u32 = LOCAL_MAX + 1;
/// Words of scratch memory a leaf needs: the largest block.
pub(crate) const SCRATCH_WORDS: usize = 1024;
/// Words of a fresh list's first run behind its buffer; each one after it has twice as many.
const RUN_WORDS_FIRST: usize = 64;
/// Lines that its words lie on.
const LINES_FIRST: usize = RUN_WORDS_FIRST / 16 + 1;
/// Lines of the next block that are asked for while one is worked on; the processor sees the pattern then.
const LINES_AHEAD: usize = 8;

/// Where a run lies.
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

/// A term at work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    /// The term's entries in the segments of this part, and how many of them are still to be visited.
    entries: Source,
    pub(crate) left: usize,
    /// Where its entries in older segments go on.
    pub(crate) older: OlderAt,
    /// In the current segment: the current run and the place in it.
    place: Place,
    at: usize,
    /// Blocks of a fresh list that are not used up, how many words of the newest of them are, and the length of the
    /// next run.
    chain: Option<Chain>,
    used: usize,
    run_words: usize,
    /// The list, if it is packed.
    packed: Option<PackedAt>,
    /// The entry of a registered list.
    pub(crate) entry: Entry,
    /// Bitmap of the whole list, if it is dense.
    pub(crate) bits: Option<Span<AtomicU64>>,
    /// The maxima of its blocks, if it has any.
    maxima: Option<Span<AtomicU64>>,
    /// Postings of the list: exact for a flushed one.
    pub(crate) postings: u32,
    /// The term's ordinal in the current segment, if the list says it.
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

/// Where entries lie.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// In the DRAM dictionary.
    Dictionary(Entries),
    /// Among those that were copied for the query: the first, and one past the last.
    Lent(usize, usize),
}

/// What entries are read in.
#[derive(Clone, Copy)]
pub(crate) struct Lists<'a> {
    pub(crate) region: &'a Region,
    /// Copies of entries of segments that the DRAM dictionary does not cover.
    pub(crate) lent: &'a [EntryWords],
}

/// What leaves are read in.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) lists: Lists<'a>,
    pub(crate) level: Level,
    /// The current fresh segment, if it is one.
    pub(crate) extent: Option<Extent<'a>>,
}

impl Leaf {
    /// The leaf of a term with these entries in the DRAM dictionary.
    pub(crate) fn new(entries: Entries) -> Leaf {
        let left = entries.len();
        Leaf { entries: Source::Dictionary(entries), left, ..Leaf::default() }
    }

    /// Goes on with entries that were copied: those from `first` to `end`.
    pub(crate) fn lend(&mut self, first: usize, end: usize) {
        let entries = Source::Lent(first, end);
        *self = Leaf { entries, left: end - first, older: self.older, ..Leaf::default() };
    }

    /// The term's entries in the segments of this part.
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
        // Before the rest is read: it comes from the ingest role's core.
        list.chain().prefetch(extent.area(), extent.blocks(), LINES_FIRST);
        let head: Head = list.read();
        for (to, from) in words.iter().zip(head.buffer[..head.buffered].iter().rev()) {
            to.store(*from, Relaxed);
        }
        self.place = Place::Scratch(head.buffered);
        self.chain = Some(head.chain);
        self.postings = head.buffered as u32 + head.chain.postings();
    }

    /// How many postings of ranks from `first` on the fresh list has that is open, which were visible before it was opened; none if
    /// no fresh list is.
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
            // No block is unpacked before it is known which is asked for.
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

    /// Opens the term's list in a segment, if it has one there; newer segments are passed by.
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

    /// Whether the list that is open in a registered segment, whose newest row has the rank `base`, has a posting of rank `wanted`.
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

    /// What is left of the current run.
    #[inline(always)]
    pub(crate) fn run<'a>(&self, context: &Context<'a>, words: &'a [AtomicU32]) -> &'a [AtomicU32] {
        let whole = match self.place {
            Place::Region(span) => context.lists.region.view(span),
            Place::Entry(index) => self.entries(context.lists).single(index),
            Place::Scratch(len) => &words[..len],
        };
        &whole[self.at..]
    }

    /// The whole list, if it lies in one piece as it is and nothing of it was read.
    pub(crate) fn whole<'a>(&self, context: &Context<'a>) -> Option<&'a [AtomicU32]> {
        match self.place {
            Place::Region(list) => Some(context.lists.region.view(list)),
            Place::Entry(index) => Some(self.entries(context.lists).single(index)),
            Place::Scratch(_) => None,
        }
    }

    /// The list, if it is packed.
    pub(crate) fn packed(&self) -> Option<PackedList> {
        self.packed.map(|packed| packed.list)
    }

    /// The whole list, if it lies in the region as it is; else it is packed, a single posting, a fresh one or none.
    pub(crate) fn list<'a>(&self, context: &Context<'a>) -> Option<&'a [AtomicU32]> {
        match self.place {
            Place::Region(list) => Some(context.lists.region.view(list)),
            _ => None,
        }
    }

    /// The posting, if the list lies in its entry.
    pub(crate) fn single(&self, context: &Context<'_>) -> Option<u32> {
        match self.place {
            Place::Entry(index) => Some(self.entries(context.lists).single(index)[0].load(Relaxed)),
            _ => None,
        }
    }

    /// The maxima of the list's blocks, if it has any.
    pub(crate) fn maxima<'a>(&self, context: &Context<'a>) -> Option<&'a [AtomicU64]> {
        self.maxima.map(|maxima| context.lists.region.view(maxima))
    }

    /// The term's ordinal in the current segment; none if that is not known.
    pub(crate) fn ordinal(&self, context: &Context<'_>) -> Option<u32> {
        let Place::Region(list) = self.place else { return self.ordinal };
        // It stands before the list.
        let before = context.lists.region.view(Span::<AtomicU32>::new(list.start() - 4, 1));
        Some(before[0].load(Relaxed))
    }

    /// Goes on by `count` words of the current run.
    #[inline(always)]
    pub(crate) fn advance(&mut self, count: usize) {
        self.at += count;
    }

    /// Fetches the next run; says whether there is one.
    #[inline]
    pub(crate) fn refill(&mut self, context: &Context<'_>, words: &[AtomicU32]) -> bool {
        self.refill_from(context, words, 0)
    }

    /// The same, but that runs may be left out that have no rank at or behind `target`.
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

    /// Sets the bits of its ranks from `start` on, as far as there are bits. `base` is the rank that bitmaps begin with, and
    /// `start` a multiple of 64 from it.
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
        loop {
            let run = self.run(context, words);
            let used = spirit_kernel::set_bits(context.level, run, start, bits);
            self.at += used;
            if used < run.len() || !self.refill_from(context, words, start) {
                return;
            }
        }
    }

    /// The first rank at or after `target`, or [`END`].
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
    /// Unpacks the next block that may have a rank at or behind `target`; returns its postings.
    fn unpack(&mut self, context: &Context<'_>, words: &[AtomicU32], target: u32) -> Option<usize> {
        let (region, level) = (context.lists.region, context.level);
        let block = self.list.block_of(region, level, self.next, target)?;
        self.next = block + 1;
        Some(packed::unpack(self.list, region, level, block, words).count)
    }
}
