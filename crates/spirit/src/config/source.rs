//! The source of texts that the log only refers to.

use std::fmt;
use std::sync::Arc;

use spirit_index::log::Reference;

use crate::config::error::WriteError;

type Read = dyn Fn(&[u8]) -> std::io::Result<String> + Send + Sync;

/// The application's function that reads a text.
#[derive(Clone)]
pub(crate) struct Source(Arc<Read>);

impl Source {
    pub(crate) fn new(
        read: impl Fn(&[u8]) -> std::io::Result<String> + Send + Sync + 'static,
    ) -> Source {
        Source(Arc::new(read))
    }

    /// Reads a text again, and checks that it is the one referred to.
    pub(crate) fn read(
        source: Option<&Source>,
        reference: Reference<'_>,
    ) -> Result<String, WriteError> {
        let failed = |why: String| {
            let place = String::from_utf8_lossy(reference.place).into_owned();
            WriteError::Source { reference: place, why }
        };
        let source =
            source.ok_or_else(|| failed("the index was opened without a source".into()))?;
        let text = (source.0)(reference.place).map_err(|error| failed(error.to_string()))?;
        if !reference.is_to(text.as_bytes()) {
            return Err(failed(format!(
                "the source has another text of {} bytes there; the index had one of {} bytes",
                text.len(),
                reference.bytes
            )));
        }
        Ok(text)
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Source")
    }
}
