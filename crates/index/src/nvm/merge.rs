//! Merging: an engraved segment's terms are linked into the merged dictionary, in place, and no posting is copied
//! (paper §4.9).
//!
//! 1. *Link*: each node leads to what is its term's head; a term that is new gets a record, which leads to what its
//!    bucket leads to. Fence.
//! 2. *Enter*: each bucket that has new records leads to the last of them.
//! 3. *Head*: each term's head leads to its node here. Fence, for both: a head that is durable before its bucket is in a
//!    record that nothing leads to.
//! 4. *Mark* the segment as merged. Fence.
//!
//! Any prefix may be repeated: a head that is already in this segment is left alone, and so is its node's link; a record that
//! was entered is found; one that was not is nowhere. Three fences a segment, where the paper has three barriers a term. Terms
//! are taken in the order of their hashes, which is that of the buckets.
//!
//! New records lead to what their buckets lead to, so nobody may take a record out of the dictionary between the first step
//! and the end of the second: who wants to asks the merge to [make way](Merge::make_way).

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_door::{Door, Site};
use spirit_mem::{Region, Span, prefetch};

use super::engraved_key::{term_at, term_place};
use super::merged::{Link, Merged, NODE_BYTES, Node, chain_word};
use super::merged_writer::MergedWriter;
use super::section::{Kind, Sections};
use super::slot::Slots;
use crate::descriptor::{SegmentId, State};
use crate::flush::FlushStop;
use crate::memory::{Memory, Partition};
use crate::nvm::tier::Nvm;
use crate::term::Term;

/// Terms of one step.
const GROUP: u64 = 2048;
/// How many terms before its turn a term's lines are asked for.
const AHEAD: u64 = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Link { next: u64 },
    Enter { next: usize },
    Head { next: u64 },
    Mark,
    Done,
}

/// A segment on its way into the merged dictionary.
#[derive(Debug)]
pub struct Merge {
    id: SegmentId,
    terms: u64,
    sections: Sections,
    step: Step,
    /// Buckets with new records, and the last of those.
    entered: Vec<(usize, u32)>,
    /// New records.
    added: Vec<u32>,
    /// The record of each term, in the order of their hashes.
    records: Vec<u32>,
}

impl Merge {
    /// The merging of an engraved segment; all older ones are merged.
    pub fn new(memory: &Memory, id: SegmentId) -> Merge {
        let nvm = memory.nvm().expect("there is a second tier to merge in");
        let found = nvm.sections(memory.region(), id.position());
        let (entry, sections) = found.expect("an engraved segment has its slot");
        Merge {
            id,
            terms: sections.get(Kind::TermHashes).bytes / 8,
            sections,
            step: Step::Link { next: 0 },
            entered: Vec::new(),
            added: Vec::new(),
            records: vec![0; entry.terms as usize],
        }
    }

    /// The segment.
    pub fn id(&self) -> SegmentId {
        self.id
    }

    /// Takes the next step; says whether that was the last. An error means that the dictionary has no room: ask again when
    /// the oldest segment has gone.
    pub fn advance(
        &mut self,
        memory: &Memory,
        writer: &mut MergedWriter,
    ) -> Result<bool, FlushStop> {
        let nvm = memory.nvm().expect("there is a second tier to merge in");
        let (region, door) = (memory.region(), nvm.door());
        match self.step {
            Step::Link { next } if next < self.terms => {
                let end = self.terms.min(next + GROUP);
                let merged = Merged::new(region, nvm.layout());
                for index in next..end {
                    self.look_ahead(region, &merged, index);
                    self.step = Step::Link { next: index };
                    self.link(memory, nvm, writer, index)?;
                }
                self.step = Step::Link { next: end };
            }
            Step::Link { .. } => {
                door.fence(Site::LinkFence, region);
                self.step = Step::Enter { next: 0 };
            }
            Step::Enter { next } if next < self.entered.len() => {
                let end = self.entered.len().min(next + GROUP as usize);
                self.enter(region, nvm, next..end);
                self.step = Step::Enter { next: end };
            }
            Step::Enter { .. } => {
                self.step = Step::Head { next: 0 };
            }
            Step::Head { next } if next < self.terms => {
                let end = self.terms.min(next + GROUP);
                let merged = Merged::new(region, nvm.layout());
                for index in next..end {
                    if let Some(record) = self.records.get(index as usize + AHEAD as usize) {
                        merged.prefetch_record(*record);
                    }
                    self.head(region, nvm, index);
                }
                self.step = Step::Head { next: end };
            }
            Step::Head { .. } => {
                door.fence(Site::HeadFence, region);
                self.step = Step::Mark;
            }
            Step::Mark => {
                self.mark(memory, nvm);
                self.step = Step::Done;
            }
            Step::Done => {}
        }
        Ok(self.step == Step::Done)
    }

    /// Lets records be taken out of the dictionary: begins anew if no bucket leads to a new record yet, else comes to its
    /// end, which takes no room.
    pub fn make_way(&mut self, memory: &Memory, writer: &mut MergedWriter) {
        if let Step::Link { .. } = self.step {
            let nvm = memory.nvm().expect("there is a second tier to merge in");
            let merged = Merged::new(memory.region(), nvm.layout());
            self.added.drain(..).for_each(|line| writer.discard(&merged, line));
            self.entered.clear();
            self.step = Step::Link { next: 0 };
        } else {
            while self.advance(memory, writer) == Ok(false) {}
        }
    }

    /// Whether it has come to its end.
    pub fn is_done(&self) -> bool {
        self.step == Step::Done
    }

    /// Asks for what the terms behind `index` need when their turn comes.
    fn look_ahead(&self, region: &Region, merged: &Merged<'_>, index: u64) {
        // The high half of the word is all of the hash that a bucket is chosen by.
        if index + 2 * AHEAD < self.terms {
            let (node, ordinal) = self.node(region, index + 2 * AHEAD);
            prefetch_at(region, node);
            prefetch_at(region, term_place(&self.sections, ordinal));
            merged.prefetch_bucket(hash_word(region, &self.sections, index + 2 * AHEAD) >> 32);
        }
        if index + AHEAD < self.terms {
            merged.prefetch(hash_word(region, &self.sections, index + AHEAD) >> 32);
        }
    }

    /// Where the node of the term at `index` lies, and its ordinal.
    fn node(&self, region: &Region, index: u64) -> (u64, u64) {
        let ordinal = hash_word(region, &self.sections, index) & 0xFFFF_FFFF;
        (self.sections.get(Kind::Nodes).start + ordinal * NODE_BYTES, ordinal)
    }

    fn link(
        &mut self,
        memory: &Memory,
        nvm: &Nvm,
        writer: &mut MergedWriter,
        index: u64,
    ) -> Result<(), FlushStop> {
        let (region, door) = (memory.region(), nvm.door());
        let merged = Merged::new(region, nvm.layout());
        let (at, ordinal) = self.node(region, index);
        let node = Node::read(region, at).expect("a segment's nodes lie in the region");
        let found = term_at(region, &self.sections, ordinal);
        let mut bytes = Vec::new();
        found.bytes(region, &self.sections, &mut bytes);
        let hash = found.key.hash();
        let term = Term { key: found.key, bytes: &bytes };
        let record = match merged.find(term, hash) {
            Some(line) => line,
            None => self.add(&merged, region, door, writer, term, hash)?,
        };
        self.records[index as usize] = record;
        let head = merged.head(record);
        let link =
            if head.position() == self.id.position() && !head.is_none() { node.link } else { head };
        let words = node.linked(link, record).words();
        door.store(Site::Link, region, at, words[0]);
        door.store(Site::Link, region, at + 24, words[3]);
        door.write_back(Site::LinkWriteBack, region, at, NODE_BYTES);
        Ok(())
    }

    /// A record for a new term, in front of its bucket's chain as that will be.
    fn add(
        &mut self,
        merged: &Merged<'_>,
        region: &Region,
        door: &Door,
        writer: &mut MergedWriter,
        term: Term<'_>,
        hash: u64,
    ) -> Result<u32, FlushStop> {
        let bucket = merged.bucket(hash);
        let before = self.entered.last().filter(|(last, _)| *last == bucket).map(|(_, line)| *line);
        let first = before.or_else(|| merged.chain(bucket).next().map(|(_, line)| line));
        let next = first.map_or(0, chain_word);
        let line = writer.add(merged, region, door, term, next).ok_or(FlushStop::DictionaryFull)?;
        self.added.push(line);
        match self.entered.last_mut().filter(|(last, _)| *last == bucket) {
            Some((_, last)) => *last = line,
            None => self.entered.push((bucket, line)),
        }
        Ok(line)
    }

    fn enter(&self, region: &Region, nvm: &Nvm, range: std::ops::Range<usize>) {
        let merged = Merged::new(region, nvm.layout());
        for (bucket, line) in &self.entered[range] {
            let at = merged.buckets_start + *bucket as u64 * 8;
            nvm.door().publish(Site::Enter, region, at, chain_word(*line));
            nvm.door().write_back(Site::EnterWriteBack, region, at, 8);
        }
    }

    fn head(&self, region: &Region, nvm: &Nvm, index: u64) {
        let merged = Merged::new(region, nvm.layout());
        let at = merged.place(self.records[index as usize]) + 8;
        let link = Link::new(self.id.position(), self.node(region, index).0);
        nvm.door().publish(Site::Head, region, at, link.0);
        nvm.door().write_back(Site::HeadWriteBack, region, at, 8);
    }

    /// From now on the segment's own terms are not needed.
    fn mark(&self, memory: &Memory, nvm: &Nvm) {
        let position = self.id.position();
        Slots::new(memory.region(), nvm.layout()).set_live(nvm.door(), position, State::Merged);
        memory.pins().note_change();
        memory.set_merged(position + 1);
        if memory.table().get(position).is_some_and(|(_, state)| state == State::Committed) {
            memory.table().publish(self.id, State::Merged);
        }
        memory.retire_blocks(Partition::NvmShort, self.id);
    }
}

/// Asks for the line at `at`, a multiple of 8, if it lies in the region.
fn prefetch_at(region: &Region, at: u64) {
    if let Some([word]) = region.get(Span::<AtomicU64>::new(at, 1)) {
        prefetch(word);
    }
}

/// The entry at `index` of a segment's terms by hash: low half of the hash (high), ordinal (low).
pub(crate) fn hash_word(region: &Region, sections: &Sections, index: u64) -> u64 {
    let at = sections.get(Kind::TermHashes).start + index * 8;
    region.view(Span::<AtomicU64>::new(at, 1))[0].load(Relaxed)
}

/// The ordinal of a term in an engraved segment that is not merged.
pub(crate) fn find_ordinal(
    region: &Region,
    sections: &Sections,
    term: Term<'_>,
    hash: u64,
) -> Option<u64> {
    let wanted = hash as u32 as u64;
    let count = sections.get(Kind::TermHashes).bytes / 8;
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if hash_word(region, sections, middle) >> 32 < wanted {
            low = middle + 1
        } else {
            high = middle
        }
    }
    let mut bytes = Vec::new();
    (low..count)
        .map(|index| hash_word(region, sections, index))
        .take_while(|word| word >> 32 == wanted)
        .map(|word| word & 0xFFFF_FFFF)
        .find(|ordinal| {
            let found = term_at(region, sections, *ordinal);
            found.bytes(region, sections, &mut bytes);
            found.key == term.key && (!term.key.is_long() || bytes == term.bytes)
        })
}

/// Takes the terms out of the merged dictionary that had their last posting in a segment that was dropped, whose mark says so.
pub fn sweep_merged(memory: &Memory, nvm: &Nvm, writer: &mut MergedWriter, id: SegmentId) {
    let (region, door) = (memory.region(), nvm.door());
    let Ok((entry, sections)) = nvm.sections(region, id.position()) else { return };
    let merged = Merged::new(region, nvm.layout());
    for ordinal in 0..entry.terms {
        let at = sections.get(Kind::Nodes).start + ordinal * NODE_BYTES;
        let Some(node) = Node::read(region, at).filter(|node| node.postings > 0) else { continue };
        if (node.record as usize) < merged.lines()
            && merged.head(node.record).position() == id.position()
            && node.is_of(merged.key(node.record))
        {
            writer.remove(&merged, region, door, merged.key(node.record).hash(), node.record);
        }
    }
    writer.collect(memory.pins(), region, door);
}
