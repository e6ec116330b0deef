//! The query file: a line a query, `{"name": CLASS, "query": TREE}`.

use crate::{Fallible, Query};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A query of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    /// Its class, for instance `MM`.
    pub name: String,
    /// What is asked.
    pub query: Query,
}

/// The queries of one class, in the order of the file.
#[derive(Clone, Debug)]
pub struct Workload<Q> {
    /// The class.
    pub name: String,
    /// At least one.
    pub queries: Vec<Q>,
}

/// Reads a query file in its order.
pub fn read_queries(path: &Path) -> Fallible<Vec<Named>> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("cannot read the queries {}: {error}", path.display()))?;
    let mut queries = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let query = Named::parse(line)
            .map_err(|reason| format!("{} line {}: {reason}", path.display(), number + 1))?;
        queries.push(query);
    }
    if queries.is_empty() {
        return Err(format!("{} holds no queries", path.display()).into());
    }
    Ok(queries)
}

/// Reads a query file class by class.
pub fn read_workloads(path: &Path) -> Fallible<Vec<Workload<Query>>> {
    let mut workloads: Vec<Workload<Query>> = Vec::new();
    for Named { name, query } in read_queries(path)? {
        match workloads.iter_mut().find(|workload| workload.name == name) {
            Some(workload) => workload.queries.push(query),
            None => workloads.push(Workload { name, queries: vec![query] }),
        }
    }
    Ok(workloads)
}

impl Named {
    fn parse(line: &str) -> Result<Named, String> {
        let named: Named = serde_json::from_str(line).map_err(|error| error.to_string())?;
        named.query.check().map(|()| named)
    }

    /// The line of the file, with its end.
    pub fn line(&self) -> String {
        serde_json::to_string(self).expect("a tree of texts and numbers") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_name_and_a_tree() {
        let named = Named::parse(r#"{"name": "M", "query": {"term": {"value": "big"}}}"#).unwrap();
        assert_eq!(named, Named { name: "M".to_owned(), query: Query::term("big") });
        assert_eq!(Named::parse(named.line().trim_end()), Ok(named));
        for wrong in
            ["M term big", "{}", r#"{"name": "M"}"#, r#"{"name": 1, "query": {"all": {}}}"#]
        {
            assert!(Named::parse(wrong).is_err(), "{wrong}");
        }
    }
}
