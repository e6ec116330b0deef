//! Words of reader slots.

/// A slot that no reader owns.
pub(crate) const FREE: u64 = 0;
/// A slot whose owner is not inside a query.
pub(crate) const IDLE: u64 = 1;
/// A slot whose owner held or pinned it for too long.
pub(crate) const REVOKED: u64 = 2;
/// The first epoch. Every pinned or held word is at least this.
pub(crate) const EPOCH_FIRST: u64 = 3;
/// The bit of a slot that is held.
pub(crate) const HELD: u64 = 1 << 63;
/// The lowest bit of the hold's number. The epoch is below.
pub(crate) const HOLD_SHIFT: u32 = 47;
/// The bits of the epoch.
pub(crate) const EPOCH_MASK: u64 = (1 << HOLD_SHIFT) - 1;
