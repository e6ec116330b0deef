//! The settings of an open index.

use std::time::Duration;

use spirit_index::ground::Postings;
use spirit_text::Analyzer;

use crate::config::durability::{Durability, Mode};
use crate::config::on_full::OnFull;
use crate::config::options::Options;

/// The settings of an open index. For an existing index, most are the ones that it was made with.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// The events that operations survive.
    pub mode: Mode,
    /// The kind of crash that acknowledged operations survive in [`Mode::Crash`].
    pub durability: Durability,
    /// The number of pipelines that run in parallel.
    pub executors: usize,
    /// The DRAM, in bytes.
    pub dram_bytes: u64,
    /// The size of a fresh segment, in bytes.
    pub segment_bytes: u64,
    /// The size of the second tier, in bytes.
    pub nvm_bytes: u64,
    /// The analyzer, which turns text into terms.
    pub analyzer: Analyzer,
    /// True if the positions of tokens are kept.
    pub positions: bool,
    /// True if documents are stored.
    pub store: bool,
    /// True if texts are stored and not searched.
    pub opaque_text: bool,
    /// True if posting lists in the second tier are packed.
    pub packed: bool,
    /// True if documents with unknown fields are refused.
    pub strict: bool,
    /// The policy for a full heap.
    pub on_full: OnFull,
    /// The time for which documents are kept; none if unlimited.
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
            opaque_text: options.opaque_text,
            packed: options.postings() == Postings::Packed,
            strict: options.strict,
            on_full: options.on_full,
            retain: options.retain,
        }
    }
}
