//! Replacement of a document by a later operation with its key. The operation finds it, kills it,
//! and keeps its slot of the key table for readers that may still see it.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use spirit_index::fresh::{Batch, Document, Key};
use spirit_index::ground::Gauge;
use spirit_index::keys;
use spirit_index::keys::WriterKeys;
use spirit_index::rows::KeyKind;
use spirit_index::snapshot::Snapshot;
use std::sync::atomic::Ordering::Relaxed;

use crate::config::error::WriteError;
use crate::storage::shared::Shared;

/// The number of replaced rows from which their slots are checked.
const REPLACED_LOOK: usize = 64;
/// The most replaced rows whose slots are kept. Beyond it, a reader that stays pinned searches all
/// rows for a key.
pub(crate) const REPLACED_MAX: usize = 1024;

/// A slot of the key table whose row is dead.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Replaced {
    hash: u64,
    row: u64,
    /// The epoch at which the death was visible; none until then.
    stamp: Option<u64>,
}

/// A new version that is entered in the key table, but has not killed the old one yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entered {
    hash: u64,
    row: u64,
    /// The row that the table had for its key.
    old: Option<u64>,
    /// The row that it will kill.
    victim: Option<u64>,
    slot: Slot,
}

/// The key table slot of a new version.
#[derive(Clone, Copy, Debug)]
enum Slot {
    /// A slot of its own.
    Own,
    /// The slot of the old version.
    OfOld,
    /// No slot: an automatic key needs none.
    None,
}

/// Notes the largest number among the explicit keys of documents that are entered next: automatic
/// keys below it are looked up from now on. All executors share it, so it is noted once a batch.
pub(crate) fn note_numbers(shared: &Shared, batch: &Batch, documents: &[Document]) {
    let number = |document| match batch.key(document) {
        Key::Bytes { bytes, .. } => keys::as_number(bytes),
        Key::Automatic(_) | Key::Next => None,
    };
    if let Some(largest) = documents.iter().filter_map(number).max() {
        shared.numbers.explicit_end.fetch_max(largest + 1, Relaxed);
    }
}

/// Enters the document in row `row`, if it may replace another by its key, or be replaced. An error
/// means that there is no room. The caller is pinned.
#[inline]
pub(crate) fn enter(
    shared: &Shared,
    table: &WriterKeys,
    key: Key<'_>,
    row: u64,
    replaced: &mut VecDeque<Replaced>,
) -> Result<Option<Entered>, WriteError> {
    match key {
        Key::Bytes { bytes, hash } => {
            enter_explicit(shared, table, bytes, hash, row, replaced).map(Some)
        }
        Key::Automatic(number) if number < shared.numbers.explicit_end.load(Relaxed) => {
            Ok(enter_number(shared, table, number, row))
        }
        Key::Automatic(_) | Key::Next => Ok(None),
    }
}

/// Enters a document with a key of its own.
fn enter_explicit(
    shared: &Shared,
    table: &WriterKeys,
    key: &[u8],
    hash: u64,
    row: u64,
    replaced: &mut VecDeque<Replaced>,
) -> Result<Entered, WriteError> {
    let snapshot = &Snapshot::of_role(&shared.memory, row);
    let old = table.find(snapshot, &shared.memory, key, hash);
    let mut inserted = table.insert(&shared.memory, hash, row);
    if inserted.is_err() && table.evict(snapshot, &shared.memory, hash) {
        shared.note_key_left();
        inserted = table.insert(&shared.memory, hash, row);
    }
    if inserted.is_err() {
        // Versions that are kept for readers crowd the key's lines. Without them there may be room.
        shared.memory.note_forgotten(row);
        replaced.retain(|slot| slot.hash != hash || !table.remove(&shared.memory, hash, slot.row));
        inserted = table.insert(&shared.memory, hash, row);
    }
    let slot = match (inserted, old) {
        (Ok(()), _) => Slot::Own,
        // Still no room: the new version takes the old one's slot at once, if that has been
        // entered.
        (Err(_), Some(old)) if take_over(shared, table, hash, old, row) => Slot::OfOld,
        (Err(_), _) => return Err(WriteError::KeysFull),
    };
    let number = keys::as_number(key);
    let victim = old.or_else(|| keys::find_automatic(snapshot, number?));
    Ok(Entered { hash, row, old, victim, slot })
}

/// Puts the new version in the slot of the old one, which queries still see.
fn take_over(shared: &Shared, table: &WriterKeys, hash: u64, old: u64, row: u64) -> bool {
    shared.memory.note_forgotten(row + 1);
    table.replace(&shared.memory, hash, old, row)
}

/// Enters a document with an automatic key. It replaces a document that has this number as an
/// explicit key, if there is one. Only logs of older versions have such numbers.
fn enter_number(shared: &Shared, table: &WriterKeys, number: u64, row: u64) -> Option<Entered> {
    let snapshot = Snapshot::of_role(&shared.memory, row);
    let (hash, old) = find_explicit(shared, table, &snapshot, number)?;
    Some(Entered { hash, row, old: Some(old), victim: Some(old), slot: Slot::None })
}

/// Finds the document with this number as an explicit key. Returns the key's hash and the row. The
/// caller is pinned.
pub(crate) fn find_explicit(
    shared: &Shared,
    table: &WriterKeys,
    snapshot: &Snapshot<'_>,
    number: u64,
) -> Option<(u64, u64)> {
    let mut key = Vec::with_capacity(20);
    keys::write_number(number, &mut key);
    let hash = keys::hash(&key);
    table.find(snapshot, &shared.memory, &key, hash).map(|row| (hash, row))
}

impl Entered {
    /// Makes it replace the newest version, if others have been entered that have not killed theirs
    /// yet. `heirs` maps each victim to the row that will kill it.
    pub(crate) fn follow(&mut self, heirs: &mut HashMap<u64, u64>) {
        let Some(mut victim) = self.victim else { return };
        while let Some(heir) = heirs.get(&victim) {
            victim = *heir;
        }
        heirs.insert(victim, self.row);
        self.victim = Some(victim);
        if matches!(self.slot, Slot::Own | Slot::None) {
            self.old = self.old.map(|_| victim);
        }
    }

    /// Returns the sequence number of the document that it will kill. The caller is pinned.
    #[inline]
    pub(crate) fn victim_sequence(&self, shared: &Shared) -> Option<u64> {
        let victim = self.victim?;
        let (segment, local) = Snapshot::of_role(&shared.memory, self.row).locate(victim)?;
        Some(segment.sequence(local))
    }

    /// Kills the version before. True if a fence has to precede the visibility of the operation.
    pub(crate) fn bury(self, shared: &Shared, replaced: &mut VecDeque<Replaced>) -> bool {
        let Entered { hash, row, old, victim, slot } = self;
        if let Some(row) = old.filter(|_| !matches!(slot, Slot::OfOld)) {
            replaced.push_back(Replaced { hash, row, stamp: None });
        }
        let snapshot = Snapshot::of_role(&shared.memory, row);
        let killed = victim.and_then(|victim| kill(shared, &snapshot, victim, row));
        killed == Some(Stamped::Engraved)
    }

    /// Restores the table as it was before.
    pub(crate) fn withdraw(&self, shared: &Shared, snapshot: &Snapshot<'_>, table: &WriterKeys) {
        let Entered { hash, row, old, slot, .. } = *self;
        match (slot, old) {
            (Slot::OfOld, Some(old)) if snapshot.locate(old).is_some() => {
                table.replace(&shared.memory, hash, row, old)
            }
            // The old version's segment may be gone.
            (Slot::Own | Slot::OfOld, _) => table.remove(&shared.memory, hash, row),
            (Slot::None, _) => false,
        };
    }
}

/// Removes the slots of dead rows from the key table, if there are many and readers are past them.
pub(crate) fn forget_replaced(
    shared: &Shared,
    table: &WriterKeys,
    replaced: &mut VecDeque<Replaced>,
) {
    if replaced.len() < REPLACED_LOOK {
        return;
    }
    // Slots pushed since the last call are visible by now: their batch was published.
    let stamp = shared.memory.pins().retire();
    for slot in replaced.iter_mut().rev().take_while(|slot| slot.stamp.is_none()) {
        slot.stamp = Some(stamp);
    }
    let horizon = shared.memory.pins().horizon();
    while let Some(slot) =
        replaced.pop_front_if(|slot| slot.stamp.is_some_and(|stamp| stamp < horizon))
    {
        table.remove(&shared.memory, slot.hash, slot.row);
    }
    let surplus = replaced.len().saturating_sub(REPLACED_MAX);
    if surplus > 0 {
        // Snapshots that see all these deaths do not need the slots.
        shared.memory.note_forgotten(shared.memory.visible());
    }
    for slot in replaced.drain(..surplus) {
        table.remove(&shared.memory, slot.hash, slot.row);
    }
}

/// The tiers in which a death was stamped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stamped {
    /// DRAM alone.
    InDram,
    /// DRAM and an engraved segment: a fence has to precede the visibility of the operation.
    Engraved,
}

/// Abandons the last rows of the segment being filled, whose documents were refused or are appended
/// again. They never come to life. All get the sequence number of the first, so that a segment's
/// sequence numbers never fall.
pub(crate) fn abandon(shared: &Shared, rows: Range<u64>) {
    let snapshot = Snapshot::of_role(&shared.memory, rows.end);
    let Some((segment, first)) = snapshot.locate(rows.start) else { return };
    let table = segment.row_table();
    let sequence = table.row(first).sequence();
    for (row, local) in rows.zip(first..) {
        table.words(local).renumber(sequence);
        if table.row(local).death() == 0 {
            shared.memory.kill(&segment, local, row);
        }
    }
}

/// Kills a row, if it lives, by the operation in row `by`. It takes effect when that operation
/// becomes visible.
pub(crate) fn kill(shared: &Shared, snapshot: &Snapshot<'_>, row: u64, by: u64) -> Option<Stamped> {
    let (segment, local) = snapshot.locate(row)?;
    let target = segment.row_table().row(local);
    if matches!(target.key().kind(), KeyKind::None) {
        return None;
    }
    let engraved = if target.death() == 0 {
        shared.add(Gauge::Deleted, 1);
        shared.memory.kill(&segment, local, by)
    } else if target.is_dead(by + 1 - segment.base_row()) {
        return None;
    } else {
        // Stamped by a replay that a crash interrupted. It used rows that this one may not reach.
        shared.memory.kill_again(&segment, local, by)
    };
    Some(if engraved { Stamped::Engraved } else { Stamped::InDram })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use spirit_index::keys::{Keys, find_forgotten, hash};
    use spirit_index::memory::Memory;
    use spirit_index::snapshot::Snapshot;
    use spirit_mem::PinSlot;

    use super::REPLACED_MAX;

    use crate::index::Index;

    fn tempdir() -> PathBuf {
        let name = format!("spirit-replacement-{}", std::process::id());
        std::env::temp_dir().join(name)
    }

    fn open() -> Index {
        Index::builder().dram_bytes(16 << 20).segment_bytes(64 << 10).open().unwrap()
    }

    /// A reader that is pinned until it is dropped, also by a test that fails: an index that is dropped
    /// waits for it.
    struct Pinned<'m>(&'m Memory, PinSlot);

    impl Pinned<'_> {
        fn new(memory: &Memory) -> Pinned<'_> {
            let slot = memory.pins().acquire().unwrap();
            memory.pins().pin(&slot);
            Pinned(memory, slot)
        }
    }

    impl Drop for Pinned<'_> {
        fn drop(&mut self) {
            self.0.pins().unpin(&self.1);
        }
    }

    /// The row that a query with `snapshot` finds under `key`, and true if the table alone found it.
    fn found(memory: &Memory, snapshot: &Snapshot<'_>, key: &str) -> (bool, Option<u64>) {
        let key = key.as_bytes();
        let in_table = Keys::new(memory.geometry()).find(snapshot, memory, key, hash(key));
        (in_table.is_some(), in_table.or_else(|| find_forgotten(snapshot, key)))
    }

    /// A replay that a crash interrupts may leave a stamp that names a later row than the next
    /// replay uses for the same operation.
    #[test]
    fn a_stamp_of_an_interrupted_replay_is_brought_forward() {
        let folder = tempdir();
        let index =
            Index::builder().directory(&folder).dram_bytes(16 << 20).segment_bytes(64 << 10);
        let index = index.open().unwrap();
        index.put("k", "before").unwrap();
        index.flush().unwrap();
        index.settle();
        let memory = &index.executors()[0].shared.memory;
        let pinned = Pinned::new(memory);
        let snapshot = Snapshot::take(memory);
        let (segment, local) = snapshot.locate(0).unwrap();
        assert!(memory.kill(&segment, local, 100), "the segment is engraved");
        drop(pinned);
        let searcher = index.searcher();
        assert_eq!(searcher.count("before").unwrap(), 1);
        index.put("k", "after").unwrap();
        assert_eq!(searcher.count("before").unwrap(), 0);
        assert_eq!(searcher.count("after").unwrap(), 1);
        assert_eq!(index.stats().unwrap().documents, 1);
        index.close().unwrap();
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_pinned_reader_finds_its_version_of_a_key_that_has_many() {
        let index = open();
        index.put("hot", "before").unwrap();
        let memory = &index.executors()[0].shared.memory;
        let pinned = Pinned::new(memory);
        let snapshot = Snapshot::take(memory);
        for _ in 0..200 {
            index.put("hot", "after").unwrap();
        }
        assert_eq!(found(memory, &snapshot, "hot"), (false, Some(0)));
        assert_eq!(found(memory, &snapshot, "none"), (false, None));
        assert_eq!(found(memory, &Snapshot::take(memory), "hot"), (true, Some(200)));
        drop(pinned);
    }

    #[test]
    fn a_pinned_reader_finds_its_version_of_each_of_many_keys() {
        let index = open();
        let keys = (0..REPLACED_MAX * 2).map(|n| format!("k{n}")).collect::<Vec<_>>();
        let put_all = || keys.iter().for_each(|key| index.put(key, "text").unwrap());
        put_all();
        let memory = &index.executors()[0].shared.memory;
        let pinned = Pinned::new(memory);
        let snapshot = Snapshot::take(memory);
        put_all();
        let all = keys.iter().zip(0..).map(|(key, row)| (found(memory, &snapshot, key), row));
        let (in_table, not): (Vec<_>, Vec<_>) = all.partition(|((in_table, _), _)| *in_table);
        assert!(in_table.len() >= REPLACED_MAX && not.len() >= REPLACED_MAX / 2, "both ways");
        assert!(in_table.iter().chain(&not).all(|((_, found), row)| *found == Some(*row)));
        drop(pinned);
    }
}
