//! The document with a key.

use spirit_index::keys;
use spirit_index::posting::rank_of;
use spirit_index::snapshot::{Segment, Snapshot};

use super::{Evaluation, Place};
use crate::collect::Collector;
use crate::leaf::END;

/// Snapshots in which a key is looked for before it is not there.
const KEY_LOOKS: usize = 3;

impl<'a, C: Collector> Evaluation<'a, C> {
    /// Offers the document that the term's bytes call.
    pub(super) fn key(&mut self, term: u32) {
        let Some((segment, local)) = self.find_key_again(term) else { return };
        let place = self.place(segment, false);
        if place.is_some_and(|p| rank_of(local) >= p.first) && !segment.is_dead(local) {
            self.collector.take(segment.id(), local);
        }
    }
}

impl<'a, C> Evaluation<'a, C> {
    /// The rank of the document with a key, if it is in the segment at hand and at or after `target`; else [`END`].
    pub(super) fn next_key(&mut self, place: &Place<'_>, term: u32, target: u32) -> u32 {
        match self.find_key(term) {
            Some((segment, local))
                if segment.id() == place.segment.id() && rank_of(local) >= target =>
            {
                rank_of(local)
            }
            _ => END,
        }
    }

    /// A key that is replaced without end may lose the version that an old snapshot sees (the key table keeps
    /// replaced rows for readers, but not any number of them), so a miss is looked at again, later.
    fn find_key_again(&mut self, term: u32) -> Option<(Segment<'a>, u32)> {
        for _ in 0..KEY_LOOKS {
            let found = self.find_key(term);
            if found.is_some() {
                return found;
            }
            self.snapshot = Snapshot::take(self.snapshot.memory());
        }
        None
    }

    fn find_key(&self, term: u32) -> Option<(Segment<'a>, u32)> {
        find_document(&self.snapshot, self.query.bytes_of(&self.query.terms[term as usize]))
    }
}

/// The segment and row of the document with a key, dead or alive.
pub(super) fn find_document<'a>(snapshot: &Snapshot<'a>, key: &[u8]) -> Option<(Segment<'a>, u32)> {
    let memory = snapshot.memory();
    let row = keys::Keys::new(memory.geometry())
        .find(snapshot, memory, key, keys::hash(key))
        .or_else(|| keys::as_number(key).and_then(|n| keys::find_automatic(snapshot, n)));
    row.and_then(|row| snapshot.locate(row))
}
