//! A stored document, as JSON has it.

use serde::Serialize;
use spirit::{Clause, Reader, Search};

use crate::no_answer::{NoAnswer, lasting};
use crate::values::Values;

/// A stored document. A [hit](crate::hit::Hit) has these members too.
#[derive(Debug, Serialize)]
pub struct Stored<'a> {
    /// The document's key.
    pub key: &'a str,
    /// The text.
    pub text: String,
    /// The values of fields.
    #[serde(skip_serializing_if = "Values::is_empty")]
    pub fields: Values,
}

impl<'a> Stored<'a> {
    /// Finds the document with this key, in an index that stores documents. It looks again if the
    /// document becomes invalid before it is read.
    pub fn find(reader: &mut Reader, key: &'a str) -> Result<Option<Stored<'a>>, NoAnswer> {
        lasting(|| find_once(reader, key))
    }
}

fn find_once<'a>(reader: &mut Reader, key: &'a str) -> Result<Option<Stored<'a>>, NoAnswer> {
    let hits = reader.search(Clause::key(key), Search::newest(1))?;
    let Some(hit) = hits.get(0) else { return Ok(None) };
    let (text, fields) = (hit.text()?.to_owned(), Values::of(&hit, &[])?);
    Ok(Some(Stored { key, text, fields }))
}
