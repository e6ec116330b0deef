//! An AND of terms. [Segments in which all of them have entries](super::alignment) are found first,
//! then the kernels intersect the lists. For a phrase, the matches are checked [by the terms'
//! positions](super::phrase).

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use spirit_index::ground::{rank, rank_of};
use spirit_index::snapshot::Segment;
use spirit_index::terms::Entry;
use spirit_kernel::{Algorithm, Progress};
use spirit_mem::Span;

use super::phrase::{Room, Wanted};
use super::{Evaluation, OUT, Place, Scratch, words_of};
use crate::collect::Collector;
use crate::leaf::{END, SCRATCH_WORDS};
use crate::plan::TERMS_INLINE;
use crate::query::NodeId;

/// The terms that a document must contain, and the phrase that they must make, if any.
#[derive(Clone, Copy)]
pub(super) struct Sought<'t> {
    pub(super) terms: &'t [u32],
    pub(super) phrase: Option<NodeId>,
}

/// The conditions on a document besides the two terms whose lists are intersected.
struct Rest<'t> {
    terms: &'t [u32],
    phrase: Option<NodeId>,
    /// True if the current segment has all of the phrase's terms; `None` before the first check.
    has_terms: Option<bool>,
}

impl Rest<'_> {
    fn is_nothing(&self) -> bool {
        self.terms.is_empty() && self.phrase.is_none()
    }
}

/// The way of intersecting the two shortest lists of a segment.
pub(super) enum Meeting {
    /// An AND of both bitmaps.
    Bitmaps(Span<AtomicU64>, Span<AtomicU64>),
    /// A look-up of the shorter list's documents in the longer one's bitmap.
    Probe(Span<AtomicU64>),
    /// An intersection algorithm for two lists.
    Lists,
}

impl Meeting {
    /// Chooses the way for lists with these bitmaps. A forced algorithm is always one for lists.
    pub(super) fn of(
        forced: Option<Algorithm>,
        shorter: Option<Span<AtomicU64>>,
        longer: Option<Span<AtomicU64>>,
    ) -> Meeting {
        match (shorter, longer) {
            _ if forced.is_some() => Meeting::Lists,
            (Some(x), Some(y)) => Meeting::Bitmaps(x, y),
            (None, Some(bits)) => Meeting::Probe(bits),
            (_, None) => Meeting::Lists,
        }
    }
}

impl<C: Collector> Evaluation<'_, C> {
    /// Offers the documents that contain all terms sought.
    pub(super) fn all(&mut self, sought: Sought<'_>) {
        let terms = sought.terms;
        for term in terms {
            self.snapshot.prefetch(self.query.terms[*term as usize].hash);
        }
        for segment in self.snapshot.fresh() {
            let Some(place) = self.place(segment, true) else { continue };
            self.ask_for_fresh(&place, terms);
            for term in terms {
                self.open_fresh(&place, *term as usize);
            }
            self.intersect(&place, sought);
            if self.done() {
                return;
            }
        }
        for term in terms {
            self.look_up(*term as usize);
        }
        self.all_registered(sought);
    }

    /// Prefetches the records of terms in a fresh segment. The ingest role may just have written
    /// them, so each may have to come from another core.
    fn ask_for_fresh(&self, place: &Place<'_>, terms: &[u32]) {
        let Some(extent) = &place.context.extent else { return };
        for term in terms {
            extent.prefetch_record(self.query.terms[*term as usize].hash);
        }
    }

    /// Like [`all`](Self::all), in the registered segments of this part.
    pub(super) fn all_registered(&mut self, sought: Sought<'_>) {
        self.scratch.ahead.begin();
        let mut more = true;
        loop {
            while more && self.scratch.ahead.has_room() {
                more = self.align(sought.terms);
            }
            let Some(slot) = self.scratch.ahead.pop() else { return };
            self.meet(sought, slot);
            if self.done() || !self.meter.step() {
                return;
            }
        }
    }

    /// Evaluates a segment in which all terms have entries.
    fn meet(&mut self, sought: Sought<'_>, slot: usize) {
        if self.settings.algorithm.is_none()
            && self.settings.before.is_none()
            && self.meet_plainly(sought, slot)
        {
            return;
        }
        let segment = self.snapshot.of(self.scratch.ahead.at(slot).entries[0].0.segment);
        let Some(place) = self.place(segment, false) else { return };
        for (number, term) in sought.terms.iter().enumerate() {
            let (entry, index) = self.scratch.ahead.at(slot).entries[number];
            self.scratch.leaves[*term as usize].open_entry(&segment, index as usize, entry);
        }
        self.intersect(&place, sought);
    }

    /// Like [`meet`](Self::meet), for the most frequent cases, without opening leaves. Returns
    /// false if this is another case.
    fn meet_plainly(&mut self, sought: Sought<'_>, slot: usize) -> bool {
        let entries = &self.scratch.ahead.at(slot).entries[..sought.terms.len()];
        let id = entries[0].0.segment;
        if let Some((single, _)) = entries.iter().find(|(entry, _)| entry.postings == 1) {
            let wanted = rank(single.payload);
            let found = self.all_have(wanted, entries);
            if found && sought.phrase.is_none() {
                self.offer_registered(id, rank_of(wanted));
            }
            return !found || sought.phrase.is_none();
        }
        let ([(a, _), (b, _)], None) = (entries, sought.phrase) else { return false };
        let segment = self.snapshot.of(id);
        let flushed = segment.flushed();
        let is_plain = |entry: Entry| flushed.bitmap(entry).is_none() && !entry.is_packed();
        let plain = is_plain(*a) && is_plain(*b);
        if plain {
            self.meet_lists(&segment, [flushed.list(*a), flushed.list(*b)]);
        }
        plain
    }

    /// True if the lists of all entries contain a document. Some entries are single postings.
    fn all_have(&self, wanted: u32, entries: &[(Entry, u32)]) -> bool {
        let singles = entries.iter().filter(|(entry, _)| entry.postings == 1);
        if singles.map(|(single, _)| rank(single.payload)).any(|rank| rank != wanted) {
            return false;
        }
        let region = self.snapshot.memory().region();
        let segment = self.snapshot.of(entries[0].0.segment);
        let flushed = segment.flushed();
        let has = |entry: Entry| {
            if let Some(packed) = segment.packed(entry) {
                return packed.has(region, self.settings.level, wanted);
            }
            let list = region.view(flushed.list(entry));
            let at = spirit_kernel::seek(self.settings.level, list, 0, wanted);
            list.get(at).is_some_and(|word| rank(word.load(Relaxed)) == wanted)
        };
        entries.iter().all(|(entry, _)| entry.postings == 1 || has(*entry))
    }

    /// Intersects the lists of two terms without bitmaps, in place.
    fn meet_lists(&mut self, segment: &Segment<'_>, lists: [Span<AtomicU32>; 2]) {
        let exact = !segment.has_dead();
        let region = self.snapshot.memory().region();
        let [mut x, mut y] = lists.map(|list| region.view(list));
        if C::COUNTS && exact {
            let found =
                spirit_kernel::intersect_count(self.settings.level, Algorithm::Simd, x, y).found;
            return self.collector.skip(found as u64);
        }
        while !x.is_empty() && !y.is_empty() {
            let wanted = self.batch(exact);
            let out = &mut self.scratch.out[..wanted];
            let progress =
                spirit_kernel::intersect_into(self.settings.level, Algorithm::Simd, x, y, out);
            for i in 0..progress.found {
                self.offer_registered(segment.id(), rank_of(rank(self.scratch.out[i])));
                if self.done() {
                    return;
                }
            }
            (x, y) = (&x[progress.left..], &y[progress.right..]);
        }
    }

    /// Intersects the lists that are open in a segment.
    fn intersect(&mut self, place: &Place<'_>, sought: Sought<'_>) {
        let mut order = [0; TERMS_INLINE];
        let order = &mut order[..sought.terms.len()];
        order.copy_from_slice(sought.terms);
        order.sort_unstable_by_key(|t| self.scratch.leaves[*t as usize].postings);
        let (a, b) = (order[0] as usize, order[1] as usize);
        if self.scratch.leaves[a].postings == 0 {
            return;
        }
        let rest = &mut Rest { terms: &order[2..], phrase: sought.phrase, has_terms: None };
        if C::COUNTS
            && sought.phrase.is_none()
            && self.are_all_dense(place, order)
            && let Some(count) = self.count_all(place, order)
        {
            return self.collector.skip(count);
        }
        let exact = !place.has_dead && rest.is_nothing();
        let (bits_a, bits_b) = (self.scratch.leaves[a].bits, self.scratch.leaves[b].bits);
        match Meeting::of(self.settings.algorithm, bits_a, bits_b) {
            Meeting::Bitmaps(x, y) => return self.intersect_bitmaps(place, x, y, rest, exact),
            Meeting::Probe(bits) => return self.probe(place, a, bits, rest, exact),
            Meeting::Lists => {}
        }
        // A wholly visible list needs no seek: its first posting is visible.
        if !place.whole
            && (self.seek(place, a, place.first) == END || self.seek(place, b, place.first) == END)
        {
            return;
        }
        self.intersect_runs(place, a, b, rest, exact);
    }

    /// True if there are more than two lists, all dense, in a segment whose documents are all
    /// visible and alive.
    fn are_all_dense(&self, place: &Place<'_>, terms: &[u32]) -> bool {
        let is_dense = |term: &u32| self.scratch.leaves[*term as usize].bits.is_some();
        terms.len() > 2 && place.whole && !place.has_dead && terms.iter().all(is_dense)
    }

    fn intersect_runs(
        &mut self,
        place: &Place<'_>,
        a: usize,
        b: usize,
        rest: &mut Rest<'_>,
        exact: bool,
    ) {
        if C::COUNTS && exact {
            let count = self.count_runs(place, a, b);
            return self.collector.skip(count);
        }
        let algorithm = self.settings.algorithm.unwrap_or(Algorithm::Simd);
        // Invariant: all matches before the leaves' positions were offered. Terminates: each round
        // advances a leaf, until a list ends.
        loop {
            let wanted = self.batch(exact);
            let Scratch { leaves, words, out, .. } = &mut *self.scratch;
            let run_a = leaves[a].run(&place.context, words_of(words, a));
            let run_b = leaves[b].run(&place.context, words_of(words, b));
            let out = &mut out[..wanted];
            let progress =
                spirit_kernel::intersect_into(self.settings.level, algorithm, run_a, run_b, out);
            let goes_on = self.go_on(place, [a, b], progress);
            self.offer_found(place, progress.found, rest);
            if self.done() || !goes_on {
                return;
            }
        }
    }
}

impl<C> Evaluation<'_, C> {
    /// Counts the ranks that two lists share, from their current positions on. The lists are open
    /// in a segment.
    pub(super) fn count_runs(&mut self, place: &Place<'_>, a: usize, b: usize) -> u64 {
        let algorithm = self.settings.algorithm.unwrap_or(Algorithm::Simd);
        let mut count = 0;
        loop {
            let Scratch { leaves, words, .. } = &mut *self.scratch;
            let run_a = leaves[a].run(&place.context, words_of(words, a));
            let run_b = leaves[b].run(&place.context, words_of(words, b));
            let progress =
                spirit_kernel::intersect_count(self.settings.level, algorithm, run_a, run_b);
            count += progress.found as u64;
            if !self.go_on(place, [a, b], progress) {
                return count;
            }
        }
    }

    /// Advances two lists past a kernel's progress. Returns false if one of them has ended.
    fn go_on(&mut self, place: &Place<'_>, [a, b]: [usize; 2], progress: Progress) -> bool {
        let Scratch { leaves, words, .. } = &mut *self.scratch;
        let mut ended = |list: usize, used| {
            leaves[list].advance(used);
            leaves[list].run(&place.context, words_of(words, list)).is_empty()
        };
        let (ended_a, ended_b) = (ended(a, progress.left), ended(b, progress.right));
        // A block need not be unpacked if it ends before the other list's position.
        (!ended_a || self.refill_from(place, a, b)) && (!ended_b || self.refill_from(place, b, a))
    }

    /// Fetches a list's next run that may contain a rank from the other list's position on. Returns
    /// false if no such run is left.
    fn refill_from(&mut self, place: &Place<'_>, list: usize, other: usize) -> bool {
        let Scratch { leaves, words, .. } = &mut *self.scratch;
        let run = leaves[other].run(&place.context, words_of(words, other));
        let target = run.first().map_or(0, |word| rank(word.load(Relaxed)));
        leaves[list].refill_from(&place.context, words_of(words, list), target)
    }
}

impl<C: Collector> Evaluation<'_, C> {
    /// Returns the number of matches to ask a kernel for: if all of them count, at most as many as
    /// are wanted.
    fn batch(&self, exact: bool) -> usize {
        if exact {
            self.collector.wanted().min(OUT)
        } else {
            OUT.min(self.collector.wanted().max(16))
        }
    }

    /// Offers those of the kernel's first `found` matches that meet the other conditions.
    fn offer_found(&mut self, place: &Place<'_>, found: usize, rest: &mut Rest<'_>) {
        if let Some(phrase) = rest.phrase {
            return self.offer_phrase(place, found, rest, phrase);
        }
        for i in 0..found {
            let rank = rank(self.scratch.out[i]);
            if self.has_all(place, rest.terms, rank) {
                self.offer(place, rank_of(rank));
                if self.done() {
                    return;
                }
            }
        }
    }

    fn has_all(&mut self, place: &Place<'_>, terms: &[u32], rank: u32) -> bool {
        terms.iter().all(|term| {
            let leaf = &self.scratch.leaves[*term as usize];
            match leaf.bits {
                // One bit is read.
                Some(_) => leaf.has(&place.context, place.base, rank),
                None => self.seek(place, *term as usize, rank) == rank,
            }
        })
    }

    /// Like [`offer_found`](Self::offer_found), for a phrase.
    fn offer_phrase(
        &mut self,
        place: &Place<'_>,
        found: usize,
        rest: &mut Rest<'_>,
        phrase: NodeId,
    ) {
        let (mut ranks, mut count) = ([0; OUT], 0);
        for i in 0..found {
            let rank = rank(self.scratch.out[i]);
            if self.has_all(place, rest.terms, rank) {
                ranks[count] = rank;
                count += 1;
            }
        }
        if count == 0 {
            return;
        }
        if !*rest.has_terms.get_or_insert_with(|| self.open_phrase(place, phrase)) {
            return;
        }
        if !self.meter.steps(count) {
            return;
        }
        let Scratch { words, occurrences, phrase, .. } = &mut *self.scratch;
        let (mut room, collector) = (Room { place, words, occurrences }, &mut self.collector);
        phrase.each(&mut room, &ranks[..count], Wanted::Any, |number, occurs| {
            let row = rank_of(ranks[number]);
            if occurs > 0.0 && !(place.has_dead && place.segment.is_dead(row)) {
                collector.take(place.segment.id(), row);
            }
            collector.wanted() > 0
        });
    }

    fn intersect_bitmaps(
        &mut self,
        place: &Place<'_>,
        x: Span<AtomicU64>,
        y: Span<AtomicU64>,
        rest: &mut Rest<'_>,
        exact: bool,
    ) {
        let region = self.snapshot.memory().region();
        let (x, y) = (region.view(x), region.view(y));
        if C::COUNTS && exact && place.whole {
            return self.collector.skip(spirit_kernel::and_count(self.settings.level, x, y));
        }
        let base = place.segment.flushed().base_rank();
        let bits = x.len().min(y.len()) * 64;
        let mut from = (place.first - base) as usize;
        // Invariant: all matches before bit `from` were offered. Terminates: `and_into` returns a
        // greater `next`.
        while from < bits && !self.done() {
            let wanted = self.batch(exact);
            let out = &mut self.scratch.out[..wanted];
            let (found, next) = spirit_kernel::and_into(self.settings.level, x, y, base, from, out);
            from = next;
            self.offer_found(place, found, rest);
        }
    }

    fn probe(
        &mut self,
        place: &Place<'_>,
        a: usize,
        bits: Span<AtomicU64>,
        rest: &mut Rest<'_>,
        exact: bool,
    ) {
        let bits = self.snapshot.memory().region().view(bits);
        let base = place.segment.flushed().base_rank();
        if self.seek(place, a, place.first) == END {
            return;
        }
        // Invariant: all matches before the leaf's position were offered or counted. Terminates:
        // each round advances or refills the leaf.
        loop {
            let wanted = self.batch(exact);
            let Scratch { leaves, words, out, .. } = &mut *self.scratch;
            let words = &words[a * SCRATCH_WORDS..][..SCRATCH_WORDS];
            let run = leaves[a].run(&place.context, words);
            if C::COUNTS && exact {
                let found = spirit_kernel::probe_count(self.settings.level, run, bits, base);
                self.collector.skip(found);
                if self.refill(place, a) {
                    continue;
                }
                return;
            }
            let progress =
                spirit_kernel::probe_into(self.settings.level, run, bits, base, &mut out[..wanted]);
            let ended = progress.left == run.len();
            leaves[a].advance(progress.left);
            self.offer_found(place, progress.found, rest);
            if self.done() || (ended && !self.refill(place, a)) {
                return;
            }
        }
    }
}
