//! What loops of power cuts came across: how many cuts, and what was under way.

use std::fmt;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Cuts while a process had the index open, or was about to.
    pub(crate) cuts: u64,
    /// Documents that were acknowledged before them.
    pub(crate) acknowledged: u64,
    /// Processes that ended by themselves and said that the disk had failed.
    pub(crate) complained: u64,
    /// Cuts of a process that had something to recover and had acknowledged nothing yet.
    pub(crate) starts: u64,
    /// Cuts of a process that had engraved segments.
    pub(crate) engraved: u64,
    /// Cuts of a process that had merged segments, one or several at a time.
    pub(crate) merged: u64,
    /// Cuts that left operations in the log, and how many operations in all.
    pub(crate) logged: u64,
    pub(crate) operations: u64,
    /// Documents dropped to make room.
    pub(crate) dropped: u64,
}

impl Tally {
    /// The sum of two.
    pub(crate) fn and(self, other: Tally) -> Tally {
        Tally {
            cuts: self.cuts + other.cuts,
            acknowledged: self.acknowledged + other.acknowledged,
            complained: self.complained + other.complained,
            starts: self.starts + other.starts,
            engraved: self.engraved + other.engraved,
            merged: self.merged + other.merged,
            logged: self.logged + other.logged,
            operations: self.operations + other.operations,
            dropped: self.dropped + other.dropped,
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { cuts, acknowledged, complained, starts, engraved, merged, .. } = self;
        let Tally { logged, operations, dropped, .. } = self;
        write!(
            f,
            "{cuts} power cuts, {acknowledged} documents acknowledged before them, 0 lost; {complained} processes saw the \
             disk fail; {starts} cuts during recovery, {engraved} of a process that had engraved, {merged} that had merged, {logged} left {operations} \
             operations in logs; {dropped} documents dropped to make room"
        )
    }
}
