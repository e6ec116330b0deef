//! The two exhaustive collectors: one keeps the ten last matches, which are the ten newest where
//! documents are stored oldest first; the other only counts.

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::{DocId, Score, SegmentOrdinal, SegmentReader};

/// How many documents a search for the newest wants.
pub(crate) const WANTED: usize = 10;

/// The collector; its answer is one ring for each segment.
pub(crate) struct Newest;

/// The last documents seen, in a ring.
#[derive(Default)]
pub(crate) struct Ring {
    docs: [DocId; WANTED],
    next: usize,
    filled: usize,
}

impl Ring {
    /// The documents kept, in no particular order.
    pub(crate) fn docs(&self) -> &[DocId] {
        &self.docs[..self.filled]
    }

    fn push(&mut self, doc: DocId) {
        self.docs[self.next] = doc;
        self.next = if self.next + 1 == WANTED { 0 } else { self.next + 1 };
        self.filled = WANTED.min(self.filled + 1);
    }
}

impl SegmentCollector for Ring {
    type Fruit = Ring;

    fn collect(&mut self, doc: DocId, _: Score) {
        self.push(doc);
    }

    /// Of a full block only the last ten can stay.
    fn collect_block(&mut self, docs: &[DocId]) {
        match docs.last_chunk::<WANTED>() {
            Some(last) => *self = Ring { docs: *last, next: 0, filled: WANTED },
            None => docs.iter().for_each(|doc| self.push(*doc)),
        }
    }

    fn harvest(self) -> Ring {
        self
    }
}

impl Collector for Newest {
    type Fruit = Vec<Ring>;
    type Child = Ring;

    fn for_segment(&self, _: SegmentOrdinal, _: &SegmentReader) -> tantivy::Result<Ring> {
        Ok(Ring::default())
    }

    fn requires_scoring(&self) -> bool {
        false
    }

    fn merge_fruits(&self, rings: Vec<Ring>) -> tantivy::Result<Vec<Ring>> {
        Ok(rings)
    }
}

/// A collector that visits every match only to count it.
pub(crate) struct Visited;

/// The matches counted so far.
pub(crate) struct Tally(u64);

impl SegmentCollector for Tally {
    type Fruit = u64;

    fn collect(&mut self, _: DocId, _: Score) {
        self.0 += 1;
    }

    fn collect_block(&mut self, docs: &[DocId]) {
        self.0 += docs.len() as u64;
    }

    fn harvest(self) -> u64 {
        self.0
    }
}

impl Collector for Visited {
    type Fruit = u64;
    type Child = Tally;

    fn for_segment(&self, _: SegmentOrdinal, _: &SegmentReader) -> tantivy::Result<Tally> {
        Ok(Tally(0))
    }

    fn requires_scoring(&self) -> bool {
        false
    }

    fn merge_fruits(&self, tallies: Vec<u64>) -> tantivy::Result<u64> {
        Ok(tallies.iter().sum())
    }
}
