//! Merging: the terms of engraved segments that follow each other, a *run*, are linked into the merged dictionary, in place,
//! and no posting is copied (paper §4.9, where a run is one segment).
//!
//! 0. *Grow*: if there would be more records than buckets, the dictionary gets [more buckets](crate::form::merged).
//! 1. *Link*: the nodes of each term lead from newer to older, and the oldest of them to what is the term's head; a term that
//!    is new gets a record, which leads to its newest node. New records that stand side by side in a chain lead to each other, and
//!    the last of them to what comes behind them there. Fence.
//! 2. *Enter*: the word before them in the chain leads to the first of them.
//! 3. *Head*: the head of each term that had a record leads to its newest node here. Fence, for both.
//! 4. *Mark* the newest segment as merged, which says so of all older ones too. Fence.
//!
//! Any prefix may be repeated, by a run that begins with the same segment and ends with another: a head that leads to a
//! segment of the run says that the links of that and of older ones were durable before it, so head and links stay; a record
//! that was entered is found; one that was not is nowhere. Three fences a run, where the paper has three barriers a term.
//! Terms are [gathered](crate::merge::gather) in the order of their hashes, which is that of the buckets: only records are met in any
//! order.
//!
//! Why runs: a merge changes a word here and there all over the dictionary, and a disk writes the whole page for each. A run
//! writes the pages once, and looks each term up once.
//!
//! New records have their places between others, so no record may leave the dictionary between the first step and the end of
//! the second: before it takes one out, the caller asks the merge to [make way](Merge::make_way).

pub mod gather;
pub mod merged_writer;

use spirit_door::{Door, Site};
use spirit_mem::Region;

use crate::form::engraved_terms::EngravedTerms;
use crate::form::merged::{Merged, chain_word};
use crate::form::node::{Link, NODE_BYTES, Nodes};
use crate::ground::damage;
use crate::ground::ids::{Partition, Position, SegmentId, State};
use crate::ground::section::{Kind, Sections};
use crate::ground::slot::Slots;
use crate::ground::term::Term;
use crate::memory::Memory;
use crate::memory::flush_stop::FlushStop;
use crate::merge::gather::{Gather, Gathered, RUN_MAX};
use crate::merge::merged_writer::MergedWriter;
use crate::tier::Nvm;

/// Terms of a run of several segments at most: where each has many, a run gains little and takes memory.
const RUN_TERMS_MAX: usize = 1 << 20;
/// Words of one step.
const GROUP: usize = 2048;
/// How many terms before its turn a term's record is asked for; its bucket is as many before that.
const AHEAD: usize = 24;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Step {
    Grow,
    Link,
    Enter {
        next: usize,
    },
    Head {
        next: usize,
    },
    Mark,
    #[default]
    Done,
}

/// A segment of the run.
#[derive(Clone, Copy, Debug)]
struct Source {
    id: SegmentId,
    sections: Sections,
}

impl Source {
    /// To one of its nodes.
    fn link_to(&self, index: usize) -> Link {
        let nodes = self.sections.get(Kind::Nodes).start;
        Link::new(self.id.position(), nodes + index as u64 * NODE_BYTES)
    }
}

/// A run of segments on its way into the merged dictionary, and then the next: its memory stays.
#[derive(Debug, Default)]
pub struct Merge {
    /// Oldest first.
    sources: Vec<Source>,
    /// Terms of all of them, each as often as segments have it.
    terms: usize,
    step: Step,
    gather: Gather,
    new: NewRecords,
    /// Heads that are to lead to the run: the record, and [where](Gathered::place) its newest node here is.
    heads: Vec<(u32, u32)>,
    /// It has gone through all buckets once.
    has_linked: bool,
}

/// Records that no chain leads to yet.
#[derive(Debug, Default)]
struct NewRecords {
    /// The offsets of words that will lead to some, and the first of those.
    entered: Vec<(u64, u32)>,
    /// All of them, in the order of their hashes.
    added: Vec<u32>,
}

impl NewRecords {
    /// Notes a record that enters its chain behind the word at `at`; returns the new record that stands there before it, if there
    /// is one. Hashes do not fall, so that is the last.
    fn note(&mut self, at: u64, line: u32) -> Option<u32> {
        let before = self.added.last().copied();
        self.added.push(line);
        if self.entered.last().is_some_and(|(last, _)| *last == at) {
            return before;
        }
        self.entered.push((at, line));
        None
    }
}

impl Merge {
    /// Begins with the first of these segments, as many as make a run: they are engraved, follow each other, and all older ones are
    /// merged. The last run is done.
    pub fn begin(&mut self, memory: &Memory, engraved: impl IntoIterator<Item = SegmentId>) {
        let nvm = memory.nvm().expect("there is a second tier to merge in");
        let mut terms = 0;
        self.sources.clear();
        for id in engraved.into_iter().take(RUN_MAX) {
            let found = nvm.sections(memory.region(), id.position());
            let (_, sections) = found.expect("an engraved segment has its slot");
            terms += Nodes::of(memory.region(), &sections).len();
            if !self.sources.is_empty() && terms > RUN_TERMS_MAX {
                break;
            }
            self.sources.push(Source { id, sections });
        }
        self.terms = terms;
        self.go_from_the_first();
    }

    fn go_from_the_first(&mut self) {
        self.step = Step::Grow;
        self.gather.begin(self.sources.len());
        self.new.entered.clear();
        self.new.added.clear();
        self.heads.clear();
        self.heads.shrink_to(RUN_TERMS_MAX);
    }

    /// How many segments the run has.
    pub fn segments(&self) -> usize {
        self.sources.len()
    }

    /// Takes the next step; says whether that was the last. An error means that the dictionary has no room: ask a
    /// [shorter](Self::shorten) run, or again when the oldest segment has gone.
    pub fn advance(
        &mut self,
        memory: &Memory,
        writer: &mut MergedWriter,
    ) -> Result<bool, FlushStop> {
        let nvm = memory.nvm().expect("there is a second tier to merge in");
        let (region, door) = (memory.region(), nvm.door());
        damage::clear();
        match self.step {
            Step::Grow => {
                let records = writer.used() + self.terms as u64;
                let goes_on = writer.grow(region, nvm, memory.pins(), records);
                if damage::is_any() {
                    return Err(FlushStop::Damaged);
                }
                if !goes_on {
                    self.step = Step::Link;
                }
            }
            Step::Link => {
                if !self.link(region, nvm, writer)? {
                    self.has_linked = true;
                    self.write_links_back(memory, door, writer);
                    self.step = Step::Enter { next: 0 };
                }
            }
            Step::Enter { next } if next < self.new.entered.len() => {
                let end = self.new.entered.len().min(next + GROUP);
                self.enter(region, nvm, next..end);
                self.step = Step::Enter { next: end };
            }
            Step::Enter { .. } => {
                self.step = Step::Head { next: 0 };
            }
            Step::Head { next } if next < self.heads.len() => {
                let end = self.heads.len().min(next + GROUP);
                self.lead_heads(region, nvm, next..end);
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

    /// Lets records be taken out of the dictionary: begins anew if no chain leads to a new record yet, else comes to its
    /// end, which takes no room.
    pub fn make_way(&mut self, memory: &Memory, writer: &mut MergedWriter) {
        writer.stop_growing();
        if matches!(self.step, Step::Grow | Step::Link) {
            self.begin_anew(memory, writer, self.sources.len());
        } else {
            while self.advance(memory, writer) == Ok(false) {}
        }
    }

    /// Begins anew if chains can be cut, since the dictionary has no room and lines wait for that; says whether it did.
    pub fn cut(&mut self, memory: &Memory, writer: &mut MergedWriter) -> bool {
        let nvm = memory.nvm().expect("there is a second tier to merge in");
        if !writer.is_cutting() || self.step != Step::Link {
            return false;
        }
        self.begin_anew(memory, writer, self.sources.len());
        writer.advance_cutting(memory.region(), nvm, memory.pins())
    }

    /// Takes half as many segments, since the dictionary has no room for the terms of all; says whether there was more than
    /// one.
    pub fn shorten(&mut self, memory: &Memory, writer: &mut MergedWriter) -> bool {
        let can = self.sources.len() > 1 && matches!(self.step, Step::Grow | Step::Link);
        if can {
            self.begin_anew(memory, writer, self.sources.len() / 2);
        }
        can
    }

    /// Whether it has come to its end.
    pub fn is_done(&self) -> bool {
        self.step == Step::Done
    }

    /// Begins anew with the first `count` segments; no chain leads to a new record yet.
    fn begin_anew(&mut self, memory: &Memory, writer: &mut MergedWriter, count: usize) {
        let nvm = memory.nvm().expect("there is a second tier to merge in");
        let merged = Merged::new(memory.region(), nvm.layout());
        self.new.added.drain(..).for_each(|line| writer.discard(&merged, line));
        self.sources.truncate(count);
        self.go_from_the_first();
    }

    /// Links the next terms; says whether there were any.
    fn link(
        &mut self,
        region: &Region,
        nvm: &Nvm,
        writer: &mut MergedWriter,
    ) -> Result<bool, FlushStop> {
        let terms = |source: &Source| EngravedTerms::of(region, &source.sections);
        let terms: Vec<EngravedTerms<'_>> = self.sources.iter().map(terms).collect();
        if !self.gather.more(&terms) {
            return Ok(false);
        }
        let merged = Merged::new(region, nvm.layout());
        if let ([first, .., last], false) = (self.gather.left(), self.has_linked) {
            merged.map_buckets(first.hash()..=last.hash(), self.gather.left().len());
        }
        let mut linking = Linking {
            region,
            nvm,
            door: nvm.door(),
            merged,
            sources: &self.sources,
            terms: &terms,
            writer,
            new: &mut self.new,
            heads: &mut self.heads,
            long: Vec::new(),
        };
        (0..2 * AHEAD).for_each(|distance| linking.look_ahead(&self.gather, distance));
        loop {
            let equal = self.gather.equal(&terms);
            if equal.is_empty() {
                return Ok(true);
            }
            linking.link(equal)?;
            // A record that was not found because of it must not be entered twice.
            if damage::is_any() {
                return Err(FlushStop::Damaged);
            }
            let count = equal.len();
            self.gather.pass(count);
            (0..count).for_each(|back| linking.look_ahead(&self.gather, 2 * AHEAD - back));
        }
    }

    /// All nodes were linked, two a line.
    fn write_links_back(&self, memory: &Memory, door: &Door, writer: &mut MergedWriter) {
        let region = memory.region();
        writer.write_back_unlinked(region, door);
        for source in &self.sources {
            let nodes = source.sections.get(Kind::Nodes);
            door.write_back(Site::LinkWriteBack, region, nodes.start, nodes.bytes);
        }
        door.fence(Site::LinkFence, region);
        writer.note_durable(memory.pins());
    }

    fn enter(&self, region: &Region, nvm: &Nvm, range: std::ops::Range<usize>) {
        for (at, line) in &self.new.entered[range] {
            nvm.door().publish(Site::Enter, region, *at, chain_word(*line));
            nvm.door().write_back(Site::EnterWriteBack, region, *at, 8);
        }
    }

    fn lead_heads(&self, region: &Region, nvm: &Nvm, range: std::ops::Range<usize>) {
        let (merged, door) = (Merged::new(region, nvm.layout()), nvm.door());
        for index in range {
            if let Some((record, _)) = self.heads.get(index + AHEAD) {
                merged.prefetch_record(*record);
            }
            let (record, newest) = self.heads[index];
            let newest = Gathered::at(newest);
            let link = self.sources[newest.segment()].link_to(newest.index());
            let at = merged.place(record) + 8;
            door.publish(Site::Head, region, at, link.0);
            door.write_back(Site::HeadWriteBack, region, at, 8);
        }
    }

    /// From now on the segments' own terms are not needed.
    fn mark(&self, memory: &Memory, nvm: &Nvm) {
        let Some(newest) = self.sources.last().map(|source| source.id.position()) else { return };
        Slots::new(memory.region(), nvm.layout()).set_live(nvm.door(), newest, State::Merged);
        memory.set_merged(newest + 1);
        for Source { id, .. } in &self.sources {
            let found = memory.table().get(id.position());
            if found.is_some_and(|(_, state)| state == State::Committed) {
                memory.table().publish(*id, State::Merged);
            }
            memory.retire_blocks(Partition::NvmShort, *id);
        }
    }
}

/// What linking reads and writes.
struct Linking<'a> {
    region: &'a Region,
    nvm: &'a Nvm,
    door: &'a Door,
    merged: Merged<'a>,
    sources: &'a [Source],
    terms: &'a [EngravedTerms<'a>],
    writer: &'a mut MergedWriter,
    new: &'a mut NewRecords,
    heads: &'a mut Vec<(u32, u32)>,
    /// The bytes of the current long term.
    long: Vec<u8>,
}

impl Linking<'_> {
    /// Links the nodes of a term, oldest first. An error has changed nothing.
    fn link(&mut self, nodes: &[Gathered]) -> Result<(), FlushStop> {
        let (record, head) = self.record(nodes[0], nodes[nodes.len() - 1])?;
        let mut older = head;
        for node in nodes {
            let here = self.link_to(*node);
            let stored = self.terms[node.segment()].nodes.get(node.index());
            // What the head reaches was linked before.
            let is_linked = reaches(head, here.position());
            let link = if is_linked { stored.link } else { older };
            self.door.store(Site::Link, self.region, here.place(), link.0);
            let last = stored.linked(link, record).last_word();
            self.door.store(Site::Link, self.region, here.place() + 24, last);
            older = if is_linked { head } else { here };
        }
        Ok(())
    }

    /// The record of the term that has these nodes in the run, and where its head leads without them.
    fn record(&mut self, oldest: Gathered, newest: Gathered) -> Result<(u32, Link), FlushStop> {
        let terms = &self.terms[oldest.segment()];
        let found = terms.key(oldest.index());
        terms.long_bytes(found, &mut self.long);
        let term = Term { key: found.key, bytes: &self.long };
        let link = self.link_to(newest);
        if let Some(line) = self.merged.find(term, oldest.hash()) {
            let head = self.merged.head(line);
            if !reaches(head, link.position()) {
                self.heads.push((line, newest.place()));
            }
            return Ok((line, head));
        }
        let (at, next) = self.merged.gap(oldest.hash());
        let line = self.writer.add(&self.merged, self.region, self.nvm, term, next, link);
        let line = line.ok_or(FlushStop::DictionaryFull)?;
        if let Some(before) = self.new.note(at, line) {
            // Nothing leads to that one yet.
            let word = self.merged.place(before);
            self.door.store(Site::Record, self.region, word, chain_word(line));
            self.door.write_back(Site::RecordWriteBack, self.region, word, 8);
        }
        Ok((line, Link::default()))
    }

    fn link_to(&self, node: Gathered) -> Link {
        self.sources[node.segment()].link_to(node.index())
    }

    /// Asks for what the term at this distance needs of the dictionary when its turn comes.
    #[inline]
    fn look_ahead(&self, gather: &Gather, distance: usize) {
        if let Some(term) = gather.ahead(distance) {
            self.merged.prefetch_bucket(term.hash());
            self.terms[term.segment()].prefetch(term.index());
        }
        if let Some(term) = distance.checked_sub(AHEAD).and_then(|nearer| gather.ahead(nearer)) {
            self.merged.prefetch(term.hash());
        }
    }
}

/// Whether a head leads to the segment at `position` or to a newer one.
fn reaches(head: Link, position: Position) -> bool {
    !head.is_none() && head.position() >= position
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
}
