//! A real-time full-text search engine: a document is found the instant it is added.
//!
//! An [`Index`] lives in memory that is reserved when it is opened. Any number of threads add, replace, delete
//! and search at once. There is no refresh, no commit and no reload: when [`Index::add`] returns, every query
//! that starts afterwards, on any thread, finds the document whole.
//!
//! ```
//! use spirit::{Options, Search};
//!
//! let index = Options::default().dram_bytes(64 << 20).open()?;
//! index.add("The old man and the sea")?;
//! index.put("moby", "The whale and the sea")?;
//!
//! let mut reader = index.reader()?;
//! let hits = reader.search_text("sea AND NOT captain", Search::newest(10))?;
//! assert_eq!(hits.keys()?, ["moby", "0"]); // newest first; automatic keys count from 0
//! drop(hits);
//!
//! index.put("moby", "Call me Ishmael")?; // the same key again replaces, in one visible step
//! assert_eq!(reader.count_text("sea")?, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Reader`] belongs to one thread. Its queries take no lock, make no system call and allocate nothing;
//! what they find stays readable until the [`Hits`] are dropped, while the stream goes on; only who keeps them for longer
//! than [`Options::reader_lease`] may find them gone. Memory is a hard cap: when the heap is full the index refuses documents,
//! waits, or drops its oldest segment, as [`OnFull`] says.
#![forbid(unsafe_code)]

mod backup;
mod config;
mod index;
mod search;
mod stages;
mod start;
mod stats;
mod storage;
mod write;

/// What plans and explanations are made of: see [`Reader::plan`] and [`Reader::explain`].
pub mod explain {
    pub use spirit_query::{
        ClausePlan, Evaluator, ExecutorPlan, Expansion, Frequency, Lists, Meetings, PartPlan,
        Source, Worth,
    };
}

pub use backup::check::{Finding, Report, check};
pub use backup::error::BackupError;
pub use backup::make::{Backup, Progress, backup, backup_watched};
pub use backup::restore::{Restored, restore, restore_watched};
pub use backup::salvage::{Missing, Salvaged, salvage, salvage_watched};
pub use backup::verify::{verify, verify_watched};
#[doc(hidden)]
pub use config::clock::ManualClock;
pub use config::document::{Document, StoredDocument, StoredValue};
pub use config::durability::{DictionaryTier, Durability, EngravePolicy, Mode, PointerUpdate};
pub use config::error::{AddError, OpenError};
pub use config::late_reader::LateReader;
pub use config::on_full::OnFull;
pub use config::options::{DOCUMENT_BYTES_MAX, Options};
pub use config::recovering::{Recovering, StartReport};
pub use index::{AddAllError, Index};
pub use search::cursor::{Cursor, CursorError};
pub use search::error::SearchError;
pub use search::highlighter::Highlighter;
pub use search::hit_error::HitError;
pub use search::hits::Hits;
pub use search::pool::{Answer, Pending, PoolError, QueryPool};
pub use search::reader::Reader;
pub use search::recency::Recency;
pub use search::request::{HITS_MAX, Limits, Order, QUERY_BYTES_MAX, Search};
pub use search::seat::TooManyReaders;
pub use search::texts::TextError;
pub use spirit_door::trace::Trace;
pub use spirit_index::ground::corrupt::Corrupt;
pub use spirit_index::ground::geometry::GeometryError;
pub use spirit_index::ground::geometry::Postings;
pub use spirit_index::rows::lengths::Statistics;
pub use spirit_mem::{HeapFileError, Medium, disk_free};
pub use spirit_query::{
    Aggregate, Algorithm, BUCKETS_MAX, Bool, Clause, Counts, DISTANCE_MAX, DateInterval, Direction,
    Explanation, FACETS_MAX, Facet, FacetError, Fuzzy, Highlight, Level, Occur, Operator,
    Parameters, ParseError, Parser, Problem, Query, QueryPlan, SNIPPETS_MAX, Snippet, Stop,
    Summary, TooLarge, TopTerms, Total, WORDS_BYTES_MAX, Word,
};
pub use spirit_schema::{
    Calendar, Field, FieldError, FieldId, FieldKind, Schema, TimeUnit, UnknownKind, Value,
    format_time, parse_time,
};
pub use spirit_text::Analyzer;
pub use stages::lease::LeaseExpired;
pub use stats::{Bytes, PartitionStats, SegmentStats, Stats};
