//! The key table: it leads from a document's key to its row. So adding a key again replaces the
//! document.
//!
//! While a document is being replaced, the table has both versions. The old one stays until no
//! reader is left that may not see the new one. Death stamps decide which version a snapshot sees.
//!
//! A slot holds the row's number and a tag of the key's hash. The key is stored with the row and
//! compared there. Rows of dropped segments leave the table with their segment. Automatic keys are
//! not in it: they are numbers in arrival order and are found by binary search.
//!
//! With a second tier the table is a cache. If it is full, the key of the oldest row nearby makes
//! room, once its segment is engraved. After that the segment's own hashes find it
//! ([`coverage`](crate::memory::coverage) has the boundary). A [filter](crate::keys::key_filter)
//! gives the writer the segments that may contain it.

pub(crate) mod key_filter;
pub(crate) mod key_hashes;
pub(crate) mod row_key;

use std::ops::{Deref, Range};

use crate::ground::geometry::Geometry;
use crate::ground::ids::{Position, State};
use crate::ground::line_table::{LineTable, NoRoom};
use crate::keys::key_filter::KeyFilter;
use crate::keys::key_hashes::find_key;
use crate::memory::Memory;
use crate::rows::KeyKind;
use crate::snapshot::{Segment, Snapshot};

pub use crate::ground::automatic_key::{as_number, write_number};
pub use crate::keys::row_key::{hash, is, write_key};

/// The key table of an executor.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    table: LineTable,
}

impl Keys {
    /// Returns the table of `geometry`.
    pub fn new(geometry: &Geometry) -> Keys {
        Keys { table: LineTable::new(geometry.key_lines) }
    }

    /// Prefetches the line of a key's hash.
    pub fn prefetch(self, memory: &Memory, hash: u64) {
        self.table.prefetch(memory.region(), hash);
    }

    /// Finds the row of the document with `key` in `snapshot`.
    pub fn find(
        self,
        snapshot: &Snapshot<'_>,
        memory: &Memory,
        key: &[u8],
        hash: u64,
    ) -> Option<u64> {
        self.find_among(snapshot, memory, key, hash, |older| older.rev())
    }

    /// Like [`find`](Self::find), but searches only those older segments that `choose` returns.
    fn find_among<I: Iterator<Item = Position>>(
        self,
        snapshot: &Snapshot<'_>,
        memory: &Memory,
        key: &[u8],
        hash: u64,
        choose: impl FnOnce(Range<Position>) -> I,
    ) -> Option<u64> {
        // Load it before and after the search: keys may enter the table meanwhile, or leave it.
        let before = memory.coverage().keys_from();
        let found = self.table.find(memory.region(), hash, |row| {
            snapshot.locate(row).is_some_and(|(segment, local)| {
                let row = segment.row_table().row(local);
                is(&segment, row.key(), key) && !segment.is_dead(local)
            })
        });
        found.or_else(|| {
            let window = snapshot.window();
            let end = before.max(memory.coverage().keys_from()).min(window.end);
            if end <= window.oldest {
                return None;
            }
            find_key(memory, snapshot, key, hash, choose(window.oldest..end))
        })
    }

    /// Makes room for a key with this hash. The oldest row nearby leaves, if its segment is
    /// engraved or gone. Returns true if one did. The caller is pinned and holds the key lock.
    pub fn evict(self, snapshot: &Snapshot<'_>, memory: &Memory, hash: u64) -> bool {
        self.table.evict(memory.region(), hash, |row| {
            let Some((segment, _)) = snapshot.locate(row) else { return true };
            let position = segment.id().position();
            let state = memory.table().get(position).map(|(_, state)| state);
            let is_engraved = state.is_none_or(|state| state >= State::Engraved);
            let coverage = memory.coverage();
            if is_engraved && position >= coverage.keys_from() {
                // Move the boundary before the key leaves the table.
                coverage.set_keys_from(position + 1);
            }
            is_engraved
        })
    }

    /// Enters a key that is not there. Ingest role only.
    pub fn insert(self, memory: &Memory, hash: u64, row: u64) -> Result<(), NoRoom> {
        self.table.insert(memory.region(), hash, row)
    }

    /// Moves a key's document to another row. Returns true if the old row was in the table. Ingest
    /// role only.
    pub fn replace(self, memory: &Memory, hash: u64, old: u64, new: u64) -> bool {
        self.table.replace(memory.region(), hash, old, new)
    }

    /// Removes a key that has no document any more. Ingest role only.
    pub fn remove(self, memory: &Memory, hash: u64, row: u64) -> bool {
        self.table.remove(memory.region(), hash, row)
    }
}

/// The key table and its writer's filter. The key lock guards both.
#[derive(Debug)]
pub struct WriterKeys {
    table: Keys,
    /// Finds the older segments that may contain a key.
    pub filter: KeyFilter,
}

impl WriterKeys {
    /// Returns the key table of `geometry` with an empty filter.
    pub fn new(geometry: &Geometry) -> WriterKeys {
        WriterKeys { table: Keys::new(geometry), filter: KeyFilter::new(geometry) }
    }

    /// Returns the row of the document with `key` in `snapshot`. Searches only the older segments
    /// that the filter returns.
    pub fn find(
        &self,
        snapshot: &Snapshot<'_>,
        memory: &Memory,
        key: &[u8],
        hash: u64,
    ) -> Option<u64> {
        let choose = |older| self.filter.candidates(memory, hash, older);
        self.table.find_among(snapshot, memory, key, hash, choose)
    }
}

impl Deref for WriterKeys {
    type Target = Keys;

    fn deref(&self) -> &Keys {
        &self.table
    }
}

/// Finds the row of the document with `key` without the key table, if the table lost rows that
/// `snapshot` may see. The caller has searched the table first. The loss is noted before a row
/// leaves the table, so a reader that misses the row sees the note. The search visits all rows:
/// prefer a newer snapshot.
pub fn find_forgotten(snapshot: &Snapshot<'_>, key: &[u8]) -> Option<u64> {
    if snapshot.visible() >= snapshot.memory().forgotten() {
        return None;
    }
    snapshot.segments().find_map(|segment| {
        let table = segment.row_table();
        let calls = |local: &u32| is(&segment, table.row(*local).key(), key);
        let found = (0..segment.rows()).rev().filter(calls).find(|local| !segment.is_dead(*local));
        found.map(|local| segment.row_number(local))
    })
}

/// Finds the row of the live document whose automatic key is `number`. Automatic keys ascend with
/// the rows. Rows of explicit keys and deletes lie between them. So do documents that never came to
/// life, whose numbers are reused.
pub fn find_automatic(snapshot: &Snapshot<'_>, number: u64) -> Option<u64> {
    let has = |segment: &Segment<'_>| {
        let descriptor = segment.descriptor();
        number >= descriptor.numbers_start() && number < descriptor.numbers_end()
    };
    for segment in snapshot.segments().filter(has) {
        let (mut low, mut high) = (0, segment.rows());
        let table = segment.row_table();
        // Invariant: a row with the number that has lived is in `low..high`. Each round shrinks it.
        while low < high {
            let middle = low + (high - low) / 2;
            let next = (middle..high).find_map(|local| match table.row(local).key().kind() {
                KeyKind::Automatic(n) if table.row(local).has_lived(local) => Some((local, n)),
                _ => None,
            });
            match next {
                Some((local, n)) if n == number => {
                    return (!segment.is_dead(local)).then_some(segment.row_number(local));
                }
                Some((local, n)) if n < number => low = local + 1,
                _ => high = middle,
            }
        }
    }
    None
}
