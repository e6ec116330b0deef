//! The policy for a full heap.

/// The policy for a full heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFull {
    /// Drops the oldest segment: the index holds the newest documents that fit.
    DropOldest,
    /// Makes `add` wait until there is room.
    Wait,
    /// Makes `add` return [`WriteError::HeapFull`](crate::WriteError::HeapFull). The default: an
    /// index loses documents only if asked to.
    #[default]
    Refuse,
}

impl OnFull {
    pub(crate) fn number(self) -> u64 {
        self as u64
    }

    pub(crate) fn from_number(number: u64) -> Option<OnFull> {
        [OnFull::DropOldest, OnFull::Wait, OnFull::Refuse]
            .into_iter()
            .find(|p| p.number() == number)
    }
}
