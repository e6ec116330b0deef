//! Rewriting the oldest segments when they are mostly dead: their living rows, sequences kept, in one segment.
//!
//! Space in the long-term ring comes back from its oldest end only, so an update stream would fill it with
//! dead rows behind a few living ones. The living rows of a run of segments, from the oldest on, are copied to
//! the ring's newest end as the other *version* of the run's last position, and the run goes. A run is taken
//! only if enough of it is dead, so that what is copied is paid for by what comes back.
//!
//! # Protocol
//!
//! The root [`Superseded`] names the new version and says whether readers skip it, or skip the run instead. Each
//! step waits until no reader is left that loaded the root before the last one:
//!
//! 1. *Announce*: readers skip the version that is about to be built. Nobody has seen an entry of it.
//! 2. *Build*: copy rows, vectors, texts, lists and values; give each term an entry for the new version. Readers skip them.
//! 3. *Switch*: under the key lock, so that no row dies meanwhile, carry over the deaths since the copy,
//!    point the table at the new version, and make readers skip the run: the store that moves them. Then the
//!    window begins at the new version; a reader loads the window before the root, so it never sees the new
//!    window with the old root.
//! 4. *Sweep*: take the run's entries out and retire its memory.
//!
//! Whatever root a reader loaded, it finds the run or the new version, never both and never neither.

mod columns;
mod copy;
mod room;
mod source;
pub(crate) mod text_copy;

use crate::flush::sweep;
use crate::ground::ids::{Partition, Position, SegmentId};
use crate::memory::Memory;
use crate::memory::descriptor::Superseded;
use crate::memory::flush_stop::FlushStop;
use crate::terms::dictionary_writer::DictionaryFull;

use copy::Copy;

/// Where a rewrite is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Announced; readers from before may be about.
    Announced { stamp: u64 },
    /// Switched; readers from before may be about.
    Switched { stamp: u64 },
}

/// A rewrite under way.
#[derive(Debug)]
pub struct Rewrite {
    run: Vec<SegmentId>,
    new: SegmentId,
    step: Step,
}

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Readers from before are still about: ask again later.
    Waiting,
    /// The new version is in place; the run is still to be swept.
    Sweeping,
    /// All is done.
    Done,
}

/// True if there is room to sweep a run whose entries lie behind those of the new version. They do not
/// leave at the front, so each of their terms gets a new array.
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
        memory.supersede(Superseded { new, switched: false });
        Some(Rewrite { run, new, step: Step::Announced { stamp: memory.pins().retire() } })
    }

    /// True if the new version is in place, so that the rewrite must be brought to its end.
    pub fn is_committed(&self) -> bool {
        !matches!(self.step, Step::Announced { .. })
    }

    /// Goes on if it can. `locked` runs the switch while no row can die. An error on the first step means that
    /// there is no room for the copy: the rewrite can be dropped. On a later one it means: ask again.
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
        let mut copy = Copy::new(memory, &self.run, self.new)?;
        // Takes all places first: after this the rewrite needs no more room.
        if let Err(full) = copy.place_entries(memory, &mut memory.dictionary()) {
            memory.give_back(Partition::Long, self.new);
            return Err(full.into());
        }
        copy.build(memory, &mut memory.dictionary());
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
