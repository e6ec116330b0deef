//! Terms in order, and the dictionary in DRAM.

pub(crate) mod dictionary;
pub(crate) mod dictionary_writer;
pub(crate) mod entries;
pub(crate) mod packed_terms;
pub(crate) mod term_order;
pub(crate) mod term_sorter;

pub use entries::{Entries, Entry, EntryList};
pub use term_order::{Beginning, PREFIX_BYTES, order_bytes, prefix};
pub use term_sorter::TermSorter;
