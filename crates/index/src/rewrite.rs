//! Rewriting the oldest segments when most of their rows are dead. Their living rows are copied
//! into one segment and keep their sequence numbers.
//!
//! Only the oldest end of the long-term ring is reused. A stream of updates would fill the ring
//! with dead rows behind a few living ones. A rewrite takes a run of segments, from the oldest on.
//! It copies their living rows to the ring's newest end and drops the run. The copy is the other
//! *version* of the run's last position. A run is taken only if enough of it is dead, so that the
//! space gained pays for the copy.
//!
//! # Protocol
//!
//! The root [`Superseded`](crate::memory::descriptor::Superseded) names the new version and says which side readers skip: the new version
//! or the run. Each step waits until all readers that loaded the root before the previous step have
//! left:
//!
//! 1. *Announce*: readers skip the version that is about to be built. No reader has seen an entry
//!    of it.
//! 2. *Build*: copy rows, vectors, texts, lists and values. Give each term an entry for the new
//!    version. Readers skip these entries.
//! 3. *Switch*: hold the key lock, so that no row dies meanwhile. Carry over the deaths since the
//!    copy and point the table at the new version. Then make readers skip the run: this store moves
//!    them. Then let the window begin at the new version. A reader loads the window before the
//!    root, so it never sees the new window with the old root.
//! 4. *Sweep*: remove the run's entries and retire its memory.
//!
//! A reader finds the run or the new version, whichever root it loaded. It never finds both or
//! neither.

mod columns;
mod copy;
mod room;
mod source;
pub(crate) mod text_copy;

use crate::flush::sweep;
use crate::ground::ids::{Partition, Position, SegmentId};
use crate::memory::Memory;
use crate::memory::flush_stop::FlushStop;
use crate::terms::dictionary_writer::DictionaryFull;

use copy::Copy;

/// The state of a rewrite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Announced. Readers from before the announcement may be left.
    Announced { stamp: u64 },
    /// Switched. Readers from before the switch may be left.
    Switched { stamp: u64 },
}

/// A rewrite under way.
#[derive(Debug)]
pub struct Rewrite {
    run: Vec<SegmentId>,
    new: SegmentId,
    step: Step,
}

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Readers from before the last step are left: ask again later.
    Waiting,
    /// The new version is in place. The run is still to be swept.
    Sweeping,
    /// The rewrite is finished.
    Done,
}

/// True if there is room to sweep a run whose entries lie behind those of the new version. Such
/// entries do not leave at the front of the arrays, so each of their terms needs a new array.
fn has_room_to_sweep(memory: &Memory) -> bool {
    let dictionary = memory.dictionary();
    dictionary.has_reserve() || !dictionary.is_half_full()
}

impl Rewrite {
    /// Announces the rewrite of the segments from the window's oldest to the one at `last`.
    pub fn start(memory: &Memory, last: Position) -> Option<Rewrite> {
        let oldest = memory.window().oldest;
        let of = |position| memory.table().get(position).map(|(d, _)| SegmentId(d.id() as u32));
        let run = (oldest..=last).map(of).collect::<Option<Vec<_>>>()?;
        let new = run.last()?.other();
        if run.len() == 1 && new < run[0] && !has_room_to_sweep(memory) {
            return None;
        }
        memory.supersede(memory.superseded().announcing(new));
        Some(Rewrite { run, new, step: Step::Announced { stamp: memory.pins().retire() } })
    }

    /// True if the new version is in place. Such a rewrite must be finished.
    pub fn is_committed(&self) -> bool {
        !matches!(self.step, Step::Announced { .. })
    }

    /// Takes the next step if no reader prevents it. `locked` runs the switch while no row can die.
    /// An error on the first step means that there is no room for the copy; the rewrite can be
    /// dropped. An error on a later step means: ask again.
    pub fn advance(
        &mut self,
        memory: &Memory,
        locked: impl FnOnce(&mut dyn FnMut()),
    ) -> Result<Progress, FlushStop> {
        match self.step {
            Step::Announced { stamp } | Step::Switched { stamp }
                if memory.pins().horizon() <= stamp =>
            {
                Ok(Progress::Waiting)
            }
            Step::Announced { .. } => {
                self.build(memory, locked)?;
                Ok(Progress::Sweeping)
            }
            Step::Switched { .. } => {
                self.sweep_run(memory)?;
                Ok(Progress::Done)
            }
        }
    }

    fn build(
        &mut self,
        memory: &Memory,
        locked: impl FnOnce(&mut dyn FnMut()),
    ) -> Result<(), FlushStop> {
        // Held throughout: a flush in another thread may not fill a place that was taken, nor move the
        // entries that are read.
        let mut writer = memory.dictionary();
        let mut copy = Copy::new(memory, &self.run, self.new)?;
        // Take all places first: the rewrite needs no more room afterwards.
        if let Err(full) = copy.place_entries(memory, &mut writer) {
            memory.give_back(Partition::Long, self.new);
            return Err(full.into());
        }
        copy.build(memory, &mut writer);
        drop(writer);
        locked(&mut || copy.switch(memory));
        self.step = Step::Switched { stamp: memory.pins().retire() };
        Ok(())
    }

    fn sweep_run(&self, memory: &Memory) -> Result<(), DictionaryFull> {
        for id in &self.run {
            sweep(memory, *id)?;
        }
        for id in &self.run {
            memory.retire_blocks(Partition::Long, *id);
            if id.position() != self.new.position() {
                memory.table().clear(id.position());
                memory.retire_slot(id.position());
            }
        }
        Ok(())
    }
}
