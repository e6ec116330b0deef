//! A field in a query, and the ways to query its kind.

use spirit_index::ground::FieldId;
use spirit_schema::{FieldKind, Schema, TEXT};
use spirit_text::Analyzer;

/// A field in a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) id: FieldId,
    pub(crate) kind: FieldKind,
}

impl Target {
    /// Returns the documents' text.
    pub(crate) fn text(analyzer: Analyzer) -> Target {
        Target { id: TEXT, kind: FieldKind::Text(analyzer) }
    }

    /// Returns the field with this name, or the keywords of a text field.
    pub(crate) fn named(schema: &Schema, name: &str) -> Option<Target> {
        schema.asked(name).map(|(id, kind)| Target { id, kind })
    }

    /// True if its values are terms unchanged.
    pub(crate) fn is_verbatim(self) -> bool {
        !matches!(self.kind, FieldKind::Text(analyzer) if analyzer != Analyzer::Keyword)
    }

    /// True if this analyzer cuts its values.
    pub(crate) fn is_cut_by(self, analyzer: Analyzer) -> bool {
        self.kind == FieldKind::Text(analyzer)
    }

    /// True if words can be searched for in it: its values are terms, or are cut into terms.
    pub(crate) fn has_words(self) -> bool {
        matches!(self.kind, FieldKind::Text(_) | FieldKind::Keyword)
    }
}
