//! What is stored of a document: its source, or its text and the values of its fields.

use serde_json::value::RawValue;
use spirit::settings::Settings;
use spirit::{Hit, HitError};

use crate::values::Values;

/// What is stored of a document, as JSON has it.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// The document as it came. Only of an index whose texts are sources, unless fields are named.
    pub(crate) source: Option<Box<RawValue>>,
    /// The text. Only of an index that has one besides the fields.
    pub(crate) text: Option<String>,
    /// The values of fields: of those that are named, or of all of them.
    pub(crate) fields: Values,
}

impl Contents {
    /// Reads the document of a hit. An index that stores none has nothing.
    pub(crate) fn of(
        hit: &Hit<'_>,
        settings: &Settings,
        names: &[String],
    ) -> Result<Contents, HitError> {
        if !settings.store {
            return Ok(Contents::default());
        }
        let text = hit.text()?.to_owned();
        if !settings.opaque_text {
            let fields = Values::of(hit, names)?;
            return Ok(Contents { source: None, text: Some(text), fields });
        }
        // A source that is no JSON has its fields alone.
        let source = RawValue::from_string(text).ok().filter(|_| names.is_empty());
        let fields = match source {
            Some(_) => Values::default(),
            None => Values::of(hit, names)?,
        };
        Ok(Contents { source, text: None, fields })
    }
}
