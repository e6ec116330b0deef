//! A hit of an answer, in the shape that `--json` prints.

use serde::Serialize;
use serde_json::Value;
use spirit::HitError;
use spirit::search::{Highlighter, Snippet};

use crate::explained::Explained;
use crate::snippets;
use crate::values::{self, Values};

#[derive(Serialize)]
pub(crate) struct Hit {
    pub(crate) key: String,
    /// Only with an order that scores.
    pub(crate) score: Option<f32>,
    /// Only with the order of a field: what the document was sorted by; null if it has no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sort: Option<Value>,
    /// Only of an index that stores it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// Only of an index that stores them.
    #[serde(skip_serializing_if = "Values::is_empty")]
    pub(crate) fields: Values,
    /// Only if it is to be highlighted.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "snippets::as_html")]
    pub(crate) snippets: Option<Vec<Snippet>>,
    /// Only with an order that scores, if it is to be explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) explanation: Option<Explained>,
}

/// The parts of a hit that are read.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// The document, which the index stores.
    pub(crate) document: bool,
    /// The value by which it is sorted.
    pub(crate) sort: bool,
    /// Only these fields; all of them if none is named.
    pub(crate) fields: &'a [String],
}

impl Hit {
    /// Reads what is wanted of a hit, and its snippets if it is to be highlighted.
    pub(crate) fn read(
        hit: &spirit::Hit<'_>,
        wanted: Wanted<'_>,
        highlighter: Option<&mut Highlighter>,
    ) -> Result<Hit, HitError> {
        let sort = || hit.sort_value().map_or(Value::Null, values::json);
        let text = wanted.document.then(|| hit.text()).transpose()?;
        let fields = wanted.document.then(|| Values::of(hit, wanted.fields)).transpose()?;
        Ok(Hit {
            key: hit.key()?,
            score: hit.score(),
            sort: wanted.sort.then(sort),
            text: text.map(str::to_owned),
            fields: fields.unwrap_or_default(),
            snippets: highlighter.map(|highlighter| hit.snippets(highlighter)).transpose()?,
            explanation: None,
        })
    }
}
