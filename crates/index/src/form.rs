//! The contents of the file: the root, the parts of a segment's copy, and the merged dictionary.
//! `docs/format.md` describes them byte by byte.

pub mod engraved_terms;
pub mod field_list;
pub mod merged;
pub(crate) mod named_nodes;
pub mod node;
pub mod older;
pub(crate) mod packed_terms;
pub mod root;
pub mod shape;
pub mod text_block;
pub mod text_index;
