//! Counting without collecting, in a segment whose lists are read in place.
//!
//! No order is needed. The intersection kernels count the documents that two lists share. The size
//! of a union or a difference follows from that count. More lists are combined in windows that fit
//! the first-level cache, where a clause costs little besides its postings.

use std::sync::atomic::{AtomicU32, AtomicU64};

use spirit_kernel as kernel;
use spirit_kernel::{Algorithm, Level};

use super::window::is_empty;
use super::{Evaluation, Place};
use crate::leaf::END;
use crate::plan::{Groups, TERMS_INLINE, TermBits};

/// Words of a window: 32,768 ranks.
const WORDS: usize = 512;
const RANKS: u32 = WORDS as u32 * 64;

/// The bits of a window.
type Bits = [u64; WORDS];

/// A list in place.
#[derive(Clone, Copy)]
enum Whole<'a> {
    Bits(&'a [AtomicU64]),
    Words(&'a [AtomicU32]),
}

/// The lists of several terms, and the number of postings of each.
struct Wholes<'a> {
    lists: [Whole<'a>; TERMS_INLINE],
    postings: [u64; TERMS_INLINE],
}

impl<C> Evaluation<'_, C> {
    /// Counts the documents of a segment that contain any of the terms, whose leaves are open.
    /// `None` if one of their lists is not in one piece.
    pub(super) fn count_any(&self, place: &Place<'_>, terms: &[u32]) -> Option<u64> {
        let (level, base) = (self.settings.level, place.base);
        let mut any = self.open_wholes(place, terms)?;
        let mut count = 0;
        for number in 0..terms.len() {
            any.lists[count] = any.lists[number];
            count += usize::from(any.postings[number] > 0);
        }
        let postings: u64 = any.postings.iter().sum();
        Some(match &mut any.lists[..count] {
            [] => 0,
            [_] => postings,
            // Damaged lists may share more postings than they have.
            [a, b] => postings.saturating_sub(shared(level, base, *a, *b)),
            lists => each_window(level, base, |window, bits| window.add_any(lists, bits)),
        })
    }

    /// Counts the documents of a fresh segment that contain each of two terms, and those that
    /// contain both. Their leaves are open.
    pub(super) fn count_fresh(
        &mut self,
        place: &Place<'_>,
        terms: [u32; 2],
    ) -> Option<([u64; 2], u64)> {
        let [a, b] = terms.map(|term| term as usize);
        let count = |term: usize| {
            self.scratch.leaves[term].count_fresh(&place.context, place.first).map(u64::from)
        };
        let (of_a, of_b) = (count(a)?, count(b)?);
        // Documents that are newer than the visible ones do not count.
        let ranks = [a, b].map(|term| self.seek(place, term, place.first));
        let (short, long) = if of_a <= of_b { (a, b) } else { (b, a) };
        let shared = if ranks.contains(&END) { 0 } else { self.count_runs(place, short, long) };
        Some(([of_a, of_b], shared))
    }

    /// Counts the documents of a segment that contain a term of each group, and no term outside the
    /// groups. Like [`count_any`](Self::count_any), returns `None` if a list is not in one piece.
    pub(super) fn count_groups(
        &self,
        place: &Place<'_>,
        terms: &[u32],
        groups: &Groups,
    ) -> Option<u64> {
        let (level, base) = (self.settings.level, place.base);
        let Wholes { mut lists, postings } = self.open_wholes(place, terms)?;
        let numbers =
            |bits: TermBits| (0..terms.len()).filter(move |number| bits >> number & 1 == 1);
        let lacks = |group: &TermBits| numbers(*group).all(|number| postings[number] == 0);
        if groups.as_slice().iter().any(lacks) {
            return Some(0);
        }
        let (sought, mut others) = (groups.all(), numbers(!groups.all()));
        if let (1, Some(other), None) = (sought.count_ones(), others.next(), others.next()) {
            let only = sought.trailing_zeros() as usize;
            let shared = shared(level, base, lists[only], lists[other]);
            return Some(postings[only].saturating_sub(shared));
        }
        let lists = &mut lists[..terms.len()];
        Some(each_window(level, base, |window, bits| window.add_groups(lists, groups, bits)))
    }

    /// Like [`count_groups`](Self::count_groups), for documents that contain all of the terms.
    pub(super) fn count_all(&self, place: &Place<'_>, terms: &[u32]) -> Option<u64> {
        let mut groups = Groups::default();
        (0..terms.len()).try_for_each(|number| groups.push(1 << number))?;
        self.count_groups(place, terms, &groups)
    }

    /// Returns the lists of terms whose leaves are open in a segment. `None` if one of them is not
    /// in one piece.
    fn open_wholes<'l>(&self, place: &'l Place<'_>, terms: &[u32]) -> Option<Wholes<'l>> {
        let region = place.context.lists.region;
        let lists = [Whole::Words(&[]); TERMS_INLINE];
        let mut wholes = Wholes { lists, postings: [0; TERMS_INLINE] };
        for (number, term) in terms.iter().enumerate() {
            let leaf = &self.scratch.leaves[*term as usize];
            if leaf.postings == 0 {
                continue;
            }
            wholes.postings[number] = leaf.postings as u64;
            wholes.lists[number] = match leaf.bits {
                Some(bits) => Whole::Bits(region.view(bits)),
                None => Whole::Words(leaf.whole(&place.context)?),
            };
        }
        Some(wholes)
    }
}

/// Counts the ranks that two lists share.
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

/// A window of ranks, from `start` on.
#[derive(Clone, Copy)]
struct Window {
    level: Level,
    base: u32,
    start: u32,
}

/// Counts the bits that `add` sets in all windows from the rank `base` on.
fn each_window(level: Level, base: u32, mut add: impl FnMut(Window, &mut Bits)) -> u64 {
    let mut count = 0;
    for start in (base..END).step_by(RANKS as usize) {
        let mut bits = [0; WORDS];
        add(Window { level, base, start }, &mut bits);
        count += kernel::count_bits(level, &bits);
    }
    count
}

impl Window {
    /// Adds the documents of all lists.
    fn add_any(self, lists: &mut [Whole<'_>], bits: &mut Bits) {
        lists.iter_mut().for_each(|list| self.add(list, bits));
    }

    /// Adds the documents that lists of all groups contain and no list outside the groups.
    fn add_groups(self, lists: &mut [Whole<'_>], groups: &Groups, bits: &mut Bits) {
        for (number, group) in groups.as_slice().iter().enumerate() {
            if number == 0 {
                self.add_some(lists, *group, bits);
                continue;
            }
            let mut own = [0; WORDS];
            self.add_some(lists, *group, &mut own);
            kernel::and_window(self.level, bits, &own);
        }
        let excluded = !groups.all();
        if excluded.trailing_zeros() < lists.len() as u32 && !is_empty(bits) {
            let mut own = [0; WORDS];
            self.add_some(lists, excluded, &mut own);
            kernel::and_not_window(self.level, bits, &own);
        }
    }

    /// Adds the documents of the lists whose bits in `numbers` are set.
    fn add_some(self, lists: &mut [Whole<'_>], numbers: TermBits, bits: &mut Bits) {
        let some = lists.iter_mut().enumerate().filter(|(number, _)| numbers >> number & 1 == 1);
        some.for_each(|(_, list)| self.add(list, bits));
    }

    /// Adds the documents of a list, and advances the list past the window.
    fn add(self, list: &mut Whole<'_>, bits: &mut Bits) {
        let Window { level, base, start } = self;
        match list {
            Whole::Bits(from) => kernel::or_bits(level, from, (start - base) as usize, bits),
            Whole::Words(run) => {
                let consumed = kernel::set_bits(level, run, start, bits);
                *run = &run[consumed..];
            }
        }
    }
}
