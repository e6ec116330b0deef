//! The arguments of `spirit get`.

use std::path::PathBuf;

use spirit_forms::size::Size;

/// Prints the documents with these keys, as they were given
///
/// Each begins with its key and its fields, a line each. Its text follows after an empty line. The
/// index must store documents. If no document has a key, the key is reported and the exit code is
/// 1.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  spirit get -d news moby\n  spirit get -d news --json 17 18 -- -19"
)]
pub(crate) struct GetArgs {
    /// Directory of the index
    #[arg(short, long = "directory", value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Keys of the documents
    #[arg(value_name = "KEY", required = true)]
    pub(crate) keys: Vec<String>,
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
    /// DRAM for the index in this call, a hard cap: 512M, 1.5GiB [default: 1GiB, or what its
    /// segments need]
    #[arg(long, value_name = "SIZE")]
    pub(crate) dram: Option<Size>,
}
