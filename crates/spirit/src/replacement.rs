//! What an operation does to the document that had its key before: finds it, kills it, and keeps its slot of the key table for
//! readers that may still see it.

use std::collections::VecDeque;
use std::ops::Range;

use spirit_index::keys::{self, Keys};
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

pub(crate) fn settle_explicit(
    shared: &Shared,
    table: Keys,
    key: &[u8],
    row: u64,
    replaced: &mut VecDeque<Replaced>,
) -> Result<bool, AddError> {
    let snapshot = Snapshot::of_role(&shared.memory, row);
    let hash = keys::hash(key);
    let old = table.find(&snapshot, &shared.memory, key, hash);
    let mut inserted = table.insert(&shared.memory, hash, row);
    if inserted.is_err() {
        // Versions that are kept for readers crowd the key's lines: without them there is room.
        replaced.retain(|slot| slot.hash != hash || !table.remove(&shared.memory, hash, slot.row));
        inserted = table.insert(&shared.memory, hash, row);
    }
    match (inserted, old) {
        (Ok(()), Some(old)) => replaced.push_back(Replaced { hash, row: old, stamp: None }),
        (Ok(()), None) => {}
        // Still none: the new version takes the old one's place at once.
        (Err(_), Some(old)) => table.replace(&shared.memory, hash, old, row),
        (Err(_), None) => return Err(AddError::KeysFull),
    }
    let number = keys::as_number(key);
    if let Some(number) = number {
        shared.numbers.explicit_end.fetch_max(number + 1, Relaxed);
    }
    let old = old.or_else(|| keys::find_automatic(&snapshot, number?));
    let killed = old.and_then(|old| kill(shared, &snapshot, old, row));
    Ok(killed == Some(Stamped::Engraved))
}

/// An automatic key whose number somebody chose before as an explicit one: it replaces that document.
pub(crate) fn settle_number(
    shared: &Shared,
    table: Keys,
    number: u64,
    row: u64,
    replaced: &mut VecDeque<Replaced>,
) -> bool {
    let snapshot = Snapshot::of_role(&shared.memory, row);
    let mut key = Vec::with_capacity(20);
    keys::write_number(number, &mut key);
    let hash = keys::hash(&key);
    let Some(old) = table.find(&snapshot, &shared.memory, &key, hash) else { return false };
    replaced.push_back(Replaced { hash, row: old, stamp: None });
    kill(shared, &snapshot, old, row) == Some(Stamped::Engraved)
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
        table.row(local).renumber(sequence);
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
    Shared::add_to(&shared.deleted, 1);
    Some(if engraved { Stamped::Engraved } else { Stamped::InDram })
}
