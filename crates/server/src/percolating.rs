//! The named queries of an index, ready to be held against documents.
//!
//! They are made when the first document asks for them, and made anew once the names, or the fields of
//! the index, are others.

use std::collections::BTreeMap;
use std::sync::Arc;

use spirit::schema::Schema;
use spirit::{Document, Error, Index, Percolator, SearchError};

use crate::registry::Registered;

/// The reason why a document cannot be held against the queries.
#[derive(Debug)]
pub(crate) enum NotPercolated {
    /// A query cannot be asked any more.
    Query {
        name: String,
        why: SearchError,
    },
    Other(Error),
}

impl<E: Into<Error>> From<E> for NotPercolated {
    fn from(error: E) -> NotPercolated {
        NotPercolated::Other(error.into())
    }
}

/// The queries, and what they were made of.
#[derive(Debug)]
pub(crate) struct Percolating {
    registered: Arc<Registered>,
    schema: Arc<Schema>,
    percolator: Percolator,
    /// The name of each query, by its number.
    names: Vec<String>,
}

impl Percolating {
    /// Returns the names of the queries of an index, with its name, that a document matches, sorted.
    /// `known` keeps what was made.
    pub(crate) fn matching(
        known: &mut Option<Percolating>,
        index: (&str, &Index),
        registered: Arc<Registered>,
        document: Document<'_>,
    ) -> Result<Vec<String>, NotPercolated> {
        let schema = index.1.schema();
        let is_current = |known: &Percolating| known.is_of(index.0, &registered, &schema);
        let mut percolating = match known.take().filter(is_current) {
            Some(percolating) => Percolating { registered, ..percolating },
            None => Percolating::new(index, registered, schema)?,
        };
        let matching = percolating.percolator.matching(document);
        let name = |number: u32| percolating.names[number as usize].clone();
        let names = matching.map(|numbers| numbers.into_iter().map(name).collect());
        *known = Some(percolating);
        let mut names: Vec<String> = names?;
        names.sort_unstable();
        Ok(names)
    }

    fn new(
        index: (&str, &Index),
        registered: Arc<Registered>,
        schema: Arc<Schema>,
    ) -> Result<Percolating, NotPercolated> {
        let mut percolator = index.1.percolator()?;
        let mut names = Vec::new();
        for (name, query) in queries(&registered, index.0) {
            let number = percolator.add(query);
            number.map_err(|why| NotPercolated::Query { name: name.clone(), why })?;
            names.push(name.clone());
        }
        Ok(Percolating { registered, schema, percolator, names })
    }

    fn is_of(&self, index: &str, registered: &Arc<Registered>, schema: &Arc<Schema>) -> bool {
        let is_same = || queries(&self.registered, index).eq(queries(registered, index));
        Arc::ptr_eq(&self.schema, schema)
            && (Arc::ptr_eq(&self.registered, registered) || is_same())
    }
}

/// Returns the names and texts of an index's queries.
fn queries<'r>(
    registered: &'r Registered,
    index: &str,
) -> impl Iterator<Item = (&'r String, &'r String)> {
    let queries: Option<&BTreeMap<String, String>> = registered.queries.get(index);
    queries.into_iter().flatten()
}
