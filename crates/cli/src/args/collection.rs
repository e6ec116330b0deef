//! Arguments of `spirit index`.

use std::path::PathBuf;

use super::{IndexArgs, ReadingArgs, TierArgs};
use crate::choice::PlacementName;

/// Indexes a collection that does not change, with all cores
///
/// For a crawl, a dump or an archive: files that stay as they are until the command is done. Their
/// documents are not logged on the way, since the files can be read again. If the command is killed,
/// the same command goes on, and the index is then as if nothing had happened. Until it is done, or
/// given up, the index takes no other documents; queries are answered from what is in.
///
/// Prints a one-line JSON summary: also the time that each executor took for numbers and keys, for
/// cutting and entering terms, for sorting, for flushing into the file, and for merging. Files are read
/// as by `spirit ingest`; several at once.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CollectionArgs {
    /// Files of documents, or folders of them
    #[arg(value_name = "FILE", required_unless_present = "give_up")]
    pub(crate) files: Vec<PathBuf>,
    /// Directory of the index; created if missing
    #[arg(short, long = "directory", value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Give up a collection that was not indexed to its end. What is in stays in: some of its
    /// documents. The index takes others again
    #[arg(long, conflicts_with = "files")]
    pub(crate) give_up: bool,
    /// Index a collection once more that was indexed last. Without this, the same files with the same
    /// options are not indexed twice: the end of a run that was killed may have been reached
    #[arg(long)]
    pub(crate) again: bool,
    /// Keep refused records in FILE as they are, to be mended and read again. FILE.reasons says why
    /// each was refused
    #[arg(long, value_name = "FILE")]
    pub(crate) rejects: Option<PathBuf>,
    /// Show progress even if standard error is not a terminal
    #[arg(long)]
    pub(crate) progress: bool,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) index: IndexArgs,
    #[command(flatten)]
    pub(crate) tier: TierArgs,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// Where the command keeps what it works on.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Options of placement, not kept")]
pub(crate) struct PlaceArgs {
    /// Keep the table of the segment that is being filled in a file of this directory, not in DRAM:
    /// on another medium
    #[arg(long, value_name = "DIR")]
    pub(crate) table_in: Option<PathBuf>,
    /// The same for the lists of flushed segments
    #[arg(long, value_name = "DIR")]
    pub(crate) partial_in: Option<PathBuf>,
    /// The same for the dictionary and the map from keys to documents
    #[arg(long, value_name = "DIR")]
    pub(crate) dictionary_in: Option<PathBuf>,
    /// Write to the index's file with system calls, through the page cache, instead of storing to
    /// its mapping
    #[arg(long)]
    pub(crate) write_file: bool,
    /// All of these by the name of a placement: stock, table-pm, pm-only, flush-pm, hybrid, hybrid+,
    /// cc-hybrid. What is not in DRAM and not in the directory of --pm lies in that of the index. Mode
    /// graceful, but for cc-hybrid
    #[arg(long, value_name = "NAME", requires = "pm", conflicts_with_all = ["table_in", "partial_in", "dictionary_in", "write_file"])]
    pub(crate) placement: Option<PlacementName>,
    /// The directory that stands for persistent memory. Merged postings are the index's file: for
    /// pm-only and the hybrids, put the index there too
    #[arg(long, value_name = "DIR", requires = "placement")]
    pub(crate) pm: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  spirit index -d web crawl/                         all files below a folder
  spirit index -d news --store yes news.jsonl.zst
  spirit index -d papers --format trec --dram 4GiB disk4/ disk5/
  spirit index -d web --give-up                      keeps what is in, and no more

Executors: one for each core, unless --executors says otherwise.";
