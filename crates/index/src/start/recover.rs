//! What a start finds in the second tier: the engraved segments, as readers and stages want them. It looks at each
//! segment's slot, section table and [shape], and at nothing that grows with what is in it; but for the terms of
//! the few segments that are not merged.

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

/// Where an executor goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// The retained segments.
    pub window: Window,
    /// The row number behind the newest segment.
    pub row_end: u64,
    /// Operations below this sequence number are in segments.
    pub sequence_end: u64,
    /// Where the log begins that counts.
    pub log_from: u64,
    /// One past the highest number that a document of the executor took.
    pub documents_end: u64,
    /// Documents that it accepted.
    pub accepted: u64,
    /// Of those, documents that were replaced or deleted.
    pub deleted: u64,
    /// One past the largest number given as an explicit key.
    pub explicit_end: u64,
    /// When the newest document of a segment arrived.
    pub arrived_ms: u64,
}

/// What the marks say.
#[derive(Default)]
struct Marks {
    /// The retained segments.
    window: Window,
    /// One past the last merged one.
    merged: Position,
    /// The newest that ever was.
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
    // The oldest goes first and the newest comes last, so those that live are all that follow the oldest.
    if live.len() as u32 != end - oldest {
        return corrupt("a segment between others is missing");
    }
    // The newest one that is marked as merged says so of all older ones.
    let merged = live.iter().rev().find(|(_, state)| *state == State::Merged);
    let merged = merged.map_or(oldest, |(position, _)| position + 1);
    Ok(Marks { window: Window { oldest, end }, merged, newest })
}

/// Finds the engraved segments, and lets readers see them. Their terms and keys are
/// [imported](crate::start::import) later.
pub fn recover(memory: &Memory) -> Result<Recovered, Corrupt> {
    let Some(nvm) = memory.nvm() else { return Ok(Recovered::default()) };
    let slots = Slots::new(memory.region(), nvm.layout());
    let Marks { window, merged, newest } = marks(slots)?;
    let mut recovered = Recovered { window, ..Recovered::default() };
    let (mut living, mut is_linked) = (0, false);
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

/// Documents that lived when their segment was dropped, after the newest one, which is `newest`, was engraved. Their slots are
/// there until newer segments take them; damage to one changes a statistic only.
fn expired_since(slots: Slots<'_>, newest: &Entry, window: Window) -> u64 {
    let oldest = Position::try_from(newest.oldest).unwrap_or(window.oldest);
    let living = |position| {
        let (entry, dead) = (slots.entry(position).ok()?, slots.dead(position).ok()?);
        Some(entry.rows.saturating_sub(dead as u64))
    };
    // No more than there are slots, whatever the newest says.
    let first = oldest.max(window.oldest.saturating_sub(slots.count() as Position));
    (first..window.oldest).filter_map(living).sum()
}

/// Takes the segment's blocks up in the rings.
fn restore_blocks(memory: &Memory, at: u64, entry: &Entry, is_merged: bool) -> Result<(), Corrupt> {
    let id = SegmentId(entry.id as u32);
    let blocks = [
        (Partition::NvmLong, entry.long_start, entry.long_bytes),
        (Partition::NvmShort, entry.short_start, entry.short_bytes),
    ];
    // The short-term block of a merged segment has been given back.
    for (partition, start, bytes) in blocks.into_iter().take(if is_merged { 1 } else { 2 }) {
        // What is longer than the tier is nobody's block.
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
    // Nothing leads to vectors if lists are packed.
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
    // Segments are described in their order.
    descriptor.set_total(memory.table().total_before(id.position()) + kept);
    descriptor.set_dead(0);
    memory.add_dead(descriptor, dead as u64);
    descriptor.lead_to(sections);
    if sections.are_packed() {
        memory.note_packed(id.position());
    }
    memory.table().publish(id, state);
}

/// Operations that may have killed rows are still in the log. A death that is durable may not be counted yet, so no segment
/// passes for one without dead rows: neither now nor at a start that does not find those operations any more.
/// Says how many deaths were counted that may not be.
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
