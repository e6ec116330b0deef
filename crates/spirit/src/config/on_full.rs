//! What happens when there is no room.

/// What happens when the heap is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFull {
    /// The oldest segment is dropped: the index holds the newest documents that fit.
    DropOldest,
    /// `add` waits until there is room.
    Wait,
    /// `add` returns [`WriteError::HeapFull`](crate::WriteError::HeapFull). The default: nothing is lost unless somebody asked for it.
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
