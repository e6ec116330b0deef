//! `nested`: clauses about one object of an array.
//!
//! The engine asks clauses that are required together of one object, wherever they are in a query.
//! So the query within is taken as it is.

use spirit::Clause;

use super::Asked;
use super::members::{Common, object, text, unknown};
use crate::error::Refusal;
use crate::json::Json;
use crate::read;

const QUERY: &str = "nested";

impl Asked<'_> {
    /// Reads `nested`.
    pub(super) fn nested(&self, body: &Json, depth: usize) -> Result<Clause, Refusal> {
        let (mut common, mut path, mut query) = (Common::default(), None, None);
        let mut may_be_missing = false;
        for (name, value) in object(QUERY, body)? {
            match name.as_str() {
                "path" => path = Some(text(QUERY, name, value)?),
                "query" => query = Some(self.query(value, depth)?),
                "ignore_unmapped" => may_be_missing = read::boolean(value)?,
                "score_mode" => score_mode(&text(QUERY, name, value)?)?,
                "inner_hits" => return Err(Refusal::unsupported("[nested] with [inner_hits]")),
                name if common.takes(name, value)? => {}
                name => return Err(unknown(QUERY, name)),
            }
        }
        let missing = |what| Refusal::illegal_argument(format!("[nested] requires '{what}' field"));
        let path = path.ok_or_else(|| missing("path"))?;
        let query = query.ok_or_else(|| missing("query"))?;
        if self.has_objects(&path) {
            return Ok(common.of(query));
        }
        if may_be_missing {
            return Ok(Clause::Nothing);
        }
        let what = format!("failed to find nested object under path [{path}]");
        Err(Refusal::query_shard(format!("failed to create query: [{QUERY}] {what}")))
    }

    /// True if documents have objects of this name.
    fn has_objects(&self, path: &str) -> bool {
        let mut arrays = self.context.schema.arrays();
        arrays.any(|(_, name)| name == path) || !self.fields(&format!("{path}.*")).is_empty()
    }
}

/// Checks how scores of several objects are combined. Here all of them are one document's.
fn score_mode(name: &str) -> Result<(), Refusal> {
    match name {
        "avg" | "sum" | "none" | "min" | "max" => Ok(()),
        _ => {
            let what = format!("No score mode for child query [{name}] found");
            Err(Refusal::illegal_argument(what))
        }
    }
}
