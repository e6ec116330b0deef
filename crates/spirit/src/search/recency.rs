//! Relevance that fades with age.

use std::sync::Arc;
use std::time::Duration;

use spirit_query::Fading;
use spirit_schema::{FieldKind, Schema};

use crate::search::cursor::RankedCursor;
use crate::search::error::SearchError;

/// The fading of scores with the age of documents: each half-life halves them.
#[derive(Clone, Debug)]
pub(crate) struct Recency {
    /// The field of moments from which a document's age counts.
    pub(crate) field: Arc<str>,
    pub(crate) half_life: Duration,
    /// The moment as of which scores fade, in milliseconds since 1970.
    pub(crate) now: i64,
}

impl Recency {
    /// Returns the fading for an index with these fields.
    fn fading(&self, schema: &Schema) -> Result<Fading, SearchError> {
        let field = schema.by_name(&self.field);
        match field.filter(|field| matches!(field.kind, FieldKind::Time(_))) {
            Some(field) => {
                let half_life = u64::try_from(self.half_life.as_millis()).unwrap_or(u64::MAX);
                Ok(Fading { field: field.id, now: self.now, half_life: half_life.max(1) })
            }
            None => Err(SearchError::NoMoments {
                field: self.field.to_string(),
                kind: field.map(|field| field.kind),
            }),
        }
    }
}

/// Returns the fading of the first page, or of the page after a cursor; none if scores do not fade.
pub(crate) fn fading(
    recency: Option<&Recency>,
    schema: &Schema,
    after: Option<&RankedCursor>,
) -> Result<Option<Fading>, SearchError> {
    let first = recency.map(|recency| recency.fading(schema)).transpose()?;
    match (first, after.map(|cursor| cursor.now)) {
        (first, None) => Ok(first),
        (None, Some(None)) => Ok(None),
        (Some(fading), Some(Some(now))) => Ok(Some(Fading { now, ..fading })),
        _ => Err(SearchError::Cursor),
    }
}
