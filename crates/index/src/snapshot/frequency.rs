//! Document frequencies of terms in a snapshot.

use crate::form::older::{FindOlder, OlderEntries};
use crate::ground::term::Term;
use crate::memory::descriptor::Window;
use crate::snapshot::{Segment, Snapshot};

impl Snapshot<'_> {
    /// Returns the number of documents that contain a term, in all rows that the snapshot sees.
    /// Like its [statistics](Self::statistics), it counts dead documents while their rows are
    /// there. It also counts documents that were broken off or given up, which statistics do not.
    /// So in a tiny collection it may exceed the number of documents.
    ///
    /// Registered segments that the DRAM dictionary covers take one look-up together. Each other
    /// segment takes a step along the term's nodes.
    pub fn document_frequency(&self, term: Term<'_>, hash: u64) -> u64 {
        let fresh = self.fresh().map(|segment| segment.fresh_frequency(term, hash) as u64);
        fresh.sum::<u64>() + self.covered_frequency(term, hash) + self.older_frequency(term, hash)
    }

    fn covered_frequency(&self, term: Term<'_>, hash: u64) -> u64 {
        let entries = self.entries(term, hash);
        let entries = entries.view(self.memory.region()).from(self.covered);
        let all = entries.postings() as u64;
        if !self.has_versions() {
            return all;
        }
        // No skipped entry is behind the version that was built last.
        let last = self.superseded.new.position();
        let older = entries.iter().take_while(|entry| entry.segment.position() <= last);
        let skipped = older.filter(|entry| self.skips(entry.segment));
        all - skipped.map(|entry| entry.postings as u64).sum::<u64>()
    }

    fn older_frequency(&self, term: Term<'_>, hash: u64) -> u64 {
        let part = Window { end: self.covered, ..self.window };
        if part.oldest >= part.end {
            return 0;
        }
        let Some(older) = OlderEntries::new(self.memory) else { return 0 };
        let (mut at, mut sum) = (older.find(term, hash), 0);
        older.visit(&mut at, term, hash, part, |entry| sum += entry.postings as u64);
        sum
    }
}

impl Segment<'_> {
    /// Like [`Snapshot::document_frequency`], but in one segment that is fresh for the snapshot.
    /// The segment may have newer postings by now.
    pub fn fresh_frequency(&self, term: Term<'_>, hash: u64) -> u32 {
        let extent = self.extent();
        let list = extent.find(term, hash).map(|ordinal| extent.record(ordinal).list());
        list.map_or(0, |list| list.count_below(self.rows(), extent.area(), extent.blocks()))
    }
}
