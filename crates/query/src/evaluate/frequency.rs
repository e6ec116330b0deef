//! How often a term is in a document, where the posting does not say it: postings count to 254, the document's vector is exact.
//!
//! Few documents have a term so often, so nothing is kept for them: the term is looked up in the segment and the vector is gone
//! through. An index without positions has no vectors, and takes 255 for what it is.

use spirit_index::posting::{FREQUENCY_MAX, rank_of};
use spirit_index::vector;
use spirit_kernel as kernel;
use spirit_kernel::Frequencies;

use super::Place;

impl Frequencies for Place<'_> {
    #[cold]
    fn frequency(&self, term: u32, rank: u32) -> u32 {
        let settings = &self.segment.memory().geometry().settings;
        let ordinal = settings.positions.then(|| self.ordinal_of(term as usize)).flatten();
        // Where something is damaged the posting counts.
        ordinal.map_or(0, |ordinal| self.occurrences(ordinal, rank)).max(FREQUENCY_MAX)
    }
}

impl Place<'_> {
    /// A term's ordinal in the segment, by its bytes.
    pub(super) fn ordinal_of(&self, term: usize) -> Option<u32> {
        let found = &self.query.terms[term];
        let term = self.query.lookup(found);
        match &self.context.extent {
            Some(extent) => extent.find(term, found.hash),
            None => self.segment.ordinal_of(term.key.field(), term.bytes),
        }
    }

    fn occurrences(&self, ordinal: u32, rank: u32) -> u32 {
        let row = self.segment.row_table().row(rank_of(rank));
        let vectors = self.segment.vectors();
        let level = self.context.level;
        let units = vectors.document(row.vector(), row.tokens(), level);
        let (pattern, len) = vector::units_for(ordinal);
        kernel::phrase_count(level, units, &pattern[..len]) as u32
    }
}
