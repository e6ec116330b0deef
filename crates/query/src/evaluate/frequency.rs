//! Exact frequencies. A posting's frequency is saturated at 255, so higher ones are counted by
//! positions.
//!
//! Such frequencies are rare, so nothing is cached. The term is looked up in the segment, then
//! counted in the document's vector, or among its positions in a packed list. An index without
//! positions takes 255 as the frequency.

use spirit_index::ground::{FREQUENCY_MAX, rank_of};
use spirit_index::rows::vector;
use spirit_kernel as kernel;
use spirit_kernel::Frequencies;

use super::Place;

impl Frequencies for Place<'_> {
    #[cold]
    fn frequency(&self, term: u32, rank: u32) -> u32 {
        let settings = &self.segment.memory().geometry().settings;
        let packed = || self.packed_occurrences(term as usize, rank);
        let in_vector = || Some(self.occurrences(self.ordinal_of(term as usize)?, rank));
        // Readers may be led to packed lists in between. Then ordinals are gone.
        let exact = || packed().or_else(in_vector).or_else(packed);
        // In a damaged segment the posting's own frequency counts.
        settings.positions.then(exact).flatten().unwrap_or(0).max(FREQUENCY_MAX)
    }
}

impl Place<'_> {
    /// Returns a term's ordinal in the segment, found by the term's bytes.
    pub(super) fn ordinal_of(&self, term: usize) -> Option<u32> {
        let found = &self.query.terms[term];
        let term = self.query.lookup(found);
        match &self.context.extent {
            Some(extent) => extent.find(term, found.hash),
            None => self.segment.ordinal_of(term.key.field(), term.bytes),
        }
    }

    /// Returns a term's frequency by its packed list; `None` if the segment is not packed.
    fn packed_occurrences(&self, term: usize, rank: u32) -> Option<u32> {
        if self.context.extent.is_some() {
            return None;
        }
        let term = self.query.lookup(&self.query.terms[term]);
        let entry = self.segment.packed_entry(term.key.field(), term.bytes)?;
        let (region, level) = (self.context.lists.region, self.context.level);
        let positions = match self.segment.packed(entry) {
            Some(list) => list.positions_of(region, level, rank),
            None => self.segment.positions_alone(entry, rank),
        };
        Some(positions.count() as u32)
    }

    fn occurrences(&self, ordinal: u32, rank: u32) -> u32 {
        let row = self.segment.vector_row(rank_of(rank));
        let vectors = self.segment.vectors();
        let level = self.context.level;
        let units = vectors.document(row.vector(), row.tokens(), level);
        let (pattern, len) = vector::units_for(ordinal);
        kernel::phrase_count(level, units, &pattern[..len]) as u32
    }
}
