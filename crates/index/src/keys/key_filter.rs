//! A filter of the keys in engraved segments that the [key table](crate::keys) has no room for. An
//! add looks up its key, and most keys are new. Without the filter it would search the [sorted
//! hashes](crate::keys::key_hashes) of every older segment.
//!
//! The filter is a blocked Bloom filter, sliced by groups of segments. A key's hash selects one
//! block of two cache lines, and three of the block's sixteen words. Each word has one bit for each
//! of 64 *groups*. A group that contains the key sets its bit in all three words. So one look at a
//! block returns all candidate groups. With seven bits a key, one other group in eight is a false
//! positive.
//!
//! A group is a run of adjacent segments. While there are few segments, it is a part of one
//! segment's keys, split by hash.
//!
//! | phase | |
//! |---|---|
//! | off | nothing is covered |
//! | clearing | the groups are laid out; the lines are cleared, 4,096 at a time |
//! | entering | the filter *covers* the segments `start .. end`, and grows at both ends |
//!
//! When a new segment has no group left, the filter is rebuilt, with larger groups if there are
//! more segments. Until then the bits of dropped segments stay set. Segments that are not covered
//! are searched for every key.
//!
//! Only the writer reads and writes the filter, under the key lock.

use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_mem::{Line, Span};

use crate::ground::geometry::{Geometry, KEY_FILTER_BLOCK_LINES};
use crate::ground::ids::{Position, State};
use crate::ground::section::Kind;
use crate::memory::Memory;

/// At most this many of the 64 groups are used at first; the others are for new segments.
const GROUPS_AT_FIRST: u32 = 48;
/// Lines cleared or keys entered in one step. The ingest role waits for the key lock during a step.
const STEP: usize = 4096;

/// Words of a block.
const WORDS: u32 = 16;
/// Words of a block that a key selects. Two of them may be the same word.
const PICKS: u32 = 3;

/// The key filter of an executor.
#[derive(Debug)]
pub struct KeyFilter {
    lines: Span<Line>,
    phase: Phase,
    groups: Groups,
    /// The segments whose keys are all entered.
    covered: Range<Position>,
}

/// Maps segments and key hashes to groups.
#[derive(Clone, Copy, Debug, Default)]
struct Groups {
    /// The first segment of the first group.
    first: Position,
    /// Segments of a group.
    segments: u32,
    /// Groups of a segment, as a power of two; 0 if a group has several segments.
    parts: u32,
}

impl Groups {
    fn new(window: &Range<Position>) -> Groups {
        let len = window.end - window.start;
        let segments = len.div_ceil(GROUPS_AT_FIRST).max(1);
        let parts = (0..GROUPS_AT_FIRST.ilog2()).rev().find(|bits| len << bits <= GROUPS_AT_FIRST);
        Groups { first: window.start, segments, parts: parts.unwrap_or(0) }
    }

    /// Returns the group of a key in the segment at `position`, or `None` if the segment is behind
    /// the last group.
    fn of(self, position: Position, hash: u32) -> Option<u32> {
        let group = u64::from((position - self.first) / self.segments) << self.parts;
        let group = group + u64::from(self.part(hash));
        (group < u64::BITS.into()).then_some(group as u32)
    }

    fn part(self, hash: u32) -> u32 {
        hash & ((1 << self.parts) - 1)
    }

    /// Returns the groups that a key with this hash can be in, as bits.
    fn possible(self, hash: u32) -> u64 {
        let every = u64::MAX / ((1 << (1 << self.parts)) - 1);
        every << self.part(hash)
    }

    /// Returns the segments of a group.
    fn segments(self, group: u32) -> Range<Position> {
        let start = self.first + (group >> self.parts) * self.segments;
        start..start + self.segments
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Off,
    /// Holds the next line to clear.
    Clearing(usize),
    /// Holds the segment being entered, and the index of its next key hash.
    Entering(Position, usize),
}

impl KeyFilter {
    /// Returns the filter of `geometry`. It covers nothing yet.
    pub fn new(geometry: &Geometry) -> KeyFilter {
        let lines = geometry.filter_lines;
        KeyFilter { lines, phase: Phase::Off, groups: Groups::default(), covered: 0..0 }
    }

    /// Returns the segments of `window` that may contain a key with this hash, newest first.
    pub fn candidates(
        &self,
        memory: &Memory,
        hash: u64,
        window: Range<Position>,
    ) -> impl Iterator<Item = Position> {
        let (oldest, end) = (window.start, window.end.max(window.start));
        let clamp = |position: Position| position.clamp(oldest, end);
        let (start, covered_end) = (clamp(self.covered.start), clamp(self.covered.end));
        let groups = self.groups;
        let bits = if start < covered_end { self.groups_of(memory, hash as u32) } else { 0 };
        let within = newest_first(bits).flat_map(move |group| {
            let segments = groups.segments(group);
            (segments.start.max(start)..segments.end.min(covered_end)).rev()
        });
        (covered_end..end).rev().chain(within).chain((oldest..start).rev())
    }

    /// True if some segments are not covered yet.
    pub fn has_work(&self, memory: &Memory) -> bool {
        let oldest = memory.window().oldest;
        let is_needed = memory.coverage().keys_from() > oldest && !self.lines.is_empty();
        let is_up_to_date = matches!(self.phase, Phase::Entering(..))
            && self.covered.start <= oldest
            && !is_engraved(memory, self.covered.end);
        is_needed && !is_up_to_date
    }

    /// Takes the next step. The caller is the flush stage, which alone drops segments.
    pub fn advance(&mut self, memory: &Memory) {
        self.phase = match self.phase {
            Phase::Off => self.begin(memory),
            Phase::Clearing(next) => self.clear(memory, next),
            Phase::Entering(position, next) => self.enter(memory, position, next),
        };
    }

    /// Lays out groups for the engraved segments.
    fn begin(&mut self, memory: &Memory) -> Phase {
        let oldest = memory.window().oldest;
        let mut end = memory.merged().max(oldest);
        while is_engraved(memory, end) {
            end += 1;
        }
        self.groups = Groups::new(&(oldest..end));
        self.covered = end..end;
        Phase::Clearing(0)
    }

    fn clear(&mut self, memory: &Memory, next: usize) -> Phase {
        let lines = memory.region().view(self.lines);
        let end = lines.len().min(next + STEP);
        let words = lines[next..end].iter().flat_map(|line| (0..8).map(|word| line.pair(word)));
        // Words that are zero are not stored to: an untouched page takes no memory.
        words.filter(|word| word.load(Relaxed) != 0).for_each(|word| word.store(0, Relaxed));
        if end < lines.len() { Phase::Clearing(end) } else { self.next(memory) }
    }

    /// Enters up to 4,096 keys of a segment. The segment is covered after its last key.
    fn enter(&mut self, memory: &Memory, position: Position, next: usize) -> Phase {
        let oldest = memory.window().oldest;
        let is_next = position == self.covered.end || position + 1 == self.covered.start;
        if !is_next || position < oldest || !is_engraved(memory, position) {
            return self.next(memory);
        }
        if self.groups.of(position, u32::MAX).is_none() {
            self.covered = position..position;
            return Phase::Off;
        }
        let hashes = hashes(memory, position);
        let end = hashes.len().min(next + STEP);
        for hash in &hashes[next..end] {
            self.set(memory, position, (hash.load(Relaxed) >> 32) as u32);
        }
        if end < hashes.len() {
            return Phase::Entering(position, end);
        }
        match position == self.covered.end {
            true => self.covered.end += 1,
            false => self.covered.start = position,
        }
        self.next(memory)
    }

    /// Returns the next phase: newer segments first, then older ones.
    fn next(&self, memory: &Memory) -> Phase {
        let newer = self.covered.end;
        let is_older_next = !is_engraved(memory, newer) && self.covered.start > self.groups.first;
        Phase::Entering(if is_older_next { self.covered.start - 1 } else { newer }, 0)
    }

    fn set(&self, memory: &Memory, position: Position, hash: u32) {
        let Some(group) = self.groups.of(position, hash) else { return };
        for word in self.words(memory, hash) {
            word.store(word.load(Relaxed) | 1 << group, Relaxed);
        }
    }

    /// Returns the groups that may contain a key with this hash, as bits.
    fn groups_of(&self, memory: &Memory, hash: u32) -> u64 {
        let possible = self.groups.possible(hash);
        self.words(memory, hash).fold(possible, |groups, word| groups & word.load(Relaxed))
    }

    /// Returns the words of a key. Segments store only the low half of its hash.
    fn words<'a>(&self, memory: &'a Memory, hash: u32) -> impl Iterator<Item = &'a AtomicU64> {
        let lines = memory.region().view(self.lines);
        let blocks = (lines.len() / KEY_FILTER_BLOCK_LINES) as u64;
        let block = ((hash as u64 * blocks) >> 32) as usize;
        let lines = &lines[block * KEY_FILTER_BLOCK_LINES..];
        let mixed = hash.wrapping_mul(0x9E37_79B9);
        (1..=PICKS).map(move |pick| {
            let word = (mixed >> (u32::BITS - pick * WORDS.ilog2()) & (WORDS - 1)) as usize;
            lines[word / 8].pair(word % 8)
        })
    }
}

/// Returns the positions of the set bits, highest first.
fn newest_first(mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let highest = bits.checked_ilog2()?;
        bits &= !(1 << highest);
        Some(highest)
    })
}

fn is_engraved(memory: &Memory, position: Position) -> bool {
    let found = (position < memory.window().end).then(|| memory.table().get(position)).flatten();
    found.is_some_and(|(_, state)| state >= State::Engraved)
}

/// Returns the hashes of a segment's explicit keys, ascending, each in the upper half of a word.
pub(crate) fn hashes(memory: &Memory, position: Position) -> &[AtomicU64] {
    let sections = memory.nvm().and_then(|nvm| nvm.sections(memory.region(), position).ok());
    let section = sections.map_or_else(Default::default, |(_, found)| found.get(Kind::KeyHashes));
    memory.region().view(Span::new(section.start, section.bytes / 8))
}
