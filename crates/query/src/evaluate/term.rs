//! One term: its list, segment by segment.

use std::sync::atomic::Ordering::Relaxed;

use spirit_index::ground::local;
use spirit_index::terms::Entry;

use super::alignment::prefetch_list;
use super::{Evaluation, Place};
use crate::collect::Collector;
use crate::leaf::{END, SCRATCH_WORDS};

/// Hits up to which lists are not prefetched: a few of them have enough.
const FEW: usize = 1000;
/// The number of entries after which a list that is prefetched is read.
const AHEAD: usize = 8;

impl<C: Collector> Evaluation<'_, C> {
    /// Offers the documents that contain a term.
    pub(super) fn term(&mut self, term: usize) {
        self.snapshot.prefetch(self.query.terms[term].hash);
        for segment in self.snapshot.fresh() {
            // The ingest role may just have written it. Then it must come from that role's core.
            segment.extent().prefetch_record(self.query.terms[term].hash);
            let Some(place) = self.place(segment, true) else { continue };
            self.open_fresh(&place, term);
            self.list(&place, term);
            if self.done() {
                return;
            }
        }
        self.look_up(term);
        self.registered(term);
    }

    /// Like [`term`](Self::term), in the registered segments of this part.
    pub(super) fn registered(&mut self, term: usize) {
        let entries = self.scratch.leaves[term].entries(self.lists());
        let oldest = self.part.oldest;
        if C::COUNTS && self.settings.before.is_none() && !self.snapshot.memory().has_dead() {
            return self.collector.skip(entries.from(oldest).postings() as u64);
        }
        let plain = !C::COUNTS && self.settings.before.is_none();
        let looks_ahead = plain && self.collector.wanted() > FEW;
        let left = self.scratch.leaves[term].left;
        if looks_ahead {
            for index in (left.saturating_sub(AHEAD)..left).rev() {
                self.prefetch_registered(entries.get(index));
            }
        }
        // Invariant: the documents of all newer entries were offered. Terminates with the entries.
        for index in (0..left).rev() {
            let entry = entries.get(index);
            if entry.segment.position() < oldest {
                return;
            }
            if looks_ahead && let Some(ahead) = index.checked_sub(AHEAD) {
                self.prefetch_registered(entries.get(ahead));
            }
            if self.snapshot.skips(entry.segment) {
                continue;
            }
            if plain && !entry.is_packed() {
                self.offer_all(entry);
            } else {
                let segment = self.snapshot.of(entry.segment);
                let Some(place) = self.place(segment, false) else { continue };
                self.scratch.leaves[term].open_entry(&segment, index, entry);
                self.list(&place, term);
            }
            if self.done() || !self.meter.step() {
                return;
            }
        }
    }

    /// Prefetches the list of an entry that comes later.
    #[inline(always)]
    fn prefetch_registered(&self, entry: Entry) {
        if entry.segment.position() >= self.part.oldest {
            let segment = self.snapshot.of(entry.segment);
            prefetch_list(self.snapshot.memory().region(), &segment, entry);
        }
    }

    /// Offers the list of an entry, in place. A single posting lies in the entry. If no document is
    /// dead anywhere, not even the segment's descriptor is read for it.
    fn offer_all(&mut self, entry: Entry) {
        if entry.postings == 1 {
            return self.offer_registered(entry.segment, local(entry.payload));
        }
        let segment = self.snapshot.of(entry.segment);
        let list = self.snapshot.memory().region().view(segment.flushed().list(entry));
        if !segment.has_dead() {
            return self.collector.take_list(entry.segment, list);
        }
        for word in list {
            self.offer_registered(entry.segment, local(word.load(Relaxed)));
            if self.done() {
                return;
            }
        }
    }

    /// Offers or counts a list in one segment.
    fn list(&mut self, place: &Place<'_>, term: usize) {
        if C::COUNTS && !place.has_dead && place.whole {
            return self.collector.skip(self.scratch.leaves[term].postings as u64);
        }
        let leaf = &self.scratch.leaves[term];
        if C::COUNTS
            && !place.has_dead
            && let Some(count) = leaf.count_fresh(&place.context, place.first)
        {
            return self.collector.skip(count.into());
        }
        if self.seek(place, term, place.first) == END {
            return;
        }
        // Invariant: all postings before the current run were offered or counted. Terminates: each
        // round takes a run.
        loop {
            if C::COUNTS && !place.has_dead {
                let words = &self.scratch.words[term * SCRATCH_WORDS..][..SCRATCH_WORDS];
                let left = self.scratch.leaves[term].run(&place.context, words).len();
                self.collector.skip(left as u64);
            } else if self.offer_run(place, term) {
                return;
            }
            if !self.refill(place, term) {
                return;
            }
        }
    }

    /// Offers the rest of the current run. Returns true if the collector is done.
    fn offer_run(&mut self, place: &Place<'_>, term: usize) -> bool {
        let mut at = 0;
        loop {
            let words = &self.scratch.words[term * SCRATCH_WORDS..][..SCRATCH_WORDS];
            let run = self.scratch.leaves[term].run(&place.context, words);
            let Some(word) = run.get(at) else { return false };
            let row = local(word.load(Relaxed));
            at += 1;
            self.offer(place, row);
            if self.done() {
                return true;
            }
        }
    }
}
