//! A term of a segment, as a walk through its terms gives it.

use crate::ground::term::FieldId;
use crate::terms::entries::Entry;

/// A term of a segment. The [cursor](crate::snapshot::TermCursor::next_term) has written its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderedTerm {
    /// Its field.
    pub field: FieldId,
    /// Its bytes.
    pub len: usize,
    /// Its list in the segment. Of totals nothing is known.
    pub entry: Entry,
    /// Its ordinal there, which document vectors have; none where terms lead to packed lists.
    pub ordinal: Option<u32>,
}
