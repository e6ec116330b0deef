//! How long documents and offsets may be, by the size of the log: what it has room for, wherever it is at.

use spirit_index::fresh::batch::KEY_BYTES_MAX;
use spirit_index::log::{HEADER_BYTES, OFFSET_BYTES_MAX, OPERATION_BYTES};

/// Times that the application's offset is logged again between two looks at the room that the log has, at most: a segment may end
/// before the record that there was room for, and another behind it. What ends with nothing logged since has it already.
pub(crate) const KEPT: u64 = 2;

/// The most bytes of text and key that a log of `log_bytes` takes in one document.
pub(crate) fn document_bytes_max(log_bytes: u64) -> u64 {
    // Half of the log, so that a record and the gap before it fit whatever its place is; less what goes with a document,
    // and room for the record's header and two more.
    (log_bytes / 2).saturating_sub(beside_document(log_bytes) + 3 * HEADER_BYTES)
}

/// Bytes of a record that has nothing but an offset of `bytes` bytes.
pub(crate) fn kept_bytes(bytes: usize) -> u64 {
    HEADER_BYTES + OPERATION_BYTES + bytes.next_multiple_of(8) as u64
}

/// Bytes that may be in a record with text and fields of its longest document: what a batch has gathered before, the longest key, and
/// how long the fields are, with what fills each up.
fn beside_document(log_bytes: u64) -> u64 {
    log_bytes / 16 + OPERATION_BYTES + KEY_BYTES_MAX as u64 + 4 * 8
}

/// The longest offset for which a log of `log_bytes` has room in one record with a document of `document_bytes`, wherever it is at: for
/// the last offset; for the record and the gap before it; for a cancellation; and for what is kept, each with its gap.
pub(crate) fn offset_bytes_max(log_bytes: u64, document_bytes: u64) -> Option<usize> {
    let record = HEADER_BYTES + beside_document(log_bytes) + document_bytes;
    let room = log_bytes.checked_sub(2 * record + 2 * HEADER_BYTES)? / (KEPT + 4);
    let bytes = room.checked_sub(kept_bytes(0))? / 8 * 8;
    Some((bytes as usize).min(OFFSET_BYTES_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_is_as_long_as_documents_leave_room_for() {
        let max = |document| offset_bytes_max(16 << 10, document);
        assert_eq!(max(4 << 10), Some(736));
        let longest = document_bytes_max(16 << 10);
        assert_eq!((max(longest), max(longest - 144)), (None, Some(0)));
        assert_eq!(offset_bytes_max(64 << 20, 1 << 20), Some(OFFSET_BYTES_MAX));
        assert_eq!(offset_bytes_max(16 << 10, 64 << 20), None);
    }
}
