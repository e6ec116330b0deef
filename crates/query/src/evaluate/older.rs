//! Segments that the DRAM dictionary does not cover. Their entries are copied part by part, from
//! the newest, until the query has enough. Each part has more segments than the one before, so a
//! query that stops early copies little.

use std::ops::Range;
use std::sync::atomic::AtomicU32;

use spirit_index::form::{EntryWords, FindOlder};
use spirit_index::ground::Position;
use spirit_index::memory::Window;
use spirit_mem::Zeroed;

use super::Evaluation;
use crate::collect::Limit;
use crate::tuning::{OLDER_GROWTH, OLDER_SEGMENTS_FIRST};

/// Entries that can be copied at once, for all terms together.
const ENTRIES: usize = 4096;
const ENTRY_WORDS: usize = size_of::<EntryWords>() / size_of::<AtomicU32>();

/// Memory for copies of entries, for a reader's queries. Pages that no query needs are not backed.
#[derive(Default)]
pub(crate) struct EntryCopies(Zeroed<AtomicU32>);

impl EntryCopies {
    /// Reserves memory for [`ENTRIES`] entries.
    pub(crate) fn new() -> EntryCopies {
        EntryCopies(Zeroed::new(ENTRIES * ENTRY_WORDS))
    }

    /// Returns the entries' places.
    pub(crate) fn places(&self) -> &[EntryWords] {
        self.0.as_chunks().0
    }
}

impl<C: Limit> Evaluation<'_, C> {
    /// Evaluates the segments that the DRAM dictionary does not cover, a part at a time. `older`
    /// finds their entries, if there is a second tier. `terms` are all terms that `evaluate` reads.
    pub(super) fn step_back<O: FindOlder>(
        &mut self,
        older: impl FnOnce() -> Option<O>,
        terms: impl ExactSizeIterator<Item = u32> + Clone,
        evaluate: impl Fn(&mut Self),
    ) {
        let oldest = self.snapshot.window().oldest;
        if self.part.oldest <= oldest || self.done() {
            return;
        }
        let Some(older) = older() else { return };
        for term in terms.clone() {
            let found = &self.query.terms[term as usize];
            let at = older.find(self.query.lookup(found), found.hash);
            self.scratch.leaves[term as usize].older = at;
        }
        // Each term may have an entry in each segment of a part.
        let share = (self.lent.len() / terms.len().max(1)).max(1);
        let mut segments = OLDER_SEGMENTS_FIRST;
        // Invariant: all segments from `part.oldest` on are done. Terminates: each part begins at a
        // lower position.
        while self.part.oldest > oldest && !self.done() {
            let end = self.part.oldest;
            let back = segments.min(share) as Position;
            self.part = Window { oldest: end.saturating_sub(back).max(oldest), end };
            for (number, term) in terms.clone().enumerate() {
                self.lend(&older, term as usize, number * share..(number + 1) * share);
            }
            evaluate(self);
            segments = segments.saturating_mul(OLDER_GROWTH);
        }
    }

    /// Copies a term's entries of the current part to its places.
    pub(super) fn lend(&mut self, older: &impl FindOlder, term: usize, places: Range<usize>) {
        let found = &self.query.terms[term];
        let lookup = self.query.lookup(found);
        let leaf = &mut self.scratch.leaves[term];
        let out = &self.lent[places.clone()];
        let count = older.read(&mut leaf.older, lookup, found.hash, self.part, out);
        leaf.lend(places.end - count, places.end);
    }
}
