//! Segments, dictionary, descriptor table and snapshots: the index itself, without threads or policy.
//!
//! Bottom up: a [`posting`] word and a [`term`] key; the growing [`list`]; [`rows`], [`vector`]s and [`lengths`]; the
//! [`fresh`] segment that a [`batch`] goes into; the [`flushed`] segment, [columns](mod@column) and all, that a [`flush`] makes of it and
//! registers in the [`dictionary`]; the [`descriptor`] table; an executor's [`memory`]; and the [`snapshot`]
//! that a query reads all of it through. What of it lies in the second tier, and how it gets there: [`nvm`].
//!
//! What this crate deliberately does not know: text, queries, threads, files.
#![forbid(unsafe_code)]

pub mod batch;
pub mod column;
mod deaths;
pub mod descriptor;
pub mod dictionary;
pub mod dictionary_writer;
pub mod entries;
pub mod expired;
pub mod extent;
mod field_lengths;
pub mod flush;
pub mod flush_stop;
pub mod flushed;
pub mod fresh;
pub mod geometry;
pub mod ground;
pub mod ids;
pub mod keys;
mod length_class;
pub mod lengths;
pub mod line_table;
pub mod list;
pub mod maxima;
pub mod memory;
pub mod nvm;
pub mod packed;
pub mod posting;
mod record_places;
pub mod rewrite;
pub mod roots;
mod row_key;
mod row_writer;
pub mod rows;
pub mod snapshot;
pub mod term;
pub mod term_order;
pub mod term_sorter;
mod text_copy;
mod text_writer;
mod texts;
pub mod values;
pub mod vector;
