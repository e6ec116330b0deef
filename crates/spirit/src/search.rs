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
pub(crate) mod plan;
pub(crate) mod pool;
#[cfg(feature = "lab")]
pub(crate) mod query_pool;
pub(crate) mod reader;
pub(crate) mod recency;
pub(crate) mod request;
pub(crate) mod searcher;
pub(crate) mod seat;
pub(crate) mod sorting;
pub(crate) mod stored;
pub(crate) mod totals;
pub(crate) mod workspace;

pub use cursor::Cursor;
pub use highlighter::Highlighter;
pub use plan::{Explanation, QueryPlan};
pub use request::Limits;
pub use spirit_query::{Direction, Highlight, Snippet, Total};
