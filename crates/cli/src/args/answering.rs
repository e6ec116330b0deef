//! How queries are read and answered, and what they may cost.

use spirit::search::{Cursor, HITS_MAX, Limits};

use crate::choice::{AlgorithmName, Counting, EvaluatorName, OperatorName};
use crate::facets::{FacetArg, facet};
use crate::order::{Fade, Order};

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
    #[command(flatten)]
    pub(crate) query: QueryArgs,
    /// Show the part of each text that says best why it was found, and mark there what was: in colour on a terminal, unless
    /// NO_COLOR is set, else «so»; with --json as HTML in `snippets`, <em>so</em>. The index has to store texts
    #[arg(long)]
    pub(crate) highlight: bool,
    /// Highlight in the values of this field, of text or keywords, instead of the texts
    #[arg(long, value_name = "NAME")]
    pub(crate) highlight_field: Option<String>,
    /// Highlight, in about this many characters of each text [default: 150]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) snippet: Option<u32>,
}

/// How queries are read, and what they may cost.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Options of queries")]
pub(crate) struct QueryArgs {
    /// What two neighbouring words mean
    #[arg(long, value_name = "or|and", hide_possible_values = true)]
    pub(crate) default_operator: Option<OperatorName>,
    /// Pass over what cannot be understood in a query, or take it as words; say on standard error what that was, and with --json
    /// in `warnings`
    #[arg(long)]
    pub(crate) lenient: bool,
    /// End a query that takes longer, as in 200ms or 5s; it has no answer then [default: as long as it takes]
    #[arg(long, value_name = "TIME")]
    pub(crate) timeout: Option<humantime::Duration>,
    /// End a query whose prefixes, wildcards, fuzzy words and ranges of words stand for more terms in a segment
    /// [default: 1048576]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) expansions: Option<u32>,
}

impl QueryArgs {
    /// What each query may cost.
    pub(crate) fn limits(&self) -> Limits {
        let usual = Limits::default();
        let timeout = self.timeout.map(Into::into);
        Limits { timeout, expansions: self.expansions.unwrap_or(usual.expansions), ..usual }
    }
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
