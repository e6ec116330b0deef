//! The first matches in the order of a number, with those that are known of registered segments.
//!
//! | words of the value | |
//! |---|---|
//! | 0, 1 | [footing](super::footing), with 1 if there were more matches than were kept |
//! | 2 | first position (high half) and end (low half) of the segments |
//! | three for each match, in no order | segment (high half) and row (low half); sequence number, with bit 63 if it has no value; key |
//!
//! Matches that were not kept come behind all that were. So if matches died or were dropped, the
//! list still counts if as many as are wanted come before its end, with those of newer segments.
//! A rewrite moves matches, and those that were kept cannot tell which: all is evaluated again.

use spirit_cache::Value;
use spirit_index::ground::SegmentId;
use spirit_index::memory::Window;
use spirit_index::snapshot::Snapshot;
use spirit_query::{Address, First, Sorted, Stop};

use super::footing::{Footing, Stand};
use super::question::Wanted;
use super::{Caller, Candidate, Outcome, Recall, registered_from};

/// The bit of a sequence number whose document has no value.
const WITHOUT_VALUE: u64 = 1 << 63;
/// Words of a match.
const MATCH_WORDS: usize = 3;

/// What is known of registered segments, beside the matches that were read.
#[derive(Clone, Copy)]
struct Known {
    segments: Window,
    is_cut: bool,
}

impl Candidate<'_> {
    /// Finds the first matches of an executor. `first` begins anew.
    pub(crate) fn first(
        self,
        mut caller: Caller<'_>,
        wanted: Wanted,
        first: &mut First,
        recall: &mut Recall,
    ) -> Result<(), Stop> {
        let footing = Footing::new(caller.view, caller.snapshot);
        let window = caller.snapshot.window();
        let found = self.read_first(caller.executor, footing, recall);
        // Another thread's snapshot may have been newer than this one.
        let known = found.filter(|known| known.segments.end <= window.end);
        first.begin(wanted.by, wanted.k, None);
        let mut outcome = Outcome::Missed;
        if let Some(Known { segments, is_cut }) = known {
            let newer = registered_from(caller.snapshot, segments.end);
            let is_newer = newer.oldest < newer.end;
            if is_newer {
                caller.first_in(&caller.snapshot.within(newer), wanted, first)?;
            }
            let end = caller.offer(&recall.value, first);
            if !is_cut || first.is_full_before(end) {
                outcome = if is_newer { Outcome::Joined } else { Outcome::Hit };
            }
        }
        if let Some(Known { segments, .. }) = known {
            self.note_taken(segments, caller.snapshot, outcome);
        }
        if outcome == Outcome::Missed {
            first.begin(wanted.by, wanted.k, None);
            caller.first_in(&caller.snapshot.within(window), wanted, first)?;
        }
        if outcome != Outcome::Hit && found.is_some() == known.is_some() {
            self.keep_first(footing, first, wanted, &caller, recall);
        }
        if caller.snapshot.fresh().next().is_some() {
            first.expect_newer();
            caller.first_in(&caller.snapshot.since(window.end), wanted, first)?;
        }
        first.finish();
        self.note(outcome, recall);
        Ok(())
    }

    /// Reads the matches of an entry, unless some of its segments were rewritten.
    fn read_first(self, executor: usize, footing: Footing, recall: &mut Recall) -> Option<Known> {
        let cache = &self.cache.caches[recall.cache];
        let (key, out) = recall.key_and_value(executor);
        cache.look_up(key, |value: Value<'_>| {
            let Stand { number, from, words } = footing.read(value)?;
            let (segments, matches) = (Window::from_word(words.get(0)?), words.split_at(1).1);
            out.clear();
            out.extend(matches.iter().take(out.capacity()));
            (segments.oldest >= from).then_some(Known { segments, is_cut: number != 0 })
        })
    }

    /// Keeps the first matches of all registered segments.
    fn keep_first(
        self,
        footing: Footing,
        first: &First,
        wanted: Wanted,
        caller: &Caller<'_>,
        recall: &mut Recall,
    ) {
        let matches = first.unsorted();
        if (matches.len() as u64) < self.cache.settings.matches_min {
            return;
        }
        let out = &mut recall.value;
        out.clear();
        footing.write(u32::from(matches.len() == wanted.k), out);
        out.push(caller.snapshot.window().word());
        for Sorted { key, sequence, hit } in matches {
            let without = if key.is_some() { 0 } else { WITHOUT_VALUE };
            let place = u64::from(hit.segment.0) << 32 | u64::from(hit.local);
            out.extend([place, sequence | without, key.unwrap_or(0)]);
        }
        recall.wait(caller.executor);
    }
}

impl Caller<'_> {
    fn first_in(
        &mut self,
        snapshot: &Snapshot<'_>,
        wanted: Wanted,
        first: &mut First,
    ) -> Result<(), Stop> {
        let (query, settings, executor) = (self.query, self.settings, self.executor as u32);
        spirit_query::sorted(snapshot, query, settings, wanted.by, self.scratch, executor, first)
    }

    /// Offers the matches of an entry that live and whose segments are there. Returns the last of
    /// all that were kept.
    fn offer(&self, matches: &[u64], first: &mut First) -> Option<Sorted> {
        let (snapshot, executor) = (self.snapshot, self.executor as u32);
        let (oldest, has_dead) = (snapshot.window().oldest, snapshot.memory().has_dead());
        let mut last: Option<Sorted> = None;
        for [place, sequence, key] in matches.as_chunks::<MATCH_WORDS>().0 {
            let (segment, local) = (SegmentId((place >> 32) as u32), *place as u32);
            let key = (sequence & WITHOUT_VALUE == 0).then_some(*key);
            let sequence = sequence & !WITHOUT_VALUE;
            let found = Sorted { key, sequence, hit: Address { executor, segment, local } };
            if last.is_none_or(|last| found.comes_after(&last)) {
                last = Some(found);
            }
            let is_dead = || {
                let segment = snapshot.of(segment);
                segment.has_dead() && segment.is_dead(local)
            };
            if segment.position() >= oldest && !(has_dead && is_dead()) {
                first.offer(found);
            }
        }
        last
    }
}
