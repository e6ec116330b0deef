//! The image under examination: the medium without some of the pending stores.
//!
//! It is edited in place. So an image costs its difference from the one before, not a copy of the
//! medium.

use super::image::{Change, Image};

/// A group of changes that arrive in order: `first..end` of all. Those before `arrived` have
/// arrived.
#[derive(Debug)]
struct Group {
    first: usize,
    arrived: usize,
    end: usize,
}

/// An image with all changes made, and then with a chosen number of each group. Dropping it makes
/// all changes again.
#[derive(Debug)]
pub(super) struct Overlay<'i> {
    image: &'i mut Image,
    changes: Vec<Change>,
    groups: Vec<Group>,
    /// The exclusive or over the words that differ from the image with all changes.
    hash: u64,
}

impl<'i> Overlay<'i> {
    pub(super) fn new(image: &'i mut Image) -> Overlay<'i> {
        Overlay { image, changes: Vec::new(), groups: Vec::new(), hash: 0 }
    }

    /// Adds a group of changes, all made in the image, in this order.
    pub(super) fn add<'c>(&mut self, changes: impl Iterator<Item = &'c Change>) {
        let first = self.changes.len();
        // A store of an equal value changes no image.
        self.changes.extend(changes.filter(|change| change.before != change.after));
        let end = self.changes.len();
        if end > first {
            self.groups.push(Group { first, arrived: end, end });
        }
    }

    pub(super) fn image(&self) -> &Image {
        self.image
    }

    /// Returns a hash that is equal for equal images of one cut.
    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    pub(super) fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Returns the number of choices, at most `u64::MAX`.
    pub(super) fn states(&self) -> u64 {
        let choices = self.groups.iter().map(|group| (group.end - group.first) as u64 + 1);
        choices.fold(1, u64::saturating_mul)
    }

    /// Makes `arrived(group, length)` changes of each group arrive, at most its length.
    pub(super) fn arrange(&mut self, mut arrived: impl FnMut(usize, usize) -> usize) {
        for group in 0..self.groups.len() {
            let Group { first, end, .. } = self.groups[group];
            self.arrive(group, first + arrived(group, end - first));
        }
    }

    /// Counts up by one, with each group as a digit. False after the last choice, when all have
    /// arrived.
    pub(super) fn count_up(&mut self) -> bool {
        for group in 0..self.groups.len() {
            let Group { first, arrived, end } = self.groups[group];
            if arrived < end {
                self.arrive(group, arrived + 1);
                return true;
            }
            self.arrive(group, first);
        }
        false
    }

    fn arrive(&mut self, group: usize, arrived: usize) {
        let group = &mut self.groups[group];
        for change in self.changes[group.arrived.min(arrived)..group.arrived].iter().rev() {
            change.undo(self.image);
            self.hash ^= change.code();
        }
        for change in &self.changes[group.arrived.min(arrived)..arrived] {
            self.hash ^= change.code();
            change.make(self.image);
        }
        group.arrived = arrived;
    }
}

impl Drop for Overlay<'_> {
    fn drop(&mut self) {
        self.arrange(|_, length| length);
    }
}
