//! Shedding: entries of the oldest merged segments leave the DRAM dictionary to make room. The
//! second tier has them too. Readers learn that first, from the
//! [boundary](crate::memory::coverage).

use crate::ground::ids::Position;
use crate::memory::Memory;
use crate::terms::dictionary::{Dictionary, TermId};

/// Number of lines of the dictionary's table that one step reads.
const LINES: u64 = 512;
/// At least one in `SHARE` entries is shed.
const SHARE: u64 = 8;

/// The removal of entries before a boundary.
#[derive(Debug)]
pub(crate) struct Cut {
    boundary: Position,
    line: u64,
}

impl Cut {
    /// Makes the removal of entries of segments before `boundary`. No reader uses them.
    pub(crate) fn new(boundary: Position) -> Cut {
        Cut { boundary, line: 0 }
    }

    /// Takes the next step. Returns true if it was the last.
    pub(crate) fn advance(&mut self, memory: &Memory) -> bool {
        let dictionary = Dictionary::new(memory.region(), memory.geometry());
        let mut writer = memory.dictionary();
        let end = dictionary.table.lines().min(self.line + LINES);
        for line in self.line..end {
            for id in dictionary.table.in_line(memory.region(), line) {
                writer.cut(memory.footing(), TermId(id as u32), self.boundary);
            }
        }
        writer.collect(memory.footing());
        self.line = end;
        end == dictionary.table.lines()
    }
}

/// Entries that are being shed.
#[derive(Debug)]
pub struct Shed {
    /// Epoch of the boundary's store. Readers from before must leave before entries go.
    stamp: u64,
    cut: Cut,
}

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Readers have to leave first.
    Waiting,
    /// More entries are to be removed.
    Cutting,
    /// All is shed.
    Done,
}

impl Shed {
    /// Leads readers to the second tier for older entries. Returns `None` if there is nothing to
    /// shed. `unfinished` is true if the dictionary has entries that do not count. `all` sheds
    /// entries of all merged segments instead of some of the oldest.
    pub fn begin(memory: &Memory, unfinished: bool, all: bool) -> Option<Shed> {
        let from = memory.coverage().terms_from().max(memory.window().oldest);
        let share = if all { 1 } else { SHARE };
        let boundary = boundary(memory, from, share);
        if boundary == from && !unfinished {
            return None;
        }
        for position in from..boundary {
            // The records of the segment's terms may soon belong to other terms.
            if let Some((descriptor, _)) = memory.table().get(position) {
                descriptor.set_term_map(0);
            }
        }
        memory.coverage().set_terms_from(boundary);
        Some(Shed { stamp: memory.pins().retire(), cut: Cut::new(boundary) })
    }

    /// Takes the next step.
    pub fn advance(&mut self, memory: &Memory) -> Progress {
        if memory.pins().horizon() <= self.stamp {
            Progress::Waiting
        } else if self.cut.advance(memory) {
            Progress::Done
        } else {
            Progress::Cutting
        }
    }
}

/// Returns the end of the oldest merged segments that together have one in `share` of all entries
/// from `from` on.
fn boundary(memory: &Memory, from: Position, share: u64) -> Position {
    let terms = |position| memory.table().get(position).map_or(0, |(found, _)| found.terms());
    let all: u64 = (from..memory.window().end).map(terms).sum();
    let mut left = all.div_ceil(share);
    let mut boundary = from;
    while boundary < memory.merged() && left > 0 {
        left = left.saturating_sub(terms(boundary).max(1));
        boundary += 1;
    }
    boundary
}
