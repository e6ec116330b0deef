//! The terms of a segment in order, from any term on, with their lists in it.

use std::sync::atomic::AtomicU64;

use crate::form::packed_terms;
use crate::form::shape::Lists;
use crate::ground::term::{FieldId, TERM_BYTES_MAX, TermBuffer};
use crate::memory::descriptor::packed_terms_at;
use crate::snapshot::Segment;
use crate::snapshot::listed_terms::ListedTerms;
use crate::snapshot::ordered_term::OrderedTerm;
use crate::terms::entries::Entry;
use crate::terms::packed_terms::{BLOCK, PackedTermCursor, PackedTerms};
use crate::terms::term_order::{Beginning, prefix};

/// The number of terms of a block of packed terms.
pub const TERMS_OF_BLOCK: u64 = BLOCK as u64;

/// A cursor over the terms of a segment, in the order of fields and bytes. It is valid while the
/// reader stays pinned.
#[derive(Clone, Copy)]
pub struct TermCursor<'a>(Form<'a>);

/// The form of a segment's terms.
#[derive(Clone, Copy)]
#[expect(clippy::large_enum_variant, reason = "queries do not allocate")]
enum Form<'a> {
    Listed(ListedTerms<'a>),
    /// `None` if the terms are not what was stored.
    Packed(Option<PackedTermCursor<'a>>, Lists),
}

impl<'a> Segment<'a> {
    /// Returns a cursor over its terms with postings. It begins at the term with these bytes, or
    /// where that would be. For segments within the window only. The terms of a fresh one are in
    /// [its extent](Segment::fresh_ordinals), in no order.
    ///
    /// A segment that is engraved, committed or merged meanwhile has equal terms in either copy.
    /// Each copy stays until the reader has left. So do the DRAM dictionary's entries and the
    /// segment's own table.
    pub fn terms_from(&self, field: FieldId, bytes: &[u8]) -> TermCursor<'a> {
        // Load the one word that leads to a copy only once.
        let at = self.descriptor.term_order();
        let Some(packed) = packed_terms_at(at) else {
            return TermCursor(Form::Listed(ListedTerms::from(self, at, field, bytes)));
        };
        let terms = PackedTerms::at(self.memory.region(), packed, self.id());
        let cursor = terms.map(|terms| terms.cursor(terms.lower_bound(field, bytes)));
        TermCursor(Form::Packed(cursor, Lists::of(self.descriptor)))
    }

    /// Returns the ordinal of a term in the segment, if it is there. Document vectors contain this
    /// ordinal. Returns `None` if the segment is packed by now. For segments within the window
    /// only.
    pub fn ordinal_of(&self, field: FieldId, bytes: &[u8]) -> Option<u32> {
        let mut found = [0; TERM_BYTES_MAX];
        let Form::Listed(mut terms) = self.terms_from(field, bytes).0 else { return None };
        let term = terms.next_term(&mut found)?;
        term.ordinal.filter(|_| term.field == field && found[..term.len] == *bytes)
    }

    /// Returns the entry of a term that leads to its positions, if the segment is packed. For an
    /// entry that was found before readers were led to the packed lists. For segments within the
    /// window only.
    pub fn packed_entry(&self, field: FieldId, bytes: &[u8]) -> Option<Entry> {
        let terms = packed_terms::of_descriptor(self.memory.region(), self.descriptor)?;
        let entry = terms.find(field, bytes)?;
        let lists = Lists::of(self.descriptor);
        Some(entry).filter(|entry| lists.hold(*entry) && entry.has_positions())
    }

    /// True if its terms lead to packed lists by now. For segments within the window only.
    #[inline]
    pub fn is_packed(&self) -> bool {
        packed_terms_at(self.descriptor.term_order()).is_some()
    }
}

impl<'a> TermCursor<'a> {
    /// Returns the field of the next term and its first bytes. Returns `None` at the end.
    #[inline]
    pub fn begins(&self) -> Option<Beginning> {
        match &self.0 {
            Form::Listed(terms) => terms.begins(),
            Form::Packed(terms, _) => {
                let (field, bytes, _) = terms.as_ref()?.term()?;
                Some(Beginning::of(prefix(field, bytes)))
            }
        }
    }

    /// Skips all terms that begin with the `count` first bytes of the next one. `count` is limited
    /// to the [known bytes](Self::begins).
    pub fn pass(&mut self, count: usize) {
        let Some(begins) = self.begins() else { return };
        let behind = begins.behind(count);
        match &mut self.0 {
            Form::Listed(terms) => terms.pass(behind),
            Form::Packed(Some(terms), _) => {
                let next = terms.term().map(|(field, bytes, _)| prefix(field, bytes));
                next.into_iter().for_each(|next| terms.pass(next | behind));
            }
            Form::Packed(None, _) => {}
        }
    }

    /// Returns the [prefixes](prefix) of the terms from the next one on that have the bits `begin`
    /// where `mask` has ones. These are the highest bits. Returns `None` if the terms are packed:
    /// then prefixes do not lie in one array.
    pub fn prefixes(&self, mask: u64, begin: u64) -> Option<&'a [AtomicU64]> {
        match &self.0 {
            Form::Listed(terms) => Some(terms.prefixes(mask, begin)),
            Form::Packed(..) => None,
        }
    }

    /// Returns the [prefixes](prefix) of the first terms of the blocks that packed terms are divided into,
    /// from the next term's block on. All blocks but the last have [`TERMS_OF_BLOCK`] terms, and begin
    /// at multiples of it. Returns `None` unless the terms are packed.
    pub fn blocks(&self) -> Option<&'a [AtomicU64]> {
        match &self.0 {
            Form::Listed(_) | Form::Packed(None, _) => None,
            Form::Packed(Some(terms), _) => Some(terms.blocks()),
        }
    }

    /// Prefetches what leads to the bytes of the terms at some places: first their nodes, then their
    /// records. Terms of packed lists need no prefetch: they lie one after the other.
    pub fn prefetch(&self, places: impl Iterator<Item = u64> + Clone) {
        if let Form::Listed(terms) = &self.0 {
            places.clone().for_each(|place| terms.prefetch_number(place as usize));
            places.for_each(|place| terms.prefetch_term(place as usize));
        }
    }

    /// Returns the place of the next term in the order. A [column](crate::column::Column) of
    /// keywords has these places as values.
    pub fn place(&self) -> u64 {
        match &self.0 {
            Form::Listed(terms) => terms.place() as u64,
            Form::Packed(terms, _) => terms.as_ref().map_or(0, |terms| terms.place() as u64),
        }
    }

    /// Goes to the term at a place.
    pub fn go_to(&mut self, place: u64) {
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        match &mut self.0 {
            Form::Listed(terms) => terms.go_to(place),
            Form::Packed(Some(terms), _) => terms.go_to(place),
            Form::Packed(None, _) => {}
        }
    }

    /// Writes the bytes of the next term to the front of `out`, and returns the term if they are
    /// wanted. The list of another term is not looked up. Either way, goes on to the term behind.
    pub fn next_if(
        &mut self,
        out: &mut TermBuffer,
        is_wanted: impl FnOnce(&[u8]) -> bool,
    ) -> Option<OrderedTerm> {
        match &mut self.0 {
            Form::Listed(terms) => terms.next_if(out, is_wanted),
            Form::Packed(..) => {
                let term = self.next_term(out)?;
                is_wanted(&out[..term.len]).then_some(term)
            }
        }
    }

    /// Returns the next term and writes its bytes to the front of `out`. Returns `None` at the end.
    /// Skips terms that are not what was stored.
    pub fn next_term(&mut self, out: &mut TermBuffer) -> Option<OrderedTerm> {
        match &mut self.0 {
            Form::Listed(terms) => terms.next_term(out),
            Form::Packed(terms, lists) => next_packed(terms.as_mut()?, lists, out),
        }
    }
}

fn next_packed(
    terms: &mut PackedTermCursor<'_>,
    lists: &Lists,
    out: &mut TermBuffer,
) -> Option<OrderedTerm> {
    loop {
        let (field, bytes, entry) = terms.term()?;
        let len = bytes.len();
        out[..len].copy_from_slice(bytes);
        terms.advance();
        // Check entries from the second tier here: queries rely on them without another check.
        if lists.hold(entry) {
            return Some(OrderedTerm { field, len, entry, ordinal: None });
        }
    }
}
