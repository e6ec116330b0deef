//! The terms of engraved segments in the order in which a [merge](crate::merge) goes through them,
//! each with its lists in all of them. For what merges otherwise, out of place, and is compared.

use std::ops::Range;

use crate::form::engraved_terms::EngravedTerms;
use crate::form::shape::Lists;
use crate::ground::corrupt::Corrupt;
use crate::ground::damage;
use crate::ground::ids::{Position, State};
use crate::ground::term::Term;
use crate::memory::Memory;
use crate::merge::gather::{Gather, RUN_MAX};
use crate::terms::entries::Entry;

/// Prefetch distance in terms. That of a merge.
const AHEAD: usize = 48;

/// The terms of consecutive engraved segments, equal terms together.
pub struct GatheredTerms<'a> {
    memory: &'a Memory,
    terms: Vec<EngravedTerms<'a>>,
    /// Where the lists of each segment may be.
    lists: Vec<Lists>,
    gather: Gather,
    /// The lists of the current term.
    entries: Vec<Entry>,
    /// The bytes of the current term, if it is a long one.
    long: Vec<u8>,
}

impl<'a> GatheredTerms<'a> {
    /// Returns the terms of these segments. They are engraved, their lists are raw, and none is
    /// merged yet, since a merge gives up the tables that say their order. They are at most
    /// [`RUN_MAX`]. `None` otherwise.
    pub fn of(memory: &'a Memory, segments: Range<Position>) -> Option<GatheredTerms<'a>> {
        let (region, nvm) = (memory.region(), memory.nvm()?);
        if segments.len() > RUN_MAX || segments.start < memory.merged() {
            return None;
        }
        let (mut terms, mut lists) = (Vec::new(), Vec::new());
        for position in segments {
            let (descriptor, state) = memory.table().get(position)?;
            let (_, sections) = nvm.sections(region, position).ok()?;
            if state < State::Engraved || sections.are_packed() {
                return None;
            }
            terms.push(EngravedTerms::of(region, &sections));
            lists.push(Lists::of(descriptor));
        }
        let mut gather = Gather::default();
        gather.begin(terms.len());
        Some(GatheredTerms { memory, terms, lists, gather, entries: Vec::new(), long: Vec::new() })
    }

    /// Returns the next term and its lists, those of the oldest segment first. A list that is not
    /// what was stored is left out, and [noted](damage).
    pub fn next_term(&mut self) -> Option<(Term<'_>, &[Entry])> {
        if self.gather.left().is_empty() {
            if !self.gather.more(&self.terms) {
                return None;
            }
            (0..AHEAD).for_each(|distance| self.look_ahead(distance));
        }
        let equal = self.gather.equal(&self.terms);
        let (first, count) = (*equal.first()?, equal.len());
        let terms = &self.terms[first.segment()];
        let found = terms.key(first.index());
        terms.long_bytes(found, &mut self.long);
        self.entries.clear();
        for at in equal {
            let node = self.terms[at.segment()].nodes.get(at.index());
            if node.is_of(found.key) && self.lists[at.segment()].hold(node.entry()) {
                self.entries.push(node.entry());
            } else {
                let place = self.terms[at.segment()].nodes.place(at.index());
                let why = "a node's check is wrong, or its list leaves the segment";
                damage::note(self.memory.region(), Corrupt { what: "node", at: place, why });
            }
        }
        self.gather.pass(count);
        (0..count).for_each(|back| self.look_ahead(AHEAD - 1 - back.min(AHEAD - 1)));
        Some((Term { key: found.key, bytes: &self.long }, &self.entries))
    }

    /// Prefetches the key and the node of the term at this distance.
    fn look_ahead(&self, distance: usize) {
        if let Some(term) = self.gather.ahead(distance) {
            self.terms[term.segment()].prefetch(term.index());
        }
    }
}
