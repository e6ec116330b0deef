//! The path of a query: from a text to hits, and to their documents.

pub(crate) mod answer;
pub(crate) mod ask;
pub(crate) mod cursor;
pub(crate) mod desk;
pub(crate) mod error;
pub(crate) mod explain;
pub(crate) mod facets;
pub(crate) mod found;
pub(crate) mod highlighter;
pub(crate) mod hit;
pub(crate) mod hit_error;
pub(crate) mod hits;
pub(crate) mod into_query;
pub(crate) mod memory;
pub(crate) mod pool;
#[cfg(feature = "lab")]
pub(crate) mod query_pool;
pub(crate) mod reader;
pub(crate) mod recency;
pub(crate) mod request;
pub(crate) mod searcher;
pub(crate) mod seat;
pub(crate) mod sorting;

pub use cursor::Cursor;
pub use highlighter::Highlighter;
pub use hit::{Hit, HitsIter};
pub use hits::Hits;
pub use reader::Reader;
pub use recency::Recency;
pub use request::{Limits, Order, Search};
pub use searcher::Searcher;
pub use spirit_query::{Direction, Highlight, Parameters, Snippet, Total};
