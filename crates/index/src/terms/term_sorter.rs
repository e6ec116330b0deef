//! Sorts the terms of a segment into [their order](crate::terms::term_order) when it is flushed or
//! rewritten. Later segments reuse its memory.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_mem::{Region, Span};

use crate::ground::term::{FieldId, TERM_BYTES_MAX, TermBuffer};
use crate::terms::term_order::{Leads, head_of, places, prefix};

/// A sorter of terms.
#[derive(Debug, Default)]
pub struct TermSorter {
    /// Prefix and number of each term.
    terms: Vec<(u64, u32)>,
}

impl TermSorter {
    /// Writes the order of the terms with these numbers at `at`, where there is room for it.
    /// `write` writes a term's bytes, and returns its field and the number of bytes.
    pub(crate) fn write_order(
        &mut self,
        region: &Region,
        at: u64,
        leads: Leads,
        numbers: impl Iterator<Item = u32>,
        write: impl Fn(u32, &mut TermBuffer) -> (FieldId, usize),
    ) {
        self.sort(numbers, write);
        let terms = self.terms.len() as u64;
        let head = head_of(terms, leads);
        let words = region.view(Span::<AtomicU64>::new(at, head.len() as u64));
        words.iter().zip(head).for_each(|(word, value)| word.store(value, Relaxed));
        let (prefixes, numbers) = places(at, terms);
        let places = region.view(prefixes).iter().zip(region.view(numbers));
        for ((prefix, number), (prefix_at, number_at)) in self.terms.iter().zip(places) {
            prefix_at.store(*prefix, Relaxed);
            number_at.store(*number, Relaxed);
        }
    }

    /// Returns the place of each of `numbers` numbers in the order written last. The place of a
    /// number without a term is arbitrary.
    pub(crate) fn places(&self, numbers: usize) -> Vec<u32> {
        let mut places = vec![0; numbers];
        for (place, (_, number)) in (0..).zip(&self.terms) {
            places[*number as usize] = place;
        }
        places
    }

    fn sort(
        &mut self,
        numbers: impl Iterator<Item = u32>,
        write: impl Fn(u32, &mut TermBuffer) -> (FieldId, usize),
    ) {
        let [mut a, mut b] = [[0; TERM_BYTES_MAX]; 2];
        self.terms.clear();
        self.terms.extend(numbers.map(|number| {
            let (field, len) = write(number, &mut a);
            (prefix(field, &a[..len]), number)
        }));
        self.terms.sort_unstable();
        // Few terms have equal prefixes: only these are compared again.
        for alike in self.terms.chunk_by_mut(|(a, _), (b, _)| a == b).filter(|same| same.len() > 1)
        {
            alike.sort_unstable_by(|(_, first), (_, second)| {
                let (_, first) = write(*first, &mut a);
                let (_, second) = write(*second, &mut b);
                a[..first].cmp(&b[..second])
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use spirit_mem::Residency;

    use crate::terms::term_order::{TermOrder, order_bytes};

    proptest! {
        /// Terms come out as a plain sort orders them, and any bytes are found at their lower
        /// bound.
        #[test]
        fn an_order_is_that_of_whole_terms(
            terms in prop::collection::btree_set(
                (prop::sample::select(vec![0u16, 1, 239, 240, 241]), prop::collection::vec(0u8..3, 1..20)), 0..200),
            wanted in (prop::sample::select(vec![0u16, 1, 2, 239, 240, 4000]), prop::collection::vec(0u8..3, 0..20)),
            seed in 0usize..1000,
        ) {
            let sorted: Vec<_> = terms.iter().cloned().collect();
            // Numbers are no order.
            let mut numbered: Vec<_> = sorted.clone();
            numbered.rotate_left(seed % sorted.len().max(1));
            let write = |number: u32, out: &mut TermBuffer| {
                let (field, bytes) = &numbered[number as usize];
                out[..bytes.len()].copy_from_slice(bytes);
                (FieldId(*field), bytes.len())
            };
            let region = Region::reserve(1 << 16, Residency::OnTouch).unwrap();
            prop_assert!(64 + order_bytes(numbered.len() as u64) <= 1 << 16);
            let numbers = 0..numbered.len() as u32;
            let mut sorter = TermSorter::default();
            sorter.write_order(&region, 64, Leads::TermMap(7), numbers, write);
            let order = TermOrder::at(&region, 64);
            prop_assert_eq!(Leads::of(&region, 64), Leads::TermMap(7));
            let found: Vec<_> =
                (0..order.len()).map(|i| numbered[order.number(i) as usize].clone()).collect();
            prop_assert_eq!(&found, &sorted);
            let places = sorter.places(numbered.len());
            prop_assert!((0..order.len()).all(|i| places[order.number(i) as usize] == i as u32));
            let field = order.of_field(FieldId(wanted.0));
            prop_assert!(sorted.iter().enumerate().all(|(i, t)| field.contains(&i) == (t.0 == wanted.0)));
            let key = prefix(FieldId(wanted.0), &wanted.1);
            let at = order.search(key, |number| numbered[number as usize].cmp(&wanted));
            prop_assert_eq!(at, sorted.partition_point(|term| *term < wanted));
        }
    }
}
