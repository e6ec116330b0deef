//! Relevance that fades with age.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use spirit_query::Fading;
use spirit_schema::{FieldKind, Schema};

use crate::search::cursor::RankedCursor;
use crate::search::error::SearchError;

/// The fading of scores with the age of documents: each half-life halves them.
///
/// A document's age counts from its newest moment in a field. A moment in the future has age zero.
/// A document without a moment scores 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Recency {
    field: Arc<str>,
    half_life: Duration,
    now: i64,
}

impl Recency {
    /// Returns a fading by the moments of a field, as of now.
    pub fn new(field: &str, half_life: Duration) -> Recency {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
        Recency { field: field.into(), half_life, now }
    }

    /// Sets the moment as of which scores fade, in milliseconds since 1970. Further pages use the
    /// first page's moment.
    pub fn as_of(mut self, now: i64) -> Recency {
        self.now = now;
        self
    }

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
