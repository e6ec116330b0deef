//! The numbers of a segment's keywords, by their places there.
//!
//! They lie in pages, so that few documents of a segment with many keywords take little memory.

use std::ops::Range;

const PAGE: usize = 64;
/// The number at a place that was not met yet.
const UNKNOWN: u64 = u64::MAX;

#[derive(Default)]
pub(super) struct Places {
    places: Range<u64>,
    /// For each page from the first place on, one more than its index among `numbers`; 0 without one.
    pages: Vec<u32>,
    numbers: Vec<[u64; PAGE]>,
}

impl Places {
    /// Begins a segment, with the places of its keywords. Others have no number, so that a damaged
    /// segment cannot take more memory.
    pub(super) fn begin(&mut self, places: Range<u64>) {
        self.pages.clear();
        self.numbers.clear();
        self.places = places;
    }

    /// Returns the number at a place, which `make` makes if the place was not met yet. `None` if the
    /// place does not exist or `make` returns none.
    #[inline]
    pub(super) fn number(&mut self, place: u64, make: impl FnOnce() -> Option<u64>) -> Option<u64> {
        let index = self.places.contains(&place).then(|| (place - self.places.start) as usize)?;
        let page = self.pages.get(index / PAGE).map_or(0, |page| *page as usize);
        let known = if page > 0 { self.numbers[page - 1][index % PAGE] } else { UNKNOWN };
        if known != UNKNOWN {
            return Some(known);
        }
        let number = make()?;
        self.page_of(index)[index % PAGE] = number;
        Some(number)
    }

    fn page_of(&mut self, index: usize) -> &mut [u64; PAGE] {
        let page = index / PAGE;
        if page >= self.pages.len() {
            self.pages.resize(page + 1, 0);
        }
        if self.pages[page] == 0 {
            self.numbers.push([UNKNOWN; PAGE]);
            self.pages[page] = self.numbers.len() as u32;
        }
        &mut self.numbers[self.pages[page] as usize - 1]
    }

    /// Returns the bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        let pages = self.pages.capacity() * size_of::<u32>();
        pages + self.numbers.capacity() * size_of::<[u64; PAGE]>()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_number_is_made_once_for_each_place(asked in prop::collection::vec(90u64..2100, 0..400)) {
            let (mut places, mut known) = (Places::default(), HashMap::new());
            places.begin(5..6);
            prop_assert_eq!(places.number(5, || Some(7)), Some(7));
            places.begin(100..2000);
            for place in asked {
                let is_place = (100..2000).contains(&place);
                let next = known.len() as u64;
                let mut is_made = false;
                let number = places.number(place, || {
                    is_made = true;
                    Some(next)
                });
                prop_assert_eq!(is_made, is_place && !known.contains_key(&place));
                let expected = is_place.then(|| *known.entry(place).or_insert(next));
                prop_assert_eq!(number, expected);
            }
        }
    }

    #[test]
    fn a_few_keywords_of_many_take_little() {
        let mut places = Places::default();
        places.begin(0..1 << 20);
        assert_eq!(places.number((1 << 20) - 1, || None), None);
        assert_eq!(places.number((1 << 20) - 1, || Some(3)), Some(3));
        assert!(places.bytes() < 1 << 18, "{}", places.bytes());
    }
}
