//! The directory of a list's largest blocks, with each block's place and oldest posting.
//!
//! A chain leads from a block to the one before it, so going far back takes a cache miss a block. A
//! part of the directory has 32 blocks; the newest part may have fewer. The directory grows by one
//! part at a time, so that no posting takes much room at once.
//!
//! | word of a part | |
//! |---|---|
//! | 0 | the part before; of the first one, nothing |
//! | 1, 2 | the first block, and the word of its oldest posting |
//! | 3, 4 | the next one, and so on |
//!
//! The second word of a block leads to the part that lists the block. All of this is written before
//! the chain leads to the block, and never changes.

use crate::ground::blocks::{DIRECTORY_PART, DIRECTORY_WORDS};
use std::sync::atomic::Ordering::Relaxed;

use spirit_mem::sync::Atom32;

use crate::ground::posting::rank;

/// Enters block `number` behind `tail`. For the first of the largest blocks, `tail` is a smaller
/// block. Returns `None` if there is no room.
pub(super) fn enter<A: Atom32>(
    area: &[A],
    tail: u32,
    block: u32,
    number: u32,
    oldest: u32,
    mut allocate: impl FnMut(u32) -> Option<u32>,
) -> Option<()> {
    let before = if number == 0 { 0 } else { area[tail as usize + 1].load(Relaxed) };
    let at = number % DIRECTORY_PART;
    let part = if at == 0 { allocate(DIRECTORY_WORDS)? } else { before };
    if at == 0 {
        area[part as usize].store(before, Relaxed);
    }
    let entry = part as usize + 1 + 2 * at as usize;
    area[entry].store(block, Relaxed);
    area[entry + 1].store(oldest, Relaxed);
    area[block as usize + 1].store(part, Relaxed);
    Some(())
}

/// A directory, from the part that lists a block.
#[derive(Clone, Copy)]
pub(super) struct Directory<'a, A> {
    area: &'a [A],
    part: u32,
}

impl<'a, A: Atom32> Directory<'a, A> {
    /// Returns the directory from the part that lists `block`.
    pub(super) fn of(area: &'a [A], block: u32) -> Directory<'a, A> {
        Directory { area, part: area[block as usize + 1].load(Relaxed) }
    }

    /// Finds the newest block that has a posting of rank `target` or above. Returns its number and
    /// place. Without such a block, returns the place of the first block as the error. `last` is
    /// the number of the newest block to search; it is in the directory's part.
    pub(super) fn newest_from(self, last: u32, target: u32) -> Result<(u32, u32), u32> {
        let (mut part, mut behind) = (self.part as usize, last % DIRECTORY_PART + 1);
        let mut first = last - last % DIRECTORY_PART;
        // Each round goes to the part before, so that the loop ends at the first part.
        loop {
            let (entries, _) = self.area[part + 1..][..2 * behind as usize].as_chunks();
            let reaching =
                entries.partition_point(|[_, oldest]| rank(oldest.load(Relaxed)) >= target);
            if let Some(at) = reaching.checked_sub(1) {
                return Ok((first + at as u32, entries[at][0].load(Relaxed)));
            }
            if first == 0 {
                return Err(entries[0][0].load(Relaxed));
            }
            part = self.area[part].load(Relaxed) as usize;
            (first, behind) = (first - DIRECTORY_PART, DIRECTORY_PART);
        }
    }
}
