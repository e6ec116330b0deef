//! What `spirit top` takes.

use std::path::PathBuf;
use std::time::Duration;

use crate::top::Order;

/// Shows what a running server, or an index in a directory, does: rates, latencies, memory
///
/// The server is asked for its figures again and again. With -d, the index is read, beside the
/// process that writes it if there is one. Each table has what came since the one before. Keys: q
/// quits, s sorts by something else. Where standard output is no terminal, one table is printed.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  spirit top\n  spirit top --url https://search:7580 --key-file metrics.key --ca ca.pem\n  spirit top --once --interval 10s >> rates.txt\n  spirit top -d news"
)]
pub(crate) struct TopArgs {
    /// The server
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:7580")]
    pub(crate) url: String,
    /// Directory of an index, instead of a server. Queries of other processes are not counted there
    #[arg(short, long = "directory", value_name = "DIR", conflicts_with_all = ["url", "key_file", "ca"])]
    pub(crate) directory: Option<PathBuf>,
    /// The file with a key of the scope metrics, or of admin for all indexes
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// The file with certificates in PEM form, one of which the server's one is signed by, if that is
    /// not one that browsers trust
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// The time between two samples
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = humantime::parse_duration)]
    pub(crate) interval: Duration,
    /// What the indexes are sorted by
    #[arg(long, value_name = "BY", value_enum, default_value_t)]
    pub(crate) sort: Order,
    /// Print one table, and end
    #[arg(long)]
    pub(crate) once: bool,
}
