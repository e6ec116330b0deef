//! Engraved segments that wait to be merged, and the run of them that is.

use std::collections::VecDeque;

use spirit_door::Barrier;
use spirit_index::ground::damage;
use spirit_index::ground::ids::{Position, SegmentId};
use spirit_index::memory::Memory;
use spirit_index::memory::flush_stop::FlushStop;
use spirit_index::merge::Merge;
use spirit_index::merge::merged_writer::MergedWriter;

use crate::config::options::Options;

/// Segments that come together where a merge is written to a disk page by page.
const AFTER_SYNCED: usize = 8;

/// Segments on their way into the merged dictionary.
pub(crate) struct Merging {
    /// This many come together before they are merged.
    after: usize,
    /// Segments that the start found are merged at once.
    begins_with_found: bool,
    /// The oldest segment when the index was opened.
    oldest: Position,
    /// Engraved and not merged, oldest first.
    waiting: VecDeque<SegmentId>,
    /// Of the first of them, once it has begun.
    run: Merge,
    /// Made when it is needed for the first time.
    writer: Option<MergedWriter>,
    /// All are merged now, however few have come together.
    at_once: bool,
    /// What was to be merged is damaged: it stays as it is.
    is_stopped: bool,
}

impl Merging {
    /// What a start found comes first.
    pub(crate) fn new(options: &Options, memory: &Memory) -> Merging {
        let found = memory.merged()..memory.coverage().base_end();
        Merging {
            after: options.merge_after.unwrap_or_else(|| default_after(memory)),
            begins_with_found: !options.private,
            oldest: memory.window().oldest,
            waiting: found.map(SegmentId::first).collect(),
            run: Merge::default(),
            writer: None,
            at_once: false,
            is_stopped: false,
        }
    }

    /// A segment has been engraved.
    pub(crate) fn push(&mut self, id: SegmentId) {
        self.waiting.push_back(id);
    }

    /// Merges all that wait, however few they are.
    pub(crate) fn merge_all(&mut self) {
        self.at_once = !self.waiting.is_empty();
    }

    /// Whether there is something to merge now: enough has come together, the short-term partition fills, or a start found it.
    pub(crate) fn has_work(&self, memory: &Memory) -> bool {
        let Some(oldest) = self.waiting.front().filter(|_| !self.is_stopped) else { return false };
        let fills = || {
            let (used, bytes) = memory.partition_use().nvm_short;
            used >= bytes / 2
        };
        self.at_once
            || !self.run.is_done()
            || self.waiting.len() >= self.after
            || (self.begins_with_found && oldest.position() < memory.coverage().base_end())
            || fills()
    }

    /// Takes the next step; says how many segments are merged by it, or nothing if it could not be taken.
    pub(crate) fn advance(&mut self, memory: &Memory) -> Option<usize> {
        if self.run.is_done() {
            self.run.begin(memory, self.waiting.iter().copied());
        }
        damage::clear();
        let writer = opened(&mut self.writer, memory, self.oldest);
        let advanced = if damage::is_any() {
            Err(FlushStop::Damaged)
        } else {
            self.run.advance(memory, writer)
        };
        match advanced {
            Ok(_) => return Some(self.note_merged()),
            Err(FlushStop::Damaged) => {
                self.is_stopped = true;
                return None;
            }
            Err(_) => {}
        }
        // What was taken out may make room, or fewer segments may fit.
        let went_on = self.run.cut(memory, writer)
            || writer.settle(memory.pins(), memory.region(), memory.nvm()?)
            || self.run.shorten(memory, writer);
        went_on.then_some(0)
    }

    /// If the run is done its segments wait no more; says how many they are.
    fn note_merged(&mut self) -> usize {
        let merged = if self.run.is_done() { self.run.segments() } else { 0 };
        self.waiting.drain(..merged);
        self.at_once &= !self.waiting.is_empty();
        merged
    }

    /// Lets terms be taken out of the dictionary, whose writer this is; says how many segments were merged for it.
    pub(crate) fn make_way(&mut self, memory: &Memory) -> (usize, &mut MergedWriter) {
        let mut merged = 0;
        if !self.run.is_done() {
            self.run.make_way(memory, opened(&mut self.writer, memory, self.oldest));
            merged = self.note_merged();
        }
        (merged, opened(&mut self.writer, memory, self.oldest))
    }

    /// Lines of the dictionary in use, once they have been counted.
    pub(crate) fn lines(&self) -> Option<u64> {
        self.writer.as_ref().map(MergedWriter::used)
    }

    /// Takes back what no reader holds any more.
    pub(crate) fn collect(&mut self, memory: &Memory) {
        if let Some(writer) = &mut self.writer {
            writer.collect(memory.pins());
        }
    }
}

/// The writer of the dictionary, opened if it is not yet: where `oldest` was the oldest segment. What was dropped since is swept when
/// its readers have left.
fn opened<'a>(
    writer: &'a mut Option<MergedWriter>,
    memory: &Memory,
    oldest: Position,
) -> &'a mut MergedWriter {
    writer.get_or_insert_with(|| {
        let nvm = memory.nvm().expect("where segments are placed there is a second tier");
        match memory.coverage().base_end() {
            0 => MergedWriter::new(memory.region(), nvm.layout()),
            _ => MergedWriter::open(memory.region(), nvm, memory.pins(), oldest),
        }
    })
}

/// How many engraved segments come together before they are merged, unless set otherwise.
fn default_after(memory: &Memory) -> usize {
    match memory.nvm().map(|nvm| nvm.door().barrier()) {
        Some(Barrier::Sync) => AFTER_SYNCED,
        _ => 1,
    }
}
