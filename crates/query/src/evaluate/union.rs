//! An OR of terms without windows.
//!
//! **The newest few** are those that lists begin with: they are merged. **Counting** in a segment whose lists can be taken as they
//! lie, nothing is collected, so nothing is ordered either: of two lists it is what they have less what they share, which the
//! intersection kernels count; more are put together in windows as wide as the first cache likes, where a clause costs
//! little beside its postings.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use spirit_index::posting::{rank, rank_of};
use spirit_kernel as kernel;
use spirit_kernel::{Algorithm, Level};

use super::{Evaluation, Place};
use crate::collect::Collector;
use crate::leaf::END;
use crate::plan::TERMS_INLINE;

/// Words of a window: 32,768 ranks.
const WORDS: usize = 512;
const RANKS: u32 = WORDS as u32 * 64;

/// A list where it lies.
#[derive(Clone, Copy)]
enum Whole<'a> {
    Bits(&'a [AtomicU64]),
    Words(&'a [AtomicU32]),
}

impl<C: Collector> Evaluation<'_, C> {
    /// Offers the documents of a segment that have any of the terms, whose leaves are open there, until it is done.
    pub(super) fn merge(&mut self, place: &Place<'_>, terms: &[u32]) {
        match self.wholes(place, terms) {
            Some(mut lists) => self.merge_wholes(place, &mut lists[..terms.len()]),
            None => self.merge_runs(place, terms),
        }
    }

    /// The same of lists that lie in one piece.
    fn merge_wholes(&mut self, place: &Place<'_>, lists: &mut [&[AtomicU32]]) {
        let next = |list: &[AtomicU32]| list.first().map_or(END, |word| rank(word.load(Relaxed)));
        loop {
            let newest = lists.iter().map(|list| next(list)).fold(END, u32::min);
            if newest >= END || !self.meter.step() {
                return;
            }
            self.offer(place, rank_of(newest));
            if self.done() {
                return;
            }
            for list in lists.iter_mut() {
                *list = &list[usize::from(next(list) == newest)..];
            }
        }
    }

    /// The same of lists that come run by run.
    fn merge_runs(&mut self, place: &Place<'_>, terms: &[u32]) {
        let mut next = [END; TERMS_INLINE];
        let next = &mut next[..terms.len()];
        for (next, term) in next.iter_mut().zip(terms) {
            *next = self.seek(place, *term as usize, place.first);
        }
        loop {
            let rank = next.iter().copied().fold(END, u32::min);
            if rank >= END || !self.meter.step() {
                return;
            }
            self.offer(place, rank_of(rank));
            if self.done() {
                return;
            }
            for (next, term) in next.iter_mut().zip(terms).filter(|(next, _)| **next == rank) {
                *next = self.seek(place, *term as usize, rank + 1);
            }
        }
    }
}

impl<'a, C> Evaluation<'a, C> {
    /// What is to be seen of the lists of some terms, whose leaves are open in a segment; none if one of them does not lie in one piece.
    fn wholes(&self, place: &Place<'a>, terms: &[u32]) -> Option<[&'a [AtomicU32]; TERMS_INLINE]> {
        let mut lists: [&[AtomicU32]; TERMS_INLINE] = [&[]; TERMS_INLINE];
        for (list, term) in lists.iter_mut().zip(terms) {
            let leaf = &self.scratch.leaves[*term as usize];
            if leaf.postings > 0 {
                *list = leaf.whole(&place.context)?;
            }
            if !place.whole {
                *list = &list[kernel::seek(self.settings.level, list, 0, place.first)..];
            }
        }
        Some(lists)
    }
}

impl<C> Evaluation<'_, C> {
    /// How many documents of a segment have any of the terms, whose leaves are open there; none if a list of theirs does not
    /// lie in one piece.
    pub(super) fn union_count(&self, place: &Place<'_>, terms: &[u32]) -> Option<u64> {
        let region = self.snapshot.memory().region();
        let mut lists = [Whole::Words(&[]); TERMS_INLINE];
        let (mut count, mut sum) = (0, 0);
        for term in terms {
            let leaf = &self.scratch.leaves[*term as usize];
            if leaf.postings == 0 {
                continue;
            }
            sum += leaf.postings as u64;
            lists[count] = match leaf.bits {
                Some(bits) => Whole::Bits(region.view(bits)),
                None => Whole::Words(leaf.whole(&place.context)?),
            };
            count += 1;
        }
        let (level, base) = (self.settings.level, place.base);
        Some(match lists[..count] {
            [] => 0,
            [_] => sum,
            // What is damaged may share more than there is.
            [a, b] => sum.saturating_sub(shared(level, base, a, b)),
            ref lists => together(level, base, lists),
        })
    }
}

/// How many ranks two lists share.
fn shared(level: Level, base: u32, a: Whole<'_>, b: Whole<'_>) -> u64 {
    match (a, b) {
        (Whole::Bits(a), Whole::Bits(b)) => kernel::and_count(level, a, b),
        (Whole::Words(run), Whole::Bits(bits)) | (Whole::Bits(bits), Whole::Words(run)) => {
            kernel::probe_count(level, run, bits, base)
        }
        (Whole::Words(a), Whole::Words(b)) => {
            let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
            kernel::intersect_count(level, Algorithm::Simd, short, long).found as u64
        }
    }
}

/// How many ranks any of the lists has.
fn together(level: Level, base: u32, lists: &[Whole<'_>]) -> u64 {
    let mut at = [0; TERMS_INLINE];
    let mut count = 0;
    for start in (base..END).step_by(RANKS as usize) {
        let mut bits = [0; WORDS];
        for (list, at) in lists.iter().zip(&mut at) {
            match list {
                Whole::Bits(from) => {
                    kernel::or_bits(level, from, (start - base) as usize, &mut bits)
                }
                Whole::Words(run) => *at += kernel::set_bits(level, &run[*at..], start, &mut bits),
            }
        }
        count += kernel::count_bits(level, &bits);
    }
    count
}
