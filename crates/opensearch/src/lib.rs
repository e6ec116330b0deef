//! The words of OpenSearch and Elasticsearch clients: what they ask becomes what the engine is
//! asked, and what it answers becomes what they read.
//!
//! This crate translates. It reads no socket and no file, and starts no thread. A server calls it
//! with the bytes of requests, and with answers of the engine.
//!
//! ```
//! use spirit::{Index, Search};
//! use spirit_opensearch::json::Json;
//! use spirit_opensearch::query::{self, Context};
//!
//! let index = Index::in_memory()?;
//! index.put("7", "a grey heron")?;
//! let asked = Json::parse(br#"{"match": {"text": "Heron reed"}}"#)?;
//! let schema = index.schema();
//! let clause = query::clause(&asked, &Context { schema: &schema, now: 0 })?;
//! assert_eq!(index.searcher().search(clause, Search::best(10))?.keys()?, ["7"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod aggregations;
pub mod analyze;
pub mod date;
pub mod error;
pub mod fields;
pub mod filter_path;
pub mod json;
pub mod query;
pub mod search;

mod picking;
mod read;
