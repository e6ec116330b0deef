//! What `spirit backup`, `verify` and `restore` take.

use std::path::PathBuf;

/// Copies an index as it is at one moment to one file, even while it is in use
///
/// OUT holds every document and deletion acknowledged before the command began, and later ones up
/// to one point. The process that writes the index does not wait. Documents that retention drops
/// meanwhile may be missing. OUT must not exist; it gets its name once all of it is on the disk.
/// Only a whole backup can be restored; `spirit verify` checks that.
///
/// An index made with --mode graceful can be copied while no process has it open.
#[derive(Debug, clap::Args)]
#[command(after_help = BACKUP_EXAMPLES)]
pub(crate) struct BackupArgs {
    /// Directory of the index
    #[arg(short, long = "directory", value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// The file to write
    #[arg(value_name = "OUT")]
    pub(crate) out: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Show progress even if standard error is not a terminal
    #[arg(long)]
    pub(crate) progress: bool,
}

const BACKUP_EXAMPLES: &str = "\
Examples:
  spirit backup -d news news.backup             also while it is open
  spirit verify news.backup
  spirit restore news.backup -d news2";

/// Verifies a backup, and changes nothing
///
/// Compares all checksums, then checks documents, terms and operations as `spirit check` does.
/// Prints each error with its place and exits with 1, or prints a summary and exits with 0.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  spirit verify news.backup")]
pub(crate) struct VerifyArgs {
    /// The file that `spirit backup` wrote
    #[arg(value_name = "BACKUP")]
    pub(crate) backup: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Show progress even if standard error is not a terminal
    #[arg(long)]
    pub(crate) progress: bool,
}

/// Makes an index from a backup, in a directory that has none
///
/// The backup is verified before anything is written, and the new index is checked before it gets
/// its name. It has the settings and sizes of the original, and opens like an index that was
/// closed.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  spirit restore news.backup -d news2\n  spirit search -d news2 fox"
)]
pub(crate) struct RestoreArgs {
    /// The file that `spirit backup` wrote
    #[arg(value_name = "BACKUP")]
    pub(crate) backup: PathBuf,
    /// Directory of the new index; created if missing
    #[arg(short, long = "directory", value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Show progress even if standard error is not a terminal
    #[arg(long)]
    pub(crate) progress: bool,
}

/// Makes a new index from the intact parts of a damaged one
///
/// Copies intact segments and log records, with the keys, fields and texts of their documents.
/// Prints a line for each damaged part, with the most documents that it may have held. The damaged
/// index is not changed, and no process may have it open. OUT must have no index. Its disk needs
/// room for a backup meanwhile.
///
/// Deleted documents stay deleted. If an operation of the log is lost, the document that it
/// replaced or deleted may reappear, if that was in the log too.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  spirit check -d news\n  spirit salvage news news2\n  spirit search -d news2 fox"
)]
pub(crate) struct SalvageArgs {
    /// Directory of the damaged index
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Directory of the new index; created if missing
    #[arg(value_name = "OUT")]
    pub(crate) out: PathBuf,
    /// Show progress even if standard error is not a terminal
    #[arg(long)]
    pub(crate) progress: bool,
}
