//! What `spirit keys` takes.

use std::path::PathBuf;
use std::time::Duration;

use clap::Subcommand;
use spirit_server::guard::Scope;

/// Makes, lists and revokes the keys of a server
///
/// A server without keys answers everybody who reaches it. The first key closes
/// it: from then on each request needs one, but for /health/live. Keys are in a
/// file in DIR, as hashes. A running server reads it again within a second, and
/// at SIGHUP.
///
/// Scopes, each with the ones before:
///   search   searches, counts, documents, mappings and statistics
///   write    adding, changing and deleting documents, which may make an index
///   admin    making and deleting indexes; with all indexes /metrics too
/// and apart from them:
///   metrics  /metrics and the server's health alone
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct KeysArgs {
    #[command(subcommand)]
    pub(crate) command: KeysCommand,
}

const EXAMPLES: &str = "\
Examples:
  spirit keys create -d all --scope write --index 'logs-*' shipper
  spirit keys create -d all --scope search --expires 30d board
  spirit keys list -d all
  spirit keys revoke -d all shipper

  curl -H \"Authorization: Bearer $KEY\" localhost:7580/logs-1/_search
  curl -u any:$KEY localhost:7580/logs-1/_search
  Elasticsearch('http://localhost:7580', basic_auth=('any', KEY))";

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Makes a key and prints it. Nobody can print it again
    Create(CreateArgs),
    /// Lists the keys, without their texts
    List(ListArgs),
    /// Revokes keys by their ids or names
    Revoke(RevokeArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct CreateArgs {
    /// Directory of the server
    #[arg(short, long = "directory", value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// What it may do: search, write, admin or metrics
    #[arg(long, value_name = "SCOPE")]
    pub(crate) scope: Scope,
    /// The indexes that it is for: names, or patterns with *. Several with commas [default: *]
    #[arg(long = "index", value_name = "PATTERN", value_delimiter = ',')]
    pub(crate) indexes: Vec<String>,
    /// The time after which it is refused, as in 30d [default: never]
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub(crate) expires: Option<Duration>,
    /// A name for people, which the server's log has
    pub(crate) name: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Directory of the server
    #[arg(short, long = "directory", value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RevokeArgs {
    /// Directory of the server
    #[arg(short, long = "directory", value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Ids or names of keys
    #[arg(value_name = "KEY", required = true)]
    pub(crate) keys: Vec<String>,
}
