//! Recovery: a start finds the engraved segments in the second tier and makes them ready for
//! readers and stages. It reads each segment's slot, section table and [shape], and nothing that
//! grows with the segment's contents. The terms of the few segments that are not merged are the
//! exception.

use spirit_door::Site;

use crate::form::{merged, shape};
use crate::ground::corrupt::Corrupt;
use crate::ground::ids::{Partition, Position, SegmentId, State};
use crate::ground::section::{Kind, Sections};
use crate::ground::slot::{Entry, Mark, Slots};
use crate::memory::Memory;
use crate::memory::descriptor::Window;
use crate::memory::expired::Expired;
use crate::rows::lengths::Statistics;

/// The state from which an executor continues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// The retained segments.
    pub window: Window,
    /// The row number behind the newest segment.
    pub row_end: u64,
    /// Upper bound of the sequence numbers in segments, exclusive.
    pub sequence_end: u64,
    /// Log position of the first record that counts.
    pub log_from: u64,
    /// One past the highest number that a document of the executor took.
    pub documents_end: u64,
    /// Number of documents that the executor accepted.
    pub accepted: u64,
    /// Number of these that were replaced or deleted.
    pub deleted: u64,
    /// One past the largest number given as an explicit key.
    pub explicit_end: u64,
    /// Arrival of the newest document of a segment.
    pub arrived_ms: u64,
}

/// The contents of the slots' marks.
#[derive(Default)]
struct Marks {
    /// The retained segments.
    window: Window,
    /// One past the last merged segment.
    merged: Position,
    /// The newest segment that ever was.
    newest: Option<Position>,
}

fn marks(slots: Slots<'_>) -> Result<Marks, Corrupt> {
    let (mut live, mut newest) = (Vec::new(), None);
    for index in 0..slots.count() {
        let position = match slots.mark(index)? {
            Mark::Empty => continue,
            Mark::Live(position, state) => {
                live.push((position, state));
                position
            }
            Mark::Retired(position) => position,
        };
        newest = newest.max(Some(position));
    }
    live.sort_unstable_by_key(|(position, _)| *position);
    let end = newest.map_or(0, |newest| newest + 1);
    let oldest = live.first().map_or(end, |(position, _)| *position);
    let corrupt = |why| Err(Corrupt { what: "segment slots", at: slots.place(oldest), why });
    // The oldest is retired first and the newest is marked last. So the live segments are
    // consecutive, up to the newest.
    if live.len() as u32 != end - oldest {
        return corrupt("a segment between two others is missing");
    }
    // The newest segment marked as merged implies that all older ones are merged.
    let merged = live.iter().rev().find(|(_, state)| *state == State::Merged);
    let merged = merged.map_or(oldest, |(position, _)| position + 1);
    Ok(Marks { window: Window { oldest, end }, merged, newest })
}

/// Finds the engraved segments and shows them to readers. Their terms and keys are
/// [imported](crate::start::import) later.
pub fn recover(memory: &Memory) -> Result<Recovered, Corrupt> {
    let Some(nvm) = memory.nvm() else { return Ok(Recovered::default()) };
    let slots = Slots::new(memory.region(), nvm.layout());
    let Marks { window, merged, newest } = marks(slots)?;
    let mut recovered = Recovered { window, ..Recovered::default() };
    let (mut living, mut is_linked) = (0, false);
    // Segments are described in ascending order: totals and arrivals accumulate.
    for position in window.oldest..window.end {
        let (entry, sections) = nvm.sections(memory.region(), position)?;
        let is_merged = position < merged;
        is_linked |= is_merged && sections.get(Kind::Nodes).bytes > 0;
        restore_blocks(memory, slots.place(position), &entry, is_merged)?;
        shape::check(memory.region(), memory.geometry(), &entry, &sections)?;
        if !is_merged {
            shape::check_terms(memory.region(), &entry, &sections)?;
        }
        let state = if is_merged { State::Merged } else { State::Committed };
        let dead = slots.dead(position)?;
        describe(memory, &entry, &sections, dead, state);
        recovered.arrived_ms = recovered.arrived_ms.max(entry.arrived_ms);
        memory.set_arrived(position, recovered.arrived_ms);
        living += entry.rows.saturating_sub(dead as u64);
    }
    merged::check_count(memory.region(), nvm.layout(), is_linked)?;
    if let Some(newest) = newest {
        let entry = slots.entry(newest)?;
        shape::check_numbers(memory.geometry(), &entry)?;
        recovered.row_end = entry.row_end;
        recovered.sequence_end = entry.sequence_end;
        recovered.log_from = entry.log_from;
        recovered.documents_end = entry.documents_end;
        recovered.accepted = entry.accepted;
        let expired = entry.expired + expired_since(slots, &entry, window);
        memory.set_expired(Expired::new(expired, window.oldest));
        recovered.deleted = entry.accepted.saturating_sub(living + expired);
        recovered.explicit_end = entry.explicit_end;
    }
    nvm.set_log_head(recovered.log_from);
    memory.start_at(window, merged);
    memory.publish(recovered.row_end, recovered.sequence_end);
    Ok(recovered)
}

/// Counts documents that lived when their segment was dropped, after the segment of `newest` was
/// engraved. Their slots are there until newer segments take them. Damage to one of them changes
/// only a statistic.
fn expired_since(slots: Slots<'_>, newest: &Entry, window: Window) -> u64 {
    let oldest = Position::try_from(newest.oldest).unwrap_or(window.oldest);
    let living = |position| {
        let (entry, dead) = (slots.entry(position).ok()?, slots.dead(position).ok()?);
        Some(entry.rows.saturating_sub(dead as u64))
    };
    // At most as many as there are slots, even if the newest entry claims more.
    let first = oldest.max(window.oldest.saturating_sub(slots.count() as Position));
    (first..window.oldest).filter_map(living).sum()
}

/// Takes the segment's blocks in the rings.
fn restore_blocks(memory: &Memory, at: u64, entry: &Entry, is_merged: bool) -> Result<(), Corrupt> {
    let id = SegmentId(entry.id as u32);
    let blocks = [
        (Partition::NvmLong, entry.long_start, entry.long_bytes),
        (Partition::NvmShort, entry.short_start, entry.short_bytes),
    ];
    // The short-term block of a merged segment has been given back.
    for (partition, start, bytes) in blocks.into_iter().take(if is_merged { 1 } else { 2 }) {
        // A block that is longer than the tier cannot be valid.
        if bytes > memory.region().nvm_bytes() || !memory.restore(partition, start, bytes, id) {
            let why = "a block of the segment leaves its partition, or overlaps another's";
            return Err(Corrupt { what: "segment slot", at, why });
        }
    }
    Ok(())
}

pub(crate) fn describe(
    memory: &Memory,
    entry: &Entry,
    sections: &Sections,
    dead: u32,
    state: State,
) {
    let id = SegmentId(entry.id as u32);
    let descriptor = memory.table().descriptor(id);
    descriptor.set_id(entry.id);
    descriptor.set_base_row(entry.base_row);
    descriptor.set_rows(entry.rows);
    descriptor.set_base_sequence(entry.base_sequence);
    descriptor.set_extent(0);
    descriptor.set_posting_words(sections.get(Kind::Postings).bytes / 4);
    descriptor.set_packed_words(0);
    // If lists are packed, no reader follows this word.
    descriptor.set_vector_directory(sections.get(Kind::VectorDirectory).start);
    descriptor.lead_to_lists(0, entry.bitmap_rows > 0);
    descriptor.set_terms(entry.terms);
    descriptor.set_posting_count(entry.posting_count);
    descriptor.set_tokens(entry.tokens);
    descriptor.set_vector_units(entry.vector_units);
    descriptor.set_text_bytes(entry.text_bytes);
    descriptor.set_row_map(0);
    descriptor.set_numbers_start(entry.numbers_start);
    descriptor.set_numbers_end(entry.numbers_end);
    descriptor.set_counts(0);
    let kept = Statistics::from_word(entry.kept);
    descriptor.set_kept(kept);
    // Segments are described in ascending order.
    descriptor.set_total(memory.table().total_before(id.position()) + kept);
    descriptor.set_deaths(0);
    memory.add_dead(descriptor, dead as u64);
    descriptor.lead_to_stamps(sections);
    descriptor.lead_to_terms(sections);
    descriptor.lead_to(sections);
    if sections.are_packed() {
        memory.note_packed(id.position());
    }
    memory.table().publish(id, state);
}

/// Counts one death in each segment that has none, while the log has operations that may have
/// killed rows. A durable death may not be counted yet. So no segment may pass for one without dead
/// rows. This holds now, and at a start that no longer finds these operations. Returns the number
/// of deaths counted that may not exist.
pub fn expect_deaths(memory: &Memory, window: Window) -> u64 {
    let Some(nvm) = memory.nvm() else { return 0 };
    let mut expected = 0;
    let slots = Slots::new(memory.region(), nvm.layout());
    for position in window.oldest..window.end {
        if let Some((descriptor, _)) = memory.table().get(position)
            && descriptor.dead() == 0
        {
            memory.note_dead(descriptor);
            expected += 1;
            slots.set_dead(nvm.door(), [Site::Stamp, Site::StampWriteBack], position, 1);
        }
    }
    nvm.door().fence(Site::StampFence, memory.region());
    expected
}
