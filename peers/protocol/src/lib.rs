//! The protocol of the peer programs (see `peers/README.md`): command line in, JSON rows out.
//!
//! A peer program supplies the engine; this crate supplies everything that must be the same in
//! each of them: how documents and queries are read, what is timed and how it is summed up.
#![forbid(unsafe_code)]

mod answers;
mod columns;
mod corpus;
mod indexes;
mod ingest;
mod options;
mod pace;
mod queries;
mod query;
mod rows;
mod searches;
mod stats;
mod tokens;

pub use answers::{Answer, AnswerLine, Unsupported, write_answers};
pub use columns::{Column, Values};
pub use corpus::{Corpus, marker};
pub use indexes::{Layout, cached_index, directory_bytes, fresh_directory};
pub use ingest::{IngestRound, measure_ingest};
pub use options::{Bm25, Mode, Options, Order};
pub use pace::Pace;
pub use queries::{Named, Workload, read_queries, read_workloads};
pub use query::{Clauses, Query, TEXT};
pub use rows::Reporter;
pub use searches::{Engine, measure_searches, prepare};
pub use stats::{Latencies, Rounds, median};
pub use tokens::{LONGEST_TOKEN, count_tokens};

/// Whatever went wrong, it ends the program with one line.
pub type Fallible<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Runs a peer program: parses the command line, runs the task and ends with exit code 1 and one
/// line on standard error when anything fails.
pub fn run(program: &str, task: impl FnOnce(&Options) -> Fallible<()>) -> std::process::ExitCode {
    let outcome = Options::parse(std::env::args().skip(1)).and_then(|options| task(&options));
    match outcome {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{program}: {}", error.to_string().replace('\n', " "));
            std::process::ExitCode::FAILURE
        }
    }
}
