//! Checks texts. Each row's text is in the next block, or goes on there. Each block lies where its
//! entry says, has its checksum, and has texts of the lengths that it states.

use crate::check::rows::Rows;
use crate::check::seen::Segment;
use crate::check::{Checked, Part};
use crate::form::text_block::Unpacked;
use crate::form::text_index::{TextIndex, TextScratch};
use crate::ground::section::Kind;

pub(super) fn check(part: &Part<'_>, segment: &Segment, checked: &mut Checked) {
    let index = match TextIndex::at(part.region, segment.sections.get(Kind::TextIndex).start) {
        Ok(index) => index,
        Err(finding) => return checked.add(finding),
    };
    let rows = Rows::of(part, segment);
    let mut walk = Walk { rows, next: 0, skipped: 0, end: 0, bytes: 0 };
    let mut scratch = TextScratch::default();
    for at in 0..index.blocks() {
        let entry = index.entry(at);
        if entry.start as u64 != walk.end || entry.first != walk.next {
            let why = "an entry does not begin where the one before ends";
            checked.note("text index", index.entry_at(at), why);
        }
        walk.end = entry.end();
        walk.next = entry.first;
        match index.block(at, &mut scratch) {
            Ok(block) => {
                if let Err(why) = walk.block(block) {
                    checked.note("block of texts", index.texts().0 + entry.start as u64 * 8, why);
                }
            }
            Err(finding) => checked.add(finding),
        }
    }
    let all = walk.next as u64 == segment.entry.rows && walk.end * 8 == index.texts().1;
    if !all || walk.bytes != segment.entry.text_bytes {
        let at = index.texts().0;
        checked.note("texts", at, "their number or length is not what the segment's slot says");
    }
    checked.counts.text_bytes += walk.bytes;
}

/// A walk through a segment's texts in order.
struct Walk<'a> {
    rows: Rows<'a>,
    /// The row whose text comes next.
    next: u32,
    /// The number of its bytes that were in earlier blocks.
    skipped: u32,
    /// One past the last word of the block before.
    end: u64,
    bytes: u64,
}

impl Walk<'_> {
    fn block(&mut self, block: Unpacked<'_>) -> Result<(), &'static str> {
        let mut verdict = Ok(());
        if block.skipped != self.skipped {
            verdict = Err("it does not begin where the part before ends");
        }
        for index in 0..block.rows {
            let local = self.next.saturating_add(index);
            let no_document = local >= self.rows.len() || !self.rows.is_document(local);
            if no_document && block.length(index) > 0 {
                verdict = Err("it has the text of a row without a document");
            }
            let held = block.held(index);
            self.bytes += held as u64;
            self.skipped = block.skipped + held;
            // The text goes on in the next block. Otherwise the next row's text begins.
            if self.skipped < block.length(index) {
                return verdict;
            }
            self.skipped = 0;
        }
        self.next = self.next.saturating_add(block.rows);
        verdict
    }
}
