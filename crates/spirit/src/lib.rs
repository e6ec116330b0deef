//! A real-time full-text search engine: a document is found the instant it is added.
//!
//! An [`Index`] lives in memory that is reserved when it is opened. Any number of threads add,
//! replace, delete and search at once. There is no refresh, no commit and no reload. When
//! [`Index::add`] returns, every query that starts afterwards, on any thread, finds the document
//! whole.
//!
//! ```
//! use spirit::{Index, Search};
//!
//! let index = Index::in_memory()?; // or Index::open("chat"), in a directory
//! index.add("The old man and the sea")?;
//! index.put("moby", "The whale and the sea")?;
//!
//! let searcher = index.searcher();
//! let hits = searcher.search("sea AND NOT captain", Search::newest(10))?;
//! assert_eq!(hits.keys()?, ["moby", "0"]); // newest first; automatic keys count from 0
//!
//! index.put("moby", "Call me Ishmael")?; // the same key again replaces, in one visible step
//! assert_eq!(searcher.count("sea")?, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Any number of threads share a [`Searcher`]. A [`Reader`] belongs to one thread. Queries take no
//! lock and make no system call. Queries of a reader allocate nothing.
//!
//! Hits stay readable until the [`Hits`] are dropped, while the stream continues. An index that
//! waits for their memory takes it back after [`Builder::reader_lease`]. Memory is a hard cap. When
//! the heap is full, the index refuses documents, waits, or drops its oldest segment, see
//! [`OnFull`].
#![forbid(unsafe_code)]

/// The README's programs, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}

mod cached;
mod config;
mod engine;
mod index;
mod stages;
mod standing;
mod start;
mod storage;
mod write;

pub mod backup;
pub mod cache;
pub mod error;
#[cfg(feature = "lab")]
pub mod lab;
pub mod search;
pub mod stats;

/// Queries that programs build, and errors of queries. [`Clause`] and [`Query`] are in the root.
pub mod query {
    pub use crate::search::into_query::IntoQuery;
    pub use spirit_query::{Bool, ParseError, Problem, Word};
}

/// Facets: counts, sums and percentiles over all documents that match.
pub mod facets {
    pub use spirit_query::{Aggregate, DateInterval, Facet, StandIn, Summary, TopTerms};
}

/// Fields of documents. [`Document`], [`FieldKind`] and [`Value`] are in the root.
pub mod schema {
    pub use spirit_schema::{Field, FieldError, Schema, TimeUnit};
}

/// The settings of an index, and reports of a [`Builder`] while it opens an index and while memory
/// waits for readers.
pub mod settings {
    pub use crate::config::late_reader::LateReader;
    pub use crate::config::recovering::StartReport;
    pub use crate::index::settings::Settings;
}

pub use config::batch::Batch;
pub use config::document::Document;
pub use config::durability::{Durability, Mode};
pub use config::error::{OpenError, WriteError};
pub use config::on_full::OnFull;
pub use config::operation::{Applied, Operation};
pub use engine::bulk::Bulk;
pub use error::{Error, Result};
pub use index::Index;
pub use index::builder::Builder;
pub use search::error::SearchError;
pub use search::hit::Hit;
pub use search::hit_error::HitError;
pub use search::hits::Hits;
pub use search::into_query::Lenient;
pub use search::reader::Reader;
pub use search::request::Search;
pub use search::searcher::Searcher;
pub use spirit_query::{Clause, Operator, Query};
pub use spirit_schema::{FieldKind, Value};
pub use spirit_text::Analyzer;
pub use standing::{Percolator, Tail, Tailing};
