//! Images: the words of each space on the medium.

use super::random::mixed;

/// The bytes of a word, the only unit that is stored whole.
pub(super) const WORD_BYTES: u64 = size_of::<u64>() as u64;

/// The contents of all spaces. Sizes are fixed for the whole run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    spaces: Vec<Vec<u64>>,
}

impl Image {
    /// Returns an image. Space `n` of a trace is element `n` of `spaces`.
    pub fn new(spaces: Vec<Vec<u64>>) -> Image {
        Image { spaces }
    }

    /// Returns the words of a space.
    ///
    /// # Panics
    /// If there is no such space.
    pub fn words(&self, space: u8) -> &[u64] {
        &self.spaces[usize::from(space)]
    }

    /// Returns the bytes of a space, as a file has them.
    ///
    /// # Panics
    /// If there is no such space.
    pub fn bytes(&self, space: u8) -> Vec<u8> {
        self.words(space).iter().copied().flat_map(u64::to_le_bytes).collect()
    }

    /// Returns the index of the word at `at`. Panics if `count` words from there leave the space.
    pub(super) fn index(&self, space: u8, at: u64, count: usize) -> usize {
        let bytes = self.spaces.get(usize::from(space)).map_or(0, Vec::len) as u64 * WORD_BYTES;
        let end = at.saturating_add(count as u64 * WORD_BYTES);
        assert!(
            at.is_multiple_of(WORD_BYTES) && end <= bytes,
            "{count} words at {at:#x} do not lie in space {space} of {bytes} bytes"
        );
        (at / WORD_BYTES) as usize
    }

    /// Replaces a word by `value`, and returns the word before.
    pub(super) fn replace(&mut self, space: u8, index: usize, value: u64) -> u64 {
        std::mem::replace(&mut self.spaces[usize::from(space)][index], value)
    }
}

/// A change of one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) space: u8,
    /// The index of the word in its space.
    pub(super) index: usize,
    pub(super) before: u64,
    pub(super) after: u64,
}

impl Change {
    pub(super) fn make(&self, image: &mut Image) {
        image.replace(self.space, self.index, self.after);
    }

    pub(super) fn undo(&self, image: &mut Image) {
        image.replace(self.space, self.index, self.before);
    }

    /// Returns the change of a hash that is the exclusive or over all words. Making and undoing
    /// have the same code.
    pub(super) fn code(&self) -> u64 {
        let place = mixed((u64::from(self.space) << 56) ^ self.index as u64);
        mixed(place ^ self.before) ^ mixed(place ^ self.after)
    }
}
