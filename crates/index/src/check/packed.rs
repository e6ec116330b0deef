//! Checks packed terms and their order, and the lists that they lead to. Lists follow each other.
//! Their postings ascend and belong to rows. Block maxima and last postings match. Positions
//! ascend, and their number matches the documents' tokens.

use std::sync::atomic::Ordering::Relaxed;

use spirit_kernel::Level;
use spirit_mem::Span;

use crate::check::Checked;
use crate::check::postings::{Lists, Verdict};
use crate::form::packed_terms;
use crate::ground::posting::{FREQUENCY_MAX, frequency, local, rank, rank_of};
use crate::ground::section::{Kind, Section};
use crate::lists::maxima::maxima_of;
use crate::lists::packed::{PACKED_BLOCK, PackedList, Positions};
use crate::terms::entries::{ALONE, Entry};

/// A term's entry.
#[derive(Clone, Copy)]
struct Led {
    entry: Entry,
    /// The number of the [array](crate::check::lengths::Lengths) with its documents' lengths.
    lengths: Option<usize>,
}

impl Lists<'_> {
    /// Checks all packed terms and the lists that they lead to. Returns the number of postings of
    /// documents.
    pub(super) fn packed_terms(&mut self, checked: &mut Checked) -> u64 {
        let (region, sections) = (self.part.region, &self.segment.sections);
        let start = sections.get(Kind::PackedTerms).start;
        // Its shape was right.
        let Some(terms) = packed_terms::of_sections(region, self.segment.id, sections) else {
            return 0;
        };
        if !terms.are_sound() {
            checked.note("packed terms", start, "they are damaged, or not in order");
        }
        let mut cursor = terms.cursor(0);
        let all = std::iter::from_fn(|| {
            let (field, _, entry) = cursor.term()?;
            cursor.advance();
            Some(Led { entry, lengths: self.lengths.of_field(field) })
        });
        let mut all: Vec<Led> = all.collect();
        // The lists' own order.
        all.sort_unstable_by_key(|list| list.entry.packed_at());
        let mut postings = 0;
        for list in all {
            if let Err(why) = self.packed_term(list, &mut postings) {
                checked.note("packed terms", start, why);
            }
            checked.counts.postings += list.entry.postings as u64;
        }
        postings
    }

    fn packed_term(&mut self, list: Led, postings: &mut u64) -> Verdict {
        let entry = list.entry;
        if (entry.alone != 0) != (entry.postings == 1 && self.counts.is_some()) {
            return Err("a term with one posting is stored in the wrong form");
        }
        match entry.postings {
            0 => Err("a term has no postings"),
            1 => {
                self.posting(entry.payload, postings)?;
                self.alone(list)
            }
            _ => self.packed(list, postings),
        }
    }

    /// Checks a packed list.
    fn packed(&mut self, list: Led, postings: &mut u64) -> Verdict {
        let Led { entry, lengths: number } = list;
        let Some(at) = entry.packed_at().filter(|_| self.room().hold(entry)) else {
            return Err("its postings leave the segment's packed lists");
        };
        if (at as u64) < self.taken {
            return Err("its postings overlap another term's");
        }
        self.taken = at as u64 + 1;
        let region = self.part.region;
        let Section { start, bytes, .. } = self.segment.sections.get(Kind::PackedLists);
        let base = rank_of(self.rows.len().saturating_sub(1));
        let words = Span::new(start + at as u64 * 4, (bytes / 4).saturating_sub(at as u64));
        let list = PackedList::new(words, entry.postings, base);
        let (lasts, maxima) = (list.lasts(region), list.maxima(region));
        let lengths = self.lengths.array(number);
        let mut next = base;
        for block in 0..list.blocks() {
            let mut words = [0; PACKED_BLOCK];
            let unpacked = list.unpack(region, Level::detect(), block, &mut words);
            let words = &mut words[..unpacked.count];
            let positions = list.positions(region, unpacked.positions_at);
            next = self.block(number, words, next, positions, postings)?;
            if lasts.get(block).is_some_and(|last| rank(last.load(Relaxed)) + 1 != next) {
                return Err("its skip data do not match its postings");
            }
            let expected = maxima_of(spirit_kernel::run_of(words), lengths, base);
            if maxima.get(block).is_some_and(|word| word.load(Relaxed) != expected.word()) {
                return Err("its block maxima do not match its postings");
            }
        }
        Ok(())
    }

    /// Checks the postings of a block, the first of which has at least rank `next`. Returns the
    /// least rank of the next block.
    fn block(
        &mut self,
        number: Option<usize>,
        words: &[u32],
        mut next: u32,
        positions: Positions<'_>,
        postings: &mut u64,
    ) -> Result<u32, &'static str> {
        for (index, word) in words.iter().enumerate() {
            if self.posting(*word, postings)? < next {
                return Err("its postings do not ascend");
            }
            next = rank(*word) + 1;
            self.positions(number, *word, positions.of_last(&words[..=index]))?;
        }
        Ok(next)
    }

    /// Checks the positions of a posting without a list.
    fn alone(&mut self, list: Led) -> Verdict {
        let Led { entry, lengths: number } = list;
        let (posting, at) = (entry.payload, entry.alone & !ALONE);
        if frequency(posting) == 1 {
            return self.positions(number, posting, std::iter::once(at));
        }
        let Section { start, bytes, .. } = self.segment.sections.get(Kind::PackedLists);
        let words = Span::new(start + at as u64 * 4, (bytes / 4).saturating_sub(at as u64));
        let words = self.part.region.get(words).unwrap_or(&[]);
        self.positions(number, posting, Positions::new(words).of_last(&[posting]))
    }

    /// Checks the positions of a posting.
    fn positions(
        &mut self,
        number: Option<usize>,
        posting: u32,
        positions: impl Iterator<Item = u32>,
    ) -> Verdict {
        let Some(counts) = &mut self.counts else { return Ok(()) };
        let row = local(posting);
        if !self.rows.is_document(row) {
            return Ok(());
        }
        let (tokens, mut next, mut count) = (self.rows.tokens(row), 0, 0);
        for position in positions {
            if position < next || position >= tokens {
                return Err("its positions do not ascend, or exceed its document");
            }
            (next, count) = (position + 1, count + 1);
        }
        if count < frequency(posting)
            || (frequency(posting) < FREQUENCY_MAX && count != frequency(posting))
        {
            return Err("its positions are not as many as its postings say");
        }
        if let Some(number) = number {
            let sum = &mut counts[number][row as usize];
            *sum = sum.saturating_add(count);
        }
        Ok(())
    }
}
