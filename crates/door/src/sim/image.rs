//! What lies on the medium: the words of each space.

use super::random::mixed;

/// Bytes of a word, the only unit that is stored whole.
pub(super) const WORD_BYTES: u64 = size_of::<u64>() as u64;

/// The content of every space, at the size that it has for the whole run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    spaces: Vec<Vec<u64>>,
}

impl Image {
    /// Space `n` of a trace is the `n`th of `spaces`, counted from 0.
    pub fn new(spaces: Vec<Vec<u64>>) -> Image {
        Image { spaces }
    }

    /// The words of a space.
    ///
    /// # Panics
    /// If there is no such space.
    pub fn words(&self, space: u8) -> &[u64] {
        &self.spaces[usize::from(space)]
    }

    /// The same as a file has them.
    ///
    /// # Panics
    /// If there is no such space.
    pub fn bytes(&self, space: u8) -> Vec<u8> {
        self.words(space).iter().copied().flat_map(u64::to_le_bytes).collect()
    }

    /// The index of the word at `at`, with `count` words from there on inside the space.
    pub(super) fn index(&self, space: u8, at: u64, count: usize) -> usize {
        let bytes = self.spaces.get(usize::from(space)).map_or(0, Vec::len) as u64 * WORD_BYTES;
        let end = at.saturating_add(count as u64 * WORD_BYTES);
        assert!(
            at.is_multiple_of(WORD_BYTES) && end <= bytes,
            "{count} words at {at:#x} do not lie in space {space} of {bytes} bytes"
        );
        (at / WORD_BYTES) as usize
    }

    /// Puts `value` in place of a word, which is returned.
    pub(super) fn replace(&mut self, space: u8, index: usize, value: u64) -> u64 {
        std::mem::replace(&mut self.spaces[usize::from(space)][index], value)
    }
}

/// A word got another value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) space: u8,
    /// Counted in words.
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

    /// What it does to a hash that is the exclusive or over all words: the same whether it is made or undone.
    pub(super) fn code(&self) -> u64 {
        let place = mixed((u64::from(self.space) << 56) ^ self.index as u64);
        mixed(place ^ self.before) ^ mixed(place ^ self.after)
    }
}
