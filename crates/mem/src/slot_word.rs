//! What the word in a reader's slot says.

/// A slot that no reader owns.
pub(crate) const FREE: u64 = 0;
/// A slot whose owner is not inside a query.
pub(crate) const IDLE: u64 = 1;
/// A slot whose owner held on for longer than it could be waited for.
pub(crate) const REVOKED: u64 = 2;
/// The first epoch; every pinned or held value is at least this.
pub(crate) const EPOCH_FIRST: u64 = 3;
/// Set in the word of a slot that is held.
pub(crate) const HELD: u64 = 1 << 63;
/// Where the number of the hold begins; the epoch is below.
pub(crate) const HOLD_SHIFT: u32 = 47;
/// The bits of the epoch.
pub(crate) const EPOCH_MASK: u64 = (1 << HOLD_SHIFT) - 1;
