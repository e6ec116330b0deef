//! Terms in order, and the dictionary in DRAM.

pub mod dictionary;
pub mod dictionary_writer;
pub mod entries;
pub(crate) mod packed_terms;
pub mod term_order;
pub mod term_sorter;
