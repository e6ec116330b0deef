//! The foundation: ids, words, terms, and the division of memory and file.

pub(crate) mod automatic_key;
pub(crate) mod blocks;
pub(crate) mod corrupt;
pub mod damage;
pub(crate) mod durations;
pub(crate) mod fields;
pub(crate) mod footing;
pub(crate) mod geometry;
pub(crate) mod ids;
pub(crate) mod layout;
pub(crate) mod line_table;
pub(crate) mod parts;
pub(crate) mod per_field;
pub(crate) mod posting;
pub(crate) mod roots;
pub(crate) mod section;
pub(crate) mod slot;
pub(crate) mod term;
pub(crate) mod values;

pub use blocks::Blocks;
pub use corrupt::Corrupt;
pub use durations::{DURATION_BOUNDS, DURATION_BUCKETS, Durations};
pub use fields::{FIELDS_MAX, NEWEST_WORDS as TEXT_FIELDS_MAX};
pub use geometry::{
    COUNT_BYTES, EXECUTOR_BYTES_MAX, Geometry, GeometryError, Postings, ROW_BYTES,
    SEGMENT_BYTES_MAX, SEGMENT_BYTES_MIN, Settings, TEXT_PLACE_BYTES,
};
pub use ids::{Partition, Position, SegmentId, State};
pub use layout::{
    LOG_BYTES_MIN, NVM_BYTES_MAX, NvmLayout, NvmSettings, PAGE, PARTS_START, ROOT_BYTES,
    SLOT_BYTES, SLOTS_MAX,
};
pub use line_table::LineTable;
pub use parts::Parts;
pub use posting::{FREQUENCY_MAX, LOCAL_MAX, frequency, local, posting, rank, rank_of};
pub use roots::Gauge;
pub use section::Kind;
pub use slot::Entry;
pub use term::{FieldId, INLINE_BYTES_MAX, TERM_BYTES_MAX, Term, TermBuffer, TermKey, hash_bytes};
pub use values::{RowValue, ValueKind};
