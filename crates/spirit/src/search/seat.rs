//! Seats: the view that a reader asks, and its slot there.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use spirit_index::ground::damage;
use spirit_mem::PinSlot;

use crate::config::corrupt::Corrupt;
use crate::engine::readable::Readable;
use crate::search::error::SearchError;
use crate::search::hit_error::HitError;
use crate::storage::view::View;

/// The most attempts to ask a question, each of a newer view.
const TRIES: usize = 8;

/// A view, and a slot in it.
pub(crate) struct Seat {
    view: Arc<View>,
    /// The slot; none once the seat is dropped.
    slot: Option<PinSlot>,
    /// The sequence number below which the last question saw all operations.
    as_of: u64,
}

/// The end of a question.
#[derive(Clone, Copy)]
pub(crate) enum End {
    /// The slot is left: nothing is read any more.
    Leave,
    /// The slot is held: hits stay readable.
    Hold,
}

/// A guard that unpins the slot when dropped, even while a panic unwinds.
struct Pinned<'s>(&'s Seat);

impl Drop for Pinned<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl Seat {
    pub(crate) fn take(view: Arc<View>, readers_max: usize) -> Result<Seat, SearchError> {
        let slot = view.pins.acquire().ok_or(SearchError::Readers { readers_max })?;
        Ok(Seat { view, slot: Some(slot), as_of: 0 })
    }

    /// Returns the sequence number below which the last question saw all operations.
    pub(crate) fn as_of(&self) -> u64 {
        self.as_of
    }

    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    #[inline]
    fn slot(&self) -> &PinSlot {
        self.slot.as_ref().expect("a seat has a slot")
    }

    /// Asks the current view.
    // Inlined. Otherwise the answer and its closures pass through memory, which takes a tenth of
    // the time of a short query (experiment `newest`).
    #[inline(always)]
    pub(crate) fn ask<T>(
        &mut self,
        index: &Readable,
        end: End,
        mut question: impl FnMut(&View) -> Result<T, SearchError>,
    ) -> Result<T, SearchError> {
        if self.view.follows() {
            return self.ask_what_is_followed(index, end, &mut question);
        }
        self.view.pins.pin(self.slot());
        self.as_of = self.view.sequence();
        let pinned = Pinned(self);
        if self.view.is_closed() {
            return Err(SearchError::Closed);
        }
        damage::clear();
        let answer = question(&self.view);
        if damage::is_any() {
            self.view.refuse_damage()?;
        }
        let answer = answer?;
        std::mem::forget(pinned);
        self.end(end);
        Ok(answer)
    }

    /// Like [`ask`](Self::ask), but for a view of another process. If its writer ends meanwhile,
    /// asks the next view.
    #[cold]
    fn ask_what_is_followed<T>(
        &mut self,
        index: &Readable,
        end: End,
        question: &mut dyn FnMut(&View) -> Result<T, SearchError>,
    ) -> Result<T, SearchError> {
        for _ in 0..TRIES {
            self.as_of = self.view.sequence();
            if let Some(answer) = self.try_to_answer(end, question) {
                return answer;
            }
            self.move_on(index)?;
        }
        let why = format!(
            "the writer reused the memory {TRIES} times during the query; this process may be too slow"
        );
        Err(SearchError::Unreadable { why })
    }

    /// Asks once. Returns none, even after a panic, if the memory may have been reused during the
    /// read.
    fn try_to_answer<T>(
        &self,
        end: End,
        question: &mut dyn FnMut(&View) -> Result<T, SearchError>,
    ) -> Option<Result<T, SearchError>> {
        self.view.pins.pin(self.slot());
        damage::clear();
        let answer = catch_unwind(AssertUnwindSafe(|| question(&self.view)));
        let answer = answer.map(|answer| self.view.refuse_damage().and(answer));
        let is_left = if matches!(answer, Ok(Ok(_))) { self.end(end) } else { self.leave() };
        if !is_left {
            return None;
        }
        Some(answer.unwrap_or_else(|panic| resume_unwind(panic)))
    }

    /// Ends a question. False if the memory may have been reused meanwhile.
    #[inline(always)]
    fn end(&self, end: End) -> bool {
        match end {
            End::Leave => self.leave(),
            End::Hold => self.hold(),
        }
    }

    /// Leaves the view. False if the memory may have been reused meanwhile.
    #[inline(always)]
    pub(crate) fn leave(&self) -> bool {
        self.view.pins.unpin(self.slot()) && !self.view.is_outdated()
    }

    /// Keeps the slot, which may then be revoked. False if the memory may have been reused
    /// meanwhile.
    #[inline(always)]
    pub(crate) fn hold(&self) -> bool {
        if self.view.pins.hold(self.slot()) && !self.view.is_outdated() {
            return true;
        }
        self.leave();
        false
    }

    /// Reads more memory of the hits while they are held.
    pub(crate) fn read<T>(
        &self,
        index: &Readable,
        read: impl FnOnce(&View) -> T,
    ) -> Result<T, HitError> {
        let expired = || {
            let lease = index.options.reader_lease;
            if self.view.is_closed() { HitError::Closed } else { HitError::Lease { lease } }
        };
        damage::clear();
        if self.view.is_outdated() || !self.view.pins.resume(self.slot()) {
            return Err(expired());
        }
        let reading = Reading(self);
        let read = if self.view.follows() {
            catch_unwind(AssertUnwindSafe(|| read(&self.view)))
        } else {
            Ok(read(&self.view))
        };
        std::mem::forget(reading);
        if !self.view.pins.hold(self.slot()) || self.view.is_outdated() {
            return Err(expired());
        }
        let read = read.unwrap_or_else(|panic| resume_unwind(panic));
        match self.view.damage() {
            None => Ok(read),
            Some((executor, what)) => Err(HitError::Corrupt(Corrupt::new(executor, what))),
        }
    }

    /// Moves to the current view.
    fn move_on(&mut self, index: &Readable) -> Result<(), SearchError> {
        if !self.view.is_outdated() {
            // The slot was revoked. It may be pinned again.
            return Ok(());
        }
        let unreadable = |why: String| SearchError::Unreadable { why };
        let view = index.view_after(&self.view).map_err(|error| unreadable(error.to_string()))?;
        let readers_max = index.options.readers_max;
        let seat = Seat::take(view, readers_max).map_err(|error| unreadable(error.to_string()))?;
        *self = seat;
        Ok(())
    }
}

/// A guard that holds the slot again when dropped.
struct Reading<'s>(&'s Seat);

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.0.view.pins.hold(self.0.slot());
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.view.pins.release(slot);
        }
    }
}
