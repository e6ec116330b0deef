//! How queries are read and answered, and what they may cost.

use clap::Arg;
use spirit::Search;
use spirit::search::{Cursor, Limits};
use spirit_forms::facets::Asked;
use spirit_forms::order::{Fade, Order};
use spirit_forms::question::{Counting, cursor, not_negative, share};

use crate::choice::{AlgorithmName, EvaluatorName, OperatorName};
use crate::facets::facet;

/// Each has a reader, of which an index has 64, and another process 31.
const QUERY_THREADS_MAX: usize = 31;

/// The heading of all options of queries in a command's help.
const HEADING: &str = "Options of queries";

/// Hides an option of queries in the help of a command that is about something else, and still
/// takes it.
pub(crate) fn hidden(option: Arg) -> Arg {
    let is_hidden = option.is_hide_set() || option.get_help_heading() == Some(HEADING);
    option.hide(is_hidden)
}

/// How queries are answered.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct AnsweringArgs {
    /// Show at most this many documents
    #[arg(short, long = "limit", value_name = "N", default_value_t = 10, value_parser = hits_wanted)]
    pub(crate) k: usize,
    /// The order of documents: newest; best, the most relevant first, by BM25; proximity, which also
    /// counts how early words stand and how close together; or FIELD, the greatest value first
    /// (FIELD:asc: the least). Up to three fields are separated by commas; FIELD:missing-first puts
    /// documents without a value first
    #[arg(long, default_value = "newest")]
    pub(crate) order: Order,
    /// For best and proximity: how much further occurrences of a word count, ≥ 0 [default: 1.2]
    #[arg(long, value_name = "N", value_parser = not_negative, allow_negative_numbers = true)]
    pub(crate) k1: Option<f32>,
    /// For best and proximity: how much the length of a document counts, from 0 to 1 [default: 0.75]
    #[arg(long, value_name = "N", value_parser = share, allow_negative_numbers = true)]
    pub(crate) b: Option<f32>,
    /// For best and proximity: halve scores for each HALF-LIFE of age by the times in FIELD, as in ts:6h
    #[arg(long, value_name = "FIELD:HALF-LIFE")]
    pub(crate) recency: Option<Fade>,
    /// Also show these fields of each document; with --json, only these. The index must store
    /// documents
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(crate) fields: Vec<String>,
    /// Print one JSON object a line, with all fields of the documents
    #[arg(long)]
    pub(crate) json: bool,
    /// Continue after the last document of an earlier page
    #[arg(long, value_name = "CURSOR", value_parser = cursor)]
    pub(crate) after: Option<Cursor>,
    /// Force an algorithm for AND
    #[arg(long, default_value = "auto")]
    pub(crate) algorithm: AlgorithmName,
    /// Evaluator. auto: the fastest for the query's shape. windows: windows of documents, for every
    /// query
    #[arg(long, value_name = "auto|windows", hide_possible_values = true, default_value = "auto")]
    pub(crate) evaluator: EvaluatorName,
    /// For best and proximity: score every match, without skipping those that cannot be among the best
    #[arg(long)]
    pub(crate) exhaustive: bool,
    /// Say how the query is evaluated and, for best and proximity, why each document has its score
    #[arg(long)]
    pub(crate) explain: bool,
    /// Summarize the values of a field over all matches: terms:FIELD[:N], histogram:FIELD:N,
    /// dates:FIELD:1h|day|week|month|quarter|year, ranges:FIELD:FROM..TO,..,
    /// filters:QUERY;.., stats:FIELD, avg|min|max|sum|values:FIELD, cardinality:FIELD, percentiles:FIELD[:N,N]. Choices follow:
    /// missing, empty, zone=Europe/Berlin, offset=6h. ' > ' divides each bucket further, ' + ' adds
    /// a neighbour: 'terms:user > avg:size + dates:when:month'. May be given several times
    #[arg(long = "facet", value_name = "FACET", value_parser = facet)]
    pub(crate) facets: Vec<Asked>,
    /// Count all matches. With `no`, count only the documents shown: the search ends as soon as it
    /// has these
    #[arg(long, value_name = "yes|no", default_value = "yes")]
    pub(crate) count: Counting,
    /// Count exactly up to N; if there are more, say so and stop counting
    #[arg(long, value_name = "N", conflicts_with = "count")]
    pub(crate) up_to: Option<u64>,
    #[command(flatten)]
    pub(crate) query: QueryArgs,
    /// Show the best passage of each text and mark the matches: in colour on a terminal unless
    /// NO_COLOR is set, else «so». With --json, `snippets` has them as HTML, <em>so</em>. The index
    /// must store texts
    #[arg(long)]
    pub(crate) highlight: bool,
    /// Highlight the values of this field of text or keywords instead of the texts
    #[arg(long, value_name = "NAME")]
    pub(crate) highlight_field: Option<String>,
    /// Highlight, in about this many characters of each text [default: 150]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) snippet: Option<u32>,
}

/// How queries are read, and what they may cost.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct QueryArgs {
    /// Operator between neighbouring words [default: or]
    #[arg(long, value_name = "or|and", hide_possible_values = true)]
    pub(crate) default_operator: Option<OperatorName>,
    /// Ignore invalid parts of a query, or take them as words. Report them on standard error, and
    /// with --json in `warnings`
    #[arg(long)]
    pub(crate) lenient: bool,
    /// End a query that takes longer, as in 200ms or 5s; it then has no answer [default: no limit]
    #[arg(long, value_name = "TIME")]
    pub(crate) timeout: Option<humantime::Duration>,
    /// End a query whose prefixes, wildcards, fuzzy words, regular expressions and ranges of words
    /// match more terms in a segment [default: 1048576]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) expansions: Option<u32>,
    /// Threads that answer the queries of a file side by side. Answers are printed in its order
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = threads_wanted)]
    pub(crate) query_threads: usize,
}

impl AnsweringArgs {
    /// How far matches are counted.
    pub(crate) fn counting(&self) -> Counting {
        self.up_to.map_or(self.count, Counting::UpTo)
    }
}

impl QueryArgs {
    /// What each query may cost.
    pub(crate) fn limits(&self) -> Limits {
        let usual = Limits::default();
        let timeout = self.timeout.map(Into::into);
        Limits { timeout, expansions: self.expansions.unwrap_or(usual.expansions), ..usual }
    }
}

fn threads_wanted(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads @ 1..=QUERY_THREADS_MAX) => Ok(threads),
        _ => Err(format!("choose 1 to {QUERY_THREADS_MAX}")),
    }
}

fn hits_wanted(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(k) if k <= Search::HITS_MAX => Ok(k),
        _ => Err(format!("choose 0 to {}; get later documents with --after", Search::HITS_MAX)),
    }
}
