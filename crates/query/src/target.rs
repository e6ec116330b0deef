//! A field that is asked, and how its kind is asked for.

use spirit_index::ground::term::FieldId;
use spirit_schema::{FieldKind, Schema, TEXT};
use spirit_text::Analyzer;

/// A field that is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) id: FieldId,
    pub(crate) kind: FieldKind,
}

impl Target {
    /// The documents' text.
    pub(crate) fn text(analyzer: Analyzer) -> Target {
        Target { id: TEXT, kind: FieldKind::Text(analyzer) }
    }

    /// The field with this name.
    pub(crate) fn named(schema: &Schema, name: &str) -> Option<Target> {
        schema.by_name(name).map(|field| Target { id: field.id, kind: field.kind })
    }

    /// Whether its values are terms as they are.
    pub(crate) fn is_verbatim(self) -> bool {
        !matches!(self.kind, FieldKind::Text(analyzer) if analyzer != Analyzer::Keyword)
    }

    /// Whether words are looked for in it: its values are terms, or are cut into terms.
    pub(crate) fn has_words(self) -> bool {
        matches!(self.kind, FieldKind::Text(_) | FieldKind::Keyword)
    }
}
