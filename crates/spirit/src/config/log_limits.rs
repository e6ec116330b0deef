//! Limits of documents and offsets by the size of the log. They hold wherever in its ring the log
//! is.

use spirit_index::fresh::KEY_BYTES_MAX;
use spirit_index::log::{HEADER_BYTES, OFFSET_BYTES_MAX, OPERATION_BYTES};

/// The most times that the application's offset is logged again between two checks of the log's
/// room. One segment may end before the record that the check was for, and another after it. A
/// segment that ends without new records since already has the offset.
pub(crate) const KEPT: u64 = 2;

/// Returns the most bytes of text and key in one document, for a log of `log_bytes`.
pub(crate) fn document_bytes_max(log_bytes: u64) -> u64 {
    // Half of the log, so that a record and the gap before it fit at any place. Subtract what is
    // logged with a document, the record's header, and two more headers.
    (log_bytes / 2).saturating_sub(beside_document(log_bytes) + 3 * HEADER_BYTES)
}

/// Returns the size in bytes of a record that has only an offset of `bytes` bytes.
pub(crate) fn kept_bytes(bytes: usize) -> u64 {
    HEADER_BYTES + OPERATION_BYTES + bytes.next_multiple_of(8) as u64
}

/// Returns the most bytes in a record beside text and fields of its longest document. These are the
/// batch gathered before, the gap, the longest key, and the length of the fields, each with its
/// padding.
fn beside_document(log_bytes: u64) -> u64 {
    log_bytes / 16 + OPERATION_BYTES + KEY_BYTES_MAX as u64 + 5 * 8
}

/// Returns the longest offset, in bytes, that fits into one record with a document of
/// `document_bytes`. None if there is no room.
///
/// The log must have room at any place for these: the last offset, the record and the gap before
/// it, a cancellation, and `KEPT` repeated offsets, each with its gap.
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
