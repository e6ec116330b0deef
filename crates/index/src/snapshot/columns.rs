//! The columns of a segment.

use crate::column::{Column, Columns};
use crate::ground::term::FieldId;
use crate::ground::values::ValueKind;
use crate::snapshot::Segment;

impl<'a> Segment<'a> {
    /// Returns the column of a field, if its values can be read as this kind. For segments within the window
    /// only: fresh ones have [values](Self::values).
    #[inline]
    pub fn column(&self, field: FieldId, kind: ValueKind) -> Option<Column<'a>> {
        self.all_columns()?.of_field(field)?.read_as(kind)
    }

    /// Yields all its columns, by field. For segments within the window only.
    pub fn columns(&self) -> impl Iterator<Item = Column<'a>> + use<'a> {
        self.all_columns().into_iter().flat_map(Columns::iter)
    }

    /// Returns its columns. One word leads to one copy of all.
    pub(crate) fn all_columns(&self) -> Option<Columns<'a>> {
        let at = self.descriptor.columns();
        (at != 0).then(|| Columns::at(self.memory.region(), at))
    }
}
