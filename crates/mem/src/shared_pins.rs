//! Reader slots that processes share. They keep the writer from reusing memory that another process
//! reads.
//!
//! Slots come in *groups*, one for each process that reads. [`Pins`](crate::Pins) defines their
//! words and their use. There are two more words:
//!
//! | word | |
//! |---|---|
//! | epoch | the writer's, mirrored once raised; a late reader's older one holds back more |
//! | groups | a mask of the groups that are taken |
//!
//! # Orderings
//!
//! The writer enters a group in the mask before it sends it to the process, so before the group's
//! first pin. It scans the groups of the mask. Everything else is as between threads: memory is
//! coherent between processes too.
//!
//! A reader of another process may be stopped within a query. The writer may revoke such a slot, so
//! later reads of its owner may be wrong. The owner leaves by an RMW of the slot, which finds the
//! revocation. It then drops what it read. Its loads precede the leaving in program order, and its
//! release keeps them there. The writer reuses memory only after it has revoked. So a query that
//! left a slot without revocation has read no reused memory.

use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Relaxed, Release};

use crate::slot_word::{EPOCH_FIRST, EPOCH_MASK, FREE};
use crate::sync::Atom64;

/// The place of the shared words.
pub trait SharedPins<A>: Send + Sync {
    /// Returns the writer's epoch, mirrored.
    fn epoch(&self) -> &A;
    /// Returns the mask of groups that are taken.
    fn groups(&self) -> &A;
    /// Returns the number of slots of a group.
    fn group_slots(&self) -> usize;
    /// Returns the most groups, at most 64.
    fn groups_max(&self) -> usize;
    /// Returns a slot of a group.
    fn slot(&self, group: usize, slot: usize) -> &A;
}

/// The shared words, as seen by the writer or by one of the processes that read.
pub(crate) struct Shared<A> {
    pub(crate) words: Arc<dyn SharedPins<A>>,
    /// The group whose slots are given out here; none for the writer.
    pub(crate) group: Option<usize>,
}

impl<A: Atom64> Shared<A> {
    /// Returns the number of slots of all groups, taken or not.
    pub(crate) fn slots(&self) -> usize {
        self.words.groups_max() * self.words.group_slots()
    }

    /// Returns the slot at `index` among those of all groups.
    pub(crate) fn word(&self, index: usize) -> &A {
        let slots = self.words.group_slots();
        self.words.slot(index / slots, index % slots)
    }

    /// Raises the mirrored epoch to at least `epoch`.
    pub(crate) fn mirror(&self, epoch: u64) {
        raise(self.words.epoch(), epoch);
    }

    /// Returns the oldest epoch in a slot, or `horizon` if that is lower.
    pub(crate) fn horizon(&self, mut horizon: u64) -> u64 {
        for group in bits(self.words.groups().fetch_add(0, AcqRel)) {
            for slot in 0..self.words.group_slots() {
                let value = self.words.slot(group, slot).fetch_add(0, AcqRel);
                if value >= EPOCH_FIRST {
                    horizon = horizon.min(value & EPOCH_MASK);
                }
            }
        }
        horizon
    }
}

/// Takes a group, before its process learns of it. For the writer only.
pub fn enter<A: Atom64>(words: &dyn SharedPins<A>, group: usize) {
    clear(words, group);
    change_mask(words.groups(), |mask| mask | 1 << group);
}

/// Frees a group whose process reads no more. For the writer only.
pub fn clear<A: Atom64>(words: &dyn SharedPins<A>, group: usize) {
    for slot in 0..words.group_slots() {
        // Release: a scan that finds the slot free comes after the last reads from it.
        words.slot(group, slot).store(FREE, Release);
    }
    change_mask(words.groups(), |mask| mask & !(1 << group));
}

fn change_mask<A: Atom64>(mask: &A, change: impl Fn(u64) -> u64) {
    let mut now = mask.load(Relaxed);
    while let Err(found) = mask.compare_exchange(now, change(now), AcqRel, Relaxed) {
        now = found;
    }
}

/// Raises a word to `value` if it is lower. If it is not, the thread that raised it had seen
/// everything that the caller has: RMWs of one word give out the epochs.
fn raise<A: Atom64>(word: &A, value: u64) {
    let mut now = word.load(Relaxed);
    while now < value {
        match word.compare_exchange(now, value, AcqRel, Relaxed) {
            Ok(_) => return,
            Err(found) => now = found,
        }
    }
}

/// Iterates over the numbers of the bits that are set.
fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pins;
    use std::sync::atomic::AtomicU64;

    /// Two groups of two slots, in plain memory.
    #[derive(Default)]
    struct Words([AtomicU64; 6]);

    impl SharedPins<AtomicU64> for Words {
        fn epoch(&self) -> &AtomicU64 {
            &self.0[0]
        }
        fn groups(&self) -> &AtomicU64 {
            &self.0[1]
        }
        fn group_slots(&self) -> usize {
            2
        }
        fn groups_max(&self) -> usize {
            2
        }
        fn slot(&self, group: usize, slot: usize) -> &AtomicU64 {
            &self.0[2 + group * 2 + slot]
        }
    }

    fn words() -> Arc<Words> {
        Arc::default()
    }

    #[test]
    fn the_writer_waits_for_readers_of_another_process() {
        let words = words();
        let writer = Pins::new(1).shared(words.clone());
        enter(&*words, 1);
        let follower = Pins::follower(words.clone(), 1);
        let slots = [follower.acquire().unwrap(), follower.acquire().unwrap()];
        assert!(follower.acquire().is_none());
        follower.pin(&slots[1]);
        let stamp = writer.retire();
        assert!(writer.horizon() <= stamp);
        assert_eq!((writer.lag(), follower.lag()), (1, 1));
        assert!(follower.unpin(&slots[1]));
        assert!(writer.horizon() > stamp);

        follower.pin(&slots[0]);
        assert!(follower.hold(&slots[0]));
        let stamp = writer.retire();
        let held: Vec<_> = (0..writer.slots())
            .filter_map(|slot| Some((slot, writer.hold_in_the_way(slot)?)))
            .collect();
        let [(slot, hold)] = held[..] else { panic!("{held:?}") };
        assert!(writer.revoke(slot, hold));
        assert!(writer.horizon() > stamp && !follower.resume(&slots[0]));
    }

    #[test]
    fn a_query_whose_slot_was_revoked_is_told() {
        let words = words();
        let writer = Pins::new(1).shared(words.clone());
        enter(&*words, 0);
        let follower = Pins::follower(words.clone(), 0);
        let slot = follower.acquire().unwrap();
        for leave in [Pins::unpin, Pins::hold] {
            follower.pin(&slot);
            assert!((0..writer.slots()).all(|slot| writer.pin_in_the_way(slot).is_none()));
            let stamp = writer.retire();
            let pinned: Vec<_> = (0..writer.slots())
                .filter_map(|slot| Some((slot, writer.pin_in_the_way(slot)?)))
                .collect();
            let [(index, pin)] = pinned[..] else { panic!("{pinned:?}") };
            assert_eq!(writer.group_of(index), Some(0));
            assert!(writer.revoke(index, pin));
            assert!(writer.horizon() > stamp);
            assert!(!leave(&follower, &slot));
        }
        follower.pin(&slot);
        assert!(follower.unpin(&slot));
    }

    #[test]
    fn a_group_that_was_given_up_is_waited_for_no_more() {
        let words = words();
        let writer = Pins::new(1).shared(words.clone());
        enter(&*words, 0);
        let follower = Pins::follower(words.clone(), 0);
        let slot = follower.acquire().unwrap();
        follower.pin(&slot);
        let stamp = writer.retire();
        assert!(writer.horizon() <= stamp);
        clear(&*words, 0);
        assert!(writer.horizon() > stamp);
    }
}
