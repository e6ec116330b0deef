//! Pages of a region's second tier that were compared with what was stored there, in this process.
//!
//! A [`Prover`] that knows what was stored checks a page when it is first read. A bit for each page
//! says that it was right. Bits are only ever set. So reading a page again costs a load of its bit.

use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crate::region::Region;
use crate::zeroed::Zeroed;

/// The bytes of a page.
pub const PAGE_BYTES: u64 = 4096;

/// A checker, which compares pages with what was stored in them.
pub trait Prover: Send + Sync {
    /// Checks pages, given by their numbers, and [marks](Proved::mark) those that are right. It
    /// notes errors of the others in its own way: their reader continues.
    fn prove(&self, region: &Region, pages: Range<u64>, proved: &Proved);
}

/// The pages of a range that are known to be right.
pub struct Proved {
    /// The pages that are checked.
    pages: Range<u64>,
    /// A bit for each page, from the first page on.
    bits: Zeroed<AtomicU64>,
    prover: Box<dyn Prover>,
}

impl Proved {
    /// Returns a record in which no page is known to be right.
    pub fn new(bytes: Range<u64>, prover: Box<dyn Prover>) -> Proved {
        let pages = bytes.start / PAGE_BYTES..bytes.end.div_ceil(PAGE_BYTES);
        let words = (pages.end - pages.start).div_ceil(64) as usize;
        Proved { pages, bits: Zeroed::new(words), prover }
    }

    /// Returns the bytes of its pages.
    pub(crate) fn bytes(&self) -> Range<u64> {
        self.pages.start * PAGE_BYTES..self.pages.end * PAGE_BYTES
    }

    /// Records that a page is right.
    pub fn mark(&self, page: u64) {
        if self.pages.contains(&page) {
            let bit = page - self.pages.start;
            self.bits[bit as usize / 64].fetch_or(1 << (bit % 64), Relaxed);
        }
    }

    /// Records that all pages in `bytes` are right.
    pub fn mark_all(&self, bytes: Range<u64>) {
        (bytes.start / PAGE_BYTES..bytes.end.div_ceil(PAGE_BYTES)).for_each(|page| self.mark(page));
    }

    /// True if all pages of these bytes are right. Pages that are not marked yet are checked.
    #[inline]
    pub(crate) fn are_right(&self, region: &Region, bytes: Range<u64>) -> bool {
        let first = (bytes.start / PAGE_BYTES).max(self.pages.start);
        let end = bytes.end.div_ceil(PAGE_BYTES).min(self.pages.end);
        match self.first_unproved(first..end) {
            None => true,
            Some(page) => self.prove(region, page..end),
        }
    }

    #[cold]
    #[inline(never)]
    fn prove(&self, region: &Region, pages: Range<u64>) -> bool {
        let mut from = pages.start;
        while let Some(first) = self.first_unproved(from..pages.end) {
            let end = (first..pages.end).find(|page| self.is_marked(*page)).unwrap_or(pages.end);
            self.prover.prove(region, first..end, self);
            from = end;
        }
        self.first_unproved(pages).is_none()
    }

    fn is_marked(&self, page: u64) -> bool {
        let bit = page - self.pages.start;
        self.bits[bit as usize / 64].load(Relaxed) >> (bit % 64) & 1 == 1
    }

    /// Returns the first of these pages that is not known to be right. Reads a word of bits at a
    /// time.
    #[inline]
    fn first_unproved(&self, pages: Range<u64>) -> Option<u64> {
        let (mut bit, end) =
            (pages.start - self.pages.start, pages.end.saturating_sub(self.pages.start));
        while bit < end {
            let unproved = !self.bits[bit as usize / 64].load(Relaxed) >> (bit % 64);
            if unproved != 0 {
                let found = bit + u64::from(unproved.trailing_zeros());
                return (found < end).then_some(found + self.pages.start);
            }
            bit = (bit / 64 + 1) * 64;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use proptest::prelude::*;

    use super::*;
    use crate::region::Residency;

    /// Says that all pages but one are right, and what it was asked.
    struct AllBut(u64, Arc<Mutex<Vec<u64>>>);

    impl Prover for AllBut {
        fn prove(&self, _region: &Region, pages: Range<u64>, proved: &Proved) {
            self.1.lock().unwrap().extend(pages.clone());
            pages.filter(|page| *page != self.0).for_each(|page| proved.mark(page));
        }
    }

    proptest! {
        #[test]
        fn each_page_is_looked_at_until_it_is_right(
            damaged in 3u64..300,
            spans in prop::collection::vec((0u64..330 * 4096, 1u64..200_000), 1..20),
        ) {
            let region = Region::reserve(4096, Residency::OnTouch).unwrap();
            let asked = Arc::new(Mutex::new(Vec::new()));
            let prover = AllBut(damaged, asked.clone());
            let proved = Proved::new(3 * 4096..300 * 4096, Box::new(prover));
            let mut right = [false; 300];
            for (start, len) in spans {
                let pages = (start / 4096).max(3)..(start + len).div_ceil(4096).min(300);
                let wanted: Vec<u64> =
                    pages.clone().filter(|page| !right[*page as usize]).collect();
                let is_right = proved.are_right(&region, start..start + len);
                prop_assert_eq!(is_right, !pages.contains(&damaged));
                prop_assert_eq!(std::mem::take(&mut *asked.lock().unwrap()), wanted);
                pages.filter(|page| *page != damaged).for_each(|page| right[page as usize] = true);
            }
        }
    }
}
