//! Counting at once, in a segment whose lists can be taken as they lie.
//!
//! Nothing is collected, so nothing is ordered either: what two lists share the intersection kernels count, and two lists have together what both have
//! less that, as one has without the other. More lists are put together in windows as wide as the first cache likes, where a clause
//! costs little beside its postings.

use std::sync::atomic::{AtomicU32, AtomicU64};

use spirit_kernel as kernel;
use spirit_kernel::{Algorithm, Level};

use super::window::is_empty;
use super::{Evaluation, Place};
use crate::leaf::END;
use crate::plan::TERMS_INLINE;

/// Words of a window: 32,768 ranks.
const WORDS: usize = 512;
const RANKS: u32 = WORDS as u32 * 64;

/// The bits of a window.
type Bits = [u64; WORDS];

/// A list where it lies.
#[derive(Clone, Copy)]
enum Whole<'a> {
    Bits(&'a [AtomicU64]),
    Words(&'a [AtomicU32]),
}

/// The lists of those of several terms that have postings.
struct Wholes<'a> {
    lists: [Whole<'a>; TERMS_INLINE],
    count: usize,
    /// Of all of them.
    postings: u64,
}

impl<'a> Wholes<'a> {
    fn lists(&mut self) -> &mut [Whole<'a>] {
        &mut self.lists[..self.count]
    }
}

impl<C> Evaluation<'_, C> {
    /// How many documents of a segment have any of the terms, whose leaves are open there; none if a list of theirs does not
    /// lie in one piece.
    pub(super) fn count_any(&self, place: &Place<'_>, terms: &[u32]) -> Option<u64> {
        let (level, base) = (self.settings.level, place.base);
        let mut any = self.open_wholes(place, terms)?;
        let postings = any.postings;
        Some(match any.lists() {
            [] => 0,
            [_] => postings,
            // What is damaged may share more than there is.
            [a, b] => postings.saturating_sub(shared(level, base, *a, *b)),
            lists => each_window(level, base, |window, bits| window.add_any(lists, bits)),
        })
    }

    /// The same of those that have all of some terms and none of others.
    pub(super) fn count_without(
        &self,
        place: &Place<'_>,
        sought: &[u32],
        excluded: &[u32],
    ) -> Option<u64> {
        let (level, base) = (self.settings.level, place.base);
        let (mut all, mut without) =
            (self.open_wholes(place, sought)?, self.open_wholes(place, excluded)?);
        let postings = all.postings;
        if all.count < sought.len() {
            return Some(0);
        }
        Some(match (all.lists(), without.lists()) {
            ([_], []) => postings,
            ([a], [b]) => postings.saturating_sub(shared(level, base, *a, *b)),
            (all, without) => each_window(level, base, |window, bits| {
                window.add_all_without(all, without, bits);
            }),
        })
    }

    /// The lists of terms whose leaves are open in a segment.
    fn open_wholes<'l>(&self, place: &'l Place<'_>, terms: &[u32]) -> Option<Wholes<'l>> {
        let region = place.context.lists.region;
        let lists = [Whole::Words(&[]); TERMS_INLINE];
        let mut wholes = Wholes { lists, count: 0, postings: 0 };
        for term in terms {
            let leaf = &self.scratch.leaves[*term as usize];
            if leaf.postings == 0 {
                continue;
            }
            wholes.postings += leaf.postings as u64;
            wholes.lists[wholes.count] = match leaf.bits {
                Some(bits) => Whole::Bits(region.view(bits)),
                None => Whole::Words(leaf.whole(&place.context)?),
            };
            wholes.count += 1;
        }
        Some(wholes)
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

/// A window of ranks, from one on.
#[derive(Clone, Copy)]
struct Window {
    level: Level,
    base: u32,
    start: u32,
}

/// How many bits are set in the windows from a rank on.
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
    /// Adds what any of the lists has.
    fn add_any(self, lists: &mut [Whole<'_>], bits: &mut Bits) {
        lists.iter_mut().for_each(|list| self.add(list, bits));
    }

    /// Adds what all of some lists have and none of others.
    fn add_all_without(self, all: &mut [Whole<'_>], without: &mut [Whole<'_>], bits: &mut Bits) {
        let [first, others @ ..] = all else { return };
        self.add(first, bits);
        for other in others {
            let mut own = [0; WORDS];
            self.add(other, &mut own);
            kernel::and_window(self.level, bits, &own);
        }
        if !is_empty(bits) {
            let mut own = [0; WORDS];
            self.add_any(without, &mut own);
            kernel::and_not_window(self.level, bits, &own);
        }
    }

    /// Adds what a list has, and leaves of it what is behind the window.
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
