//! Commit: readers of an engraved segment move to the second tier, and the DRAM copy is freed after
//! its last reader has left. This is the paper's pointer update (§4.7).
//!
//! Eight words are stored, seven of the descriptor and the pointer to it, one by one. So a reader may
//! find some old and some new. This is harmless: both copies have equal contents and stay until that
//! reader has left. Stamps and terms are led to the copy when it is engraved already. A second
//! descriptor would need one store here. But each death would then be counted in both, and a
//! snapshot that has either would have to see the same count. Deaths are many, and commits are few.
//!
//! Packed lists have other places than raw ones. So the segment's entries in the DRAM dictionary are
//! changed too, one by one. One word of an entry leads to its list and says whether the list is packed.

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
        // The entries are being shed. Readers that still use them have the DRAM copy.
        return;
    }
    let region = memory.region();
    let Some(terms) = packed_terms::of_descriptor(region, descriptor) else { return };
    // While the writer is held, entries neither move nor leave.
    let _writer = memory.dictionary();
    let dictionary = Dictionary::new(region, memory.geometry());
    let mut cursor = terms.cursor(0);
    // Each step moves the cursor one term on, so that the loop ends with the last term.
    while let Some((field, bytes, entry)) = cursor.term() {
        let term = Term::new(field, bytes);
        let found = term.and_then(|term| dictionary.find(term, term.key.hash()));
        if let Some(entries) = found.map(|id| dictionary.entries(id))
            // Entries outside the dictionary's coverage may be gone.
            && let Some(index) = entries.rfind(region, entry.segment)
        {
            entries.view(region).lead_to_packed(index, entry);
        }
        cursor.advance();
    }
}
