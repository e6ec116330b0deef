//! The footing of an entry: the memory and the versions of segments that its positions and addresses
//! are of.

use spirit_cache::Value;
use spirit_index::ground::Position;
use spirit_index::snapshot::Snapshot;

/// Words of a footing.
pub(super) const FOOTING_WORDS: usize = 2;

/// What a snapshot's positions and addresses are of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Footing {
    /// The number of the view: another one after a new writer's start.
    view: u64,
    /// The rewrites of segments until then.
    switches: u32,
    /// The first position that no rewrite has reached.
    unwritten: Position,
}

/// What is known of an entry's segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stand<'v> {
    /// The number that the answer wrote beside its footing.
    pub(super) number: u32,
    /// Segments from here on have the version that the answer is of. A rewrite takes the oldest
    /// segments, and never fewer than the one before, so the others did not change.
    pub(super) from: Position,
    /// The words behind the footing.
    pub(super) words: Value<'v>,
}

impl Footing {
    pub(super) fn new(view: u64, snapshot: &Snapshot<'_>) -> Footing {
        let (switches, unwritten) = (snapshot.switches(), snapshot.rewritten_end());
        Footing { view, switches, unwritten }
    }

    /// Writes the footing, with a number of the answer's own.
    pub(super) fn write(self, number: u32, out: &mut Vec<u64>) {
        out.extend([self.view, u64::from(self.switches) | u64::from(number) << 32]);
    }

    /// Compares an answer's footing with this one. Returns `None` if it is of other memory.
    pub(super) fn read<'v>(self, value: Value<'v>) -> Option<Stand<'v>> {
        let (view, switches) = (value.get(0)?, value.get(1)?);
        let from = if switches as u32 == self.switches { 0 } else { self.unwritten };
        let (number, words) = ((switches >> 32) as u32, value.split_at(FOOTING_WORDS).1);
        (view == self.view).then_some(Stand { number, from, words })
    }
}
