//! Vector kernels with portable twins: intersection, bitmaps, scores, packed lists, character classes.
//!
//! This is one of the two crates in which `unsafe` is allowed. It exists so that every instruction
//! the compiler cannot check sits behind a function that is safe for every argument: any lengths,
//! any words (sorted or not), any [`Level`] (one the machine lacks falls back to the best it has).
//!
//! # Words, runs, bitmaps
//!
//! A *posting word* is a `u32`: rank in the high 24 bits, frequency in the low 8. A [`Run`] is a
//! slice of words strictly ascending by rank. A *bitmap* is a slice of `u64` in which bit
//! `rank - base` stands for a document. Both live in memory that a writer shares with readers, hence
//! the atomics; vector loads from them count as one relaxed load per lane (see `load.rs`).
//!
//! A *window* is a query's own bitmap, or its sums of scores, of a range of ranks: plain memory. The [`packed`] form of a
//! list is what is stored where room matters; it becomes a run again a block at a time.
//!
//! An unsorted run makes answers wrong, never undefined, and never endless.
//!
//! # Algorithm and shell
//!
//! An algorithm over blocks is written once (`block.rs`) over closures that compare one block; the
//! instruction-set files (`avx512.rs`, `avx2.rs`) are thin shells that supply those closures.
//!
//! # What this crate does not do
//!
//! It knows nothing of segments, terms, snapshots or memory order: a caller has synchronized with
//! the writer (an acquire load of a length) before it hands a slice to a kernel.
//!
//! ```
//! use spirit_kernel::{Algorithm, Level, intersect_into};
//! use std::sync::atomic::AtomicU32;
//!
//! let run = |ranks: &[u32]| ranks.iter().map(|r| AtomicU32::new(r << 8)).collect::<Vec<_>>();
//! let (a, b) = (run(&[1, 4, 6]), run(&[2, 4, 5, 6, 9]));
//! let mut out = [0; 8];
//! let p = intersect_into(Level::detect(), Algorithm::Simd, &a, &b, &mut out);
//! assert_eq!(out[..p.found], [4 << 8, 6 << 8]);
//! ```

mod level;
#[cfg(target_arch = "x86_64")]
mod load;
mod run;
mod sink;

mod merge;
mod search;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod block;

mod bitmap;
mod classify;
mod crc;
mod edges;
mod intersect;
mod look_up;
mod popcount;
mod probe;
mod transfer;

mod combine;
mod window;

mod above;
mod bm25;
mod frequent;
mod lengths;
mod score;
mod short;

mod phrase;
mod tokens;
mod units;

mod range;
mod spelling;

pub mod packed;

pub use above::above;
pub use bitmap::{and_count, and_into};
pub use bm25::{Bar, Bm25, Rest};
pub use classify::classify_lower;
pub use combine::{and_not_window, and_window, count_bits, or_window};
pub use crc::crc32c_words;
pub use edges::{EDGE_BLOCKS, Edges, MIXED};
pub use frequent::frequent;
pub use intersect::{Algorithm, intersect_count, intersect_into, seek};
pub use lengths::{Frequencies, Lengths};
pub use level::Level;
pub use look_up::look_up;
pub use phrase::{each_occurrence, each_occurrence_among, phrase_count, token_units};
pub use probe::{probe_count, probe_into, write_bitmap};
pub use range::{Width, range_bits};
pub use run::{Progress, Run, run_of};
pub use score::{add_scores, add_scores_where, max_scores, score_above, score_run};
pub use short::short_bits;
pub use spelling::{Spelling, spelt};
pub use tokens::{Token, each_of_tokens};
pub use transfer::{copy, reverse_into};
pub use window::{and_bits, and_not_bits, copy_bits, or_bits, set_bits};
