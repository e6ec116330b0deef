//! A real-time full-text search engine: a document is found the instant it is added.
#![forbid(unsafe_code)]

mod error;
mod executor;
mod flush_stage;
mod index;
mod ingest;
mod options;
mod pool;
mod reader;
mod shared;
mod stats;
mod waiting;

pub use error::{AddError, OpenError};
pub use index::{AddAllError, Index};
pub use options::{DOCUMENT_BYTES_MAX, OnFull, Options};
pub use pool::{Answer, Pending, PoolError, QueryPool};
pub use reader::{Cursor, HITS_MAX, Hits, QUERY_BYTES_MAX, Reader, Search, TooManyReaders};
pub use spirit_query::{Algorithm, Operator, ParseError, Parser, Problem, Query};
pub use spirit_text::Analyzer;
pub use stats::{Bytes, PartitionStats, SegmentStats, Stats};
