//! What can be typed. What it means is in [`settings`](crate::settings).

mod answering;
mod backup;
mod cache;
mod collection;
mod completions;
mod demo;
mod fields;
mod get;
mod keys;
mod pipeline;
mod serve;
mod top;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use regex::bytes::Regex;
use spirit::Analyzer;
use spirit_forms::schema::Fields;
use spirit_forms::size::Size;

pub(crate) use answering::{AnsweringArgs, QueryArgs};
pub(crate) use backup::{BackupArgs, RestoreArgs, SalvageArgs, VerifyArgs};
pub(crate) use cache::CacheArgs;
pub(crate) use collection::{CollectionArgs, PlaceArgs};
pub(crate) use completions::CompletionsArgs;
pub(crate) use demo::DemoArgs;
pub(crate) use fields::FieldsArgs;
pub(crate) use get::GetArgs;
pub(crate) use keys::{CreateArgs, KeysArgs, KeysCommand, ListArgs, RevokeArgs};
pub(crate) use pipeline::PipelineArgs;
pub(crate) use serve::ServeArgs;
pub(crate) use top::TopArgs;

use crate::choice::{
    Delimiter, DictionaryTierName, Durability, Mode, OnFullName, PostingsName, Reserve, YesNo,
};
use crate::format::FormatName;
use crate::misfits::OnMisfit;
use crate::schema;

/// Real-time full-text search: a document is found the instant it is added
///
/// An index is kept in a directory. Acknowledged documents survive a crash of the process, and a
/// later command needs only `-d DIR`. For a single question, `--in FILE` indexes files in memory
/// and keeps nothing.
#[derive(Debug, Parser)]
#[command(name = "spirit", version, arg_required_else_help = true, max_term_width = 80, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What queries look like: of all commands, and of each that takes some.
macro_rules! with_syntax {
    ($examples:literal) => {
        concat!(
            $examples,
            "

Queries:
  a b (either)   +a -b   a AND b   a OR b   NOT a   ( )   * (every document)
  word (in every field of text)   title:word   text:word (in the text alone)
  key:VALUE   field:* (any value)   level:IN [warn error]
  \"a phrase\"   \"near by\"~3   \"begin of phr\"*   pre*   w?ld*   fuzzy~1
  (a b c)~2   word^2   views:[3 TO 9}   views:>=3   at:2026-11-22   at:>now-1h"
        )
    };
}

const EXAMPLES: &str = with_syntax!(
    "\
Examples:
  spirit demo                        streams in posts and queries them meanwhile
  spirit ingest -d news posts.jsonl  makes the index in news, or adds to it
  spirit index -d web crawl/         a collection that does not change, with all cores
  spirit search -d news 'fox -dog'   the newest posts with fox and without dog
  spirit get -d news moby            a document by its key
  spirit count --in log.jsonl.zst 'error AND disk'
                                     counts in a file; keeps no index"
);

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(DemoArgs),
    Ingest(Box<IngestArgs>),
    Index(CollectionArgs),
    Search(SearchArgs),
    Count(CountArgs),
    Get(GetArgs),
    Delete(DeleteArgs),
    Stats(StatsArgs),
    Fields(FieldsArgs),
    Check(CheckArgs),
    Backup(BackupArgs),
    Verify(VerifyArgs),
    Restore(RestoreArgs),
    Salvage(SalvageArgs),
    /// Serves the indexes below a directory over HTTP
    #[command(
        after_help = "Examples:\n  spirit serve -d all\n  curl -X PUT localhost:7580/api/v1/log\n  curl localhost:7580/api/v1/log/documents --data-binary @day.jsonl\n  curl 'localhost:7580/api/v1/log/search?q=timeout&limit=3'"
    )]
    Serve(ServeArgs),
    /// Prints the settings of `serve` that are in force, and where each is from
    Config(ServeArgs),
    Keys(KeysArgs),
    Top(TopArgs),
    Completions(CompletionsArgs),
}

/// Adds documents to an index and prints a one-line JSON summary
///
/// The command creates DIR if it does not exist. The index there keeps the options that it was made
/// with, so a later command needs only `-d DIR`. Options that say "not kept" are for one call. One
/// process at a time writes an index; others can search it meanwhile.
///
/// An invalid record (not UTF-8, malformed, too long) is counted and reported as FILE:LINE: reason;
/// the others are added, and the exit code is 3. A document replaces an older one with its key. `-`
/// is standard input. Of a folder all files below are read, but hidden ones. Gzip, zstd, bzip2, xz
/// and UTF-16 are recognized by content.
#[derive(Debug, clap::Args)]
#[command(after_help = INGEST_EXAMPLES, mut_args(answering::hidden))]
pub(crate) struct IngestArgs {
    /// Files of documents or folders of them, or - for standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Directory of the index; created if missing
    #[arg(short, long = "directory", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// After adding, answer the queries of this file, one a line, as `search --queries` does and
    /// with its options
    #[arg(long, value_name = "FILE")]
    pub(crate) queries: Option<PathBuf>,
    /// Print and flush `ack KEY` for each document once it is durable (in modes other than crash:
    /// once queries find it)
    #[arg(long)]
    pub(crate) ack: bool,
    /// Continue where the last run with --resume ended, even if it was killed. Each line of the
    /// files is added exactly once: the index records how far they were read. A file is known by its
    /// bytes: rename it, copy and empty it, compress the copy. Needs mode crash
    #[arg(long, conflicts_with = "ack", requires = "directory")]
    pub(crate) resume: bool,
    /// Go on reading the files as they grow, until interrupted. A file that is renamed is read to its
    /// end, and then the new one of its name; one that is emptied from its beginning. With --resume
    /// the next run goes on where this one ended
    #[arg(long, conflicts_with = "queries")]
    pub(crate) follow: bool,
    /// Read and parse on another thread, ahead of what is added. Always so with several executors.
    /// With one it takes a second core
    #[arg(long)]
    pub(crate) ahead: bool,
    /// Keep refused records in FILE as they are, to be mended and read again. FILE.reasons says why
    /// each was refused
    #[arg(long, value_name = "FILE")]
    pub(crate) rejects: Option<PathBuf>,
    /// Show progress even if standard error is not a terminal
    #[arg(long)]
    pub(crate) progress: bool,
    /// Read options from a file, by the same names; options typed here win
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) index: IndexArgs,
    #[command(flatten)]
    pub(crate) tier: TierArgs,
    #[command(flatten)]
    pub(crate) answering: AnsweringArgs,
}

const INGEST_EXAMPLES: &str = "\
Examples:
  spirit ingest -d news posts.jsonl.zst
  tail -f app.log | spirit ingest -d log --ack -
  spirit ingest -d log --record-start '^\\d{4}-' /var/log/app
  spirit ingest -d shop --delimiter ';' --text-field name items.csv.gz
  spirit ingest -d web crawl-00.warc.gz crawl-01.warc.gz
  spirit ingest -d news --resume day1.jsonl day2.jsonl
  spirit ingest -d log --resume --follow /var/log/app.log
  spirit ingest -d news --dram 4GiB --nvm 64GiB --analyzer english posts.tsv

A configuration file:
  directory = \"news\"
  dram = \"4GiB\"
  analyzer = \"english\"
  positions = false

  [fields]
  at = \"time(seconds)\"
  channel = \"keyword\"";

/// Answers queries, newest documents first
///
/// Prints a line for each document: its key, its time if it has one, its text if the index stores
/// it. In a pipe, tabs separate these and the text is whole. On a terminal, the text is cut to the
/// line. The number of matches goes to standard error.
///
/// With -d, queries search the index in a directory. With --in, they search files that are indexed
/// in memory, and nothing is kept.
#[derive(Debug, clap::Args)]
#[command(after_help = SEARCH_EXAMPLES)]
pub(crate) struct SearchArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    #[command(flatten)]
    pub(crate) answering: AnsweringArgs,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) index: IndexArgs,
}

const SEARCH_EXAMPLES: &str = with_syntax!(
    "\
Examples:
  spirit search -d news 'fox OR wolf'
  spirit search -d news -k 20 --after 4711 fox          the next page
  spirit search -d news --order best --fields user,views fox
  spirit search -d news --highlight 'heron AND reed*'   marks the matches
  spirit search -d news --lenient --timeout 2s '(fox AND'
                                                        ignores what is invalid
  spirit search --in a.tsv b.tsv --queries queries.txt --json
  spirit search --in notes.txt -- '-dog +fox'           begins with a dash"
);

/// Counts the documents that match, exactly
#[derive(Debug, clap::Args)]
#[command(after_help = COUNT_EXAMPLES)]
pub(crate) struct CountArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Count exactly up to N; if there are more, say so and stop counting
    #[arg(long, value_name = "N")]
    pub(crate) up_to: Option<u64>,
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) query: QueryArgs,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) index: IndexArgs,
}

const COUNT_EXAMPLES: &str = with_syntax!(
    "\
Examples:
  spirit count -d news 'fox AND dog'
  spirit count --in posts.jsonl.zst --queries queries.txt --json"
);

/// Deletes documents by key
///
/// Prints the number of deleted documents, and each key that no document has. Such a key is not a
/// failure.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  spirit delete -d news 17 moby\n  spirit delete -d news --json -- -17"
)]
pub(crate) struct DeleteArgs {
    /// Directory of the index
    #[arg(short, long = "directory", value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Keys of the documents
    #[arg(value_name = "KEY", required = true)]
    pub(crate) keys: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// DRAM for the whole index, a hard cap: 512M, 1.5GiB. Not kept [default: 1GiB, or more if the
    /// segments of an existing index need it]. With less, fresh segments are smaller, and the index
    /// has room for fewer documents. A start may take up to 8 times as much if the log needs it: on
    /// a full disk, or for a document too large for a smaller segment
    #[arg(long, value_name = "SIZE")]
    pub(crate) dram: Option<Size>,
}

/// Shows the numbers of documents and segments, and the use of memory
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  spirit stats -d news\n  spirit stats --in posts.jsonl --dram 256MiB"
)]
pub(crate) struct StatsArgs {
    /// Directory of the index
    #[arg(short, long = "directory", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// Index these files in memory
    #[arg(long = "in", value_name = "FILE", num_args = 1..)]
    pub(crate) files: Vec<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) index: IndexArgs,
}

/// Verifies every structure and checksum of an index, and changes nothing
///
/// Prints each error with its place in the file and exits with 1, or prints a summary and exits
/// with 0. While a process writes the index, its changing parts are not checked.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// Directory of the index
    #[arg(short, long = "directory", value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is asked, and of what.
#[derive(Debug, clap::Args)]
pub(crate) struct SourceArgs {
    /// Directory of the index
    #[arg(short, long = "directory", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// Index these files in memory and search them; QUERY may stand before or after
    #[arg(long = "in", value_name = "FILE", num_args = 1..)]
    pub(crate) files: Vec<PathBuf>,
    /// The query
    pub(crate) query: Option<String>,
    /// Answer the queries of this file, one a line, in order
    #[arg(long, value_name = "FILE", conflicts_with = "query")]
    pub(crate) queries: Option<PathBuf>,
}

/// How files are read.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Options of files")]
pub(crate) struct ReadingArgs {
    /// Format of the records [default: auto]
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<FormatName>,
    /// The character between the values of a row of CSV, or tab [default: ,]
    #[arg(long, value_name = "CHAR")]
    pub(crate) delimiter: Option<Delimiter>,
    /// Plain lines that do not match belong to the record before, as in
    /// '^\d{4}-' for a log with stack traces
    #[arg(long, value_name = "REGEX")]
    pub(crate) record_start: Option<Regex>,
    /// The member that is the text; of several (a,b) the first that a document has, else `text`
    /// [default: text, or else message, msg, body, content, log, title]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) text_field: Vec<String>,
    /// Stop at the first invalid record, or value that does not fit its field, with exit code 1
    #[arg(long)]
    pub(crate) strict: bool,
    /// What happens to a value that does not fit its field: keep the document without it, refuse
    /// the document, or convert the value if nothing of it is lost ("17" to 17) [default: keep;
    /// with a strict schema refuse]
    #[arg(long, value_name = "keep|refuse|convert", hide_possible_values = true)]
    pub(crate) on_misfit: Option<OnMisfit>,
}

/// How the index is made. All but --dram and --dictionary is kept with an index in a directory.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Options of the index")]
pub(crate) struct IndexArgs {
    /// How text becomes terms: simple, standard, social, english, code (tells C, C++ and C# apart),
    /// keyword [default: standard]
    #[arg(long, value_name = "NAME")]
    pub(crate) analyzer: Option<Analyzer>,
    /// DRAM for the whole index, a hard cap: 512M, 1.5GiB. Not kept [default: 1GiB, or more if the
    /// segments of an existing index need it]. With less, fresh segments are smaller, and the index
    /// has room for fewer documents. A start may take up to 8 times as much if the log needs it: on
    /// a full disk, or for a document too large for a smaller segment
    #[arg(long, value_name = "SIZE")]
    pub(crate) dram: Option<Size>,
    /// Where an index in a directory reads its dictionary: in DRAM as far as it fits, or in the
    /// file. Not kept [default: dram]
    #[arg(long, value_name = "dram|nvm", hide_possible_values = true)]
    pub(crate) dictionary: Option<DictionaryTierName>,
    /// Compare each page of an index in a directory with its checksum at its first read, and refuse
    /// to answer from a damaged page. Not kept [default: no; at level os yes]
    #[arg(long, value_name = "yes|no", hide_possible_values = true)]
    pub(crate) verify: Option<YesNo>,
    /// Size of a segment: 64KiB and up [default: by --dram, at most 128MiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) segment: Option<Size>,
    /// Pipelines that run side by side: one for each core that adds [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) executors: Option<usize>,
    /// Keep the positions of tokens, which phrases need [default: yes]
    #[arg(long, value_name = "yes|no", hide_possible_values = true)]
    pub(crate) positions: Option<YesNo>,
    /// Keep the documents: `search` and `get` print them [default: no, for `search --in` yes]
    #[arg(long, value_name = "yes|no", hide_possible_values = true)]
    pub(crate) store: Option<YesNo>,
    /// Form of posting lists in the file: raw as in DRAM, or packed in less than half the space. In
    /// an existing index it applies to new segments [default: raw]
    #[arg(long, value_name = "raw|packed", hide_possible_values = true)]
    pub(crate) postings: Option<PostingsName>,
    /// Fields with their kinds, as in `ts:time(seconds),channel:keyword`, or a file of them that
    /// ends in .toml. Documents may add other fields. Kinds: text, text(ANALYZER), keyword,
    /// integer, float, time, time(seconds), time(microseconds), time(nanoseconds), boolean
    #[arg(long, value_name = "FIELDS|FILE.toml", value_parser = schema::fields)]
    pub(crate) schema: Option<Fields>,
    /// Refuse documents with fields that are not in the schema
    #[arg(long)]
    pub(crate) strict_schema: bool,
    /// When the heap is full: drop the oldest segment, wait for room, or refuse documents [default: refuse]
    #[arg(long, value_name = "drop|wait|refuse", hide_possible_values = true)]
    pub(crate) on_full: Option<OnFullName>,
    /// How long documents are kept after they arrive: 90s, 12h, 7days [default: no limit]
    #[arg(long, value_name = "TIME")]
    pub(crate) retain: Option<humantime::Duration>,
    #[command(flatten)]
    pub(crate) cache: CacheArgs,
}

/// What is kept where, and when.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Options of an index in a directory")]
pub(crate) struct TierArgs {
    /// Which documents survive. volatile: none; with -d a file without a name extends DRAM. graceful: all, if the index is closed in an orderly
    /// way. crash: all acknowledged ones, even after a crash [default: crash]
    #[arg(long, hide_possible_values = true, value_name = "volatile|graceful|crash")]
    pub(crate) mode: Option<Mode>,
    /// What an acknowledged document survives. process: a kill -9 of the process. os: also a power
    /// cut [default: process]
    #[arg(long, hide_possible_values = true, value_name = "process|os")]
    pub(crate) durability: Option<Durability>,
    /// Group commit: how long a document waits for those of other threads, to be synced together,
    /// as in 5ms. Not kept [default: 0s]
    #[arg(long, value_name = "TIME", conflicts_with = "group_ms")]
    pub(crate) group_wait: Option<humantime::Duration>,
    /// The old name of --group-wait, in milliseconds
    #[arg(long, value_name = "N", hide = true)]
    pub(crate) group_ms: Option<u64>,
    /// Group commit: write a group, or a batch of a file, once it holds this many bytes of text.
    /// With 0, each document is one group. Not kept [default: 256KiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) group_bytes: Option<Size>,
    /// Merge this many engraved segments, 1 to 16, into the dictionary on disk at once. With more,
    /// its pages are written less often. Not kept [default: 1; at level os on a disk 8]
    #[arg(long, value_name = "N")]
    pub(crate) merge_after: Option<usize>,
    /// When disk space is reserved. lazy: ahead of need. full: all of it at once [default: lazy]
    #[arg(long, hide_possible_values = true, value_name = "lazy|full")]
    pub(crate) reserve: Option<Reserve>,
    /// Size of the index's file, a hard cap: 512M, 1.5GiB. The file grows as needed [default: the
    /// size of the disk, but at most 128 GiB for each GiB of --dram]
    #[arg(long, value_name = "SIZE")]
    pub(crate) nvm: Option<Size>,
    #[command(flatten)]
    pub(crate) pipeline: PipelineArgs,
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_consistent() {
        <super::Args as clap::CommandFactory>::command().debug_assert();
    }
}
