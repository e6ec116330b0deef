//! Import of entries of segments with packed terms to the DRAM dictionary. It goes through the
//! terms of all segments at once, in their order. So each term gets all of its entries in one step.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use crate::form::older::{FindOlder, OlderEntries};
use crate::form::packed_terms;
use crate::ground::term::{FieldId, Term};
use crate::memory::Memory;
use crate::memory::descriptor::Window;
use crate::terms::dictionary_writer::{DictionaryFull, DictionaryWriter};
use crate::terms::entries::Entry;
use crate::terms::packed_terms::PackedTermCursor;

/// Number of terms of one step.
const TERMS: usize = 2048;

/// The progress of the import of packed terms.
#[derive(Debug, Default)]
pub(crate) struct PackedImport {
    /// The term that the next step begins with: its field and bytes.
    next: (FieldId, Vec<u8>),
}

impl PackedImport {
    /// Enters the next terms of the merged segments in `part`, with all entries that they have
    /// there. Returns true if those were the last.
    pub(crate) fn enter(
        &mut self,
        memory: &Memory,
        older: &OlderEntries<'_>,
        writer: &mut DictionaryWriter,
        part: Window,
    ) -> Result<bool, DictionaryFull> {
        let mut sources = self.sources(memory, part);
        let mut entries = Vec::new();
        for _ in 0..TERMS {
            let Some((field, bytes)) = sources.peek().and_then(Source::term) else {
                return Ok(true);
            };
            self.next.0 = field;
            self.next.1.clear();
            self.next.1.extend_from_slice(bytes);
            take(&mut sources, &self.next, &mut entries);
            entries.retain(|entry| older.leads_to_list(*entry));
            if let Some(term) = Term::new(self.next.0, &self.next.1) {
                enter(memory, older, writer, part, term, &mut entries)?;
            }
        }
        let Some((field, bytes)) = sources.peek().and_then(Source::term) else { return Ok(true) };
        self.next = (field, bytes.to_vec());
        Ok(false)
    }

    /// Returns the packed terms of each remaining segment, from the next term on.
    fn sources<'m>(&self, memory: &'m Memory, part: Window) -> BinaryHeap<Source<'m>> {
        let (field, bytes) = &self.next;
        let oldest = part.oldest.max(memory.window().oldest);
        let source = |position| {
            let (descriptor, _) = memory.table().get(position)?;
            let terms = packed_terms::of_descriptor(memory.region(), descriptor)?;
            let source = Source(Box::new(terms.cursor(terms.lower_bound(*field, bytes))));
            source.term().is_some().then_some(source)
        };
        (oldest..part.end).filter_map(source).collect()
    }
}

/// Takes the entries of the next term from all sources that contain it.
fn take(
    sources: &mut BinaryHeap<Source<'_>>,
    (field, bytes): &(FieldId, Vec<u8>),
    entries: &mut Vec<Entry>,
) {
    entries.clear();
    while let Some(mut source) = sources.peek_mut() {
        let Some(term) = source.0.term() else { break };
        if (term.0, term.1) != (*field, bytes) {
            break;
        }
        entries.push(term.2);
        source.0.advance();
        if source.term().is_none() {
            PeekMut::pop(source);
        }
    }
}

/// Enters a term with its entries in packed segments and those that links lead to.
fn enter(
    memory: &Memory,
    older: &OlderEntries<'_>,
    writer: &mut DictionaryWriter,
    part: Window,
    term: Term<'_>,
    entries: &mut Vec<Entry>,
) -> Result<(), DictionaryFull> {
    let hash = term.key.hash();
    let mut at = older.find(term, hash);
    older.visit_linked(&mut at, term.key, part, |entry| entries.push(entry));
    entries.sort_unstable_by_key(|entry| entry.segment);
    if entries.is_empty() {
        return Ok(());
    }
    if writer.is_crowded() {
        return Err(DictionaryFull);
    }
    writer.prepend(memory.footing(), term, hash, entries, part.end)
}

/// The remaining terms of a segment. The source whose next term is the lowest is the greatest.
struct Source<'m>(Box<PackedTermCursor<'m>>);

impl Source<'_> {
    fn term(&self) -> Option<(FieldId, &[u8])> {
        self.0.term().map(|(field, bytes, _)| (field, bytes))
    }
}

impl Ord for Source<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.term().cmp(&self.term())
    }
}

impl PartialOrd for Source<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Source<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Source<'_> {}
