//! The arguments of `spirit fields`.

use std::path::PathBuf;

use spirit_forms::size::Size;

/// Lists the fields of the documents: name, kind, and how many documents have one
///
/// A number that takes too long to count is printed as a dash, with --json as null.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  spirit fields -d news\n  spirit fields -d news --json")]
pub(crate) struct FieldsArgs {
    /// Directory of the index
    #[arg(short, long = "directory", value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// DRAM for the index in this call, a hard cap: 512M, 1.5GiB [default: 1GiB, or what its
    /// segments need]
    #[arg(long, value_name = "SIZE")]
    pub(crate) dram: Option<Size>,
}
