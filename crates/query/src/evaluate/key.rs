//! The document with a key.

use spirit_index::ground::rank_of;
use spirit_index::keys;
use spirit_index::memory::Memory;
use spirit_index::snapshot::{Segment, Snapshot};

use super::{Evaluation, Place};
use crate::collect::Collector;
use crate::leaf::END;
use crate::query::Query;

/// Snapshots in which a key is looked up, at most.
const KEY_LOOKS: usize = 3;

impl<'a, C: Collector> Evaluation<'a, C> {
    /// Offers the document whose key the term's bytes are.
    pub(super) fn key(&mut self, term: u32) {
        let Some((segment, local)) = self.find_key(term) else { return };
        let place = self.place(segment, false);
        if place.is_some_and(|p| rank_of(local) >= p.first) && !segment.is_dead(local) {
            self.collector.take(segment.id(), local);
        }
    }
}

impl<'a, C> Evaluation<'a, C> {
    /// Returns the rank of the document with a key, if it is in the current segment and not before
    /// `target`; else [`END`].
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

    fn find_key(&self, term: u32) -> Option<(Segment<'a>, u32)> {
        find_document(self.snapshot, self.query.bytes_of(&self.query.terms[term as usize]))
    }
}

/// Takes a snapshot to answer a query by. The key table keeps a limited number of replaced rows for
/// readers. If it does not find a key, a later snapshot is taken. A snapshot costs less than a
/// search of all rows for the version that the old snapshot sees. Segments whose documents all
/// arrived at `over_ms` or before are left out.
// Inlined, and nothing is changed after `take`: the snapshot is then built where it is used. One that
// is copied soon after it was written is read by loads that span two stores, which the processor does
// not forward ("a snapshot taken where it is used").
#[inline(always)]
pub fn snapshot_for<'a>(memory: &'a Memory, query: &Query, over_ms: u64) -> Snapshot<'a> {
    if over_ms > 0 || query.has_keys() {
        return snapshot_suiting(memory, query, over_ms);
    }
    Snapshot::take(memory)
}

/// Takes snapshots until the query's keys are found in one.
#[cold]
fn snapshot_suiting<'a>(memory: &'a Memory, query: &Query, over_ms: u64) -> Snapshot<'a> {
    let mut snapshot = Snapshot::take(memory).without_older(over_ms);
    for _ in 1..KEY_LOOKS {
        let mut keys = query.terms.iter().filter(|term| term.is_key());
        if keys.all(|key| look_up(&snapshot, query.bytes_of(key)).is_some()) {
            break;
        }
        snapshot = Snapshot::take(memory).without_older(over_ms);
    }
    snapshot
}

/// Returns the segment and row of the document with a key, dead or alive.
pub(super) fn find_document<'a>(snapshot: &Snapshot<'a>, key: &[u8]) -> Option<(Segment<'a>, u32)> {
    let row = look_up(snapshot, key).or_else(|| keys::find_forgotten(snapshot, key));
    row.and_then(|row| snapshot.locate(row))
}

/// Returns the row of the document with a key, by the key table and the automatic keys.
fn look_up(snapshot: &Snapshot<'_>, key: &[u8]) -> Option<u64> {
    let memory = snapshot.memory();
    let row = keys::Keys::new(memory.geometry()).find(snapshot, memory, key, keys::hash(key));
    row.or_else(|| keys::as_number(key).and_then(|n| keys::find_automatic(snapshot, n)))
}
