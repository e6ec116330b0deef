//! Answers that are gathered segment by segment: an entry is brought up to a snapshot, and only what
//! is new or changed is evaluated.

use spirit_index::memory::Window;
use spirit_index::snapshot::Snapshot;
use spirit_query::Stop;

use super::footing::Footing;
use super::parts::{Part, Parts, State};
use super::{Candidate, Outcome, Recall};

/// Parts that a first answer is divided into.
const PARTS_FIRST: u32 = 8;
/// A tail is kept again once it has this many more rows. A question evaluates them in about the
/// time of a fill.
pub(super) const TAIL_ROWS: u64 = 2048;

/// A way to answer a question in parts.
pub(super) trait Gather {
    type State: State;
    type Error: From<Stop>;

    /// Evaluates the rows of a snapshot from `from_row` on.
    fn evaluate(
        &mut self,
        snapshot: &Snapshot<'_>,
        from_row: u64,
    ) -> Result<Self::State, Self::Error>;

    /// Returns the sum of states of different rows.
    fn join(
        &mut self,
        states: &mut dyn Iterator<Item = &Self::State>,
    ) -> Result<Self::State, Self::Error>;
}

/// One answer on its way.
struct Renewal<'a, G: Gather> {
    snapshot: &'a Snapshot<'a>,
    gather: &'a mut G,
    parts: Parts<G::State>,
    /// The position behind the newest part.
    next: u32,
    /// Segments of the parts that were taken.
    taken: u32,
    /// True if something other than new rows was evaluated.
    is_changed: bool,
}

impl Candidate<'_> {
    /// Answers a question in one executor, and keeps the answer. Returns its parts and its tail.
    pub(super) fn gather<G: Gather>(
        self,
        (view, executor): (u64, usize),
        snapshot: &Snapshot<'_>,
        gather: &mut G,
        recall: &mut Recall,
        is_kept: impl FnOnce(&Parts<G::State>) -> bool,
    ) -> Result<Parts<G::State>, G::Error> {
        let footing = Footing::new(view, snapshot);
        let cache = &self.cache.caches[recall.cache];
        let found = cache.look_up(recall.key(executor), |value| Parts::read(value, footing));
        let is_found = found.is_some();
        let mut known = found.unwrap_or_default();
        let (end, rows) = (known.end(), known.tail.as_ref().map_or(0, |tail| tail.rows_end));
        let parts = Parts::default();
        let next = snapshot.window().oldest;
        let mut renewal = Renewal { snapshot, gather, parts, next, taken: 0, is_changed: false };
        renewal.registered(&mut known)?;
        renewal.rest(known.tail.take())?;
        let Renewal { mut parts, taken, is_changed, .. } = renewal;
        if is_changed {
            parts.add_up(|states| gather.join(states))?;
        } else {
            parts.take_sum(&mut known);
        }
        if is_found {
            let Window { oldest, end } = snapshot.window();
            self.note_segments(taken, (end - oldest).saturating_sub(taken));
        }
        let is_longer = snapshot.visible() >= rows + TAIL_ROWS;
        // Another thread's snapshot may have been newer than this one.
        let is_newest = end <= parts.end() && rows <= snapshot.visible();
        if (is_changed || is_longer) && is_newest && is_kept(&parts) {
            parts.write(footing, &mut recall.value);
            recall.wait(executor);
        }
        self.note(Outcome::of(is_found, is_changed), recall);
        Ok(parts)
    }
}

impl<G: Gather> Renewal<'_, G> {
    /// Takes the parts that are as they were, and evaluates the segments of others, and those before
    /// and between them.
    fn registered(&mut self, known: &mut Parts<G::State>) -> Result<(), G::Error> {
        let window = self.snapshot.window();
        // Invariant: `parts` has the segments of the window below `next`.
        for part in known.as_mut_slice() {
            let Window { oldest, end } = part.segments;
            // A part may be gone, or be of another thread's snapshot, which was newer.
            if end <= self.next || end > window.end {
                continue;
            }
            if oldest > self.next {
                self.evaluate(Window { oldest: self.next, end: oldest }, None)?;
            }
            if oldest == self.next && self.is_unchanged(part) {
                self.taken += end - oldest;
                self.push(std::mem::take(part))?;
            } else {
                self.evaluate(Window { oldest: self.next, end }, None)?;
            }
        }
        Ok(())
    }

    /// Evaluates what lies behind the parts. The tail has the rows before its end already.
    fn rest(&mut self, tail: Option<Part<G::State>>) -> Result<(), G::Error> {
        let window = self.snapshot.window();
        let tail = tail.filter(|tail| {
            let is_next =
                tail.segments.oldest == self.next && tail.rows_end <= self.snapshot.visible();
            is_next && self.is_unchanged(tail)
        });
        self.is_changed |= tail.is_none();
        if tail.is_none() && self.next == window.oldest {
            // Nothing is known. Parts of about equal size are made, since one of them may change.
            let size = (window.end - window.oldest).div_ceil(PARTS_FIRST).max(1);
            while self.next < window.end {
                let end = self.next.saturating_add(size).min(window.end);
                self.evaluate(Window { oldest: self.next, end }, None)?;
            }
        }
        let from_row = tail.as_ref().map_or(0, |tail| tail.rows_end);
        let is_registered = tail.as_ref().is_none_or(|tail| tail.segments.end <= window.end);
        let before = if is_registered && self.next < window.end {
            self.evaluate(Window { oldest: self.next, end: window.end }, tail)?;
            None
        } else {
            tail.map(|tail| tail.state)
        };
        let mut state = match self.snapshot.visible() > from_row && self.has_fresh() {
            true => self.gather.evaluate(&self.snapshot.since(self.next), from_row)?,
            // Nothing came since.
            false => G::State::default(),
        };
        if let Some(before) = before {
            state = self.gather.join(&mut [state, before].iter())?;
        }
        let (seen, segments) = (self.snapshot.visible(), self.behind());
        self.parts.tail = Some(Part { segments, seen, rows_end: seen, state });
        Ok(())
    }

    /// True if there are rows behind the registered segments.
    fn has_fresh(&self) -> bool {
        self.snapshot.fresh().next().is_some()
    }

    /// Returns the segments behind the parts, up to the newest.
    fn behind(&self) -> Window {
        let newest = self.snapshot.fresh().next().map(|segment| segment.id().position() + 1);
        let end = newest.unwrap_or(self.snapshot.window().end).max(self.next);
        Window { oldest: self.next, end }
    }

    /// Evaluates registered segments as a part. `known` has the rows before its end already.
    fn evaluate(
        &mut self,
        segments: Window,
        known: Option<Part<G::State>>,
    ) -> Result<(), G::Error> {
        let snapshot = self.snapshot.within(segments);
        let from_row = known.as_ref().map_or(0, |known| known.rows_end);
        let mut state = self.gather.evaluate(&snapshot, from_row)?;
        if let Some(known) = known {
            state = self.gather.join(&mut [state, known.state].iter())?;
        }
        self.is_changed = true;
        let (seen, rows_end) = (self.snapshot.visible(), u64::MAX);
        self.push(Part { segments, seen, rows_end, state })
    }

    fn push(&mut self, part: Part<G::State>) -> Result<(), G::Error> {
        self.next = part.segments.end;
        let Renewal { parts, gather, .. } = self;
        parts.push(part, |one, other| gather.join(&mut [one, other].into_iter()))
    }

    /// True if the documents that lived in a part's segments still live.
    fn is_unchanged(&self, part: &Part<G::State>) -> bool {
        let seen = part.seen.min(self.snapshot.visible());
        self.snapshot.has_unchanged(part.segments, seen)
    }
}
