//! The contents of the file: the root, the parts of a segment's copy, and the merged dictionary.
//! `docs/format.md` describes them byte by byte.

pub(crate) mod engraved_terms;
pub mod field_list;
pub(crate) mod merged;
pub(crate) mod named_nodes;
pub(crate) mod node;
pub(crate) mod older;
pub(crate) mod packed_terms;
pub mod root;
pub(crate) mod shape;
pub(crate) mod text_block;
pub(crate) mod text_index;

pub use merged::Merged;
pub use older::{EntryWords, FindOlder, OlderAt, OlderEntries};
pub use text_index::{TextScratch, engraved_bytes};
