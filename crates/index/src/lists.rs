//! Posting lists: growing ones, block maxima and packed ones.

pub(crate) mod list;
pub(crate) mod maxima;
pub(crate) mod packed;

pub use list::{BUFFER, Chain, Head, List};
pub use maxima::{BLOCK_POSTINGS, Maxima, Pair};
pub use packed::{PACKED_BLOCK, PackedList, PositionIter, Positions, Unpacked};
