//! A hit of an answer, as JSON has it.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use spirit::HitError;
use spirit::search::{Highlighter, Snippet};
use spirit::settings::Settings;

use crate::contents::Contents;
use crate::explained::Explained;
use crate::snippets;
use crate::values::{self, Values};

/// A document that was found.
#[derive(Serialize)]
pub struct Hit {
    /// The document's key.
    pub key: String,
    /// The score. Only with an order that scores.
    pub score: Option<f32>,
    /// The value that the document was sorted by; null if it has no value. Only with the order of a
    /// field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort: Option<Value>,
    /// The document as it came. Only of an index whose texts are sources, unless fields are asked
    /// for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Box<RawValue>>,
    /// The text. Only of an index that stores it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The values of fields. Only of an index that stores them.
    #[serde(skip_serializing_if = "Values::is_empty")]
    pub fields: Values,
    /// The best passages of the text. Only if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "snippets::as_html")]
    pub snippets: Option<Vec<Snippet>>,
    /// The reason for the score. Only with an order that scores, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explained>,
}

/// The parts of a hit that are read.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// The settings of the index, which say what is stored.
    pub(crate) settings: &'a Settings,
    /// The value by which it is sorted.
    pub(crate) sort: bool,
    /// Only these fields; all of them if none is named.
    pub(crate) fields: &'a [String],
}

impl Hit {
    /// Reads all that is stored of a hit's document, and its snippets if it is to be highlighted.
    pub fn of(
        hit: &spirit::Hit<'_>,
        settings: &Settings,
        highlighter: Option<&mut Highlighter>,
    ) -> Result<Hit, HitError> {
        Hit::read(hit, Wanted { settings, sort: false, fields: &[] }, highlighter)
    }

    /// Reads what is wanted of a hit, and its snippets if it is to be highlighted.
    pub(crate) fn read(
        hit: &spirit::Hit<'_>,
        wanted: Wanted<'_>,
        highlighter: Option<&mut Highlighter>,
    ) -> Result<Hit, HitError> {
        let sort = || hit.sort_value().map_or(Value::Null, values::json);
        let Contents { source, text, fields } = Contents::of(hit, wanted.settings, wanted.fields)?;
        Ok(Hit {
            key: hit.key()?,
            score: hit.score(),
            sort: wanted.sort.then(sort),
            source,
            text,
            fields,
            snippets: highlighter.map(|highlighter| hit.snippets(highlighter)).transpose()?,
            explanation: None,
        })
    }
}
