//! The nodes of an engraved segment, with their terms. The terms' bytes are in the segment's own
//! table until it is merged, then in the merged dictionary.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU8, AtomicU64};

use spirit_mem::{Region, Span, prefetch};

use crate::form::engraved_terms::TERM_KEY_BYTES;
use crate::form::merged::Merged;
use crate::form::node::{NODE_BYTES, Node};
use crate::ground::corrupt::Corrupt;
use crate::ground::damage;
use crate::ground::term::{FieldId, TermBuffer, TermKey};

/// The nodes of a segment.
#[derive(Clone, Copy)]
pub(crate) struct NamedNodes<'a> {
    region: &'a Region,
    count: u64,
    /// Offsets of the nodes, the term keys and the bytes of long terms.
    starts: [u64; 3],
    /// The merged dictionary, if the segment is merged.
    merged: Option<Merged<'a>>,
}

impl<'a> NamedNodes<'a> {
    /// Makes the view of `count` nodes. `starts` has the offsets of nodes, term keys and the bytes
    /// of long terms.
    pub(crate) fn new(
        region: &'a Region,
        count: u64,
        starts: [u64; 3],
        merged: Option<Merged<'a>>,
    ) -> NamedNodes<'a> {
        NamedNodes { region, count, starts, merged }
    }

    /// Returns a node by its number, if there is one.
    pub(crate) fn node(&self, number: u32) -> Option<Node> {
        let is_there = (number as u64) < self.count;
        is_there.then(|| Node::read(self.region, self.starts[0] + number as u64 * NODE_BYTES))?
    }

    /// Prefetches a node, and its term in the segment's own table.
    #[inline(always)]
    pub(crate) fn prefetch(&self, number: u32) {
        let [nodes, keys, _] = self.starts;
        self.prefetch_at(nodes + u64::from(number) * NODE_BYTES);
        if self.merged.is_none() {
            self.prefetch_at(keys + u64::from(number) * TERM_KEY_BYTES);
        }
    }

    /// Prefetches the record of a node's term in the merged dictionary. The node should be in the
    /// cache.
    #[inline(always)]
    pub(crate) fn prefetch_term(&self, number: u32) {
        if let (Some(merged), Some(node)) = (self.merged, self.node(number)) {
            merged.prefetch_record(node.record);
        }
    }

    #[inline(always)]
    fn prefetch_at(&self, at: u64) {
        let word = self.region.peek(Span::<AtomicU64>::new(at, 1));
        word.into_iter().flatten().for_each(prefetch);
    }

    /// Writes the bytes of a node's term. Returns its field and the number of bytes. Returns
    /// `None`, and notes the damage, if they are not what was stored.
    pub(crate) fn write_term(
        &self,
        number: u32,
        node: Node,
        out: &mut TermBuffer,
    ) -> Option<(FieldId, usize)> {
        let written = self.write_stored(number, node, out);
        if written.is_none() {
            let at = self.starts[0] + number as u64 * NODE_BYTES;
            let why = "its term differs from what was stored";
            damage::note(self.region, Corrupt { what: "node", at, why });
        }
        written
    }

    fn write_stored(
        &self,
        number: u32,
        node: Node,
        out: &mut TermBuffer,
    ) -> Option<(FieldId, usize)> {
        let (key, long) = match self.merged {
            Some(merged) => merged.term(node.record)?,
            None => self.own_term(number)?,
        };
        let long = self.region.get(long).filter(|_| node.is_of(key))?;
        Some(key.write(long.iter().map(|byte| byte.load(Relaxed)), out))
    }

    /// Returns the key of a term in the segment's own table, and the place of its bytes if it is a
    /// long one.
    fn own_term(&self, number: u32) -> Option<(TermKey, Span<AtomicU8>)> {
        let [_, keys, longs] = self.starts;
        let at = keys + number as u64 * TERM_KEY_BYTES;
        let words = self.region.get(Span::<AtomicU64>::new(at, TERM_KEY_BYTES / 8))?;
        let [low, high, long] = words.first_chunk()?.each_ref().map(|word| word.load(Relaxed));
        let key = TermKey { low, high };
        let len = if key.is_long() { key.len() as u64 } else { 0 };
        Some((key, Span::new(longs.checked_add(long)?, len)))
    }
}
