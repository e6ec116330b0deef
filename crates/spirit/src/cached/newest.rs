//! The newest matches, with those that are known of registered segments.
//!
//! | words of the value | |
//! |---|---|
//! | 0, 1 | [footing](super::footing), with 1 if there were more matches than were kept |
//! | 2 | first position (high half) and end (low half) of the segments |
//! | 3 | number of rows that the snapshot saw |
//! | one for each match, newest first | segment (high half) and row (low half) |
//!
//! A death takes a match out of the list, and a rewrite takes out those of its segments. Then the
//! list may have too few, though there are more: all is evaluated again. Dropped segments are the
//! oldest ones. So if the list reaches into one, it has all matches of the others.

use spirit_cache::Value;
use spirit_index::ground::{Position, SegmentId};
use spirit_index::memory::Window;
use spirit_index::snapshot::Snapshot;
use spirit_query::{Address, Stop};

use super::footing::{Footing, Stand};
use super::{Caller, Candidate, Outcome, Recall, registered_from};

/// What is known of registered segments, beside the matches that were read.
#[derive(Clone, Copy)]
struct Known {
    segments: Window,
    /// True if these have more matches than were read.
    is_cut: bool,
    /// Matches in segments below this position are not known any more.
    from: Position,
    /// True if the matches are among the hits.
    is_appended: bool,
}

/// What an entry gave.
struct Listed {
    /// True if the segments that are left may have more matches.
    is_cut: bool,
}

impl Candidate<'_> {
    /// Adds the newest `k` matches of an executor to `hits`.
    pub(crate) fn newest(
        self,
        mut caller: Caller<'_>,
        k: usize,
        hits: &mut Vec<Address>,
        recall: &mut Recall,
    ) -> Result<(), Stop> {
        let footing = Footing::new(caller.view, caller.snapshot);
        let (start, window) = (hits.len(), caller.snapshot.window());
        if caller.snapshot.fresh().next().is_some() {
            caller.newest_in(&caller.snapshot.since(window.end), k, hits)?;
        }
        let first = hits.len();
        let known = self.read(&caller, footing, start + k, hits, recall);
        if known.is_some_and(|known| known.segments.end > window.end) {
            // Another thread's snapshot was newer than this one.
            self.note(Outcome::Missed, recall);
            caller.newest_in(&caller.snapshot.within(window), k, hits)?;
            hits.truncate(start + k);
            return Ok(());
        }
        if let Some(known) = known {
            let newer = registered_from(caller.snapshot, known.segments.end);
            let is_newer = newer.oldest < newer.end;
            if is_newer {
                caller.newest_in(&caller.snapshot.within(newer), k, hits)?;
            }
            let is_cut = match known.is_appended {
                true => known.is_cut,
                false => caller.append(known, &recall.value, first + k, hits).is_cut,
            };
            if !is_cut || hits.len() - start >= k {
                if is_newer {
                    self.keep_newest(footing, &hits[first..], is_cut, &caller, recall);
                }
                hits.truncate(start + k);
                let taken = known.segments.end.saturating_sub(window.oldest);
                self.note_segments(taken, newer.end.saturating_sub(newer.oldest));
                self.note(if is_newer { Outcome::Joined } else { Outcome::Hit }, recall);
                return Ok(());
            }
            hits.truncate(first);
            self.note_segments(0, window.end - window.oldest);
        }
        caller.newest_in(&caller.snapshot.within(window), k, hits)?;
        self.keep_newest(footing, &hits[first..], hits.len() - first == k, &caller, recall);
        hits.truncate(start + k);
        self.note(Outcome::Missed, recall);
        Ok(())
    }

    /// Reads the matches of an entry. If all of them count and nothing comes before them, they are
    /// added to `hits` at once, until there are `end`.
    fn read(
        self,
        caller: &Caller<'_>,
        footing: Footing,
        end: usize,
        hits: &mut Vec<Address>,
        recall: &mut Recall,
    ) -> Option<Known> {
        let first = hits.len();
        let cache = &self.cache.caches[recall.cache];
        let (key, out) = recall.key_and_value(caller.executor);
        let known = cache.look_up(key, |value: Value<'_>| {
            let Stand { number, from, words } = footing.read(value)?;
            let (segments, seen) = (Window::from_word(words.get(0)?), words.get(1)?);
            let matches = words.split_at(2).1;
            let is_appended = caller.has_all(segments, from, seen, matches);
            if is_appended {
                hits.extend(matches.iter().take(end - first).map(|word| caller.address(word)));
            } else {
                out.clear();
                out.extend(matches.iter().take(out.capacity()));
            }
            let is_cut = number != 0 || segments.oldest < from;
            Some(Known { segments, is_cut, from, is_appended })
        });
        if known.is_none() {
            // The entry changed while it was read.
            hits.truncate(first);
        }
        known
    }

    /// Keeps the newest matches of all registered segments.
    fn keep_newest(
        self,
        footing: Footing,
        found: &[Address],
        is_cut: bool,
        caller: &Caller<'_>,
        recall: &mut Recall,
    ) {
        if (found.len() as u64) < self.cache.settings.matches_min {
            return;
        }
        let out = &mut recall.value;
        out.clear();
        footing.write(u32::from(is_cut), out);
        out.extend([caller.snapshot.window().word(), caller.snapshot.visible()]);
        let word = |hit: &Address| u64::from(hit.segment.0) << 32 | u64::from(hit.local);
        out.extend(found.iter().map(word));
        recall.wait(caller.executor);
    }
}

impl Caller<'_> {
    fn newest_in(
        &mut self,
        snapshot: &Snapshot<'_>,
        k: usize,
        hits: &mut Vec<Address>,
    ) -> Result<(), Stop> {
        let (query, settings, executor) = (self.query, self.settings, self.executor as u32);
        spirit_query::newest(snapshot, query, settings, self.scratch, executor, k, hits)
    }

    /// True if all matches of an entry count, and no registered segment is newer.
    fn has_all(&self, segments: Window, from: Position, seen: u64, matches: Value<'_>) -> bool {
        let (snapshot, window) = (self.snapshot, self.snapshot.window());
        let last = matches.len().checked_sub(1).and_then(|last| matches.get(last));
        // The last one is in the oldest segment.
        let oldest = last.map_or(Position::MAX, |word| self.address(word).segment.position());
        let is_there = segments.end == window.end && oldest >= from.max(window.oldest);
        is_there && snapshot.has_unchanged(segments, seen.min(snapshot.visible()))
    }

    fn address(&self, word: u64) -> Address {
        let (segment, local) = (SegmentId((word >> 32) as u32), word as u32);
        Address { executor: self.executor as u32, segment, local }
    }

    /// Adds the matches of an entry that live and whose segments are there, until there are `end`
    /// hits.
    fn append(&self, known: Known, matches: &[u64], end: usize, hits: &mut Vec<Address>) -> Listed {
        let snapshot = self.snapshot;
        let (oldest, has_dead) = (snapshot.window().oldest, snapshot.memory().has_dead());
        for word in matches {
            let found = self.address(*word);
            let Address { segment, local, .. } = found;
            if hits.len() >= end || segment.position() < known.from {
                return Listed { is_cut: true };
            }
            if segment.position() < oldest {
                return Listed { is_cut: false };
            }
            let is_dead = || {
                let segment = snapshot.of(segment);
                segment.has_dead() && segment.is_dead(local)
            };
            if !(has_dead && is_dead()) {
                hits.push(found);
            }
        }
        Listed { is_cut: known.is_cut }
    }
}
