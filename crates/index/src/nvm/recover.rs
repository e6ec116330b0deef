//! What a start finds in the second tier: the engraved segments, as readers and stages want them.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_mem::Span;

use super::Corrupt;
use super::engrave::{NODE_BYTES, TERM_KEY_BYTES};
use super::section::{Kind, Sections};
use super::slot::{Entry, Mark, Slots};
use crate::descriptor::{Position, SegmentId, State, Window};
use crate::dictionary_writer::{DictionaryFull, DictionaryWriter};
use crate::memory::{Memory, Nvm, Partition};
use crate::term::{Term, TermKey};

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
    /// Documents accepted so far.
    pub documents_end: u64,
    /// One past the largest number given as an explicit key.
    pub explicit_end: u64,
}

/// The retained positions, and the newest that ever was.
fn positions(slots: Slots<'_>) -> Result<(Window, Option<Position>), Corrupt> {
    let (mut live, mut newest) = (Vec::new(), None);
    for index in 0..slots.count() {
        let position = match slots.mark(index)? {
            Mark::Empty => continue,
            Mark::Live(position, _) => {
                live.push(position);
                position
            }
            Mark::Retired(position) => position,
        };
        newest = newest.max(Some(position));
    }
    live.sort_unstable();
    let end = newest.map_or(0, |newest| newest + 1);
    let oldest = live.first().copied().unwrap_or(end);
    // The oldest goes first and the newest comes last, so those that live are all that follow the oldest.
    if live.len() as u32 != end - oldest {
        let at = slots.place(oldest);
        return Err(Corrupt {
            what: "segment slots",
            at,
            why: "a segment between others is missing",
        });
    }
    Ok((Window { oldest, end }, newest))
}

/// Finds the engraved segments, and lets readers see them. The dictionary does not have their terms yet.
pub fn recover(memory: &Memory) -> Result<Recovered, Corrupt> {
    let Some(nvm) = memory.nvm() else { return Ok(Recovered::default()) };
    let slots = Slots::new(memory.region(), nvm.layout());
    let (window, newest) = positions(slots)?;
    let mut recovered = Recovered { window, ..Recovered::default() };
    for position in window.oldest..window.end {
        let (entry, sections) = nvm.sections(memory.region(), position)?;
        restore_blocks(memory, slots.place(position), &entry)?;
        describe(memory, &entry, &sections, slots.dead(position)?);
    }
    if let Some(newest) = newest {
        let entry = slots.entry(newest)?;
        recovered.row_end = entry.row_end;
        recovered.sequence_end = entry.sequence_end;
        recovered.log_from = entry.log_from;
        recovered.documents_end = entry.documents_end;
        recovered.explicit_end = entry.explicit_end;
    }
    nvm.set_log_head(recovered.log_from);
    memory.start_at(window);
    memory.publish(recovered.row_end);
    Ok(recovered)
}

/// Takes the segment's blocks up in the rings.
fn restore_blocks(memory: &Memory, at: u64, entry: &Entry) -> Result<(), Corrupt> {
    let id = SegmentId(entry.id as u32);
    let blocks = [
        (Partition::NvmLong, entry.long_start, entry.long_bytes),
        (Partition::NvmShort, entry.short_start, entry.short_bytes),
    ];
    for (partition, start, bytes) in blocks {
        if !memory.restore(partition, start, bytes, id) {
            let why = "a block of the segment leaves its partition, or overlaps another's";
            return Err(Corrupt { what: "segment slot", at, why });
        }
    }
    Ok(())
}

fn describe(memory: &Memory, entry: &Entry, sections: &Sections, dead: u32) {
    let id = SegmentId(entry.id as u32);
    let descriptor = memory.table().descriptor(id);
    descriptor.set_id(entry.id);
    descriptor.set_base_row(entry.base_row);
    descriptor.set_rows(entry.rows);
    descriptor.set_base_sequence(entry.base_sequence);
    descriptor.set_extent(0);
    descriptor.set_posting_words(sections.get(Kind::Postings).bytes / 4);
    descriptor.set_bitmap_rows(entry.bitmap_rows);
    descriptor.set_terms(entry.terms);
    descriptor.set_posting_count(entry.posting_count);
    descriptor.set_tokens(entry.tokens);
    descriptor.set_vector_units(entry.vector_units);
    descriptor.set_row_map(0);
    descriptor.set_numbers_start(entry.numbers_start);
    descriptor.set_numbers_end(entry.numbers_end);
    descriptor.set_dead(0);
    memory.add_dead(descriptor, dead as u64);
    descriptor.lead_to(sections);
    memory.table().publish(id, State::Committed);
}

/// Operations that may have killed rows are still in the log. A death that is durable may not be counted yet, so no segment
/// passes for one without dead rows.
pub fn expect_deaths(memory: &Memory, window: Window) {
    for position in window.oldest..window.end {
        if let Some((descriptor, _)) = memory.table().get(position)
            && descriptor.dead() == 0
        {
            memory.note_dead(descriptor);
        }
    }
}

/// A term of an engraved segment.
pub struct EngravedTerm {
    /// Its key.
    pub key: TermKey,
    /// Where a long term's bytes begin in their section.
    long: u64,
    /// Its postings; 0 if only a document that broke off had it.
    pub postings: u32,
    /// The posting if it is one; else where they begin in the segment's posting words.
    pub payload: u32,
}

/// The term of an ordinal.
pub fn term(memory: &Memory, sections: &Sections, ordinal: u64) -> EngravedTerm {
    let words = |kind, size: u64| {
        let at = sections.get(kind).start + ordinal * size;
        memory.region().view(Span::<AtomicU64>::new(at, size / 8))
    };
    let (key, node) = (words(Kind::TermKeys, TERM_KEY_BYTES), words(Kind::Nodes, NODE_BYTES));
    EngravedTerm {
        key: TermKey { low: key[0].load(Relaxed), high: key[1].load(Relaxed) },
        long: key[2].load(Relaxed),
        postings: (node[1].load(Relaxed) >> 32) as u32,
        payload: node[2].load(Relaxed) as u32,
    }
}

impl EngravedTerm {
    /// The bytes of a long term; none of a short one, whose key holds them.
    pub fn bytes(&self, memory: &Memory, sections: &Sections, out: &mut Vec<u8>) {
        out.clear();
        if self.key.is_long() {
            let len = self.key.len();
            let at = sections.get(Kind::LongTerms).start + self.long;
            memory.region().read_words(at, (len as u64).next_multiple_of(8), out);
            out.truncate(len);
        }
    }
}

/// Enters the terms of an engraved segment in the dictionary, which has those of all older ones.
pub fn register(
    memory: &Memory,
    nvm: &Nvm,
    writer: &mut DictionaryWriter,
    position: Position,
) -> Result<(), DictionaryFull> {
    let (entry, sections) = nvm.sections(memory.region(), position).expect("it was looked at");
    let mut bytes = Vec::new();
    for ordinal in 0..entry.terms {
        let found = term(memory, &sections, ordinal);
        if found.postings == 0 {
            continue;
        }
        found.bytes(memory, &sections, &mut bytes);
        let term = Term { key: found.key, bytes: &bytes };
        let id = writer.intern(memory, term, found.key.hash())?;
        let segment = SegmentId(entry.id as u32);
        writer.append(memory, id, segment, found.postings, found.payload)?;
    }
    writer.collect(memory);
    Ok(())
}
