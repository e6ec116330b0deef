//! The terms of a fresh segment: found by their tokens, or entered.

use std::ops::Range;
use std::sync::atomic::Ordering::{Relaxed, Release};

use spirit_mem::prefetch;

use crate::fresh::batch::{Batch, BatchToken, LongTerms};
use crate::fresh::extent::Extent;
use crate::fresh::{FreshWriter, Stop};
use crate::ground::term::{Term, TermKey};
use crate::lists::list::Full;

impl FreshWriter {
    /// Finds or inserts the terms of these tokens, and prefetches their records. Returns one past
    /// the last token resolved.
    // Not inlined, like `post_all`: each of the two loops needs all registers.
    #[inline(never)]
    pub(super) fn resolve(
        &mut self,
        extent: &Extent<'_>,
        batch: &mut Batch,
        range: Range<usize>,
    ) -> (usize, Result<(), Stop>) {
        let (tokens, long) = batch.tokens_mut();
        let first = range.start;
        for (done, token) in tokens[range.clone()].iter_mut().enumerate() {
            token.ordinal = match extent.guess(token.hash) {
                // The tag decides. `post_all` compares a short term's record once it is in the
                // cache.
                Some(ordinal) if token.key.is_whole() => ordinal,
                _ => match self.find_or_insert(extent, token, long) {
                    Ok(ordinal) => ordinal,
                    Err(Full) => return (first + done, Err(Stop::SegmentFull)),
                },
            };
            prefetch(extent.record(token.ordinal).line());
        }
        (range.end, Ok(()))
    }

    /// Returns the ordinal of a token's term, and inserts a new term. Returns any ordinal for a
    /// hole. Here, too, the tag decides for a short term.
    #[inline(never)]
    fn find_or_insert(
        &mut self,
        extent: &Extent<'_>,
        token: &BatchToken,
        long: &LongTerms,
    ) -> Result<u32, Full> {
        if token.key.is_hole() {
            return Ok(0);
        }
        let long = long.bytes(token.long);
        let table = extent.table();
        let mut at = extent.home(token.hash);
        loop {
            let slot = table[at].load(Relaxed);
            if slot == 0 {
                return self.insert(extent, at, token.hash, token.key, long);
            }
            if let Some(ordinal) = extent.ordinal_in(slot, token.hash)
                && (!token.key.is_long() || extent.is(extent.record(ordinal), token.key, long))
            {
                return Ok(ordinal);
            }
            at = (at + 1) & (table.len() - 1);
        }
    }

    fn insert(
        &mut self,
        extent: &Extent<'_>,
        at: usize,
        hash: u64,
        key: TermKey,
        long: &[u8],
    ) -> Result<u32, Full> {
        let ordinal = self.terms;
        let words = if key.is_long() { long.len().div_ceil(4) as u32 } else { 0 };
        if ordinal >= self.terms_max || extent.low_after(ordinal + 1) + words > self.high {
            return Err(Full);
        }
        let first = if words > 0 { self.high - words } else { 0 };
        if words > 0 {
            self.high = first;
            self.long_bytes += (long.len() as u64).next_multiple_of(8);
            for (word, bytes) in extent.area()[first as usize..].iter().zip(long.chunks(4)) {
                let mut value = [0; 4];
                value[..bytes.len()].copy_from_slice(bytes);
                word.store(u32::from_le_bytes(value), Relaxed);
            }
        }
        extent.enter(ordinal, key, long, first);
        self.terms += 1;
        extent.table()[at].store(extent.slot(hash, ordinal), Release);
        Ok(ordinal)
    }

    /// Returns the right ordinal of a token whose slot had another term's tag. This happens to one
    /// short term in thousands. Returns `None` for a hole.
    #[cold]
    pub(super) fn resolve_again(
        &mut self,
        extent: &Extent<'_>,
        token: &BatchToken,
    ) -> Result<Option<u32>, Full> {
        if token.key.is_hole() {
            return Ok(None);
        }
        let (bytes, len) = token.key.inline_bytes();
        if let Some(ordinal) =
            extent.find(Term { key: token.key, bytes: &bytes[..len] }, token.hash)
        {
            return Ok(Some(ordinal));
        }
        let mut at = extent.home(token.hash);
        while extent.table()[at].load(Relaxed) != 0 {
            at = (at + 1) & (extent.table().len() - 1);
        }
        self.insert(extent, at, token.hash, token.key, &[]).map(Some)
    }
}
