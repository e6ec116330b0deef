//! Merging: engraved segments that wait to be merged, and the run that is being merged.

use std::collections::VecDeque;

use spirit_door::Barrier;
use spirit_index::ground::damage;
use spirit_index::ground::{Position, SegmentId};
use spirit_index::memory::FlushStop;
use spirit_index::memory::Memory;
use spirit_index::merge::Merge;
use spirit_index::merge::{MergedWriter, merged_lines_max};

use crate::config::options::Options;

/// The number of segments merged at once, if a merge is written to a disk page by page.
const AFTER_SYNCED: usize = 8;
/// The dictionary has room if one in this number of its free lines is to spare: a long term's bytes
/// need lines that are neighbours.
const SPARE_SHARE: u64 = 16;

/// Segments on their way into the merged dictionary.
pub(crate) struct Merging {
    /// The number of waiting segments from which they are merged.
    after: usize,
    /// True if segments that the start found are merged at once.
    begins_with_found: bool,
    /// The oldest segment when the index was opened.
    oldest: Position,
    /// Engraved segments that are not merged, oldest first.
    waiting: VecDeque<SegmentId>,
    /// The run that is being merged: the first of the waiting segments.
    run: Merge,
    /// The writer of the merged dictionary, made when it is first needed.
    writer: Option<MergedWriter>,
    /// True if all waiting segments are merged now, however few.
    at_once: bool,
    /// True if a segment to be merged is damaged: it stays as it is.
    is_stopped: bool,
}

impl Merging {
    /// Begins with the segments that a start found.
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

    /// Adds a segment that has been engraved.
    pub(crate) fn push(&mut self, id: SegmentId) {
        self.waiting.push_back(id);
    }

    /// True if segments wait to be merged, and nothing is wrong with them.
    pub(crate) fn is_any_waiting(&self) -> bool {
        !self.is_stopped && !self.waiting.is_empty()
    }

    /// True if the dictionary has room for the terms of all waiting segments, and for this many lines.
    pub(crate) fn has_lines_for(&mut self, memory: &Memory, lines: u64) -> bool {
        let Some(nvm) = memory.nvm() else { return false };
        let waiting = self.waiting.iter().map(|id| merged_lines_max(memory, *id)).sum::<u64>();
        let writer = opened(&mut self.writer, memory, self.oldest);
        let free = writer.free_lines(memory.region(), nvm.layout());
        waiting + lines <= free - free / SPARE_SHARE
    }

    /// Merges all waiting segments, however few.
    pub(crate) fn merge_all(&mut self) {
        self.at_once = !self.waiting.is_empty();
    }

    /// True if segments are to be merged now. Enough of them wait, the short-term partition is half
    /// full, a run is under way, or a start found them.
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

    /// Takes the next step. Returns the number of segments that it finished merging; none if it
    /// could not be taken.
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
        // Entries that were cut may make room, or a shorter run may fit.
        let went_on = self.run.cut(memory, writer)
            || writer.settle(memory.pins(), memory.region(), memory.nvm()?)
            || self.run.shorten(memory, writer);
        went_on.then_some(0)
    }

    /// Removes the segments of a finished run from those that wait. Returns their number.
    fn note_merged(&mut self) -> usize {
        let merged = if self.run.is_done() { self.run.segments() } else { 0 };
        self.waiting.drain(..merged);
        self.at_once &= !self.waiting.is_empty();
        merged
    }

    /// Lets terms be removed from the dictionary, whose writer it returns. Also returns the number
    /// of segments that finished merging for that.
    pub(crate) fn make_way(&mut self, memory: &Memory) -> (usize, &mut MergedWriter) {
        let mut merged = 0;
        if !self.run.is_done() {
            self.run.make_way(memory, opened(&mut self.writer, memory, self.oldest));
            merged = self.note_merged();
        }
        (merged, opened(&mut self.writer, memory, self.oldest))
    }

    /// Returns the number of dictionary lines in use, once they have been counted.
    pub(crate) fn lines(&self) -> Option<u64> {
        self.writer.as_ref().map(MergedWriter::used)
    }

    /// Frees memory that no reader holds any more.
    pub(crate) fn collect(&mut self, memory: &Memory) {
        if let Some(writer) = &mut self.writer {
            writer.collect(memory.pins());
        }
    }
}

/// Returns the writer of the dictionary, and opens it at the first call. `oldest` was the oldest
/// segment at the start: segments dropped since are swept once their readers have left.
fn opened<'a>(
    writer: &'a mut Option<MergedWriter>,
    memory: &Memory,
    oldest: Position,
) -> &'a mut MergedWriter {
    writer.get_or_insert_with(|| {
        let nvm = memory.nvm().expect("segments are placed only with a second tier");
        match memory.coverage().base_end() {
            0 => MergedWriter::new(memory.region(), nvm.layout()),
            _ => MergedWriter::open(memory.region(), nvm, memory.pins(), oldest),
        }
    })
}

/// Returns the default number of engraved segments from which they are merged.
fn default_after(memory: &Memory) -> usize {
    match memory.nvm().map(|nvm| nvm.door().barrier()) {
        Some(Barrier::Sync) => AFTER_SYNCED,
        _ => 1,
    }
}
