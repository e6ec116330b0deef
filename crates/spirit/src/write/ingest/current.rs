//! The document that a key has now, as the ingest role sees it.

use spirit_index::ground::damage;
use spirit_index::keys::{self, Keys};
use spirit_index::snapshot::Snapshot;

use super::Ingester;
use crate::config::error::WriteError;

impl Ingester {
    /// Returns the sequence number of the document with this key; none without a document.
    ///
    /// Only the thread with the role changes what keys have. So the answer holds until it commits or
    /// deletes.
    pub(crate) fn current(&self, key: &[u8], hash: u64) -> Result<Option<u64>, WriteError> {
        let shared = &self.shared;
        let table = shared.keys();
        damage::clear();
        // Rows of segments that the flush stage drops meanwhile stay readable while we are pinned.
        shared.memory.pins().pin(&self.pin);
        let snapshot = Snapshot::of_role(&shared.memory, self.row_end());
        let row = table.find(&snapshot, &shared.memory, key, hash);
        let row = row.or_else(|| keys::find_automatic(&snapshot, keys::as_number(key)?));
        let place = row.and_then(|row| snapshot.locate(row));
        let sequence = place.map(|(segment, local)| segment.sequence(local));
        shared.memory.pins().unpin(&self.pin);
        shared.refuse_damage().map(|()| sequence)
    }

    /// Prefetches what [`current`](Self::current) reads first for a key with this hash.
    pub(crate) fn prefetch(&self, hash: u64) {
        let memory = &self.shared.memory;
        Keys::new(memory.geometry()).prefetch(memory, hash);
    }

    /// Returns the sequence number of the first document of the last commit. The others follow.
    pub(crate) fn first_sequence(&self) -> u64 {
        self.first_sequence
    }

    /// Returns the sequence number of the last operation.
    pub(crate) fn last_sequence(&self) -> u64 {
        self.sequence_end - 1
    }
}
