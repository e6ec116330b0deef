//! The newest few documents that contain any of several terms. They are at the beginnings of the
//! lists, which are merged.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use spirit_index::ground::{rank, rank_of};
use spirit_kernel as kernel;

use super::{Evaluation, Place};
use crate::collect::Collector;
use crate::leaf::END;
use crate::plan::TERMS_INLINE;

impl<C: Collector> Evaluation<'_, C> {
    /// Offers the documents of a segment that contain any of the terms, until the collector is
    /// done. The leaves are open.
    pub(super) fn merge(&mut self, place: &Place<'_>, terms: &[u32]) {
        match self.wholes(place, terms) {
            Some(mut lists) => self.merge_wholes(place, &mut lists[..terms.len()]),
            None => self.merge_runs(place, terms),
        }
    }

    /// Like [`merge`](Self::merge), for lists in one piece.
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

    /// Like [`merge`](Self::merge), for lists that are read run by run.
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
    /// Returns the visible parts of the lists of some terms, whose leaves are open; `None` if one
    /// of them is not in one piece.
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
