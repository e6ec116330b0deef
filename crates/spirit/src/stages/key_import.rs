//! The import of keys after a start.
//!
//! The key table is empty at a start. It is filled in the background after the replay, which may
//! need the room, newest segment first. Keys that it lacks are looked for in each segment not yet
//! imported. A start estimates the dead rows of each segment. They are counted before the keys are
//! entered.

use spirit_index::ground::damage;
use spirit_index::ground::{Position, State};
use spirit_index::keys;
use spirit_index::rows::KeyKind;
use spirit_index::snapshot::{Segment, Snapshot};
use spirit_index::start::Importer;

use crate::storage::shared::Shared;

/// Enters the keys of the next rows in the key table. False if it cannot continue. If the table has
/// no room, or keys were moved out of it, the other keys stay in their segments and are looked for
/// there. The caller drops no segments meanwhile.
pub(crate) fn enter_keys(shared: &Shared, importer: &mut Importer) -> bool {
    let memory = &shared.memory;
    // An operation that replaces or deletes a document holds the lock too. So a row that lives now
    // is its key's document.
    let table = shared.keys();
    if shared.have_keys_left() {
        return false;
    }
    let Some((id, first, end)) = importer.rows(memory, memory.window().oldest) else {
        return false;
    };
    let segment = Snapshot::of_role(memory, u64::MAX).of(id);
    let rows = segment.row_table();
    let mut key = Vec::with_capacity(spirit_index::fresh::KEY_BYTES_MAX);
    for local in first..end {
        let row = rows.row(local);
        let word = row.key();
        if row.death() != 0 || matches!(word.kind(), KeyKind::None | KeyKind::Automatic(_)) {
            continue;
        }
        key.clear();
        keys::write_key(&segment, word, &mut key);
        if table.insert(memory, keys::hash(&key), segment.row_number(local)).is_err() {
            // Otherwise the key would count as entered, and no operation would find it.
            importer.again_from(local);
            return false;
        }
    }
    true
}

/// Counts the dead rows of the segment at `position`, if it has any. The caller drops no segments
/// meanwhile.
pub(crate) fn count_deaths_at(shared: &Shared, position: Position) {
    // Rows die under this lock.
    let _keys = shared.keys();
    let snapshot = Snapshot::of_role(&shared.memory, u64::MAX);
    // A segment with dead rows has a count above 0. Without this check, all rows of all segments
    // would be read.
    if let Some(segment) = snapshot.segment(position).filter(Segment::has_dead) {
        count_deaths(shared, &segment);
    }
}

/// Counts the dead rows of all engraved segments, for a private copy of an index. Its start
/// estimates them, and it imports no keys. Takes time linear in the rows of segments with dead
/// ones.
pub(crate) fn count_all_deaths(shared: &Shared) {
    let _keys = shared.keys();
    damage::clear();
    let snapshot = Snapshot::of_role(&shared.memory, u64::MAX);
    for segment in snapshot.registered() {
        let state = shared.memory.table().get(segment.id().position()).map(|(_, state)| state);
        let is_engraved = state.is_some_and(|state| state >= State::Engraved);
        if is_engraved && segment.descriptor().dead() > 0 {
            count_deaths(shared, &segment);
        }
    }
}

/// Corrects the count of a segment's dead rows. A crash may leave a death uncounted, and a start
/// may count one too many. The caller holds the key lock. Damaged pages correct nothing.
fn count_deaths(shared: &Shared, segment: &Segment<'_>) {
    let rows = segment.row_table();
    let dead = (0..segment.rows()).filter(|local| rows.row(*local).death() != 0).count();
    if damage::found(shared.memory.region()).is_some() {
        return;
    }
    shared.correct_deleted(shared.memory.correct_dead(segment.descriptor(), dead as u64));
}
