//! Values, as a look-up reads them.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Acquire;

/// The words of a value. They may change while they are read. So a reader must not rely on them
/// before the look-up has returned what it made of them.
#[derive(Clone, Copy, Debug)]
pub struct Value<'h>(pub(crate) &'h [AtomicU64]);

impl<'h> Value<'h> {
    /// Returns the number of words.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if there are no words.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a word, or `None` behind the end.
    #[inline]
    pub fn get(&self, index: usize) -> Option<u64> {
        self.0.get(index).map(|word| word.load(Acquire))
    }

    /// Yields the words.
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u64> + DoubleEndedIterator + use<'h> {
        self.0.iter().map(|word| word.load(Acquire))
    }

    /// Splits it at a word, or at its end.
    pub fn split_at(&self, index: usize) -> (Value<'h>, Value<'h>) {
        let (before, behind) = self.0.split_at(index.min(self.0.len()));
        (Value(before), Value(behind))
    }
}
