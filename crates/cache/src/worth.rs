//! Worth: whether a question costs enough to keep its answer.
//!
//! A question that is asked once is not worth an entry, and neither is one that is answered as fast
//! as the cache would be. So nothing is kept at first. A question that comes again is timed. If it
//! takes long enough, it is worth an entry; otherwise the next ones are answered without a look-up,
//! until it is timed once more, since the index grows.
//!
//! The memory is a table of one word for each of the last questions: the upper bits of the key's
//! hash, and a [`Worth`]. Two questions with one word drive each other out. Threads store without
//! an order: a lost note costs another timing.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// Questions that are remembered, at most: 64 KiB, so that a look usually costs a hit in the
/// second-level cache of the processor.
const WORDS: usize = 1 << 14;
/// Low bits of a word: the worth, or the remaining questions until the next timing.
const STATE_BITS: u32 = 10;
const STATE_MASK: u32 = (1 << STATE_BITS) - 1;
/// States.
const UNKNOWN: u32 = 0;
const ASKED: u32 = 1;
const WORTH: u32 = 2;
/// The first of the states that count down.
const CHEAP: u32 = 3;
/// A cheap question is timed again after this many.
const CHEAP_FOR: u32 = 1000;

/// The worth of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worth {
    /// It was not asked lately.
    New,
    /// It was asked before: time it, and [note](Costs::note) how long it took.
    Untimed,
    /// It takes less than an entry is worth.
    Cheap,
    /// It is worth an entry.
    Worth,
}

/// A memory of what questions cost.
#[derive(Debug)]
pub struct Costs {
    words: Box<[AtomicU32]>,
}

impl Default for Costs {
    fn default() -> Costs {
        Costs { words: (0..WORDS).map(|_| AtomicU32::new(0)).collect() }
    }
}

impl Costs {
    /// Returns the worth of the question with this hash, and notes that it was asked.
    #[inline]
    pub fn ask(&self, hash: u64) -> Worth {
        let (word, tag) = self.place(hash);
        let found = word.load(Relaxed);
        let state = if found & !STATE_MASK == tag { found & STATE_MASK } else { UNKNOWN };
        match state {
            UNKNOWN => {
                word.store(tag | ASKED, Relaxed);
                Worth::New
            }
            ASKED => Worth::Untimed,
            WORTH => Worth::Worth,
            CHEAP => {
                word.store(tag | ASKED, Relaxed);
                Worth::Cheap
            }
            _ => {
                word.store(found - 1, Relaxed);
                Worth::Cheap
            }
        }
    }

    /// Notes whether the question with this hash is worth an entry.
    pub fn note(&self, hash: u64, is_worth: bool) {
        let (word, tag) = self.place(hash);
        word.store(tag | if is_worth { WORTH } else { CHEAP + CHEAP_FOR }, Relaxed);
    }

    /// Returns the bytes of the table.
    pub fn bytes(&self) -> u64 {
        (WORDS * size_of::<AtomicU32>()) as u64
    }

    /// Returns the word of a hash, and the tag in it.
    #[inline]
    fn place(&self, hash: u64) -> (&AtomicU32, u32) {
        (&self.words[hash as usize % WORDS], (hash >> 32) as u32 & !STATE_MASK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_timed_when_it_comes_again() {
        let (costs, hash) = (Costs::default(), 0xABCD_EF01_2345_6789);
        assert_eq!([costs.ask(hash), costs.ask(hash)], [Worth::New, Worth::Untimed]);
        costs.note(hash, true);
        assert_eq!([costs.ask(hash), costs.ask(hash)], [Worth::Worth, Worth::Worth]);
        costs.note(hash, false);
        for _ in 0..=CHEAP_FOR {
            assert_eq!(costs.ask(hash), Worth::Cheap);
        }
        assert_eq!(costs.ask(hash), Worth::Untimed, "the index may have grown");
    }

    #[test]
    fn questions_drive_each_other_out() {
        let costs = Costs::default();
        let [one, other] = [1 << 40 | 5, 2 << 44 | 5];
        costs.ask(one);
        costs.note(one, true);
        assert_eq!(costs.ask(other), Worth::New);
        assert_eq!(costs.ask(one), Worth::New);
    }
}
