//! Reader slots and the reclamation horizon: when may unlinked memory be reused?
//!
//! A reader owns a slot. Before it loads any root it *pins*: it writes the current epoch into its
//! slot. At the end it unpins. A writer that has unlinked something calls [`Pins::retire`]. This
//! stamps the garbage with the current epoch and opens the next one. The memory may be reused once
//! the [`horizon`](Pins::horizon) has passed the stamp: once no slot has that epoch or an older
//! one.
//!
//! Slots are fixed at start: a reader beyond the last gets none. Only [`Pins::drain`] waits.
//! Nothing is allocated after the start. A reader that stays pinned only delays reuse.
//!
//! A reader that has its answer may read more of it later. It [*holds*](Pins::hold): the memory
//! stays, but a writer that needs it may [revoke](Pins::revoke) the slot. The reader finds that out
//! when it [resumes](Pins::resume). It cannot be revoked during a read, so it never reads reused
//! memory.
//!
//! | slot | word |
//! |---|---|
//! | without owner, idle, revoked | 0, 1, 2 |
//! | pinned | epoch |
//! | held | epoch; the hold's number in bits 47 to 62, so that two holds differ; bit 63 set |
//!
//! # Orderings
//!
//! The hard case is a reader that pins while the writer scans. Either the scan sees the pin, or the
//! reader sees the unlink. Both touch the slot with a read-modify-write (RMW), and those of one
//! location are totally ordered:
//!
//! - The scan comes later: it reads the pinned epoch, which is not above the stamp, and waits.
//! - The pin comes later: it reads from the scan, or from an RMW after it. The unlink precedes the
//!   scan in program order. So the scan's release, with the unlink, happens before the pin's
//!   acquire. Every root load after the pin sees the unlink.
//!
//! No sequentially consistent order is needed, only acquire-release RMWs, which loom checks
//! (`tests/pins_loom.rs`). On x86 the pin is one `xchg`. Unpin is a release store. The scan's
//! acquire that reads it orders the reader's last load before the reuse.
//!
//! The epoch that a reader publishes may be out of date when it is seen. This is conservative: it
//! holds back more than needed. It is loaded with acquire, though. A reader that publishes the
//! *new* epoch does not hold back the garbage stamped before it, so it must see those unlinks. It
//! does, because the epoch was raised (with release) after them. With a relaxed load, loom finds a
//! reader that publishes the new epoch and still reads the old root.
//!
//! Resuming and revoking are compare-and-exchange on one word, so one of them fails. Holding is a
//! release store, like unpinning. The revocation that reads it, and the scan that reads either,
//! come after the reader's last load.
//!
//! Readers may be in other processes: [`shared_pins`](crate::shared_pins). Their slots lie in
//! memory that all of them map. If their process is stopped, they may be revoked while they are
//! pinned. So they leave by an RMW, which detects that.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use crate::shared_pins::{Shared, SharedPins};
use crate::slot_word::{EPOCH_FIRST, EPOCH_MASK, FREE, HELD, HOLD_SHIFT, IDLE, REVOKED};
use crate::sync::Atom64;

/// A slot, alone on its pair of cache lines so that readers do not disturb each other.
#[repr(align(128))]
struct Slot<A>(A);

/// The reader slots, whose number is fixed, and the epoch.
pub struct Pins<A = AtomicU64> {
    epoch: Slot<A>,
    slots: Box<[Slot<A>]>,
    /// The slots after those, which other processes share.
    shared: Option<Shared<A>>,
}

/// A slot that its holder owns.
#[derive(Debug)]
pub struct PinSlot {
    index: usize,
    /// The number of its holds, wrapping.
    holds: Cell<u16>,
}

/// A hold or a pin that keeps memory from being reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold(u64);

impl Pins<AtomicU64> {
    /// Returns slots for at most `readers_max` readers at one time.
    pub fn new(readers_max: usize) -> Self {
        Pins::with_atoms(readers_max, AtomicU64::new)
    }

    /// Returns the slots of `group` in `words`, for a process that only reads.
    pub fn follower(words: Arc<dyn SharedPins<AtomicU64>>, group: usize) -> Self {
        Pins::new(0).with_shared(words, Some(group))
    }
}

impl<A: Atom64> Pins<A> {
    /// Returns slots like [`new`](Pins::new), over any atomic word.
    pub fn with_atoms(readers_max: usize, atom: impl Fn(u64) -> A) -> Self {
        let slots = (0..readers_max).map(|_| Slot(atom(FREE))).collect();
        Pins { epoch: Slot(atom(EPOCH_FIRST)), slots, shared: None }
    }

    /// Makes the writer wait for the readers of other processes too. No process may have `words`
    /// yet.
    pub fn shared(self, words: Arc<dyn SharedPins<A>>) -> Self {
        words.epoch().store(self.epoch.0.load(Relaxed), Release);
        self.with_shared(words, None)
    }

    /// Gives out only slots of `group` in `words`. If none: waits for the slots of all groups.
    pub fn with_shared(mut self, words: Arc<dyn SharedPins<A>>, group: Option<usize>) -> Self {
        self.shared = Some(Shared { words, group });
        self
    }

    /// Returns the number of slots, with those of other processes.
    pub fn slots(&self) -> usize {
        self.slots.len() + self.shared.as_ref().map_or(0, Shared::slots)
    }

    /// Returns the indexes of the slots that readers get here.
    fn given_out(&self) -> std::ops::Range<usize> {
        match self.shared.as_ref().map(|shared| (shared.group, shared.words.group_slots())) {
            Some((Some(group), slots)) => group * slots..(group + 1) * slots,
            _ => 0..self.slots.len(),
        }
    }

    /// Takes a free slot; none if all are taken.
    pub fn acquire(&self) -> Option<PinSlot> {
        self.given_out().find_map(|index| {
            // Acquire: the last owner's reads happen before ours.
            let taken = self.word_at(index).compare_exchange(FREE, IDLE, Acquire, Relaxed);
            taken.is_ok().then(|| PinSlot { index, holds: Cell::new(0) })
        })
    }

    /// Gives the slot back.
    pub fn release(&self, slot: PinSlot) {
        self.word(&slot).store(FREE, Release);
    }

    /// Pins the slot: everything reachable from now on stays until [`unpin`](Self::unpin).
    #[inline]
    pub fn pin(&self, slot: &PinSlot) {
        let (word, epoch) = match (self.slots.get(slot.index), &self.shared) {
            (None, Some(shared)) => {
                // An epoch that no writer has mirrored yet counts as the first. 0 would mean that
                // the slot is free.
                let epoch = shared.words.epoch().load(Acquire).max(EPOCH_FIRST);
                (shared.word(slot.index), epoch)
            }
            _ => (self.word(slot), self.epoch.0.load(Acquire)),
        };
        word.swap(epoch, AcqRel);
    }

    /// Unpins the slot. False if the slot was revoked meanwhile: everything read since the pin may
    /// be wrong.
    #[inline]
    pub fn unpin(&self, slot: &PinSlot) -> bool {
        match self.slots.get(slot.index) {
            Some(own) => {
                own.0.store(IDLE, Release);
                true
            }
            None => self.word(slot).swap(IDLE, AcqRel) >= EPOCH_FIRST,
        }
    }

    /// Holds a pinned slot: everything reachable stays unless the slot is revoked. False if it was
    /// revoked meanwhile.
    #[inline]
    pub fn hold(&self, slot: &PinSlot) -> bool {
        let number = slot.holds.get().wrapping_add(1);
        slot.holds.set(number);
        let held = |pinned: u64| HELD | (number as u64) << HOLD_SHIFT | pinned & EPOCH_MASK;
        if let Some(own) = self.slots.get(slot.index) {
            own.0.store(held(own.0.load(Relaxed)), Release);
            return true;
        }
        let word = self.word(slot);
        let pinned = word.load(Relaxed);
        pinned >= EPOCH_FIRST
            && word.compare_exchange(pinned, held(pinned), AcqRel, Relaxed).is_ok()
    }

    /// Pins a held slot again, at its epoch. False if it was revoked.
    pub fn resume(&self, slot: &PinSlot) -> bool {
        let word = self.word(slot).load(Relaxed);
        // Relaxed: later reads are of memory that was reachable all the time, or the exchange
        // fails.
        word & HELD != 0
            && self.word(slot).compare_exchange(word, word & EPOCH_MASK, Relaxed, Relaxed).is_ok()
    }

    #[inline(always)]
    fn word(&self, slot: &PinSlot) -> &A {
        self.word_at(slot.index)
    }

    #[inline(always)]
    fn word_at(&self, index: usize) -> &A {
        match self.slots.get(index) {
            Some(own) => &own.0,
            None => self.shared_word(index),
        }
    }

    #[inline(never)]
    fn shared_word(&self, index: usize) -> &A {
        let shared = self.shared.as_ref().expect("the slot was acquired in shared memory");
        shared.word(index - self.slots.len())
    }

    /// Returns the hold of the slot at `index` (below [`slots`](Self::slots)), if memory retired
    /// since waits for it.
    pub fn hold_in_the_way(&self, index: usize) -> Option<Hold> {
        let word = self.word_at(index).load(Relaxed);
        let waits = word & HELD != 0 && word & EPOCH_MASK < self.epoch.0.load(Relaxed);
        waits.then_some(Hold(word))
    }

    /// Returns the pin of the slot at `index`, if it is another process's and memory retired since
    /// waits for it. An unchanged pin is one query's: a later query publishes a later epoch.
    pub fn pin_in_the_way(&self, index: usize) -> Option<Hold> {
        self.group_of(index)?;
        let word = self.word_at(index).load(Relaxed);
        let waits = (EPOCH_FIRST..self.epoch.0.load(Relaxed)).contains(&word);
        waits.then_some(Hold(word))
    }

    /// Returns the group of the slot at `index`, if it is another process's.
    pub fn group_of(&self, index: usize) -> Option<usize> {
        let shared = self.shared.as_ref()?;
        Some(index.checked_sub(self.slots.len())? / shared.words.group_slots())
    }

    /// Revokes the slot, if it still has this hold. True if it did.
    pub fn revoke(&self, index: usize, hold: Hold) -> bool {
        self.word_at(index).compare_exchange(hold.0, REVOKED, AcqRel, Relaxed).is_ok()
    }

    /// Ends all reading of this process that began before the call. Waits for readers that are
    /// pinned, and revokes holds. A reader that pins later sees everything that the caller unlinked
    /// before the call.
    pub fn drain(&self) {
        let stamp = self.retire();
        while !self.is_drained(stamp) {
            std::thread::yield_now();
        }
    }

    /// Revokes holds of this process at the epoch `stamp` or an older one. True if no reader is
    /// pinned there.
    pub fn is_drained(&self, stamp: u64) -> bool {
        let is_gone = |slot: &Slot<A>| {
            // An RMW, as in `horizon`: a later pin reads from it, and sees the unlinks.
            let word = slot.0.fetch_add(0, AcqRel);
            let is_older = word >= EPOCH_FIRST && word & EPOCH_MASK <= stamp;
            let revoke = || slot.0.compare_exchange(word, REVOKED, AcqRel, Relaxed).is_ok();
            !is_older || (word & HELD != 0 && revoke())
        };
        self.slots.iter().all(is_gone)
    }

    /// Returns a stamp for memory that the caller has just unlinked. It may be reused once
    /// `horizon()` is above the stamp.
    pub fn retire(&self) -> u64 {
        let stamp = self.epoch.0.fetch_add(1, AcqRel);
        if let Some(shared) = &self.shared {
            shared.mirror(stamp + 1);
        }
        stamp
    }

    /// Returns the number of epochs that began since the oldest reader pinned or held; 0 without
    /// readers. For statistics: unlike [`horizon`](Self::horizon) it only loads, so it does not
    /// disturb readers. A process that only reads counts the readers of such processes.
    pub fn lag(&self) -> u64 {
        let mirrored = self.shared.as_ref().map(|shared| shared.words.epoch().load(Relaxed));
        let now = mirrored.into_iter().fold(self.epoch.0.load(Relaxed), u64::max);
        let words = (0..self.slots()).map(|index| self.word_at(index).load(Relaxed));
        let epochs = words.filter(|word| *word >= EPOCH_FIRST).map(|word| word & EPOCH_MASK);
        epochs.fold(0, |lag, epoch| lag.max(now.saturating_sub(epoch)))
    }

    /// Returns the oldest epoch that a reader may be in; the current one without such a reader.
    pub fn horizon(&self) -> u64 {
        // The epoch first. A reader that pins after its slot was scanned publishes at least this
        // one, or an older one. In that case it loads roots only after the unlinks of everything
        // stamped before the scan.
        let mut horizon = self.epoch.0.load(Acquire);
        for slot in &self.slots {
            let value = slot.0.fetch_add(0, AcqRel);
            if value >= EPOCH_FIRST {
                horizon = horizon.min(value & EPOCH_MASK);
            }
        }
        self.shared.as_ref().map_or(horizon, |shared| shared.horizon(horizon))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_bounded_and_come_back() {
        let pins = Pins::new(2);
        let a = pins.acquire().unwrap();
        let b = pins.acquire().unwrap();
        assert!(pins.acquire().is_none());
        pins.release(a);
        assert!(pins.acquire().is_some());
        pins.release(b);
    }

    #[test]
    fn the_horizon_waits_for_the_oldest_reader() {
        let pins = Pins::new(4);
        let (a, b) = (pins.acquire().unwrap(), pins.acquire().unwrap());
        pins.pin(&a);
        let first = pins.retire();
        pins.pin(&b);
        let second = pins.retire();
        assert!(pins.horizon() <= first);
        pins.unpin(&a);
        assert!(pins.horizon() > first && pins.horizon() <= second);
        pins.unpin(&b);
        assert!(pins.horizon() > second);
    }

    #[test]
    fn the_lag_is_that_of_the_oldest_reader() {
        let pins = Pins::new(4);
        let (a, b) = (pins.acquire().unwrap(), pins.acquire().unwrap());
        pins.retire();
        assert_eq!(pins.lag(), 0);
        pins.pin(&a);
        assert_eq!(pins.lag(), 0);
        pins.retire();
        pins.pin(&b);
        pins.retire();
        assert_eq!(pins.lag(), 2);
        assert!(pins.hold(&a));
        assert_eq!(pins.lag(), 2);
        pins.unpin(&a);
        assert_eq!(pins.lag(), 1);
        pins.unpin(&b);
        assert_eq!(pins.lag(), 0);
    }

    #[test]
    fn a_hold_counts_until_it_is_revoked() {
        let pins = Pins::new(1);
        let slot = pins.acquire().unwrap();
        pins.pin(&slot);
        pins.hold(&slot);
        assert_eq!(pins.hold_in_the_way(0), None, "nothing waits for it");
        let stamp = pins.retire();
        assert!(pins.horizon() <= stamp);
        let hold = pins.hold_in_the_way(0).unwrap();
        assert!(pins.resume(&slot));
        assert!(!pins.revoke(0, hold), "it is being read");
        pins.hold(&slot);
        assert!(!pins.revoke(0, hold), "another hold");
        assert!(pins.revoke(0, pins.hold_in_the_way(0).unwrap()));
        assert!(pins.horizon() > stamp);
        assert!(!pins.resume(&slot));
        pins.pin(&slot);
        assert!(pins.horizon() > stamp);
        assert!(!pins.resume(&slot), "pinned, not held");
        pins.unpin(&slot);
    }
}
