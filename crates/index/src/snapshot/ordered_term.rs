//! A term of a segment, as a cursor returns it.

use crate::ground::term::FieldId;
use crate::terms::entries::Entry;

/// A term of a segment. The [cursor](crate::snapshot::TermCursor::next_term) has written its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderedTerm {
    /// Its field.
    pub field: FieldId,
    /// Number of its bytes.
    pub len: usize,
    /// Its list in the segment. The total is unknown.
    pub entry: Entry,
    /// Its ordinal in the segment, as document vectors contain it; `None` where terms lead to
    /// packed lists.
    pub ordinal: Option<u32>,
}
