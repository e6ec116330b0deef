//! What `spirit backup`, `verify` and `restore` take.

use std::path::PathBuf;

/// Copies an index to one file, as it is at one moment, while it is in use
///
/// OUT holds every document and every deletion that was acknowledged before the command began, and of what came just
/// then a part without gaps. The process that has the index open is not asked and does not wait. What retention drops while
/// OUT is written may be missing. OUT must not be there; it gets its name when all of it is on the disk, and is of use
/// only whole: `spirit verify` says whether it is.
///
/// An index made with --mode graceful can be copied while nobody has it open.
#[derive(Debug, clap::Args)]
#[command(after_help = BACKUP_EXAMPLES)]
pub(crate) struct BackupArgs {
    /// Where the index is kept
    #[arg(short, long = "directory", value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// The file to write
    #[arg(value_name = "OUT")]
    pub(crate) out: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Show progress even if standard error is no terminal
    #[arg(long)]
    pub(crate) progress: bool,
}

const BACKUP_EXAMPLES: &str = "\
Examples:
  spirit backup -d news news.backup             also while it is open
  spirit verify news.backup
  spirit restore news.backup -d news2";

/// Says whether a backup is whole, and changes nothing
///
/// All checksums are compared, then the documents, terms and operations in it are looked at as `spirit check` does. Prints
/// what is wrong, with its place, and ends with 1; or a summary, and ends with 0.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  spirit verify news.backup")]
pub(crate) struct VerifyArgs {
    /// The file that `spirit backup` wrote
    #[arg(value_name = "BACKUP")]
    pub(crate) backup: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Show progress even if standard error is no terminal
    #[arg(long)]
    pub(crate) progress: bool,
}

/// Makes an index of a backup, in a directory where there is none
///
/// All of the backup is verified before anything is written, and what was made is checked before it is an index. It has
/// the settings and the sizes of the one that was copied, and opens like one that was closed.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  spirit restore news.backup -d news2\n  spirit search -d news2 fox"
)]
pub(crate) struct RestoreArgs {
    /// The file that `spirit backup` wrote
    #[arg(value_name = "BACKUP")]
    pub(crate) backup: PathBuf,
    /// Where the index will be kept; made if it is not there
    #[arg(short, long = "directory", value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Show progress even if standard error is no terminal
    #[arg(long)]
    pub(crate) progress: bool,
}

/// Makes a new index of what is whole in a damaged one, and says what is missing
///
/// Whole segments and whole records of the log are taken over, with the keys, fields and texts of their documents. What is damaged is
/// left out and printed, a line each, with how many documents were in it at most. The damaged index stays as it is, and nobody may
/// have it open. OUT must have no index; beside it there has to be room for a backup of it meanwhile.
///
/// A document that died stays dead. Where an operation of the log is lost, the document that it replaced or deleted may be there, if that
/// was in the log, too.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  spirit check -d news\n  spirit salvage news news2\n  spirit search -d news2 fox"
)]
pub(crate) struct SalvageArgs {
    /// Where the damaged index is kept
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Where the new index will be kept; made if it is not there
    #[arg(value_name = "OUT")]
    pub(crate) out: PathBuf,
    /// Show progress even if standard error is no terminal
    #[arg(long)]
    pub(crate) progress: bool,
}
