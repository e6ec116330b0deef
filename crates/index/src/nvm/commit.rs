//! Commit: readers of an engraved segment go to the second tier, and the DRAM copy is given back after its last reader: the paper's
//! pointer update (§4.7).
//!
//! The descriptor's words are stored one by one, and a reader may find some of them old and some new: both copies say the same, and
//! both stay until that reader has left. Packed lists have a place of their own instead; so what leads to a list, its entry
//! in the DRAM dictionary, is changed too, one by one: of each a single word, which says itself what it leads to.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use spirit_mem::Span;

use super::node::Nodes;
use super::section::Sections;
use crate::descriptor::{Descriptor, SegmentId, State};
use crate::dictionary::{Dictionary, TermId};
use crate::memory::{Memory, Partition};

/// How many terms before its turn a term's newest entry is asked for; its record is as many before that.
const AHEAD: usize = 12;

/// Commits an engraved segment.
pub fn commit(memory: &Memory, id: SegmentId) {
    let descriptor = memory.table().descriptor(id);
    let entry = memory.nvm().and_then(|nvm| nvm.sections(memory.region(), id.position()).ok());
    let (_, sections) = entry.expect("an engraved segment has its slot");
    if sections.are_packed() {
        lead_entries(memory, descriptor, &sections);
    }
    descriptor.lead_to(&sections);
    let merged = id.position() < memory.merged();
    memory.table().publish(id, if merged { State::Merged } else { State::Committed });
    memory.retire_blocks(Partition::Long, id);
}

/// Leads the segment's entries in the DRAM dictionary to its packed lists.
fn lead_entries(memory: &Memory, descriptor: Descriptor<'_>, sections: &Sections) {
    if descriptor.term_map() == 0 {
        // They are being shed: whoever still reads them goes by the DRAM copy.
        return;
    }
    let region = memory.region();
    let map = Span::<AtomicU32>::new(descriptor.term_map(), descriptor.terms());
    let map = region.view(map);
    // Entries neither move nor go meanwhile.
    let _writer = memory.dictionary();
    let dictionary = Dictionary::new(region, memory.geometry());
    let nodes = Nodes::of(region, sections);
    let term_of = |index: usize| {
        let number = map.get(nodes.get(index).ordinal as usize)?.load(Relaxed);
        (number != TermId::NONE.0).then_some(TermId(number))
    };
    let ahead = |index| if index < nodes.len() { term_of(index) } else { None };
    for index in 0..nodes.len() {
        ahead(index + 2 * AHEAD).inspect(|term| dictionary.prefetch_record(*term));
        ahead(index + AHEAD).inspect(|term| dictionary.prefetch_newest(*term));
        let Some(term) = term_of(index) else { continue };
        let (entries, node) = (dictionary.entries(term), nodes.get(index));
        // Those that the dictionary does not cover any more may be gone.
        if let Some(index) = entries.rfind(region, node.segment) {
            entries.view(region).lead_to_packed(index, node.entry());
        }
    }
}
