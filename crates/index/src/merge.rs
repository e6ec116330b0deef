//! Merging: the terms of consecutive engraved segments, a *run*, are linked into the merged
//! dictionary in place. No posting is copied (paper §4.7, where a run is one segment).
//!
//! 0. *Grow*: if the records would outnumber the buckets, the dictionary gets [more
//!    buckets](crate::form::merged).
//! 1. *Link*: the nodes of each term lead from newer to older. The oldest leads to the target of
//!    the term's head. A new term gets a record, which leads to its newest node. New records that
//!    are neighbours in a chain lead to each other, and the last of them to the record behind them
//!    in the chain. Fence.
//! 2. *Enter*: the word before the new records in the chain leads to the first of them.
//! 3. *Head*: the head of each term that had a record leads to its newest node of the run. Fence,
//!    for steps 2 and 3.
//! 4. *Mark* the newest segment as merged, which holds for all older ones too. Fence.
//!
//! After a crash, another run may repeat any prefix of these steps. It begins with the first
//! segment of the old run, and may end with another segment. Repeating is idempotent. A head that
//! leads to a segment of the run implies that the links of this and older segments were durable
//! before it. So head and links stay. A record that was entered is found; one that was not entered
//! is unreachable.
//!
//! A run costs three fences, where the paper has three barriers a term. Terms are
//! [gathered](crate::merge::gather) in the order of their hashes, which is the order of the
//! buckets. Only records are visited in arbitrary order.
//!
//! Runs save writes. A merge changes a word here and there all over the dictionary, and a disk
//! writes a whole page for each. A run writes each page once and looks each term up once.
//!
//! New records have their places between others. So no record may leave the dictionary between the
//! first step and the end of the second. A caller that removes a record asks the merge to [make
//! way](Merge::make_way) first.

pub(crate) mod gather;
pub(crate) mod gathered_terms;
pub(crate) mod merged_writer;
pub(crate) mod term_map;
pub(crate) mod term_map_error;

pub use gather::RUN_MAX;
pub use gathered_terms::GatheredTerms;
pub use merged_writer::MergedWriter;
pub use term_map::{Puts, TermMap};
pub use term_map_error::TermMapError;

use spirit_door::{Door, Site};
use spirit_mem::Region;

use crate::form::engraved_terms::EngravedTerms;
use crate::form::merged::{Merged, chain_word, lines_max};
use crate::form::node::{Link, NODE_BYTES, Nodes};
use crate::ground::damage;
use crate::ground::ids::{Partition, Position, SegmentId, State};
use crate::ground::section::{Kind, Sections};
use crate::ground::slot::Slots;
use crate::ground::term::Term;
use crate::memory::Memory;
use crate::memory::flush_stop::FlushStop;
use crate::merge::gather::{Gather, Gathered};
use crate::tier::Nvm;

/// Largest number of terms of a run of several segments. If each segment has many terms, a run
/// gains little and takes memory.
const RUN_TERMS_MAX: usize = 1 << 20;
/// Number of words of one step.
const GROUP: usize = 2048;
/// Prefetch distance in terms: a term's record is prefetched this many terms ahead, and its bucket
/// twice as many.
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
    /// Returns the link to the node at `index`.
    fn link_to(&self, index: usize) -> Link {
        let nodes = self.sections.get(Kind::Nodes).start;
        Link::new(self.id.position(), nodes + index as u64 * NODE_BYTES)
    }
}

/// A run of segments on its way into the merged dictionary. Later runs reuse its memory.
#[derive(Debug, Default)]
pub struct Merge {
    /// The run's segments, oldest first.
    sources: Vec<Source>,
    /// Number of terms of all segments. A term counts once for each segment that contains it.
    terms: usize,
    step: Step,
    gather: Gather,
    new: NewRecords,
    /// Heads that are to lead to the run: the record, and the [place](Gathered::place) of its
    /// newest node in the run.
    heads: Vec<(u32, u32)>,
    /// True once the merge has gone through all buckets.
    has_linked: bool,
}

/// Records that no chain leads to yet.
#[derive(Debug, Default)]
struct NewRecords {
    /// Offsets of the words that will lead to new records, each with the first record that it leads
    /// to.
    entered: Vec<(u64, u32)>,
    /// All new records, in the order of their hashes.
    added: Vec<u32>,
}

impl NewRecords {
    /// Notes a record that enters its chain behind the word at `at`. Returns the new record
    /// directly before it in the chain, if there is one. Hashes do not fall, so that is the last
    /// record noted.
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

/// Returns the lines that an engraved segment's terms take in the merged dictionary, at most. Those of a
/// packed one take none.
pub fn merged_lines_max(memory: &Memory, id: SegmentId) -> u64 {
    let sections = memory.nvm().and_then(|nvm| nvm.sections(memory.region(), id.position()).ok());
    sections.map_or(0, |(_, sections)| {
        let terms = sections.get(Kind::Nodes).bytes / NODE_BYTES;
        lines_max(terms, sections.get(Kind::LongTerms).bytes)
    })
}

impl Merge {
    /// Begins a run with the first of these segments, as many as make a run. The segments are
    /// engraved and consecutive, and all older ones are merged. The last run is done.
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

    /// Returns the number of segments of the run.
    pub fn segments(&self) -> usize {
        self.sources.len()
    }

    /// Takes the next step. Returns true if that was the last. An error means that the dictionary
    /// has no room, or is damaged. Without room, [shorten](Self::shorten) the run, or ask again
    /// when the oldest segment is gone.
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

    /// Lets records be removed from the dictionary. If no chain leads to a new record yet, the
    /// merge begins anew. Otherwise it runs to its end, which takes no room.
    pub fn make_way(&mut self, memory: &Memory, writer: &mut MergedWriter) {
        writer.stop_growing();
        if matches!(self.step, Step::Grow | Step::Link) {
            self.begin_anew(memory, writer, self.sources.len());
        } else {
            while self.advance(memory, writer) == Ok(false) {}
        }
    }

    /// Begins anew if chains can be cut: the dictionary has no room, and lines wait for the cuts.
    /// Returns true if it cut chains.
    pub fn cut(&mut self, memory: &Memory, writer: &mut MergedWriter) -> bool {
        let nvm = memory.nvm().expect("there is a second tier to merge in");
        if !writer.is_cutting() || self.step != Step::Link {
            return false;
        }
        self.begin_anew(memory, writer, self.sources.len());
        writer.advance_cutting(memory.region(), nvm, memory.pins())
    }

    /// Halves the run, because the dictionary has no room for all its terms. Returns true if the
    /// run had more than one segment and can still be shortened.
    pub fn shorten(&mut self, memory: &Memory, writer: &mut MergedWriter) -> bool {
        let can = self.sources.len() > 1 && matches!(self.step, Step::Grow | Step::Link);
        if can {
            self.begin_anew(memory, writer, self.sources.len() / 2);
        }
        can
    }

    /// True if the run has ended.
    pub fn is_done(&self) -> bool {
        self.step == Step::Done
    }

    /// Begins anew with the first `count` segments. No chain leads to a new record yet.
    fn begin_anew(&mut self, memory: &Memory, writer: &mut MergedWriter, count: usize) {
        let nvm = memory.nvm().expect("there is a second tier to merge in");
        let merged = Merged::new(memory.region(), nvm.layout());
        self.new.added.drain(..).for_each(|line| writer.discard(&merged, line));
        self.sources.truncate(count);
        self.go_from_the_first();
    }

    /// Links the next terms. Returns true if there were any.
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
        // Each round passes at least one gathered term, so that the loop ends.
        loop {
            let equal = self.gather.equal(&terms);
            if equal.is_empty() {
                return Ok(true);
            }
            linking.link(equal)?;
            // Damage may hide the term's record: do not enter it twice.
            if damage::is_any() {
                return Err(FlushStop::Damaged);
            }
            let count = equal.len();
            self.gather.pass(count);
            (0..count).for_each(|back| linking.look_ahead(&self.gather, 2 * AHEAD - back));
        }
    }

    /// Writes back all nodes of the run and fences. All of them were linked, two a line.
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

    /// Marks the run as merged and retires the segments' own terms.
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

/// The data that linking reads and writes.
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
        // Invariant: `older` is the link that the next node takes.
        for node in nodes {
            let here = self.link_to(*node);
            let stored = self.terms[node.segment()].nodes.get(node.index());
            // Segments that the head reaches were linked before.
            let is_linked = reaches(head, here.position());
            let link = if is_linked { stored.link } else { older };
            self.door.store(Site::Link, self.region, here.place(), link.0);
            let last = stored.linked(link, record).last_word();
            self.door.store(Site::Link, self.region, here.place() + 24, last);
            older = if is_linked { head } else { here };
        }
        Ok(())
    }

    /// Returns the term's record and the link in its head. Adds a record if the term has none. The
    /// nodes are the term's oldest and newest in the run.
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
            // No chain leads to that record yet.
            let word = self.merged.place(before);
            self.door.store(Site::Record, self.region, word, chain_word(line));
            self.door.write_back(Site::RecordWriteBack, self.region, word, 8);
        }
        Ok((line, Link::default()))
    }

    fn link_to(&self, node: Gathered) -> Link {
        self.sources[node.segment()].link_to(node.index())
    }

    /// Prefetches the dictionary's data for the terms at this distance.
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

/// True if a head leads to the segment at `position` or to a newer one.
fn reaches(head: Link, position: Position) -> bool {
    !head.is_none() && head.position() >= position
}

/// Removes the terms from the merged dictionary whose newest posting is in a dropped segment. The
/// segment's mark says that it is dropped.
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
