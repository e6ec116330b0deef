//! The settings of an open index.

use std::time::Duration;

use spirit_index::ground::geometry::Postings;
use spirit_text::Analyzer;

use crate::config::durability::{Durability, Mode};
use crate::config::on_full::OnFull;
use crate::config::options::Options;

/// The settings of an open index: those that it was made with, if it was there.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// What survives.
    pub mode: Mode,
    /// What an acknowledged operation survives in [`Mode::Crash`].
    pub durability: Durability,
    /// Pipelines that run in parallel.
    pub executors: usize,
    /// DRAM, in bytes.
    pub dram_bytes: u64,
    /// Size of a fresh segment, in bytes.
    pub segment_bytes: u64,
    /// Size of the second tier, in bytes.
    pub nvm_bytes: u64,
    /// How text becomes terms.
    pub analyzer: Analyzer,
    /// True if the positions of tokens are kept.
    pub positions: bool,
    /// True if documents are stored.
    pub store: bool,
    /// How posting lists are stored in the second tier.
    pub postings: Postings,
    /// True if documents with unknown fields are refused.
    pub strict: bool,
    /// What happens when the heap is full.
    pub on_full: OnFull,
    /// How long documents are kept, if that is limited.
    pub retain: Option<Duration>,
}

impl Settings {
    pub(crate) fn of(options: &Options) -> Settings {
        Settings {
            mode: options.mode,
            durability: options.durability,
            executors: options.executors,
            dram_bytes: options.dram_bytes,
            segment_bytes: options.segment(),
            nvm_bytes: options.nvm_bytes_in_all(),
            analyzer: options.analyzer,
            positions: options.positions,
            store: options.store,
            postings: options.postings(),
            strict: options.strict,
            on_full: options.on_full,
            retain: options.retain,
        }
    }
}
