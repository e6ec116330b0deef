//! Reader slots that processes share: what lets a process that only reads keep the writer from reusing what it reads.
//!
//! Slots come in *groups*, one for each process that reads. The words are those of [`Pins`](crate::Pins), which says how
//! readers and the writer use them; beside them lie three:
//!
//! | word | |
//! |---|---|
//! | epoch | the writer's, mirrored after it was raised: who sees it late publishes an older one, which holds back more |
//! | changes | how often the writer changed what is found; raised before the epoch is retired for what a change frees |
//! | groups | a mask of those that are taken |
//!
//! # Orderings
//!
//! A reader pins, then loads `changes` (acquire). What it found earlier still counts if that was made of the same count or a
//! later one. Memory that its pin does not protect was retired before the epoch was raised that it published, or
//! before a scan that came before its pin; `changes` was raised before either, so the reader sees that, and finds anew.
//!
//! A group is entered in the mask by a read-modify-write before its first pin, and the writer looks at the mask by one, so of
//! the two the later one sees the earlier: either the writer scans the group, or the group's pins come after all that the
//! writer unlinked before it looked.

use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use crate::pins::{EPOCH_FIRST, EPOCH_MASK, FREE};
use crate::sync::Atom64;

/// Where the shared words lie.
pub trait SharedPins<A>: Send + Sync {
    /// The writer's epoch, mirrored.
    fn epoch(&self) -> &A;
    /// How often the writer changed what is found.
    fn changes(&self) -> &A;
    /// The groups that are taken, a bit each.
    fn groups(&self) -> &A;
    /// Slots of a group.
    fn group_slots(&self) -> usize;
    /// Groups that there can be, at most 64.
    fn groups_max(&self) -> usize;
    /// A slot.
    fn slot(&self, group: usize, slot: usize) -> &A;
    /// Clears a group if its process has ended; says whether it had.
    fn reap(&self, _group: usize) -> bool {
        false
    }
}

/// The shared words as the writer or one of the processes that read has them.
pub(crate) struct Shared<A> {
    pub(crate) words: Arc<dyn SharedPins<A>>,
    /// Whose slots are given out here; none by the writer.
    pub(crate) group: Option<usize>,
}

impl<A: Atom64> Shared<A> {
    /// All slots of all groups, taken or not.
    pub(crate) fn slots(&self) -> usize {
        self.words.groups_max() * self.words.group_slots()
    }

    /// The slot at `index` of all.
    pub(crate) fn word(&self, index: usize) -> &A {
        let slots = self.words.group_slots();
        self.words.slot(index / slots, index % slots)
    }

    /// The epoch is at least `epoch` now.
    pub(crate) fn mirror(&self, epoch: u64) {
        raise(self.words.epoch(), epoch);
    }

    /// The oldest epoch in a slot, if it is below `horizon`.
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

    /// Clears groups of processes that have ended, if something waits for them: `epoch` is the current one.
    pub(crate) fn reap(&self, epoch: u64) {
        let waits = |group| {
            let slots = 0..self.words.group_slots();
            let mut values = slots.map(|slot| self.words.slot(group, slot).load(Relaxed));
            values.any(|value| value >= EPOCH_FIRST && value & EPOCH_MASK < epoch)
        };
        for group in bits(self.words.groups().load(Relaxed)).filter(|group| waits(*group)) {
            self.words.reap(group);
        }
    }
}

/// Takes a group, whose process is the caller's: nobody else enters or clears it meanwhile.
pub fn enter<A: Atom64>(words: &dyn SharedPins<A>, group: usize) {
    clear(words, group);
    change_mask(words.groups(), |mask| mask | 1 << group);
}

/// Gives a group up, whose process reads no more. Nobody else enters or clears it meanwhile.
pub fn clear<A: Atom64>(words: &dyn SharedPins<A>, group: usize) {
    for slot in 0..words.group_slots() {
        // Release: the last reads from this slot come before what a scan that finds it free lets happen.
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

/// Raises a word to `value` if it is lower. Where it is not, whoever raised it had seen what the caller has: epochs are given
/// out by read-modify-writes of one word.
fn raise<A: Atom64>(word: &A, value: u64) {
    let mut now = word.load(Relaxed);
    while now < value {
        match word.compare_exchange(now, value, AcqRel, Relaxed) {
            Ok(_) => return,
            Err(found) => now = found,
        }
    }
}

/// How often the writer changed what is found, as of now.
pub(crate) fn changes<A: Atom64>(words: &dyn SharedPins<A>) -> u64 {
    words.changes().load(Acquire)
}

/// The numbers of the bits that are set.
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
    struct Words([AtomicU64; 7]);

    impl SharedPins<AtomicU64> for Words {
        fn epoch(&self) -> &AtomicU64 {
            &self.0[0]
        }
        fn changes(&self) -> &AtomicU64 {
            &self.0[1]
        }
        fn groups(&self) -> &AtomicU64 {
            &self.0[2]
        }
        fn group_slots(&self) -> usize {
            2
        }
        fn groups_max(&self) -> usize {
            2
        }
        fn slot(&self, group: usize, slot: usize) -> &AtomicU64 {
            &self.0[3 + group * 2 + slot]
        }
        fn reap(&self, group: usize) -> bool {
            clear(self, group);
            true
        }
    }

    fn words() -> Arc<Words> {
        Arc::new(Words(Default::default()))
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
        follower.unpin(&slots[1]);
        assert!(writer.horizon() > stamp);

        follower.pin(&slots[0]);
        follower.hold(&slots[0]);
        let stamp = writer.retire();
        let held: Vec<_> = (0..writer.slots())
            .filter_map(|slot| Some((slot, writer.hold_in_the_way(slot)?)))
            .collect();
        let [(slot, hold)] = held[..] else { panic!("{held:?}") };
        assert!(writer.revoke(slot, hold));
        assert!(writer.horizon() > stamp && !follower.resume(&slots[0]));
    }

    #[test]
    fn who_reads_before_there_is_a_writer_is_waited_for() {
        let words = words();
        enter(&*words, 0);
        let follower = Pins::follower(words.clone(), 0);
        let slot = follower.acquire().unwrap();
        follower.pin(&slot);
        assert_ne!(follower.acquire().unwrap().index(), slot.index());
        let writer = Pins::new(1).shared(words);
        assert!(writer.horizon() <= writer.start_stamp().unwrap());
        follower.unpin(&slot);
        assert!(writer.horizon() > writer.start_stamp().unwrap());
    }

    #[test]
    fn a_group_in_the_way_is_reaped() {
        let words = words();
        let writer = Pins::new(1).shared(words.clone());
        enter(&*words, 0);
        let follower = Pins::follower(words.clone(), 0);
        let slot = follower.acquire().unwrap();
        follower.pin(&slot);
        writer.reap();
        assert_eq!(words.groups().load(Relaxed), 1, "nothing waits for it");
        let stamp = writer.retire();
        writer.reap();
        assert!(writer.horizon() > stamp);
        assert_eq!(words.groups().load(Relaxed), 0);
    }

    #[test]
    fn a_writer_goes_on_behind_what_readers_pinned() {
        let words = words();
        let first = Pins::new(1).shared(words.clone());
        assert_eq!(first.start_stamp(), None, "nobody was there");
        enter(&*words, 0);
        let follower = Pins::follower(words.clone(), 0);
        let slot = follower.acquire().unwrap();
        first.retire();
        follower.pin(&slot);
        let seen = follower.changes();
        drop(first);
        let second = Pins::new(1).shared(words.clone());
        assert!(follower.changes() > seen, "a mark may have been stored that was not counted");
        let stamp = second.start_stamp().unwrap();
        assert!(second.horizon() <= stamp);
        follower.unpin(&slot);
        follower.pin(&slot);
        assert!(second.horizon() > stamp);
    }
}
