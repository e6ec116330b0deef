//! What can be typed. What it means is in [`settings`](crate::settings).

mod backup;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use spirit::{Analyzer, Cursor, HITS_MAX};

pub(crate) use backup::{BackupArgs, RestoreArgs, VerifyArgs};

use crate::choice::{
    AlgorithmName, Counting, DictionaryTierName, Durability, EvaluatorName, Mode, OnFullName,
    OperatorName, PostingsName, Reserve, YesNo,
};
use crate::document::Format;
use crate::facets::{FacetArg, facet};
use crate::order::{Fade, Order};
use crate::schema::Fields;
use crate::size::Size;

/// Real-time full-text search: a document is found the instant it is added
///
/// An index is kept in a directory: what was acknowledged is there again whatever happened to the process, and a
/// later command needs only `-d DIR`. For a single question, `--in FILE` indexes files in memory and keeps nothing.
#[derive(Debug, Parser)]
#[command(name = "spirit", version, arg_required_else_help = true, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  spirit demo                                   the whole thing at work, in under a minute
  spirit ingest -d news posts.jsonl             makes the index in news, or adds to it
  spirit search -d news 'fox -dog'              the newest posts with fox and without dog
  spirit count --in log.jsonl.zst 'error AND disk'
                                                of a file, in memory; nothing is kept

Queries:
  a b (either)   +a -b   a AND b   a OR b   NOT a   ( )   text:word   key:VALUE   * (every document)
  \"a phrase\"   \"near by\"~3   \"begin of phr\"*   pre*   w?ld*   fuzzy~1   (a b c)~2   word^2
  views:[3 TO 9}   views:>=3   at:2026-11-22   at:>now-1h   level:IN [warn error]   field:* (any value)";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(DemoArgs),
    Ingest(IngestArgs),
    Search(SearchArgs),
    Count(CountArgs),
    Delete(DeleteArgs),
    Stats(StatsArgs),
    Check(CheckArgs),
    Backup(BackupArgs),
    Verify(VerifyArgs),
    Restore(RestoreArgs),
    Serve(ServeArgs),
}

/// Streams posts in at full speed while another thread asks for what arrived a moment ago
///
/// Without --in the posts come from a seeded generator: their lengths, vocabulary and word frequencies are
/// shaped like those of two million real posts, the words are not. With --in they are the lines of a file, or
/// of every text file below a directory (hidden folders, target, node_modules and binary files are left out).
///
/// While the posts stream in, a second thread asks for words of what was added a moment ago, mixes in other
/// queries of one and two words, and probes freshness: a post gets a unique word, and the time runs from the
/// start of its `add` until the other thread finds that word.
#[derive(Debug, clap::Args)]
#[command(after_help = DEMO_EXAMPLES)]
pub(crate) struct DemoArgs {
    /// Stream this file, or every text file below this directory
    #[arg(long = "in", value_name = "FILE|DIR")]
    pub(crate) input: Option<PathBuf>,
    /// Stop after so many documents
    #[arg(long, value_name = "N", default_value_t = 6_000_000)]
    pub(crate) docs: u64,
    /// Stop streaming after so many seconds
    #[arg(long, value_name = "S", default_value_t = 20.0)]
    pub(crate) seconds: f64,
    /// What the generator and the choice of queries start from
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print the summary as one JSON object, and do not prompt
    #[arg(long)]
    pub(crate) json: bool,
    /// Format of the lines (default: by file ending)
    #[arg(long)]
    pub(crate) format: Option<Format>,
    #[command(flatten)]
    pub(crate) index: IndexArgs,
}

const DEMO_EXAMPLES: &str = "\
Examples:
  spirit demo
  spirit demo --docs 100000 --json
  spirit demo --in ~/src                        your own text
  spirit demo --dram 128MiB                     a small heap: the oldest documents make room";

/// Adds documents to an index and prints a one-line JSON summary
///
/// The index is kept in DIR, which is made if there is none. It keeps the options that it was made with, so a later
/// command needs only `-d DIR`; only --dram may be another each time. One process at a time has an index open.
///
/// A line that is no document (invalid UTF-8, malformed, too long) is reported as FILE:LINE: reason and
/// counted; the rest goes in. The same key again replaces the document. `-` is standard input; a file that ends
/// in .zst is decompressed on the fly.
#[derive(Debug, clap::Args)]
#[command(after_help = INGEST_EXAMPLES)]
pub(crate) struct IngestArgs {
    /// Files of documents, or - for standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Where the index is kept; made if there is none
    #[arg(short, long = "directory", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// Answer these queries (one a line) when everything is in, as `search --queries` does
    #[arg(long, value_name = "FILE")]
    pub(crate) queries: Option<PathBuf>,
    /// Print `ack KEY` for each document, flushed, once it is durable (in modes other than crash: once queries
    /// find it)
    #[arg(long)]
    pub(crate) ack: bool,
    /// Go on where the last run with --resume came to an end, whatever that was, so that each line of the files goes in exactly once:
    /// the index keeps how far they were read. Needs mode crash
    #[arg(long, conflicts_with = "ack", requires = "directory")]
    pub(crate) resume: bool,
    /// Show progress even if standard error is no terminal
    #[arg(long)]
    pub(crate) progress: bool,
    /// Read options from a file (the same names); what is typed here wins
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
  spirit ingest -d news --resume day1.jsonl day2.jsonl
  spirit ingest -d news --dram 4GiB --nvm 64GiB --analyzer english posts.tsv
  spirit ingest --mode volatile --queries queries.txt --json posts.tsv

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
/// With -d an index that is kept is asked. With --in the files are indexed in memory, the queries answered, and
/// nothing is kept.
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

const SEARCH_EXAMPLES: &str = "\
Examples:
  spirit search -d news 'fox OR wolf'
  spirit search -d news -k 20 --after 4711 fox            the next page
  spirit search -d news --highlight 'heron AND reed*'     where in the texts that is, if they are stored
  spirit search --in a.tsv b.tsv --queries queries.txt --json
  spirit search --in notes.txt -- '-dog +fox'             a query that begins with a dash";

/// Counts the documents that match, exactly
#[derive(Debug, clap::Args)]
#[command(after_help = COUNT_EXAMPLES)]
pub(crate) struct CountArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Count exactly up to N; of more, say that there are more, which is known sooner
    #[arg(long, value_name = "N")]
    pub(crate) up_to: Option<u64>,
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
    /// What two neighbouring words mean
    #[arg(long, value_name = "or|and")]
    pub(crate) default_operator: Option<OperatorName>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) index: IndexArgs,
}

const COUNT_EXAMPLES: &str = "\
Examples:
  spirit count -d news 'fox AND dog'
  spirit count --in posts.jsonl.zst --queries queries.txt --json";

/// Deletes documents by key
///
/// Says how many there were. A key that no document has is no failure: it is named.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  spirit delete -d news 17 moby\n  spirit delete -d news --json -- -17"
)]
pub(crate) struct DeleteArgs {
    /// Where the index is kept
    #[arg(short, long = "directory", value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Keys of the documents
    #[arg(value_name = "KEY", required = true)]
    pub(crate) keys: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// DRAM for the whole index, a hard cap: 512MiB, 2GiB [default: 1GiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) dram: Option<Size>,
}

/// Shows what is where: documents, segments, heap
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  spirit stats -d news\n  spirit stats --in posts.jsonl --dram 256MiB"
)]
pub(crate) struct StatsArgs {
    /// Where the index is kept
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
/// Prints what is wrong, with its place in the file, and ends with 1; or a summary, and ends with 0. An index that somebody
/// has open is checked as far as it is at rest.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// Where the index is kept
    #[arg(short, long = "directory", value_name = "DIR")]
    pub(crate) directory: PathBuf,
}

/// Serves an index over HTTP (not in this version yet)
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// Where the index is kept
    #[arg(short, long = "directory", value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Where to listen
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7700")]
    pub(crate) listen: String,
}

/// What is asked, and of what.
#[derive(Debug, clap::Args)]
pub(crate) struct SourceArgs {
    /// Where the index is kept
    #[arg(short, long = "directory", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// Index these files in memory and ask them; QUERY may stand before or after
    #[arg(long = "in", value_name = "FILE", num_args = 1..)]
    pub(crate) files: Vec<PathBuf>,
    /// The query
    pub(crate) query: Option<String>,
    /// Answer the queries of this file, one a line, in order
    #[arg(long, value_name = "FILE", conflicts_with = "query")]
    pub(crate) queries: Option<PathBuf>,
}

/// How queries are answered.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Options of queries")]
pub(crate) struct AnsweringArgs {
    /// How many documents
    #[arg(short, value_name = "N", default_value_t = 10, value_parser = hits_wanted)]
    pub(crate) k: usize,
    /// The order of documents: newest; bm25, the most relevant first; or FIELD, the greatest value first (FIELD:asc: the least)
    #[arg(long, default_value = "newest")]
    pub(crate) order: Order,
    /// For bm25: how long further occurrences of a word count, from 0 [default: 1.2]
    #[arg(long, value_name = "N", value_parser = not_negative)]
    pub(crate) k1: Option<f32>,
    /// For bm25: how much the length of a document counts, from 0 to 1 [default: 0.75]
    #[arg(long, value_name = "N", value_parser = share)]
    pub(crate) b: Option<f32>,
    /// For bm25: halve scores for each HALF-LIFE of age by the moments of FIELD, as in ts:6h
    #[arg(long, value_name = "FIELD:HALF-LIFE")]
    pub(crate) recency: Option<Fade>,
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
    /// Go on after the last document of an earlier page
    #[arg(long, value_name = "CURSOR", value_parser = cursor)]
    pub(crate) after: Option<Cursor>,
    /// Force an algorithm for AND
    #[arg(long, default_value = "auto")]
    pub(crate) algorithm: AlgorithmName,
    /// What evaluates: what is fastest for the query's shape, or windows of documents, which are good for every query
    #[arg(long, value_name = "auto|windows", hide_possible_values = true, default_value = "auto")]
    pub(crate) evaluator: EvaluatorName,
    /// For bm25: score every match, and do not pass over those that cannot be among the best
    #[arg(long)]
    pub(crate) exhaustive: bool,
    /// Say how the query is evaluated and, for bm25, why each document has its score
    #[arg(long)]
    pub(crate) explain: bool,
    /// Say what the values of a field are over all documents that match: terms:FIELD[:N], histogram:FIELD:N,
    /// dates:FIELD:1h|day|week|month|quarter|year, stats:FIELD, cardinality:FIELD, percentiles:FIELD[:N,N]. May be given again
    #[arg(long = "facet", value_name = "FACET", value_parser = facet)]
    pub(crate) facets: Vec<FacetArg>,
    /// Count all matches, or exactly up to N; `no` lets top-k stop early, and the count is then of the documents shown
    #[arg(long, value_name = "yes|no|N", default_value = "yes")]
    pub(crate) count: Counting,
    /// What two neighbouring words mean
    #[arg(long, value_name = "or|and", hide_possible_values = true)]
    pub(crate) default_operator: Option<OperatorName>,
    /// Show the part of each text that says best why it was found, and mark there what was: in colour on a terminal, unless
    /// NO_COLOR is set, else «so»; with --json as HTML in `snippets`, <em>so</em>. The index has to store texts
    #[arg(long)]
    pub(crate) highlight: bool,
    /// Highlight in the values of this field, of text or keywords, instead of the texts
    #[arg(long, value_name = "NAME")]
    pub(crate) highlight_field: Option<String>,
    /// Highlight, in about so many characters of each text [default: 150]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) snippet: Option<u32>,
}

fn hits_wanted(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(k) if k <= HITS_MAX => Ok(k),
        _ => Err(format!("choose 0 to {HITS_MAX}, and go on with --after")),
    }
}

fn not_negative(text: &str) -> Result<f32, String> {
    let number = text.parse().ok().filter(|number: &f32| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "choose a number from 0 on".into())
}

fn share(text: &str) -> Result<f32, String> {
    let number = not_negative(text).ok().filter(|number| *number <= 1.0);
    number.ok_or_else(|| "choose a number from 0 to 1".into())
}

fn cursor(text: &str) -> Result<Cursor, String> {
    text.parse().map_err(|_| "no cursor: take the one that the page before ended with".into())
}

/// How files are read.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Options of files")]
pub(crate) struct ReadingArgs {
    /// Format of the lines (default: by file ending)
    #[arg(long)]
    pub(crate) format: Option<Format>,
    /// Stop at the first line that is no document, with exit code 1
    #[arg(long)]
    pub(crate) strict: bool,
}

/// How the index is made. All but --dram and --dictionary is kept with an index in a directory.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Options of the index")]
pub(crate) struct IndexArgs {
    /// How text becomes terms: simple, standard, social, english, keyword [default: standard]
    #[arg(long, value_name = "NAME")]
    pub(crate) analyzer: Option<Analyzer>,
    /// DRAM for the whole index, a hard cap: 512MiB, 2GiB [default: 1GiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) dram: Option<Size>,
    /// Where the dictionary of an index in a directory is read: in DRAM, as far as there is room, or in the file
    /// [default: dram]
    #[arg(long, value_name = "dram|nvm", hide_possible_values = true)]
    pub(crate) dictionary: Option<DictionaryTierName>,
    /// Size of a segment: 64KiB and up [default: by --dram, at most 128MiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) segment: Option<Size>,
    /// Pipelines side by side [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) executors: Option<usize>,
    /// Keep the order of tokens [default: yes]
    #[arg(long, value_name = "yes|no", hide_possible_values = true)]
    pub(crate) positions: Option<YesNo>,
    /// Keep the documents' text: `search` prints it with what it finds [default: no]
    #[arg(long, value_name = "yes|no", hide_possible_values = true)]
    pub(crate) store: Option<YesNo>,
    /// How lists of postings are kept in the file: as they are in DRAM, or packed in less than half the room. Of an index that is
    /// there it counts for what comes from now on [default: raw]
    #[arg(long, value_name = "raw|packed", hide_possible_values = true)]
    pub(crate) postings: Option<PostingsName>,
    /// Fields of the documents with their kinds, `ts:time(seconds),channel:keyword`, or a file of them that ends in .toml. A document may
    /// bring others along. Kinds: text, text(ANALYZER), keyword, integer, float, time, time(seconds), boolean
    #[arg(long, value_name = "FIELDS|FILE.toml")]
    pub(crate) schema: Option<Fields>,
    /// Refuse documents with fields that are not in the schema
    #[arg(long)]
    pub(crate) strict_schema: bool,
    /// When the heap is full: drop the oldest segment, wait for room, or refuse documents [default: drop]
    #[arg(long, value_name = "drop|wait|refuse", hide_possible_values = true)]
    pub(crate) on_full: Option<OnFullName>,
    /// How long documents are kept after they came: 90s, 12h, 7days [default: for as long as there is room]
    #[arg(long, value_name = "TIME")]
    pub(crate) retain: Option<humantime::Duration>,
}

/// What is kept where, and when.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Options of what is kept, for a new index")]
pub(crate) struct TierArgs {
    /// What survives: nothing; what came before an orderly end; what was acknowledged, whatever happens
    /// [default: crash]
    #[arg(long, hide_possible_values = true, value_name = "volatile|graceful|crash")]
    pub(crate) mode: Option<Mode>,
    /// What an acknowledged document survives: the end of the process by kill -9, or of the operating system by a
    /// power cut [default: process]
    #[arg(long, hide_possible_values = true, value_name = "process|os")]
    pub(crate) durability: Option<Durability>,
    /// Milliseconds that a document waits for those of other threads, to be synced together; each time anew [default: 0]
    #[arg(long, value_name = "N")]
    pub(crate) group_ms: Option<u64>,
    /// Bytes of texts after which such a group, or a batch of a file, waits no longer; each time anew [default: 256KiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) group_bytes: Option<Size>,
    /// Engraved segments, 1 to 16, that come together before they are merged into the dictionary on disk, whose pages are written
    /// once for all of them; each time anew [default: 1, at level os on a disk 8]
    #[arg(long, value_name = "N")]
    pub(crate) merge_after: Option<usize>,
    /// When the space on disk is taken: ahead of need, or all of it at once [default: lazy]
    #[arg(long, hide_possible_values = true, value_name = "lazy|full")]
    pub(crate) reserve: Option<Reserve>,
    /// The file of the whole index, a hard cap: 512MiB, 2GiB [default: eight times --dram]
    #[arg(long, value_name = "SIZE")]
    pub(crate) nvm: Option<Size>,
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_consistent() {
        <super::Args as clap::CommandFactory>::command().debug_assert();
    }
}
