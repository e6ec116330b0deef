//! The vector pass: a text becomes a lower-cased copy and a stream of runs.
//!
//! A *run* is a maximal sequence of bytes that are ASCII letters, digits or not ASCII. All
//! analyzers but `keyword` start from runs, and decide their meaning. This file handles bytes and
//! bits, not words.
//!
//! The kernel turns the marks into positions for [`Runs`], some blocks at a time. So a run costs a
//! few instructions and no unpredictable branch.

use spirit_kernel::{Edges, Level, MIXED, classify_lower};

use crate::token::HEAD_BYTES;

/// The number of bytes that a word of the masks covers.
const BLOCK_BYTES: usize = u64::BITS as usize;
/// The number of blocks of zero bytes before the text, so that the byte before a run always exists.
const LEAD: usize = 1;
/// The number of blocks after the text's last one, which a token's head may read.
const TAIL: usize = 1;

const _: () = assert!(LEAD * BLOCK_BYTES >= 1 && TAIL * BLOCK_BYTES >= HEAD_BYTES + 2);

/// Scratch memory for one text of at most `text_bytes_max` bytes.
pub(crate) struct Scan {
    /// `LEAD` blocks of zeros, the text with ASCII lower-cased and zeros up to the end of its
    /// block, and `TAIL` blocks.
    ///
    /// In one piece of plain zeros, so that the kernel backs only pages that texts reach.
    lower: Vec<u8>,
    /// For each block, the masks of letters and digits, and of non-ASCII bytes.
    masks: Vec<[u64; 2]>,
    edges: Edges,
}

/// Returns the number of blocks of a text. They have at least one more byte than the text, at which
/// a run up to its last byte ends.
fn blocks_of(text_bytes: usize) -> usize {
    text_bytes / BLOCK_BYTES + 1
}

impl Scan {
    pub(crate) fn new(text_bytes_max: usize) -> Scan {
        let blocks = blocks_of(text_bytes_max);
        Scan {
            lower: vec![0; (LEAD + blocks + TAIL) * BLOCK_BYTES],
            masks: vec![[0; 2]; blocks],
            edges: Edges::default(),
        }
    }

    /// Finds the runs of `text`, which must not be longer than this memory was made for.
    #[inline]
    pub(crate) fn read(&mut self, level: Level, text: &[u8]) -> (Lower<'_>, Runs<'_>) {
        let blocks = blocks_of(text.len());
        let masks = &mut self.masks[..blocks];
        let (lower, _) = self.lower.as_chunks_mut();
        classify_lower(level, text, &mut lower[LEAD..LEAD + blocks], masks);
        if text.len() % BLOCK_BYTES == BLOCK_BYTES - 1 {
            // One zero follows the text in its block. The next block's first byte may be an
            // earlier, longer text's. It must not look like a continuation of this one.
            lower[LEAD + blocks][0] = 0;
        }
        (Lower(&self.lower), Runs::new(level, masks, &mut self.edges))
    }
}

/// The lower-cased text with padding on both sides, addressed in bytes of the text.
#[derive(Clone, Copy)]
pub(crate) struct Lower<'a>(&'a [u8]);

impl<'a> Lower<'a> {
    /// Returns everything from byte `start` of the text on, with the padding.
    #[inline(always)]
    pub(crate) fn from(self, start: usize) -> &'a [u8] {
        &self.0[LEAD * BLOCK_BYTES + start..]
    }

    /// Returns the byte before byte `at` of the text; 0 before the first.
    #[inline(always)]
    pub(crate) fn byte_before(self, at: usize) -> u8 {
        self.0[LEAD * BLOCK_BYTES + at - 1]
    }

    /// Returns byte `at` of the text and the next, 0 after its end. `at` is at most the length of
    /// the text.
    #[inline(always)]
    pub(crate) fn pair(self, at: usize) -> [u8; 2] {
        *self.0[LEAD * BLOCK_BYTES + at..].first_chunk().expect("two zeros follow the text")
    }
}

/// A run: bytes `start..end` of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// True if it has a non-ASCII byte.
    pub(crate) mixed: bool,
}

/// The runs of one text in ascending order. No two touch.
///
/// A loop over all of them is fastest with `for_each`, which runs over arrays.
pub(crate) struct Runs<'a> {
    level: Level,
    /// The blocks not read yet.
    blocks: &'a [[u64; 2]],
    /// The runs of the blocks read last, and the number of them that were taken.
    edges: &'a mut Edges,
    taken: usize,
}

impl<'a> Runs<'a> {
    #[inline]
    fn new(level: Level, blocks: &'a [[u64; 2]], edges: &'a mut Edges) -> Runs<'a> {
        edges.begin();
        Runs { level, blocks, edges, taken: 0 }
    }

    /// Finds the runs of the next blocks; none after the last.
    fn look_on(&mut self) -> Option<()> {
        if self.blocks.is_empty() {
            return None;
        }
        let read = self.edges.read(self.level, self.blocks);
        self.blocks = &self.blocks[read..];
        self.taken = 0;
        Some(())
    }
}

impl Run {
    #[inline(always)]
    fn between(start: u32, end: u32) -> Run {
        Run { start: start as usize, end: (end & !MIXED) as usize, mixed: end & MIXED != 0 }
    }
}

impl Iterator for Runs<'_> {
    type Item = Run;

    #[inline(always)]
    fn next(&mut self) -> Option<Run> {
        while self.taken == self.edges.ends().len() {
            self.look_on()?;
        }
        let run = Run::between(self.edges.starts()[self.taken], self.edges.ends()[self.taken]);
        self.taken += 1;
        Some(run)
    }

    #[inline(always)]
    fn fold<B, F: FnMut(B, Run) -> B>(mut self, mut state: B, mut visit: F) -> B {
        loop {
            let left = self.edges.starts().iter().zip(self.edges.ends()).skip(self.taken);
            state =
                left.fold(state, |state, (start, end)| visit(state, Run::between(*start, *end)));
            if self.look_on().is_none() {
                return state;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs_of(text: &str) -> Vec<(usize, usize, bool)> {
        let mut scan = Scan::new(text.len());
        let (_, runs) = scan.read(Level::detect(), text.as_bytes());
        runs.map(|run| (run.start, run.end, run.mixed)).collect()
    }

    #[test]
    fn runs_end_where_they_should_around_block_edges() {
        for lead in 0..140 {
            for len in 1..140 {
                let text = format!("{}{}", "-".repeat(lead), "a".repeat(len));
                assert_eq!(runs_of(&text), [(lead, lead + len, false)]);
                assert_eq!(runs_of(&(text + "-")), [(lead, lead + len, false)]);
            }
        }
    }

    #[test]
    fn only_the_run_with_the_accent_is_mixed() {
        for lead in 0..140 {
            let text = format!("a{}é{} b", "x".repeat(lead), "x".repeat(140 - lead));
            assert_eq!(runs_of(&text), [(0, 143, true), (144, 145, false)]);
            let text = format!("{}-éé-a", "x".repeat(lead));
            let mixed: Vec<bool> = runs_of(&text).iter().map(|run| run.2).collect();
            assert_eq!(mixed, if lead == 0 { vec![true, false] } else { vec![false, true, false] });
        }
    }

    #[test]
    fn a_longer_text_leaves_nothing_behind() {
        let mut scan = Scan::new(200);
        scan.read(Level::detect(), "x".repeat(200).as_bytes());
        let (lower, mut runs) = scan.read(Level::detect(), b"ab");
        assert_eq!(runs.next(), Some(Run { start: 0, end: 2, mixed: false }));
        assert_eq!(runs.next(), None);
        assert_eq!(lower.pair(1), [b'b', 0]);
        assert_eq!(lower.byte_before(0), 0);
    }
}
