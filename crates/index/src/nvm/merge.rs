//! Merging: an engraved segment's terms are linked into the merged dictionary, in place, and no posting is copied
//! (paper §4.9).
//!
//! 1. *Link*: each node leads to what is its term's head; a term that is new gets a record, which leads to its node, and
//!    to what its bucket leads to. Fence.
//! 2. *Enter*: each bucket that has new records leads to the last of them.
//! 3. *Head*: the head of each term that had a record leads to its node here. Fence, for both.
//! 4. *Mark* the segment as merged. Fence.
//!
//! Any prefix may be repeated: a head that is already in this segment is left alone, and so is its node's link; a record that
//! was entered is found; one that was not is nowhere. Three fences a segment, where the paper has three barriers a term. A
//! segment's terms lie in the order of their hashes, which is that of the buckets: only records are met in any order.
//!
//! New records lead to what their buckets lead to, so nobody may take a record out of the dictionary between the first step
//! and the end of the second: who wants to asks the merge to [make way](Merge::make_way).

use spirit_door::{Door, Site};
use spirit_mem::Region;

use super::engraved_terms::EngravedTerms;
use super::merged::{Merged, chain_word};
use super::merged_writer::MergedWriter;
use super::node::{Link, Nodes};
use super::section::{Kind, Sections};
use super::slot::Slots;
use crate::descriptor::{SegmentId, State};
use crate::flush::FlushStop;
use crate::memory::{Memory, Partition};
use crate::nvm::tier::Nvm;
use crate::term::Term;

/// Terms of one step.
const GROUP: usize = 2048;
/// How many terms before its turn a term's record is asked for; its bucket is as many before that.
const AHEAD: usize = 24;
/// Stands for a record that needs no head. There are fewer lines.
const HAS_HEAD: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Link { next: usize },
    Enter { next: usize },
    Head { next: usize },
    Mark,
    Done,
}

/// A segment on its way into the merged dictionary.
#[derive(Debug)]
pub struct Merge {
    id: SegmentId,
    terms: usize,
    sections: Sections,
    step: Step,
    /// Buckets with new records, and the last of those.
    entered: Vec<(usize, u32)>,
    /// New records.
    added: Vec<u32>,
    /// The record of each term, in the order of their hashes; [`HAS_HEAD`] if that leads to its node here.
    records: Vec<u32>,
}

impl Merge {
    /// The merging of an engraved segment; all older ones are merged.
    pub fn new(memory: &Memory, id: SegmentId) -> Merge {
        let nvm = memory.nvm().expect("there is a second tier to merge in");
        let found = nvm.sections(memory.region(), id.position());
        let (_, sections) = found.expect("an engraved segment has its slot");
        let terms = Nodes::of(memory.region(), &sections).len();
        Merge {
            id,
            terms,
            sections,
            step: Step::Link { next: 0 },
            entered: Vec::new(),
            added: Vec::new(),
            records: vec![0; terms],
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
                let mut place = self.place(region, nvm);
                for index in next..end {
                    place.look_ahead(index);
                    self.step = Step::Link { next: index };
                    self.link(&mut place, writer, index)?;
                }
                self.step = Step::Link { next: end };
            }
            Step::Link { .. } => {
                // All of them were linked, two a line.
                let nodes = self.sections.get(Kind::Nodes);
                door.write_back(Site::LinkWriteBack, region, nodes.start, nodes.bytes);
                door.fence(Site::LinkFence, region);
                self.step = Step::Enter { next: 0 };
            }
            Step::Enter { next } if next < self.entered.len() => {
                let end = self.entered.len().min(next + GROUP);
                self.enter(region, nvm, next..end);
                self.step = Step::Enter { next: end };
            }
            Step::Enter { .. } => {
                self.step = Step::Head { next: 0 };
            }
            Step::Head { next } if next < self.terms => {
                let end = self.terms.min(next + GROUP);
                let place = self.place(region, nvm);
                for index in next..end {
                    if let Some(record) = self.records.get(index + AHEAD) {
                        place.merged.prefetch_record(*record);
                    }
                    if self.records[index] != HAS_HEAD {
                        self.head(&place, index);
                    }
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

    fn place<'a>(&self, region: &'a Region, nvm: &'a Nvm) -> Place<'a> {
        Place {
            region,
            door: nvm.door(),
            merged: Merged::new(region, nvm.layout()),
            terms: EngravedTerms::of(region, &self.sections),
            long: Vec::new(),
        }
    }

    fn link(
        &mut self,
        place: &mut Place<'_>,
        writer: &mut MergedWriter,
        index: usize,
    ) -> Result<(), FlushStop> {
        let (found, hash) = (place.terms.key(index), place.terms.hash(index));
        place.terms.long_bytes(found, &mut place.long);
        let term = Term { key: found.key, bytes: &place.long };
        let (node, at) = (place.terms.nodes.get(index), place.terms.nodes.place(index));
        let here = Link::new(self.id.position(), at);
        let (record, link) = match place.merged.find(term, hash) {
            Some(line) => {
                let head = place.merged.head(line);
                self.records[index] = line;
                (line, if head == here { node.link } else { head })
            }
            None => {
                let next = self.chain_from(&place.merged, hash);
                let line = writer.add(&place.merged, place.region, place.door, term, next, here);
                let line = line.ok_or(FlushStop::DictionaryFull)?;
                self.note_added(place.merged.bucket(hash), line);
                self.records[index] = HAS_HEAD;
                (line, Link::default())
            }
        };
        let door = place.door;
        door.store(Site::Link, place.region, at, link.0);
        door.store(Site::Link, place.region, at + 24, node.linked(link, record).last_word());
        Ok(())
    }

    /// What a new record leads to: its bucket's chain as that will be.
    fn chain_from(&self, merged: &Merged<'_>, hash: u64) -> u64 {
        let bucket = merged.bucket(hash);
        let before = self.entered.last().filter(|(last, _)| *last == bucket).map(|(_, line)| *line);
        let first = before.or_else(|| merged.chain(bucket).next().map(|(_, line)| line));
        first.map_or(0, chain_word)
    }

    /// A new record is in front of its bucket's chain as that will be.
    fn note_added(&mut self, bucket: usize, line: u32) {
        self.added.push(line);
        match self.entered.last_mut().filter(|(last, _)| *last == bucket) {
            Some((_, last)) => *last = line,
            None => self.entered.push((bucket, line)),
        }
    }

    fn enter(&self, region: &Region, nvm: &Nvm, range: std::ops::Range<usize>) {
        let merged = Merged::new(region, nvm.layout());
        for (bucket, line) in &self.entered[range] {
            let at = merged.buckets_start + *bucket as u64 * 8;
            nvm.door().publish(Site::Enter, region, at, chain_word(*line));
            nvm.door().write_back(Site::EnterWriteBack, region, at, 8);
        }
    }

    fn head(&self, place: &Place<'_>, index: usize) {
        let Place { region, door, merged, .. } = place;
        let at = merged.place(self.records[index]) + 8;
        let link = Link::new(self.id.position(), place.terms.nodes.place(index));
        door.publish(Site::Head, region, at, link.0);
        door.write_back(Site::HeadWriteBack, region, at, 8);
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

/// What a step reads and writes.
struct Place<'a> {
    region: &'a Region,
    door: &'a Door,
    merged: Merged<'a>,
    terms: EngravedTerms<'a>,
    /// The bytes of the long term at hand.
    long: Vec<u8>,
}

impl Place<'_> {
    /// Asks for what the terms behind `index` need of the dictionary when their turn comes.
    #[inline]
    fn look_ahead(&self, index: usize) {
        if index + 2 * AHEAD < self.terms.len() {
            self.merged.prefetch_bucket(self.terms.hash(index + 2 * AHEAD));
        }
        if index + AHEAD < self.terms.len() {
            self.merged.prefetch(self.terms.hash(index + AHEAD));
        }
    }
}

/// Takes the terms out of the merged dictionary that had their last posting in a segment that was dropped, whose mark says so.
pub fn sweep_merged(memory: &Memory, nvm: &Nvm, writer: &mut MergedWriter, id: SegmentId) {
    let (region, door) = (memory.region(), nvm.door());
    let Ok((_, sections)) = nvm.sections(region, id.position()) else { return };
    let merged = Merged::new(region, nvm.layout());
    for node in Nodes::of(region, &sections).iter() {
        if (node.record as usize) < merged.lines()
            && merged.head(node.record).position() == id.position()
            && node.is_of(merged.key(node.record))
        {
            writer.remove(&merged, region, door, merged.key(node.record).hash(), node.record);
        }
    }
    writer.collect(memory.pins(), region, door);
}
