//! The arguments of `spirit demo`.

use std::path::PathBuf;

use crate::args::IndexArgs;
use crate::format::FormatName;

/// Streams posts in at full speed while another thread asks for what arrived a moment ago
///
/// Without --in the posts come from a seeded generator: their lengths, vocabulary and word
/// frequencies are shaped like those of two million real posts, the words are not. With --in they
/// are the lines of a file, or of every text file below a directory (hidden folders, target,
/// node_modules and binary files are left out). A few lines are added again and again, until there
/// are enough measurements for the 99th percentile.
///
/// While the posts stream in, a second thread asks for words of what was added a moment ago, mixes
/// in other queries of one and two words, and probes freshness: a post gets a unique word, and the
/// time runs from the start of its `add` until the other thread finds that word.
#[derive(Debug, clap::Args)]
#[command(after_help = DEMO_EXAMPLES)]
pub(crate) struct DemoArgs {
    /// Stream this file, or every text file below this directory
    #[arg(long = "in", value_name = "FILE|DIR")]
    pub(crate) input: Option<PathBuf>,
    /// Stop after this many documents [default: 6000000, or when a small --in is measured]
    #[arg(long, value_name = "N")]
    pub(crate) docs: Option<u64>,
    /// Stop streaming after this time, as in 20s or 2min
    #[arg(long, value_name = "TIME", default_value = "20s", conflicts_with = "seconds")]
    pub(crate) time: humantime::Duration,
    /// The old name of --time, in seconds
    #[arg(long, value_name = "S", hide = true)]
    pub(crate) seconds: Option<f64>,
    /// Seed of the generator and of the choice of queries
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print the summary as one JSON object, and do not prompt
    #[arg(long)]
    pub(crate) json: bool,
    /// Format of the records [default: auto]
    #[arg(long)]
    pub(crate) format: Option<FormatName>,
    #[command(flatten)]
    pub(crate) index: IndexArgs,
}

const DEMO_EXAMPLES: &str = "\
Examples:
  spirit demo
  spirit demo --docs 100000 --json
  spirit demo --in ~/src       your own text
  spirit demo --dram 128MiB    a small heap: the oldest documents make room";
