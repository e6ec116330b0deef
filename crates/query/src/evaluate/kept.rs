//! Clauses whose bitmaps are kept: in a registered segment, they are read instead of evaluated.
//!
//! Bitmaps are looked up before a segment is evaluated, since a pattern is expanded when it is first
//! looked at. A segment that a required term or range rules out needs none.
//!
//! If the store wants one that it does not have, the clause is evaluated in the whole segment, and its
//! lists are at their end. No other clause has them, and no score is read from them. A clause that is
//! asked of few documents is left alone: looking at those takes less time.

use std::time::Instant;

use spirit_kernel as kernel;

use super::window::{Bits, WORDS, Window};
use super::{Evaluation, Place};
use crate::collect::Limit;
use crate::kept_clauses::{ClauseAt, ClauseBits, ClauseStore, KEPT_CLAUSES_MAX};
use crate::leaf::END;
use crate::query::{Kind, NONE, NodeId, Occur};
use crate::tuning::ASKED_SHARE;

/// The bitmaps of a reader's clauses in the current segment. Pages that no query needs are not
/// backed.
pub(crate) struct KeptBits {
    bits: Vec<u64>,
    words_each: usize,
    /// The clauses whose bitmaps are known, a bit each.
    known: u32,
    /// The node of each clause, and the number of its matches.
    clauses: [(NodeId, u32); KEPT_CLAUSES_MAX],
}

impl KeptBits {
    /// Reserves bitmaps for segments of at most this many rows.
    pub(crate) fn new(rows_max: u32) -> KeptBits {
        // A window may reach beyond the last row.
        let words_each = rows_max.div_ceil(64) as usize + WORDS;
        let bits = vec![0; words_each * KEPT_CLAUSES_MAX];
        KeptBits { bits, words_each, known: 0, clauses: [(NONE, 0); KEPT_CLAUSES_MAX] }
    }

    /// Forgets all bitmaps, since the current segment has changed.
    pub(super) fn forget(&mut self) {
        self.known = 0;
    }

    /// Returns the number of a node whose bitmap is known.
    #[inline(always)]
    fn number(&self, node: NodeId) -> Option<usize> {
        if self.known == 0 { None } else { self.find(node) }
    }

    fn find(&self, node: NodeId) -> Option<usize> {
        let is_it =
            |number: &usize| self.known >> number & 1 == 1 && self.clauses[*number].0 == node;
        (0..KEPT_CLAUSES_MAX).find(is_it)
    }

    /// Returns the number of matches of a node whose bitmap is known.
    #[inline(always)]
    pub(super) fn count(&self, node: NodeId) -> Option<u32> {
        self.number(node).map(|number| self.clauses[number].1)
    }

    /// Returns a window of a node whose bitmap is known.
    #[inline(always)]
    pub(super) fn window(&self, place: &Place<'_>, node: NodeId, window: Window) -> Option<&[u64]> {
        let number = self.number(node)?;
        let from = number * self.words_each + (window.start - place.base) as usize / 64;
        Some(&self.bits[from..][..window.words()])
    }

    /// Returns the first rank from `target` on that a node matches whose bitmap is known, or
    /// [`END`].
    #[inline(always)]
    pub(super) fn next(&self, place: &Place<'_>, node: NodeId, target: u32) -> Option<u32> {
        self.number(node).map(|number| self.next_of(place, number, target))
    }

    fn next_of(&self, place: &Place<'_>, number: usize, target: u32) -> u32 {
        place.next_one(&self.bits[number * self.words_each..][..place.words()], target)
    }

    /// Returns the room for a clause's bitmap of the current segment. Behind it come zeros, for
    /// windows beyond the last row.
    fn room(&mut self, place: &Place<'_>, number: usize) -> &mut [u64] {
        let words = place.words();
        let own = &mut self.bits[number * self.words_each..][..words + WORDS];
        let (own, behind) = own.split_at_mut(words);
        behind.fill(0);
        own
    }
}

impl<C: Limit> Evaluation<'_, C> {
    /// Reads or makes the bitmaps of clauses in a registered segment. Returns false if the segment has
    /// no match from the rank `first` on.
    pub(super) fn recall_clauses(
        &mut self,
        place: &Place<'_>,
        store: &dyn ClauseStore,
        first: u32,
    ) -> bool {
        if self.is_ruled_out(place, first) {
            return false;
        }
        for number in 0..store.clauses().len() {
            let node = store.clauses().node(number);
            if self.scores_within(node) {
                continue;
            }
            let at = ClauseAt { number, snapshot: self.snapshot, segment: place.segment };
            let kept = &mut self.scratch.kept;
            if let Some(count) = store.find(at, kept.room(place, number)) {
                kept.clauses[number] = (node, count);
                kept.known |= 1 << number;
            } else if store.wants(number) && self.is_asked_of_many(place, node) {
                self.make_bitmap(place, store, at, node);
            }
        }
        true
    }

    /// True if a required term or range has no match in the segment from a rank on.
    fn is_ruled_out(&mut self, place: &Place<'_>, first: u32) -> bool {
        let query = self.query;
        let kind = |node: &NodeId| query.nodes[*node as usize].kind;
        let is_cheap = |node: &NodeId| matches!(kind(node), Kind::Term(_) | Kind::Range(_));
        let must = query.children(query.root).filter(|child| query.counts(*child, Occur::Must));
        must.filter(is_cheap).any(|child| self.earliest(place, child, first) >= place.end)
    }

    /// True if the matches of a clause's own clauses are needed, for their scores.
    fn scores_within(&self, node: NodeId) -> bool {
        let node = &self.query.nodes[node as usize];
        C::SCORES && node.occur != Occur::Not && matches!(node.kind, Kind::Clauses { .. })
    }

    /// True unless another required clause leaves few documents.
    fn is_asked_of_many(&self, place: &Place<'_>, node: NodeId) -> bool {
        let query = self.query;
        let must = query.children(query.root).filter(|child| query.counts(*child, Occur::Must));
        let others = must.filter(|child| *child != node);
        let least = others.map(|child| self.estimate(place, child)).min();
        least.is_none_or(|least| least >= self.estimate(place, node) / ASKED_SHARE)
    }

    /// Evaluates a clause in the whole segment, and hands its bitmap over.
    fn make_bitmap(
        &mut self,
        place: &Place<'_>,
        store: &dyn ClauseStore,
        at: ClauseAt<'_>,
        node: NodeId,
    ) {
        let since = Instant::now();
        self.scratch.kept.room(place, at.number).fill(0);
        let mut rank = self.earliest(place, node, place.base);
        let mut window = Window::first(place.base, rank);
        // Invariant: the bitmap has all matches before `rank`. Terminates: windows do not overlap,
        // so `rank` grows.
        while rank < END && self.meter.step() {
            let mut bits: Bits = [0; WORDS];
            let bits = &mut bits[..window.words()];
            self.add(place, node, window, bits);
            window.keep_ranks(bits, place.base..END);
            let from = (window.start - place.base) as usize / 64;
            let own = self.scratch.kept.room(place, at.number);
            own[from..].iter_mut().zip(bits).for_each(|(to, from)| *to = *from);
            rank = self.earliest(place, node, window.end());
            window = window.next(place.base, rank);
        }
        if self.meter.has_stopped() {
            return;
        }
        let (level, kept) = (self.settings.level, &mut self.scratch.kept);
        let bits = kept.room(place, at.number);
        let count = kernel::count_bits(level, bits) as u32;
        store.keep(at, ClauseBits { bits, count, took: since.elapsed() });
        kept.clauses[at.number] = (node, count);
        kept.known |= 1 << at.number;
    }
}
