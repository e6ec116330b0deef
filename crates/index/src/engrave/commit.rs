//! Commit: readers of an engraved segment go to the second tier, and the DRAM copy is given back after its last reader: the paper's
//! pointer update (§4.7).
//!
//! The descriptor's words are stored one by one, and a reader may find some of them old and some new: both copies say the same, and
//! both stay until that reader has left. Packed lists have a place of their own instead; so what leads to a list, its entry
//! in the DRAM dictionary, is changed too, one by one: of each a single word, which says itself what it leads to.

use crate::form::packed_terms;
use crate::ground::ids::{Partition, SegmentId, State};
use crate::ground::term::Term;
use crate::memory::Memory;
use crate::memory::descriptor::Descriptor;
use crate::terms::dictionary::Dictionary;

/// Commits an engraved segment.
pub fn commit(memory: &Memory, id: SegmentId) {
    let descriptor = memory.table().descriptor(id);
    let entry = memory.nvm().and_then(|nvm| nvm.sections(memory.region(), id.position()).ok());
    let (_, sections) = entry.expect("an engraved segment has its slot");
    lead_entries(memory, descriptor);
    descriptor.lead_to(&sections);
    let merged = id.position() < memory.merged();
    memory.table().publish(id, if merged { State::Merged } else { State::Committed });
    memory.retire_blocks(Partition::Long, id);
}

/// Leads the segment's entries in the DRAM dictionary to its packed lists.
fn lead_entries(memory: &Memory, descriptor: Descriptor<'_>) {
    if descriptor.term_map() == 0 {
        // They are being shed: readers that still use them have the DRAM copy.
        return;
    }
    let region = memory.region();
    let Some(terms) = packed_terms::of_descriptor(region, descriptor) else { return };
    // Entries neither move nor go meanwhile.
    let _writer = memory.dictionary();
    let dictionary = Dictionary::new(region, memory.geometry());
    let mut cursor = terms.cursor(0);
    while let Some((field, bytes, entry)) = cursor.term() {
        let term = Term::new(field, bytes);
        let found = term.and_then(|term| dictionary.find(term, term.key.hash()));
        if let Some(entries) = found.map(|id| dictionary.entries(id))
            // Those that the dictionary does not cover any more may be gone.
            && let Some(index) = entries.rfind(region, entry.segment)
        {
            entries.view(region).lead_to_packed(index, entry);
        }
        cursor.advance();
    }
}
