//! A stored document, as JSON has it.

use serde::Serialize;
use serde_json::value::RawValue;
use spirit::settings::Settings;
use spirit::{Clause, Reader, Search};

use crate::contents::Contents;
use crate::no_answer::{NoAnswer, lasting};
use crate::values::Values;

/// A stored document. A [hit](crate::hit::Hit) has these members too.
#[derive(Debug, Serialize)]
pub struct Stored<'a> {
    /// The document's key.
    pub key: &'a str,
    /// The sequence number of the operation that put it.
    #[serde(skip)]
    pub sequence: u64,
    /// The document as it came. Only of an index whose texts are sources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Box<RawValue>>,
    /// The text, of any other index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The values of fields, unless the source has them.
    #[serde(skip_serializing_if = "Values::is_empty")]
    pub fields: Values,
}

impl<'a> Stored<'a> {
    /// Finds the document with this key, in an index with these settings that stores documents. It
    /// looks again if the document becomes invalid before it is read.
    pub fn find(
        reader: &mut Reader,
        settings: &Settings,
        key: &'a str,
    ) -> Result<Option<Stored<'a>>, NoAnswer> {
        lasting(|| find_once(reader, settings, key))
    }
}

fn find_once<'a>(
    reader: &mut Reader,
    settings: &Settings,
    key: &'a str,
) -> Result<Option<Stored<'a>>, NoAnswer> {
    let hits = reader.search(Clause::key(key), Search::newest(1))?;
    let Some(hit) = hits.get(0) else { return Ok(None) };
    let Contents { source, text, fields } = Contents::of(&hit, settings, &[])?;
    Ok(Some(Stored { key, sequence: hit.sequence()?, source, text, fields }))
}
