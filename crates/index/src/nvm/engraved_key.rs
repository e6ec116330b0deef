//! The terms of an engraved segment that is not merged: a key each, by ordinal, and the bytes of long ones apart.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_mem::{Region, Span};

use super::section::{Kind, Sections};
use crate::term::TermKey;

/// Bytes of a term's key in the second tier: the key, and where a long term's bytes are.
pub(crate) const TERM_KEY_BYTES: u64 = 24;
const _: () = assert!(TERM_KEY_BYTES == size_of::<TermKey>() as u64 + 8);

/// The key of a term in an engraved segment that is not merged.
pub(crate) struct EngravedKey {
    pub(crate) key: TermKey,
    /// Where a long term's bytes begin in their section.
    long: u64,
}

/// Where the key of an ordinal's term lies.
pub(super) fn term_place(sections: &Sections, ordinal: u64) -> u64 {
    sections.get(Kind::TermKeys).start + ordinal * TERM_KEY_BYTES
}

/// The term of an ordinal.
pub(crate) fn term_at(region: &Region, sections: &Sections, ordinal: u64) -> EngravedKey {
    let at = term_place(sections, ordinal);
    let words = region.view(Span::<AtomicU64>::new(at, TERM_KEY_BYTES / 8));
    EngravedKey::of(words.first_chunk().expect("a span is as long as was asked for"))
}

impl EngravedKey {
    /// The one in these words.
    #[inline]
    pub(super) fn of(words: &[AtomicU64; TERM_KEY_BYTES as usize / 8]) -> EngravedKey {
        let [low, high, long] = words.each_ref().map(|word| word.load(Relaxed));
        EngravedKey { key: TermKey { low, high }, long }
    }

    /// Where a long term's bytes end in their section, filled up to whole words.
    pub(crate) fn long_end(&self) -> Option<u64> {
        self.long.checked_add((self.key.len() as u64).next_multiple_of(8))
    }

    /// The bytes of a long term; none of a short one, whose key holds them.
    pub(crate) fn bytes(&self, region: &Region, sections: &Sections, out: &mut Vec<u8>) {
        out.clear();
        if self.key.is_long() {
            let len = self.key.len();
            let at = sections.get(Kind::LongTerms).start + self.long;
            region.read_words(at, (len as u64).next_multiple_of(8), out);
            out.truncate(len);
        }
    }
}
