//! In how many documents a term is, as a snapshot sees it.

use crate::form::older::{FindOlder, OlderEntries};
use crate::ground::term::Term;
use crate::memory::descriptor::Window;
use crate::snapshot::{Segment, Snapshot};

impl Snapshot<'_> {
    /// Documents that have a term, in all rows that the snapshot sees: like its [statistics](Self::statistics), this counts
    /// those that died as long as their rows are there. It also counts those that broke off or were given up, which statistics do
    /// not: so in a collection of next to nothing it may be higher than the number of documents.
    ///
    /// Registered segments that the DRAM dictionary covers take one look-up for all, others a step each along the term's nodes.
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
        // None that is skipped is behind the version that was built last.
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
    /// The same in a segment that is fresh for the snapshot, which may have newer postings by now.
    pub fn fresh_frequency(&self, term: Term<'_>, hash: u64) -> u32 {
        let extent = self.extent();
        let list = extent.find(term, hash).map(|ordinal| extent.record(ordinal).list());
        list.map_or(0, |list| list.count_below(self.rows(), extent.area(), extent.blocks()))
    }
}
