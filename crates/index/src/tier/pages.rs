//! Page checks: a checksum for each page of a segment's blocks, over the sections' data in it. So a
//! process that reads a page for the first time can check it, and needs to read only that page.
//!
//! The check of a page covers the pieces of sections in it, in the order of their kinds, one behind
//! the other. Data that may change while the segment lives counts as 0: see [`mask`]. Stored death
//! stamps of packed rows are never 0, so zeros there are damage too. The table of sections and the
//! section of page checks are left out; they have their own checksums.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use spirit_mem::{Region, Span};

use crate::ground::corrupt::{Corrupt, checksum};
use crate::ground::layout::PAGE;
use crate::ground::section::{Kind, Section, Sections};
use crate::ground::slot::Entry;
use crate::rows::ROW_WORDS;

/// Bytes of a check.
const CHECK_BYTES: u64 = size_of::<u32>() as u64;
/// Number of words of a page.
const PAGE_WORDS: usize = PAGE as usize / 8;

/// Returns the bytes of the checks of this many pages, in whole words.
pub(crate) fn check_bytes(pages: u64) -> u64 {
    (pages * CHECK_BYTES).next_multiple_of(8)
}

/// The pages of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pages {
    sections: Sections,
    /// Start and bytes of its blocks in both partitions, in whole pages.
    long: (u64, u64),
    short: (u64, u64),
}

impl Pages {
    /// Returns the pages of the segment with this slot entry and these sections.
    pub(crate) fn of(entry: &Entry, sections: &Sections) -> Pages {
        let long = (entry.long_start, entry.long_bytes);
        Pages::new(sections, long, (entry.short_start, entry.short_bytes))
    }

    /// Returns the pages of sections in blocks of whole pages, given by their start and bytes.
    pub(crate) fn new(sections: &Sections, long: (u64, u64), short: (u64, u64)) -> Pages {
        Pages { sections: *sections, long, short }
    }

    /// Returns the number of pages.
    pub(crate) fn count(&self) -> u64 {
        (self.long.1 + self.short.1) / PAGE
    }

    /// Yields the offsets of the pages of its long-term block.
    pub(crate) fn long(&self) -> impl Iterator<Item = u64> + use<> {
        (self.long.0..self.long.0 + self.long.1).step_by(PAGE as usize)
    }

    /// Yields the offsets of the pages of its short-term block.
    pub(crate) fn short(&self) -> impl Iterator<Item = u64> + use<> {
        (self.short.0..self.short.0 + self.short.1).step_by(PAGE as usize)
    }

    /// Yields the offsets of the pages in which a section lies.
    pub(crate) fn of_section(&self, kind: Kind) -> impl Iterator<Item = u64> + use<> {
        let Section { start, bytes, .. } = self.sections.get(kind);
        let end = start.saturating_add(bytes);
        // An empty section may begin in the middle of a page.
        let first = if bytes == 0 { end } else { start / PAGE * PAGE };
        (first..end).step_by(PAGE as usize)
    }

    /// True if it has the page at an offset.
    pub(crate) fn has(&self, page: u64) -> bool {
        self.index(page).is_some()
    }

    /// Returns the index of a page's check among the checks, or `None` if the page is not the
    /// segment's.
    fn index(&self, page: u64) -> Option<u64> {
        let within = |(start, bytes): (u64, u64)| page.checked_sub(start).filter(|at| *at < bytes);
        let long = within(self.long).map(|at| at / PAGE);
        long.or_else(|| within(self.short).map(|at| (self.long.1 + at) / PAGE))
    }

    /// Returns the part of a section in a page.
    fn piece(&self, kind: Kind, page: u64) -> Option<Range<u64>> {
        let Section { start, bytes, .. } = self.sections.get(kind);
        let piece = start.max(page)..start.saturating_add(bytes / 8 * 8).min(page + PAGE);
        (kind != Kind::PageChecks && piece.start < piece.end).then_some(piece)
    }

    /// Returns the kind of the first section in a page.
    pub(crate) fn first_kind(&self, page: u64) -> Kind {
        let found = Kind::ALL.into_iter().find(|kind| self.piece(*kind, page).is_some());
        found.unwrap_or(Kind::PageChecks)
    }

    /// Returns the check of a page. `fill` writes the words of a section from a given one on.
    /// Returns `None` if sections overlap in the page.
    pub(crate) fn check_of(
        &self,
        page: u64,
        mut fill: impl FnMut(Kind, u64, &mut [u64]),
    ) -> Option<u32> {
        let (mut words, mut taken) = ([0; PAGE_WORDS], 0);
        for kind in Kind::ALL {
            let Some(piece) = self.piece(kind, page) else { continue };
            let len = ((piece.end - piece.start) / 8) as usize;
            let out = words.get_mut(taken..taken + len)?;
            let first = (piece.start - self.sections.get(kind).start) / 8;
            fill(kind, first, out);
            keep(mask(kind, self.sections.are_packed()), first, out);
            taken += len;
        }
        Some(checksum(0, &words[..taken]))
    }

    /// Returns the check of a page from a region's data.
    pub(crate) fn check_in(&self, region: &Region, page: u64) -> Option<u32> {
        self.check_of(page, |kind, first, out| {
            let at = self.sections.get(kind).start + first * 8;
            let stored = region.peek(Span::<AtomicU64>::new(at, out.len() as u64));
            for (to, word) in out.iter_mut().zip(stored.unwrap_or(&[])) {
                *to = word.load(Relaxed);
            }
        })
    }

    /// Returns all checks from a region's data, in stored form.
    pub(crate) fn checks_in(&self, region: &Region) -> Vec<u64> {
        let mut words = vec![0; (check_bytes(self.count()) / 8) as usize];
        for (index, page) in self.long().chain(self.short()).enumerate() {
            let check = self.check_in(region, page).unwrap_or(0);
            words[index / 2] |= u64::from(check) << (32 * (index % 2));
        }
        words
    }

    /// Checks the checks: there is one a page, and their own checksum is right.
    pub(crate) fn look_at_checks(&self, region: &Region) -> Result<(), Corrupt> {
        let Section { start, bytes, check } = self.sections.get(Kind::PageChecks);
        let corrupt = |why| Err(Corrupt { what: "page checks", at: start, why });
        if bytes != check_bytes(self.count()) {
            return corrupt("they are not as many as the segment's pages");
        }
        match check_of_words(region, Span::new(start, bytes / 8)) {
            Some(found) if found == check => Ok(()),
            _ => corrupt("their checksum is wrong"),
        }
    }

    /// Returns the stored check of a page of the segment.
    pub(crate) fn stored(&self, region: &Region, page: u64) -> Option<u32> {
        let at = self.sections.get(Kind::PageChecks).start + self.index(page)? * CHECK_BYTES;
        Some(region.peek(Span::<AtomicU32>::new(at, 1))?[0].load(Relaxed))
    }

    /// Compares a page of the segment with its check. The checks were checked before.
    pub(crate) fn look_at(&self, region: &Region, page: u64) -> Result<(), Corrupt> {
        let found = self.check_in(region, page);
        if found.is_none() || found != self.stored(region, page) {
            let what = self.first_kind(page).name();
            return Err(Corrupt { what, at: page, why: "the checksum of this page is wrong" });
        }
        self.look_at_stamps(region, page)
    }

    /// Checks that no stored death stamp of packed rows in a page is 0. No checksum covers them.
    fn look_at_stamps(&self, region: &Region, page: u64) -> Result<(), Corrupt> {
        let Some(piece) = self.piece(Kind::Deaths, page) else { return Ok(()) };
        let words = region.peek(Span::<AtomicU64>::new(piece.start, (piece.end - piece.start) / 8));
        let are_stamps = |word: &AtomicU64| {
            let word = word.load(Relaxed);
            word as u32 != 0 && word >> 32 != 0
        };
        if words.is_some_and(|words| words.iter().all(are_stamps)) {
            return Ok(());
        }
        Err(Corrupt { what: Kind::Deaths.name(), at: page, why: "some of them are 0" })
    }

    /// Compares the pages of a section with their checks, unless this process did so before.
    pub(crate) fn look_at_section(&self, region: &Region, kind: Kind) -> Result<(), Corrupt> {
        let Section { start, bytes, .. } = self.sections.get(kind);
        if region.proved().is_some() && region.prove(start, bytes) {
            return Ok(());
        }
        self.look_at_checks(region)?;
        self.of_section(kind).try_for_each(|page| self.look_at(region, page))
    }
}

/// Returns the checksum of words, by pages, or `None` if they leave the region.
pub(crate) fn check_of_words(region: &Region, words: Span<AtomicU64>) -> Option<u32> {
    let pieces = region.peek(words)?.chunks(PAGE_WORDS);
    Some(pieces.fold(0, |check, piece| {
        let mut words = [0; PAGE_WORDS];
        words.iter_mut().zip(piece).for_each(|(to, word)| *to = word.load(Relaxed));
        checksum(check, &words[..piece.len()])
    }))
}

/// Returns the mask of the words that count in a section of `kind`, to be repeated. Other bits may
/// change.
pub(crate) fn mask(kind: Kind, are_packed: bool) -> &'static [u64] {
    const _: () = assert!(ROW_WORDS == 3);
    match kind {
        // A row's second word holds the death stamp in its high half. Packed rows have them
        // elsewhere.
        Kind::Rows if !are_packed => &[u64::MAX, 0xFFFF_FFFF, u64::MAX],
        Kind::Deaths => &[0],
        // A node's first word is its link. The high half of its last word is its record.
        Kind::Nodes => &[0, u64::MAX, u64::MAX, 0xFFFF_FFFF],
        _ => &[u64::MAX],
    }
}

/// Clears the bits that do not count in words of a section, from word `first` on.
pub(crate) fn keep(mask: &[u64], first: u64, words: &mut [u64]) {
    match *mask {
        [u64::MAX] => {}
        [all] => words.iter_mut().for_each(|word| *word &= all),
        [a, b, c] => keep_each([a, b, c], first, words),
        [a, b, c, d] => keep_each([a, b, c, d], first, words),
        _ => {}
    }
}

fn keep_each<const N: usize>(mask: [u64; N], first: u64, words: &mut [u64]) {
    let turned: [u64; N] = std::array::from_fn(|at| mask[(first as usize + at) % N]);
    for words in words.chunks_mut(N) {
        words.iter_mut().zip(turned).for_each(|(word, mask)| *word &= mask);
    }
}

#[cfg(test)]
mod tests;
