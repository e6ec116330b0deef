//! A term's entries in segments that the DRAM dictionary does not cover, read where they lie: along the term's nodes, before a segment
//! is merged in its own table, and in packed terms, which are never linked. One cache miss a segment, as the paper's chain costs (§4.9),
//! or a bisection; so a query takes them part by part, from the newest, and stops when it has enough.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use crate::form::engraved_terms::EngravedTerms;
use crate::form::merged::Merged;
use crate::form::node::Link;
use crate::form::packed_terms;
use crate::form::shape::Lists;
use crate::ground::ids::Position;
use crate::ground::term::{Term, TermKey};
use crate::memory::Memory;
use crate::memory::descriptor::Window;
use crate::terms::entries::Entry;
use crate::tier::Nvm;

/// A way to find a term's entries in the segments that the DRAM dictionary does not cover. There is one, [`OlderEntries`];
/// measurements bring others to compare it with.
pub trait FindOlder {
    /// Where a term's entries begin: with the newest.
    fn find(&self, term: Term<'_>, hash: u64) -> OlderAt;

    /// Hands over the term's entries of the segments in `part`, newest first. Parts are asked for from the newest on.
    fn visit(
        &self,
        at: &mut OlderAt,
        term: Term<'_>,
        hash: u64,
        part: Window,
        take: impl FnMut(Entry),
    );

    /// Writes the same entries, oldest first, to the end of `out`, which has a place for each segment; says how many.
    fn read(
        &self,
        at: &mut OlderAt,
        term: Term<'_>,
        hash: u64,
        part: Window,
        out: &[EntryWords],
    ) -> usize {
        let mut free = out.len();
        self.visit(at, term, hash, part, |entry| {
            if let Some(next) = free.checked_sub(1) {
                let words = [entry.segment.0, entry.postings_word(), entry.payload, 0];
                out[next].iter().zip(words).for_each(|(word, value)| word.store(value, Relaxed));
                free = next;
            }
        });
        let mut total = 0u32;
        for entry in &out[free..] {
            total = total.wrapping_add(Entry::split(entry[1].load(Relaxed)).0);
            entry[3].store(total, Relaxed);
        }
        out.len() - free
    }
}

/// What one query finds older entries by. The caller is pinned, or drops no segment meanwhile.
#[derive(Clone, Copy)]
pub struct OlderEntries<'a> {
    memory: &'a Memory,
    nvm: &'a Nvm,
    /// Segments before this position are found by nodes, but for packed ones: as of before any of them was read. One that is merged
    /// meanwhile keeps its own table for as long as we are pinned.
    merged: Position,
    /// Packed ones are among these.
    packed: Window,
    /// All before this position are found by nodes.
    linked_end: Position,
}

/// Where a term's older entries go on.
#[derive(Clone, Copy, Debug, Default)]
pub struct OlderAt(Link);

impl From<Link> for OlderAt {
    fn from(head: Link) -> OlderAt {
        OlderAt(head)
    }
}

/// A place for an entry's words.
pub type EntryWords = [AtomicU32; 4];

impl<'a> OlderEntries<'a> {
    /// Those of `memory`, if it has a second tier.
    pub fn new(memory: &'a Memory) -> Option<OlderEntries<'a>> {
        let (merged, packed) = (memory.merged(), memory.packed());
        let linked_end =
            if packed.oldest < packed.end { merged.min(packed.oldest) } else { merged };
        memory.nvm().map(|nvm| OlderEntries { memory, nvm, merged, packed, linked_end })
    }

    fn dictionary(&self) -> Merged<'a> {
        Merged::new(self.memory.region(), self.nvm.layout())
    }

    /// Whether an entry leads to a list of its segment: queries go by it without looking again.
    pub(crate) fn leads_to_list(&self, entry: Entry) -> bool {
        let found = self.memory.table().get(entry.segment.position());
        found.is_some_and(|(segment, _)| {
            segment.id() == entry.segment.0 as u64 && Lists::of(segment).hold(entry)
        })
    }

    /// Hands over the entries to which a term's links lead in the merged segments of `part`, newest first.
    pub(crate) fn visit_linked(
        &self,
        at: &mut OlderAt,
        key: TermKey,
        part: Window,
        mut take: impl FnMut(Entry),
    ) {
        let end = part.end.min(self.merged);
        while !at.0.is_none() && at.0.position() >= part.oldest {
            let Some((node, older)) = self.dictionary().follow(at.0, key) else {
                at.0 = Link(0);
                return;
            };
            if at.0.position() < end && self.leads_to_list(node.entry()) {
                take(node.entry());
            }
            at.0 = older;
        }
    }

    /// Hands over a term's entries in those segments of `part` that no link leads to, newest first.
    fn visit_own(&self, term: Term<'_>, hash: u64, part: Window, mut take: impl FnMut(Entry)) {
        for position in (part.oldest.max(self.linked_end)..part.end).rev() {
            let entry = self.packed_entry(term, position);
            let entry = entry.or_else(|| self.engraved_entry(term, hash, position));
            entry.filter(|entry| self.leads_to_list(*entry)).into_iter().for_each(&mut take);
        }
    }

    /// A term's entry in the packed terms of a segment, if that has such.
    fn packed_entry(&self, term: Term<'_>, position: Position) -> Option<Entry> {
        if !(self.packed.oldest..self.packed.end).contains(&position) {
            return None;
        }
        let (descriptor, _) = self.memory.table().get(position)?;
        let terms = packed_terms::of_descriptor(self.memory.region(), descriptor)?;
        let (inline, len) = term.key.inline_bytes();
        let bytes = if term.key.is_long() { term.bytes } else { &inline[..len] };
        terms.find(term.key.field(), bytes)
    }

    /// A term's entry in the own table of a segment, if that is not merged.
    fn engraved_entry(&self, term: Term<'_>, hash: u64, position: Position) -> Option<Entry> {
        if position < self.merged {
            return None;
        }
        let region = self.memory.region();
        let (_, sections) = self.nvm.sections(region, position).ok()?;
        let terms = EngravedTerms::of(region, &sections);
        let node = terms.find(term, hash).map(|index| terms.nodes.get(index))?;
        node.is_of(term.key).then(|| node.entry())
    }
}

impl FindOlder for OlderEntries<'_> {
    fn find(&self, term: Term<'_>, hash: u64) -> OlderAt {
        let dictionary = self.dictionary();
        OlderAt(dictionary.find(term, hash).map_or(Link(0), |line| dictionary.head(line)))
    }

    fn visit(
        &self,
        at: &mut OlderAt,
        term: Term<'_>,
        hash: u64,
        part: Window,
        mut take: impl FnMut(Entry),
    ) {
        let mut end = part.end;
        self.visit_linked(at, term.key, part, |entry| {
            let position = entry.segment.position();
            self.visit_own(term, hash, Window { oldest: position + 1, end }, &mut take);
            end = position;
            take(entry);
        });
        self.visit_own(term, hash, Window { end, ..part }, take);
    }
}
