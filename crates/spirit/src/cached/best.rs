//! The best matches. Their scores depend on all documents, so they are kept as a whole, and count as
//! long as nothing changed.
//!
//! | words of the value | |
//! |---|---|
//! | 0, 1 | number of the view; executors |
//! | two for each executor | first position (high half) and rewrites (low half); rows visible |
//! | one | the number of matches, if it was asked for; the highest bit is set if it is a lower bound |
//! | three for each match | executor and segment; row and score; sequence number |
//!
//! An operation, an update or a delete too, makes a row visible. A drop moves the first position. A
//! segment that is flushed, engraved or merged keeps its id, its rows and their scores.

use std::time::{Duration, Instant};

use spirit_cache::Value;
use spirit_index::ground::SegmentId;
use spirit_index::snapshot::Snapshot;
use spirit_query::{Address, Scored};

use super::{Candidate, Outcome, Recall};

/// While documents come, an entry seldom counts for the next question. Answers that take less time
/// are then not kept for a while.
const CHANGING_MIN: Duration = Duration::from_micros(100);

impl Candidate<'_> {
    /// Finds the best matches, if nothing changed since they were kept. True if it did.
    pub(crate) fn find_best<'s>(
        &mut self,
        view: u64,
        snapshots: impl Iterator<Item = Snapshot<'s>>,
        recall: &mut Recall,
        found: &mut Vec<Scored>,
    ) -> bool {
        write_state(view, snapshots, &mut recall.value);
        let cache = &self.cache.caches[recall.cache];
        let (key, state) = recall.key_and_value(0);
        let mut is_outdated = false;
        let is_found = cache.look_up(key, |value| {
            let (kept, words) = value.split_at(state.len());
            let is_equal = kept.len() == state.len() && kept.iter().eq(state.iter().copied());
            is_outdated = !is_equal;
            is_equal.then(|| read(words, found))
        });
        self.since = is_outdated.then(Instant::now);
        recall.outcome = if is_found.is_some() { Outcome::Hit } else { Outcome::Missed };
        is_found.is_some()
    }

    /// Keeps the best matches of the state that [`find_best`](Self::find_best) has written.
    pub(crate) fn keep_best(&self, found: &[Scored], recall: &mut Recall) {
        if (found.len() as u64) < self.cache.settings.matches_min {
            return;
        }
        let is_cheap = |since: Instant| since.elapsed() < CHANGING_MIN;
        if self.since.is_some_and(is_cheap) && !self.cache.settings.cost_min.is_zero() {
            return self.cache.costs.note(self.hash, false);
        }
        let out = &mut recall.value;
        for Scored { score, sequence, hit } in found {
            let Address { executor, segment, local } = *hit;
            let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
            out.extend([pair(executor, segment.0), pair(local, score.to_bits()), *sequence]);
        }
        recall.wait(0);
    }
}

/// Writes what the best matches depend on.
fn write_state<'s>(view: u64, snapshots: impl Iterator<Item = Snapshot<'s>>, out: &mut Vec<u64>) {
    out.clear();
    out.extend([view, 0]);
    for snapshot in snapshots {
        let (oldest, switches) = (snapshot.oldest(), snapshot.switches());
        out.extend([u64::from(oldest) << 32 | u64::from(switches), snapshot.visible()]);
        out[1] += 1;
    }
}

/// Reads matches. The words may be of any entry.
fn read(words: Value<'_>, found: &mut Vec<Scored>) {
    found.clear();
    let room = found.capacity();
    let mut words = words.iter();
    while let (Some(place), Some(row), Some(sequence)) = (words.next(), words.next(), words.next())
    {
        let hit = Address {
            executor: (place >> 32) as u32,
            segment: SegmentId(place as u32),
            local: (row >> 32) as u32,
        };
        if found.len() < room {
            found.push(Scored { score: f32::from_bits(row as u32), sequence, hit });
        }
    }
}
