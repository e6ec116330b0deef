//! A term's entries in segments that the DRAM dictionary does not cover, read in the second tier.
//! Merged raw segments are read along the term's nodes, and others in their own tables. Packed
//! terms are never linked: each segment is searched.
//!
//! A segment costs one cache miss, like the paper's chain (§4.7), or a bisection. So a query reads
//! part by part from the newest, and stops when it has enough.

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

/// A way to find a term's entries in segments that the DRAM dictionary does not cover. The only one
/// here is [`OlderEntries`]; measurements compare others with it.
pub trait FindOlder {
    /// Finds the beginning of a term's entries: the newest.
    fn find(&self, term: Term<'_>, hash: u64) -> OlderAt;

    /// Passes the term's entries of the segments in `part` to `take`, newest first. Parts are asked
    /// for from the newest on.
    fn visit(
        &self,
        at: &mut OlderAt,
        term: Term<'_>,
        hash: u64,
        part: Window,
        take: impl FnMut(Entry),
    );

    /// Like [`visit`](Self::visit), but writes the entries to the end of `out`, oldest first. `out`
    /// has a place for each segment. Returns the number of entries.
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

/// The state by which one query finds older entries. The caller is pinned, or drops no segment
/// meanwhile.
#[derive(Clone, Copy)]
pub struct OlderEntries<'a> {
    memory: &'a Memory,
    nvm: &'a Nvm,
    /// The end of the segments whose entries are found by nodes, apart from packed ones. It is
    /// loaded before any of them is read. A segment that is merged meanwhile keeps its own table
    /// while we are pinned.
    merged: Position,
    /// A range that contains all packed segments.
    packed: Window,
    /// The end of the oldest segments, all of which are found by nodes.
    linked_end: Position,
}

/// The place where a term's older entries continue.
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
    /// Returns the view of `memory`, if it has a second tier.
    pub fn new(memory: &'a Memory) -> Option<OlderEntries<'a>> {
        let (merged, packed) = (memory.merged(), memory.packed());
        let linked_end =
            if packed.oldest < packed.end { merged.min(packed.oldest) } else { merged };
        memory.nvm().map(|nvm| OlderEntries { memory, nvm, merged, packed, linked_end })
    }

    fn dictionary(&self) -> Merged<'a> {
        Merged::new(self.memory.region(), self.nvm.layout())
    }

    /// True if an entry leads to a list of its segment. Queries rely on this and do not check
    /// again.
    pub(crate) fn leads_to_list(&self, entry: Entry) -> bool {
        let found = self.memory.table().get(entry.segment.position());
        found.is_some_and(|(segment, _)| {
            segment.id() == entry.segment.0 as u64 && Lists::of(segment).hold(entry)
        })
    }

    /// Passes the entries that a term's links lead to in the merged segments of `part` to `take`,
    /// newest first.
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

    /// Passes a term's entries in those segments of `part` that no link leads to to `take`, newest
    /// first.
    fn visit_own(&self, term: Term<'_>, hash: u64, part: Window, mut take: impl FnMut(Entry)) {
        for position in (part.oldest.max(self.linked_end)..part.end).rev() {
            let entry = self.packed_entry(term, position);
            let entry = entry.or_else(|| self.engraved_entry(term, hash, position));
            entry.filter(|entry| self.leads_to_list(*entry)).into_iter().for_each(&mut take);
        }
    }

    /// Returns a term's entry in the packed terms of a segment, if it has any.
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

    /// Returns a term's entry in the own table of a segment, if that is not merged.
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
