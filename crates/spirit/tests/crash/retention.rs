//! Which documents retention may have taken at a cut.
//!
//! A segment goes when its mark says so: before that word is stored all of it is there, once it is fenced all of it is
//! gone, and in between it is there or gone as a whole. Which documents are in a segment its slot says: those of its
//! executor below a sequence number, and in no older one.

use std::collections::BTreeMap;

use spirit_door::Site;
use spirit_door::trace::{Action, Event};

/// A segment went.
#[derive(Clone, Copy, Debug)]
struct Retired {
    executor: usize,
    /// Its documents' sequence numbers are below this.
    sequence_end: u64,
    /// The event that says so, and the one after which it is durable.
    said: usize,
    durable: usize,
}

/// All that went in a run.
#[derive(Debug, Default)]
pub(crate) struct Retention {
    executors: usize,
    retired: Vec<Retired>,
}

/// What it means for an executor's documents at one cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Floor {
    /// Documents below this sequence number are gone.
    pub(crate) gone: u64,
    /// Those below this one may be.
    pub(crate) going: u64,
}

impl Retention {
    pub(crate) fn of(events: &[Event], executors: usize) -> Retention {
        let mut ends = BTreeMap::new();
        let mut retired = Vec::new();
        for (said, event) in events.iter().enumerate() {
            match (event.site, &event.action) {
                (Some(Site::Slot), Action::Store { words, .. }) => {
                    // Words of an entry: the segment's id, and the end of its sequence numbers.
                    ends.insert((event.space, words[0] >> 1), words[4]);
                }
                (Some(Site::Retire), Action::Publish { word, .. }) => {
                    let position = word >> 3 & 0x7FFF_FFFF;
                    retired.push(Retired {
                        executor: event.space as usize - 1,
                        sequence_end: ends[&(event.space, position)],
                        said,
                        durable: fenced(events, said),
                    });
                }
                _ => {}
            }
        }
        Retention { executors, retired }
    }

    /// What is gone, or going, at a cut after `position` events, by executor.
    pub(crate) fn floors(&self, position: usize) -> Vec<Floor> {
        let mut floors = vec![Floor::default(); self.executors];
        for retired in self.retired.iter().filter(|retired| retired.said < position) {
            let floor = &mut floors[retired.executor];
            floor.going = floor.going.max(retired.sequence_end);
            if retired.durable < position {
                floor.gone = floor.gone.max(retired.sequence_end);
            }
        }
        floors
    }
}

/// The fence that makes what was stored by event `said` durable.
fn fenced(events: &[Event], said: usize) -> usize {
    let is_fence = |event: &Event| {
        (event.site, event.thread, event.space)
            == (Some(Site::RetireFence), events[said].thread, events[said].space)
    };
    let fence = events[said..].iter().position(is_fence);
    fence.map_or(events.len(), |after| said + after)
}
