//! Options of the pipeline: the paper's policies and partitions.

use spirit_forms::size::Size;

use crate::choice::{BlocksName, EngraveName, PointerUpdateName};

/// When segments move on, and how memory is divided.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Options of the pipeline, not kept but for the file's parts")]
pub(crate) struct PipelineArgs {
    /// When a flushed segment is copied to the file. eager: at once. lazy: when DRAM or the log runs
    /// short. opportunistic: when no documents come in [default: eager]
    #[arg(long, value_name = "eager|lazy|opportunistic", hide_possible_values = true)]
    pub(crate) engrave: Option<EngraveName>,
    /// When queries move to the copy, and its DRAM is freed. eager: once it is there. lazy: when DRAM
    /// runs short [default: lazy]
    #[arg(long, value_name = "eager|lazy", hide_possible_values = true)]
    pub(crate) pointer_update: Option<PointerUpdateName>,
    /// Blocks of the posting lists of a segment that is being filled: of variable sizes, or all of
    /// one size [default: variable]
    #[arg(long, value_name = "variable|fixed", hide_possible_values = true)]
    pub(crate) blocks: Option<BlocksName>,
    /// Threads of each executor behind the one that adds. 1: one that flushes, engraves and merges. 2:
    /// one more, so that a segment is flushed while others are engraved and merged [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) stage_threads: Option<usize>,
    /// Of --dram: bytes for segments that are being filled [default: three segments]
    #[arg(long, value_name = "SIZE")]
    pub(crate) dram_short: Option<Size>,
    /// Of --dram: bytes for flushed segments [default: what is left]
    #[arg(long, value_name = "SIZE")]
    pub(crate) dram_long: Option<Size>,
    /// Of --dram: bytes for the dictionary [default: a quarter; with --dram-long what is left]
    #[arg(long, value_name = "SIZE")]
    pub(crate) dram_dictionary: Option<Size>,
    /// Of --nvm: bytes for terms of segments that are not merged [default: 8 parts in 40]
    #[arg(long, value_name = "SIZE")]
    pub(crate) nvm_short: Option<Size>,
    /// Of --nvm: bytes for the rest of segments [default: 27 parts in 40]
    #[arg(long, value_name = "SIZE")]
    pub(crate) nvm_long: Option<Size>,
    /// Of --nvm: bytes for the merged dictionary [default: 5 parts in 40]
    #[arg(long, value_name = "SIZE")]
    pub(crate) nvm_dictionary: Option<Size>,
}
