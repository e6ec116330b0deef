//! The terms of a segment in the order of their fields and bytes, for queries by prefix, pattern or
//! range.
//!
//! | words | |
//! |---|---|
//! | 0 | how many terms there are: those with postings |
//! | 1 .. 4 | places: the term map; once engraved, nodes, term keys and long terms |
//! | 4 .. | the [`prefix`] of each, ascending |
//! | then | the number of each, 32 bits: its ordinal, once engraved its node's; whole words |
//!
//! Most terms differ in their first bytes. So a search reads one array of words. It reads terms
//! only where prefixes are equal: those are in the order of all their bytes.
//!
//! One word of a descriptor leads to the whole order, as to texts: a reader finds either copy
//! whole.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use spirit_mem::{Region, Span};

use crate::ground::term::FieldId;

/// Number of words before the prefixes.
const HEAD_WORDS: u64 = 4;
const WORD: u64 = size_of::<u64>() as u64;
/// Number of bytes of a term in its prefix, at most. A field whose code has two bytes leaves one less.
pub const PREFIX_BYTES: usize = 7;

/// Returns the code of a term's field and its first bytes, zero padded, as a number with their order.
pub fn prefix(field: FieldId, bytes: &[u8]) -> u64 {
    let (code, len) = field.code();
    let mut key = [code[0], code[1], 0, 0, 0, 0, 0, 0];
    for (to, from) in key[len..].iter_mut().zip(bytes) {
        *to = *from;
    }
    u64::from_be_bytes(key)
}

/// The beginning of a term, of which its prefix knows the first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beginning {
    /// The term's field.
    pub field: FieldId,
    /// Its first bytes, zero padded: the whole term if it is shorter and has no zeros at its end.
    bytes: [u8; PREFIX_BYTES],
    known: usize,
}

impl Beginning {
    /// Returns the beginning of a term with this prefix.
    #[inline]
    pub fn of(prefix: u64) -> Beginning {
        let all = prefix.to_be_bytes();
        // No writer makes a code beyond the last field. Damaged data may have one.
        let (field, code) = FieldId::from_code(&all).unwrap_or((FieldId::MAX, 2));
        let mut bytes = [0; PREFIX_BYTES];
        bytes[..all.len() - code].copy_from_slice(&all[code..]);
        Beginning { field, bytes, known: all.len() - code }
    }

    /// Returns the bytes that are known, zero padded.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.known]
    }

    /// Returns the bits of a prefix behind its first `count` known bytes.
    pub(crate) fn behind(&self, count: usize) -> u64 {
        let code = size_of::<u64>() - self.known;
        u64::MAX.checked_shr(8 * (code + count) as u32).unwrap_or(0)
    }
}

/// Returns the bytes of the order of this many terms.
pub fn order_bytes(terms: u64) -> u64 {
    (HEAD_WORDS + terms + terms.div_ceil(2)) * WORD
}

/// The offsets that the numbers of terms lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leads {
    /// The map from ordinals to the DRAM dictionary's numbers.
    TermMap(u64),
    /// The nodes. Until the segment is merged, also the keys of its terms and the bytes of long
    /// ones.
    Nodes([u64; 3]),
}

impl Leads {
    /// Returns the offsets of the order at `at`. An order in DRAM is a flushed segment's, one in
    /// the second tier an engraved one's.
    pub(crate) fn of(region: &Region, at: u64) -> Leads {
        let [_, first, second, third] = head(region, at);
        if at >= region.nvm_bytes() {
            Leads::TermMap(first)
        } else {
            Leads::Nodes([first, second, third])
        }
    }

    fn words(self) -> [u64; 3] {
        match self {
            Leads::TermMap(start) => [start, 0, 0],
            Leads::Nodes(starts) => starts,
        }
    }
}

/// The stored order of a segment's terms.
#[derive(Clone, Copy)]
pub(crate) struct TermOrder<'a> {
    prefixes: &'a [AtomicU64],
    numbers: &'a [AtomicU32],
}

/// The words before the prefixes.
pub(crate) type Head = [u64; HEAD_WORDS as usize];

/// Returns the head of an order of this many terms.
pub(crate) fn head_of(terms: u64, leads: Leads) -> Head {
    let [first, second, third] = leads.words();
    [terms, first, second, third]
}

/// Reads the head of the order at `at`.
pub(crate) fn head(region: &Region, at: u64) -> Head {
    let words = region.view(Span::<AtomicU64>::new(at, HEAD_WORDS));
    std::array::from_fn(|index| words[index].load(Relaxed))
}

/// Returns the places of prefixes and numbers of an order of this many terms at `at`.
pub(crate) fn places(at: u64, terms: u64) -> (Span<AtomicU64>, Span<AtomicU32>) {
    let prefixes = Span::new(at + HEAD_WORDS * WORD, terms);
    (prefixes, Span::new(prefixes.end(), terms))
}

impl<'a> TermOrder<'a> {
    /// Returns the order at `at`.
    pub(crate) fn at(region: &'a Region, at: u64) -> TermOrder<'a> {
        let [terms, ..] = head(region, at);
        TermOrder::of(region, at, terms)
    }

    /// Returns the order of this many terms at `at`, for a caller that knows the number from data
    /// that does not change.
    pub(crate) fn of(region: &'a Region, at: u64, terms: u64) -> TermOrder<'a> {
        let (prefixes, numbers) = places(at, terms);
        TermOrder { prefixes: region.view(prefixes), numbers: region.view(numbers) }
    }

    /// Returns the number of terms.
    pub(crate) fn len(&self) -> usize {
        self.prefixes.len()
    }

    /// Returns the prefix of the term at `index`.
    pub(crate) fn prefix(&self, index: usize) -> u64 {
        self.prefixes[index].load(Relaxed)
    }

    /// Returns the first term from `index` on whose prefix is above `prefix`, or
    /// [`len`](Self::len). The search is exponential, since the term is often near.
    pub(crate) fn behind(&self, index: usize, prefix: u64) -> usize {
        let (mut low, mut step) = (index, 1);
        while let Some(word) = self.prefixes.get(low + step - 1)
            && word.load(Relaxed) <= prefix
        {
            low += step;
            step *= 2;
        }
        let high = self.len().min(low + step - 1);
        low + self.prefixes[low..high].partition_point(|word| word.load(Relaxed) <= prefix)
    }

    /// Returns the prefixes from `index` on that have the bits `begin` where `mask` has ones, its
    /// highest bits. All before them have lower ones.
    pub(crate) fn prefixes(&self, index: usize, mask: u64, begin: u64) -> &'a [AtomicU64] {
        let rest = self.prefixes.get(index..).unwrap_or(&[]);
        &rest[..rest.partition_point(|word| word.load(Relaxed) & mask <= begin)]
    }

    /// Returns the number of the term at `index`.
    pub(crate) fn number(&self, index: usize) -> u32 {
        self.numbers[index].load(Relaxed)
    }

    /// Returns the lower bound of a term with this prefix. `compare` compares the term of a number
    /// with it.
    pub(crate) fn search(&self, prefix: u64, mut compare: impl FnMut(u32) -> Ordering) -> usize {
        let Range { mut start, mut end } = self.alike(prefix);
        while start < end {
            let middle = start + (end - start) / 2;
            if compare(self.number(middle)).is_lt() { start = middle + 1 } else { end = middle }
        }
        start
    }

    /// Returns the terms of a field.
    pub(crate) fn of_field(&self, field: FieldId) -> Range<usize> {
        let field_of = |word: &AtomicU64| Beginning::of(word.load(Relaxed)).field;
        let start = self.prefixes.partition_point(|word| field_of(word) < field);
        let count = self.prefixes[start..].partition_point(|word| field_of(word) <= field);
        start..start + count
    }

    /// Returns the terms with a prefix.
    fn alike(&self, prefix: u64) -> Range<usize> {
        let start = self.prefixes.partition_point(|word| word.load(Relaxed) < prefix);
        let count = self.prefixes[start..].partition_point(|word| word.load(Relaxed) <= prefix);
        start..start + count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn field() -> impl Strategy<Value = u16> {
        prop_oneof![0u16..3, 238u16..243, (FieldId::MAX.0 - 1)..=FieldId::MAX.0]
    }

    proptest! {
        /// Prefixes are in the order of fields and bytes, or equal.
        #[test]
        fn prefixes_are_in_the_order_of_terms(
            a in (field(), prop::collection::vec(0u8..4, 0..12)),
            b in (field(), prop::collection::vec(0u8..4, 0..12)),
        ) {
            let of = |(field, bytes): &(u16, Vec<u8>)| prefix(FieldId(*field), bytes);
            let order = of(&a).cmp(&of(&b));
            prop_assert!(order == a.cmp(&b) || order == Ordering::Equal);
            let begins = Beginning::of(of(&a));
            prop_assert_eq!(begins.field, FieldId(a.0));
            let known = a.1.len().min(begins.bytes().len());
            prop_assert_eq!(&begins.bytes()[..known], &a.1[..known]);
            prop_assert!(begins.bytes()[known..].iter().all(|byte| *byte == 0));
            // What begins alike has the same prefix apart from the bits behind.
            for count in 0..=begins.bytes().len() {
                let other = [&begins.bytes()[..count], &b.1].concat();
                let apart = of(&a) ^ of(&(a.0, other));
                prop_assert_eq!(apart & !begins.behind(count), 0);
            }
        }

        #[test]
        fn terms_are_passed_up_to_the_first_above(
            mut words in prop::collection::vec(0u64..40, 0..60),
            prefix in 0u64..41,
            from in 0usize..60,
        ) {
            words.sort_unstable();
            let from = from.min(words.len());
            let expected = from + words[from..].partition_point(|word| *word <= prefix);
            let prefixes: Vec<AtomicU64> = words.into_iter().map(AtomicU64::new).collect();
            let order = TermOrder { prefixes: &prefixes, numbers: &[] };
            prop_assert_eq!(order.behind(from, prefix), expected);
        }
    }

    #[test]
    fn an_order_takes_whole_words() {
        assert_eq!([0, 1, 2, 3].map(order_bytes), [32, 48, 56, 72]);
    }
}
