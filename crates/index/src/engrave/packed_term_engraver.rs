//! Engraves the packed lists of a segment and the terms that lead to them, some at a time. Lists
//! come first, in the order of ordinals, in which the terms' records lie in the DRAM dictionary.
//! Terms follow, in the order of their bytes, each with the place of its list.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use spirit_door::Site;
use spirit_mem::{Region, Span};

use crate::engrave::list_packer::ListPacker;
use crate::engrave::term_engraver::each_entry;
use crate::ground::ids::SegmentId;
use crate::ground::section::{Kind, Section, Sections};
use crate::ground::term::TERM_BYTES_MAX;
use crate::memory::Memory;
use crate::terms::dictionary::{Dictionary, TermId};
use crate::terms::entries::Entry;
use crate::terms::packed_terms::writer::PackedTermsWriter;
use crate::terms::term_order::TermOrder;
use crate::tier::Nvm;

/// Number of terms of one step.
const GROUP: usize = 1024;
/// Prefetch distance of a term's record, in terms.
const AHEAD: usize = 12;

/// The terms of a segment, and their lists, on their way to the second tier.
#[derive(Debug)]
pub(crate) struct PackedTermEngraver {
    segment: SegmentId,
    /// The dictionary's number of each ordinal.
    map: Span<AtomicU32>,
    packer: ListPacker,
    /// The new entries of the first ordinals, whose lists are packed.
    entries: Vec<Entry>,
    lists_are_written: bool,
    writer: PackedTermsWriter,
    /// Number of terms that the writer has, and number of their bytes that are written.
    next: usize,
    written: u64,
}

impl PackedTermEngraver {
    /// Makes the engraver of a segment. `map` has the numbers of its ordinals.
    pub(crate) fn new(
        memory: &Memory,
        segment: SegmentId,
        map: Span<AtomicU32>,
    ) -> PackedTermEngraver {
        PackedTermEngraver {
            segment,
            map,
            packer: ListPacker::new(memory, segment, map.len() as u32),
            entries: Vec::with_capacity(map.len() as usize),
            lists_are_written: false,
            writer: PackedTermsWriter::default(),
            next: 0,
            written: 0,
        }
    }

    /// Writes some lists or terms. Returns true if all are written. The sections are then cut to
    /// their contents. `order` is the order of the terms in DRAM.
    pub(crate) fn advance(
        &mut self,
        memory: &Memory,
        nvm: &Nvm,
        order: TermOrder<'_>,
        sections: &mut Sections,
    ) -> bool {
        if !self.packer.prepare(memory) {
            return false;
        }
        if self.lists_are_written {
            return self.write_terms(memory, nvm, order, sections);
        }
        self.write_lists(memory, nvm, sections);
        false
    }

    fn write_lists(&mut self, memory: &Memory, nvm: &Nvm, sections: &mut Sections) {
        let (first, all) = (self.entries.len(), self.map.len() as usize);
        let end = all.min(first + GROUP);
        self.entries.resize(end, Entry::NONE);
        each_entry(memory, self.segment, self.map, first..end, |ordinal, _, entry| {
            self.entries[ordinal as usize] = self.packer.pack(memory, ordinal, entry);
        });
        let lists = sections.get(Kind::PackedLists);
        self.packer.write(memory, nvm, lists.start);
        if end == all {
            let lists = Section { bytes: self.packer.bytes(), ..lists };
            let start = (lists.start + lists.bytes).next_multiple_of(64);
            sections.set(Kind::PackedLists, lists);
            sections.set(Kind::PackedTerms, Section { start, ..sections.get(Kind::PackedTerms) });
            self.lists_are_written = true;
        }
    }

    fn write_terms(
        &mut self,
        memory: &Memory,
        nvm: &Nvm,
        order: TermOrder<'_>,
        sections: &mut Sections,
    ) -> bool {
        let (region, section) = (memory.region(), sections.get(Kind::PackedTerms));
        let dictionary = Dictionary::new(region, memory.geometry());
        let map = region.view(self.map);
        let id = |index| TermId(map[order.number(index) as usize].load(Relaxed));
        let end = order.len().min(self.next + GROUP);
        let (mut bytes, mut out) = ([0; TERM_BYTES_MAX], Vec::new());
        for index in self.next..end {
            if index + AHEAD < order.len() {
                dictionary.prefetch_record(id(index + AHEAD));
            }
            let (field, len) = dictionary.write_term(id(index), &mut bytes);
            let entry = self.entries[order.number(index) as usize];
            self.writer.add(field, &bytes[..len], entry, &mut out);
        }
        self.next = end;
        let done = end == order.len();
        if done {
            let head = std::mem::take(&mut self.writer).finish(&mut out);
            put(region, nvm, section.start, &head.to_le_bytes());
        }
        let at = PackedTermsWriter::BLOCKS_AT + self.written;
        put(region, nvm, section.start + at, &out);
        self.written += out.len() as u64;
        if done {
            let bytes = PackedTermsWriter::BLOCKS_AT + self.written;
            sections.set(Kind::PackedTerms, Section { bytes, ..section });
        }
        done
    }
}

fn put(region: &Region, nvm: &Nvm, at: u64, bytes: &[u8]) {
    if !bytes.is_empty() {
        nvm.door().write(Site::BodyWords, region, at, bytes);
        nvm.door().write_back(Site::BodyWriteBack, region, at, bytes.len() as u64);
    }
}
