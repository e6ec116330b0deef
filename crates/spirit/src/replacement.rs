//! What an operation does to the document that had its key before: finds it, kills it, and keeps its slot of the key table for
//! readers that may still see it.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use spirit_index::batch::Key;
use spirit_index::keys::{self, Keys};
use spirit_index::roots::Gauge;
use spirit_index::rows::KeyKind;
use spirit_index::snapshot::Snapshot;
use std::sync::atomic::Ordering::Relaxed;

use crate::error::AddError;
use crate::shared::Shared;

/// Replaced rows after which their slots are looked at.
const REPLACED_LOOK: usize = 64;
/// Replaced rows whose slots are kept at most: beyond it a reader that stays pinned may miss a key.
pub(crate) const REPLACED_MAX: usize = 1024;

/// A slot of the key table whose row is dead.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Replaced {
    hash: u64,
    row: u64,
    /// When the death was visible; none before.
    stamp: Option<u64>,
}

/// A new version that has its place in the key table, and has not killed the one before yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entered {
    hash: u64,
    row: u64,
    /// The row that was found under its key in the table.
    old: Option<u64>,
    /// The row that it will kill.
    victim: Option<u64>,
    slot: Slot,
}

/// Where in the key table a new version is.
#[derive(Clone, Copy, Debug)]
enum Slot {
    /// In one of its own.
    Own,
    /// In that of the old version.
    OfOld,
    /// It has an automatic key, which needs none.
    None,
}

/// Enters the document in row `row`, if it may replace another by its key, or be replaced. An error means that there is no room. The
/// caller is pinned.
#[inline]
pub(crate) fn enter(
    shared: &Shared,
    table: Keys,
    key: Key<'_>,
    row: u64,
    replaced: &mut VecDeque<Replaced>,
) -> Result<Option<Entered>, AddError> {
    match key {
        Key::Bytes(key) => enter_explicit(shared, table, key, row, replaced).map(Some),
        Key::Automatic(number) if number < shared.numbers.explicit_end.load(Relaxed) => {
            Ok(enter_number(shared, table, number, row))
        }
        Key::Automatic(_) | Key::Next => Ok(None),
    }
}

/// Enters a document with a key of its own.
fn enter_explicit(
    shared: &Shared,
    table: Keys,
    key: &[u8],
    row: u64,
    replaced: &mut VecDeque<Replaced>,
) -> Result<Entered, AddError> {
    let snapshot = &Snapshot::of_role(&shared.memory, row);
    let hash = keys::hash(key);
    let old = table.find(snapshot, &shared.memory, key, hash);
    let mut inserted = table.insert(&shared.memory, hash, row);
    if inserted.is_err() {
        // Versions that are kept for readers crowd the key's lines: without them there is room.
        replaced.retain(|slot| slot.hash != hash || !table.remove(&shared.memory, hash, slot.row));
        inserted = table.insert(&shared.memory, hash, row);
    }
    if inserted.is_err() && table.evict(snapshot, &shared.memory, hash) {
        shared.note_key_left();
        inserted = table.insert(&shared.memory, hash, row);
    }
    let slot = match (inserted, old) {
        (Ok(()), _) => Slot::Own,
        // Still none: the new version takes the old one's place at once, if that has been entered.
        (Err(_), Some(old)) if table.replace(&shared.memory, hash, old, row) => Slot::OfOld,
        (Err(_), _) => return Err(AddError::KeysFull),
    };
    let number = keys::as_number(key);
    if let Some(number) = number {
        shared.numbers.explicit_end.fetch_max(number + 1, Relaxed);
    }
    let victim = old.or_else(|| keys::find_automatic(snapshot, number?));
    Ok(Entered { hash, row, old, victim, slot })
}

/// The same of an automatic key, if somebody chose its number before as an explicit one: it replaces that document.
fn enter_number(shared: &Shared, table: Keys, number: u64, row: u64) -> Option<Entered> {
    let snapshot = &Snapshot::of_role(&shared.memory, row);
    let mut key = Vec::with_capacity(20);
    keys::write_number(number, &mut key);
    let hash = keys::hash(&key);
    let old = table.find(snapshot, &shared.memory, &key, hash)?;
    Some(Entered { hash, row, old: Some(old), victim: Some(old), slot: Slot::None })
}

impl Entered {
    /// Has it replace the newest version, if others have been entered that have not killed theirs yet: `heirs` has who will kill whom.
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

    /// Kills the version before. Says whether a fence has to come before the operation is visible.
    pub(crate) fn bury(self, shared: &Shared, replaced: &mut VecDeque<Replaced>) -> bool {
        let Entered { hash, row, old, victim, slot } = self;
        if let Some(row) = old.filter(|_| !matches!(slot, Slot::OfOld)) {
            replaced.push_back(Replaced { hash, row, stamp: None });
        }
        let snapshot = Snapshot::of_role(&shared.memory, row);
        let killed = victim.and_then(|victim| kill(shared, &snapshot, victim, row));
        killed == Some(Stamped::Engraved)
    }

    /// Leaves the table as it was.
    pub(crate) fn withdraw(&self, shared: &Shared, snapshot: &Snapshot<'_>, table: Keys) {
        let Entered { hash, row, old, slot, .. } = *self;
        match (slot, old) {
            (Slot::OfOld, Some(old)) if snapshot.locate(old).is_some() => {
                table.replace(&shared.memory, hash, row, old)
            }
            // The old one's segment may be gone.
            (Slot::Own | Slot::OfOld, _) => table.remove(&shared.memory, hash, row),
            (Slot::None, _) => false,
        };
    }
}

/// Takes the slots of dead rows out of the key table, if there are many and readers are past them.
pub(crate) fn forget_replaced(shared: &Shared, table: Keys, replaced: &mut VecDeque<Replaced>) {
    if replaced.len() < REPLACED_LOOK {
        return;
    }
    // What was pushed since the last look is visible by now: the batch it came with was published.
    let stamp = shared.memory.pins().retire();
    for slot in replaced.iter_mut().rev().take_while(|slot| slot.stamp.is_none()) {
        slot.stamp = Some(stamp);
    }
    let horizon = shared.memory.pins().horizon();
    let mut surplus = replaced.len().saturating_sub(REPLACED_MAX);
    while let Some(slot) =
        replaced.pop_front_if(|slot| surplus > 0 || slot.stamp.is_some_and(|stamp| stamp < horizon))
    {
        surplus = surplus.saturating_sub(1);
        table.remove(&shared.memory, slot.hash, slot.row);
    }
}

/// Where a death was stamped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stamped {
    /// In DRAM alone.
    InDram,
    /// In an engraved segment too: a fence has to come before the operation is visible.
    Engraved,
}

/// The last rows of the segment being filled, whose documents were refused or are tried again behind them: they never come to life.
/// All get the sequence number of the first, so that those of a segment never fall.
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

/// Kills a row, if it lives, by the operation that is row `by`; takes effect when that one becomes visible.
pub(crate) fn kill(shared: &Shared, snapshot: &Snapshot<'_>, row: u64, by: u64) -> Option<Stamped> {
    let (segment, local) = snapshot.locate(row)?;
    let target = segment.row_table().row(local);
    if target.death() != 0 || matches!(target.key().kind(), KeyKind::None) {
        return None;
    }
    let engraved = shared.memory.kill(&segment, local, by);
    shared.add(Gauge::Deleted, 1);
    Some(if engraved { Stamped::Engraved } else { Stamped::InDram })
}
