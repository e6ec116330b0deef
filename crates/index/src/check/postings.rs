//! Checks nodes and their lists; [packed](crate::check::packed) lists have their own check.
//! Postings ascend, belong to rows, and match the document vectors. Block maxima and bitmaps match
//! the postings.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use spirit_mem::Span;

use crate::check::lengths::Lengths;
use crate::check::rows::{self, Rows, Vectors, digest};
use crate::check::seen::Segment;
use crate::check::{Checked, Part};
use crate::form::node::{Node, Nodes};
use crate::form::shape;
use crate::ground::posting::{frequency, local, rank, rank_of};
use crate::ground::section::Kind;
use crate::lists::maxima::{BLOCK_POSTINGS, blocks_of, maxima_of};
use crate::memory::flushed::{bitmap_at, bitmap_words, is_dense, list_end, maxima_at};

pub(super) fn check(
    part: &Part<'_>,
    segment: &Segment,
    lengths: &Lengths<'_>,
    mut vectors: Vectors,
    checked: &mut Checked,
) {
    let mut lists = Lists::of(part, segment, lengths);
    let postings = if segment.sections.are_packed() {
        lists.packed_terms(checked)
    } else {
        lists.nodes(&mut vectors, checked)
    };
    if let Some(counts) = lists.counts {
        rows::check_counts(part, segment, lengths, &counts, checked);
    }
    if postings != segment.entry.posting_count {
        let why = "the number of postings is not what the segment's slot says";
        checked.note("posting lists", lists.start, why);
    }
}

/// A walk through a segment's lists, in the order of its terms, which is that of the lists.
pub(super) struct Lists<'a> {
    pub(super) part: &'a Part<'a>,
    pub(super) segment: &'a Segment,
    pub(super) rows: Rows<'a>,
    pub(super) lengths: &'a Lengths<'a>,
    /// Offset of the posting arrays.
    start: u64,
    words: &'a [AtomicU32],
    /// End of the words that are used so far, in posting arrays or in packed lists.
    pub(super) taken: u64,
    /// The ordinal of the last term.
    ordinal: Option<u32>,
    /// The sum of the last list's postings.
    sum: u64,
    /// The number of positions in lists, by array of lengths and by row; `None` if lists have no
    /// positions.
    pub(super) counts: Option<Vec<Vec<u32>>>,
}

pub(super) type Verdict = Result<(), &'static str>;

impl<'a> Lists<'a> {
    fn of(part: &'a Part<'a>, segment: &'a Segment, lengths: &'a Lengths<'a>) -> Lists<'a> {
        let section = segment.sections.get(Kind::Postings);
        let words = part.region.get(Span::new(section.start, section.bytes / 4)).unwrap_or(&[]);
        let rows = Rows::of(part, segment);
        let none = || vec![vec![0; rows.len() as usize]; lengths.arrays().len()];
        let counts = rows::has_positions(part, segment).then(none);
        let start = section.start;
        Lists {
            part,
            segment,
            rows,
            lengths,
            start,
            words,
            taken: 0,
            ordinal: None,
            sum: 0,
            counts,
        }
    }

    /// Checks all nodes and the lists that they lead to. Returns the number of postings of
    /// documents.
    fn nodes(&mut self, vectors: &mut Vectors, checked: &mut Checked) -> u64 {
        let nodes = Nodes::of(self.part.region, &self.segment.sections);
        let mut order: Vec<u64> =
            (0..).zip(nodes.iter()).map(|(i, n)| (n.ordinal as u64) << 32 | i).collect();
        order.sort_unstable();
        let mut postings = 0;
        for index in order.into_iter().map(|word| word as u32 as usize) {
            let (node, at) = (nodes.get(index), nodes.place(index));
            let verdict = self.term(node, &mut postings);
            // Take it even if the node is wrong, so that its term is not reported as one without a
            // node.
            let agrees = vectors.take(node.ordinal, self.sum);
            if let Err(why) = verdict {
                checked.note("node", at, why);
            } else if !agrees {
                checked.note("node", at, "its postings differ from the document vectors");
            }
            checked.counts.postings += node.postings as u64;
        }
        if !vectors.is_empty() {
            let at = self.segment.sections.get(Kind::Nodes).start;
            checked.note("nodes", at, "a term of the document vectors has no node");
        }
        postings
    }

    /// Returns the places where lists can be.
    pub(super) fn room(&self) -> shape::Lists {
        shape::Lists {
            words: self.words.len() as u64,
            packed_words: self.segment.sections.get(Kind::PackedLists).bytes / 4,
            bitmap_rows: self.segment.entry.bitmap_rows as u32,
        }
    }

    fn term(&mut self, node: Node, postings: &mut u64) -> Verdict {
        self.sum = 0;
        let before = self.ordinal.replace(node.ordinal);
        if node.segment != self.segment.id {
            return Err("it belongs to another segment");
        }
        if before == Some(node.ordinal) || node.ordinal as u64 >= self.segment.entry.terms {
            return Err("its ordinal is another node's, or no term's");
        }
        match node.postings {
            0 => Err("it has no postings"),
            1 => self.posting(node.payload, postings).map(|_| ()),
            _ => self.list(node, postings),
        }
    }

    fn list(&mut self, node: Node, postings: &mut u64) -> Verdict {
        let bitmap_rows = self.segment.entry.bitmap_rows as u32;
        let Node { postings: len, payload: first, .. } = node;
        if !self.room().hold(node.entry()) {
            return Err("its postings leave the segment's posting arrays");
        }
        if (first as u64) <= self.taken && self.taken > 0 {
            return Err("its postings overlap those of the term before");
        }
        if self.words[first as usize - 1].load(Relaxed) != node.ordinal {
            return Err("its postings belong to another term");
        }
        let list = &self.words[first as usize..first as usize + len as usize];
        self.taken = list_end(first as u64, len, bitmap_rows);
        let mut next = 0;
        for word in list {
            let found = self.posting(word.load(Relaxed), postings)?;
            if found < next {
                return Err("its postings do not ascend");
            }
            next = found + 1;
        }
        self.maxima(node, list)?;
        if is_dense(len, bitmap_rows) { self.bitmap(node, list) } else { Ok(()) }
    }

    fn maxima(&self, node: Node, list: &[AtomicU32]) -> Verdict {
        let blocks = blocks_of(node.postings);
        let at = self.start + maxima_at(node.payload as u64, node.postings) * 4;
        let words = self.part.words(at, blocks * 8);
        let base_rank = rank_of(self.rows.len() - 1);
        let mut found = list.chunks(BLOCK_POSTINGS as usize).zip(words);
        let lengths = self.lengths.array(self.lengths.number_of(node.ordinal));
        let right = found
            .all(|(block, word)| maxima_of(block, lengths, base_rank).word() == word.load(Relaxed));
        if right && words.len() as u64 == blocks {
            Ok(())
        } else {
            Err("its block maxima do not match its postings")
        }
    }

    /// Checks a posting and returns its rank. Postings of broken-off documents count in no sum.
    pub(super) fn posting(&mut self, word: u32, postings: &mut u64) -> Result<u32, &'static str> {
        let row = local(word);
        if row >= self.rows.len() || frequency(word) == 0 {
            return Err("a posting has an unknown row or a frequency of 0");
        }
        if self.rows.is_document(row) {
            *postings += 1;
            self.sum = self.sum.wrapping_add(digest(row, frequency(word)));
        }
        Ok(rank(word))
    }

    fn bitmap(&mut self, node: Node, list: &[AtomicU32]) -> Verdict {
        let rows = self.segment.entry.bitmap_rows as u32;
        let at = bitmap_at(node.payload as u64, node.postings);
        let bits = Span::<AtomicU64>::new(self.start + at * 4, bitmap_words(rows));
        let bits = self.part.region.get(bits).unwrap_or(&[]);
        let set: u32 = bits.iter().map(|word| word.load(Relaxed).count_ones()).sum();
        let base = rank_of(rows - 1);
        let has = |word: &AtomicU32| {
            let bit = (rank(word.load(Relaxed)) - base) as usize;
            bits.get(bit / 64).is_some_and(|word| word.load(Relaxed) >> (bit % 64) & 1 == 1)
        };
        if set == node.postings && list.iter().all(has) {
            Ok(())
        } else {
            Err("its bitmap does not match its postings")
        }
    }
}
