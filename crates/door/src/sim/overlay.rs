//! The image under examination: the medium with some of the pending stores taken back.
//!
//! It is edited in place, so an image costs what it differs from the one before, not a copy of the medium.

use super::image::{Change, Image};

/// Changes that arrive in order, `first..end` of all; those before `arrived` have.
#[derive(Debug)]
struct Group {
    first: usize,
    arrived: usize,
    end: usize,
}

/// An image with all changes made, then with as many of each group as one asks for. Dropped, it has all of them again.
#[derive(Debug)]
pub(super) struct Overlay<'i> {
    image: &'i mut Image,
    changes: Vec<Change>,
    groups: Vec<Group>,
    /// Exclusive or over the words that differ from the image with all changes.
    hash: u64,
}

impl<'i> Overlay<'i> {
    pub(super) fn new(image: &'i mut Image) -> Overlay<'i> {
        Overlay { image, changes: Vec::new(), groups: Vec::new(), hash: 0 }
    }

    /// Adds a group of changes, all of them made in the image, in this order.
    pub(super) fn add<'c>(&mut self, changes: impl Iterator<Item = &'c Change>) {
        let first = self.changes.len();
        // To store what is there already changes no image.
        self.changes.extend(changes.filter(|change| change.before != change.after));
        let end = self.changes.len();
        if end > first {
            self.groups.push(Group { first, arrived: end, end });
        }
    }

    pub(super) fn image(&self) -> &Image {
        self.image
    }

    /// Two images of one cut are the same if this is.
    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    pub(super) fn groups(&self) -> usize {
        self.groups.len()
    }

    /// How many choices there are; at most `u64::MAX` are counted.
    pub(super) fn states(&self) -> u64 {
        let choices = self.groups.iter().map(|group| (group.end - group.first) as u64 + 1);
        choices.fold(1, u64::saturating_mul)
    }

    /// Lets `arrived(group, length)` changes of each group arrive, at most its length.
    pub(super) fn arrange(&mut self, mut arrived: impl FnMut(usize, usize) -> usize) {
        for group in 0..self.groups.len() {
            let Group { first, end, .. } = self.groups[group];
            self.arrive(group, first + arrived(group, end - first));
        }
    }

    /// Counts on by one, each group a digit; false after the last, which is all of them.
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
