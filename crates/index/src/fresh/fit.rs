//! Whether a segment has room for a batch that must stay whole.
//!
//! A batch that is given up leaves postings of rows that never come to life, which frequencies of
//! terms would count. So the room is computed first. A bound is enough for most batches. Where it is
//! not, the blocks that each term's list will take are counted.

use std::sync::atomic::Ordering::Relaxed;

use crate::fresh::batch::{Batch, Stop};
use crate::fresh::extent::Extent;
use crate::fresh::{FreshWriter, WINDOW};
use crate::ground::term::TERM_BYTES_MAX;
use crate::ground::values::record_words;
use crate::memory::Memory;

/// Words of the longest term.
const LONG_TERM_WORDS: u64 = TERM_BYTES_MAX.div_ceil(4) as u64;
/// Words that are left for terms whose slots had another term's tag: one in thousands of tokens.
const SLACK_WORDS: u64 = 16;

impl FreshWriter {
    /// Writes a whole batch like [`append`](Self::append), or nothing of it if the segment has no
    /// room.
    pub fn append_whole(
        &mut self,
        memory: &Memory,
        batch: &mut Batch,
    ) -> (usize, Result<(), Stop>) {
        match self.check_room(memory, batch) {
            Ok(()) => self.append(memory, batch, 0),
            Err(stop) => (0, Err(stop)),
        }
    }

    fn check_room(&mut self, memory: &Memory, batch: &mut Batch) -> Result<(), Stop> {
        let extent = self.extent(memory);
        let (documents, tokens) = (batch.documents().len(), batch.token_count());
        if self.rows() as u64 + documents as u64 > memory.geometry().fresh_rows_max() as u64 {
            return Err(Stop::SegmentFull);
        }
        let spill_words_max = extent.blocks().spill_words_max();
        // A token's term is new, or its list may begin a block.
        let token_words_max = spill_words_max.max(LONG_TERM_WORDS);
        let values = (0..documents).map(|index| batch.values_of(index).len());
        let records: u64 = values.map(|values| record_words(values) as u64).sum();
        let all_terms = self.terms as u64 + tokens as u64;
        let low_max = extent.low_after(all_terms.min(self.terms_max as u64) as u32) as u64;
        let is_sure = all_terms <= self.terms_max as u64
            && low_max + tokens as u64 * token_words_max + records <= self.high as u64;
        if is_sure {
            return Ok(());
        }
        self.resolve(&extent, batch, 0..tokens).1?;
        let slack = (tokens / WINDOW + 1) as u64 * (SLACK_WORDS + spill_words_max);
        // Each document of usual size is tried only if it fits with any terms.
        let usual_max = extent.area().len() as u64 / 16;
        let wanted = records + blocks_words(&extent, batch, self.terms) + slack + usual_max;
        let free = self.high.saturating_sub(extent.low_after(self.terms)) as u64;
        // An empty segment is the last chance of a large batch.
        if wanted <= free || self.rows() == 0 { Ok(()) } else { Err(Stop::SegmentFull) }
    }
}

/// What a batch adds to a term's list.
#[derive(Clone, Copy, Default)]
struct Added {
    postings: u32,
    /// One past the last document that has the term.
    document_end: u32,
}

/// Returns the words of the blocks that the lists of a resolved batch's terms will take. The segment
/// has `terms` terms by now. They are counted in a table: to sort all tokens took a fifth of
/// the time of adding them.
fn blocks_words(extent: &Extent<'_>, batch: &Batch, terms: u32) -> u64 {
    let mut added = vec![Added::default(); terms as usize];
    let mut lists = Vec::new();
    for (document, index) in (1..).zip(0..batch.documents().len()) {
        for token in batch.tokens_of(index).iter().filter(|token| !token.key.is_hole()) {
            let Added { postings, document_end } = &mut added[token.ordinal as usize];
            if *document_end == document {
                continue;
            }
            if *document_end == 0 {
                lists.push(token.ordinal);
            }
            (*postings, *document_end) = (*postings + 1, document);
        }
    }
    let words = lists.into_iter().map(|ordinal| {
        let count = extent.record(ordinal).list().count.load(Relaxed);
        extent.blocks().words_between(count, count + added[ordinal as usize].postings)
    });
    words.sum()
}
