//! Numbers of matches up to a limit, with what is known of registered segments.
//!
//! | words of the value | |
//! |---|---|
//! | 0, 1 | [footing](super::footing) |
//! | 2, 3 | number of rows that the snapshot saw, and first position (high half) and end (low half) of the registered segments |
//! | 4 | number of matches in them, or a number above the limit if there are more than that |
//! | 5, 6 | the position behind the newest fresh segment, and the number of matches in fresh segments, likewise |
//!
//! Such a count ends behind the limit, so it takes little time where an exact one takes long. If
//! anything but new rows came, it is made again.

use spirit_cache::Value;
use spirit_index::ground::Position;
use spirit_index::memory::Window;
use spirit_index::snapshot::Snapshot;
use spirit_query::{Settings, Stop, Tally};

use super::footing::{Footing, Stand};
use super::gather::TAIL_ROWS;
use super::{Caller, Candidate, Outcome, Recall, registered_from};

/// What is known.
#[derive(Clone, Copy, Default)]
struct Known {
    /// The number of rows that the snapshot saw.
    seen: u64,
    segments: Window,
    count: u64,
    /// The position behind the newest fresh segment.
    fresh_end: Position,
    /// The number of matches in fresh segments.
    fresh: u64,
}

impl Candidate<'_> {
    /// Adds the matches in an executor to `all`, up to the limit `up_to`.
    pub(crate) fn total(
        self,
        mut caller: Caller<'_>,
        up_to: u64,
        all: &mut Tally,
        recall: &mut Recall,
    ) -> Result<(), Stop> {
        let snapshot = caller.snapshot;
        let footing = Footing::new(caller.view, snapshot);
        let cache = &self.cache.caches[recall.cache];
        let found = cache.look_up(recall.key(caller.executor), |value| Known::read(value, footing));
        let known = found.filter(|known| known.counts_for(snapshot));
        let (now, is_new) = caller.bring_up(known, up_to)?;
        if let Some(Known { segments, .. }) = known {
            self.note_segments(segments.end - segments.oldest, now.segments.end - segments.end);
        }
        all.add_found(now.count);
        all.add_found(now.fresh);
        let is_longer = known.is_some_and(|known| now.seen >= known.seen + TAIL_ROWS);
        let is_kept = now.count + now.fresh >= self.cache.settings.matches_min;
        // Another thread's snapshot may have been newer than this one.
        let is_newest = found.is_none_or(|found| found.seen <= now.seen);
        if (is_new || is_longer) && is_kept && is_newest {
            now.write(footing, &mut recall.value);
            recall.wait(caller.executor);
        }
        self.note(Outcome::of(known.is_some(), is_new), recall);
        Ok(())
    }
}

impl Known {
    /// Reads an entry, unless some of its segments were rewritten.
    fn read(value: Value<'_>, footing: Footing) -> Option<Known> {
        let Stand { from, words, .. } = footing.read(value)?;
        let known = Known {
            seen: words.get(0)?,
            segments: Window::from_word(words.get(1)?),
            count: words.get(2)?,
            fresh_end: words.get(3)? as Position,
            fresh: words.get(4)?,
        };
        (known.segments.oldest >= from).then_some(known)
    }

    fn write(&self, footing: Footing, out: &mut Vec<u64>) {
        let Known { seen, segments, count, fresh_end, fresh } = *self;
        out.clear();
        footing.write(0, out);
        out.extend([seen, segments.word(), count, u64::from(fresh_end), fresh]);
    }

    /// True if it counts for a snapshot: all its segments are there, and nothing died in them.
    fn counts_for(&self, snapshot: &Snapshot<'_>) -> bool {
        let (segments, window) = (self.segments, snapshot.window());
        let is_there = segments.oldest == window.oldest && segments.end <= window.end;
        is_there && self.seen <= snapshot.visible() && snapshot.has_unchanged(segments, self.seen)
    }

    /// True if the matches in fresh segments count for a snapshot.
    fn counts_fresh(&self, snapshot: &Snapshot<'_>) -> bool {
        let segments = Window { oldest: self.segments.end, end: self.fresh_end };
        let is_fresh = segments.oldest == snapshot.window().end;
        is_fresh && snapshot.has_unchanged(segments, self.seen)
    }
}

impl Caller<'_> {
    /// Brings what is known up to the snapshot. The flag is true if more than new rows was
    /// evaluated.
    fn bring_up(&mut self, known: Option<Known>, up_to: u64) -> Result<(Known, bool), Stop> {
        let (snapshot, window) = (self.snapshot, self.snapshot.window());
        let tail = known.filter(|known| known.counts_fresh(snapshot));
        let fresh_end = snapshot.fresh().next().map(|segment| segment.id().position() + 1);
        let (seen, from_row) = (snapshot.visible(), tail.map_or(0, |tail| tail.seen));
        let mut fresh = Tally::up_to(up_to);
        fresh.add_found(tail.map_or(0, |tail| tail.fresh));
        if fresh_end.is_some() && seen > from_row {
            self.tally(&mut fresh, &snapshot.since(window.end), from_row)?;
        }
        let newer = known.map_or(window, |known| registered_from(snapshot, known.segments.end));
        let mut registered = Tally::up_to(up_to);
        registered.add_found(known.map_or(0, |known| known.count));
        if newer.oldest < newer.end {
            self.tally(&mut registered, &snapshot.within(newer), 0)?;
        }
        let now = Known {
            seen,
            segments: window,
            count: registered.total().count(),
            fresh_end: fresh_end.unwrap_or(window.end),
            fresh: fresh.total().count(),
        };
        Ok((now, tail.is_none()))
    }

    fn tally(
        &mut self,
        tally: &mut Tally,
        snapshot: &Snapshot<'_>,
        from_row: u64,
    ) -> Result<(), Stop> {
        let settings = Settings { from_row, ..self.settings };
        tally.add(snapshot, self.query, settings, self.scratch)
    }
}
