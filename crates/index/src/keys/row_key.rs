//! The key of a row: its hash, its text, and comparison with other keys.

use crate::ground::automatic_key::write_number;
use crate::ground::term::hash_bytes;
use crate::rows::{KeyKind, RowKey};
use crate::snapshot::Segment;

/// Returns the hash of a key.
pub fn hash(key: &[u8]) -> u64 {
    hash_bytes(key)
}

/// True if a row's key is `key`.
pub fn is(segment: &Segment<'_>, row: RowKey, key: &[u8]) -> bool {
    match row.kind() {
        KeyKind::Inline { bytes, len } => &bytes[..len] == key,
        KeyKind::Stored { unit, len } => {
            len == key.len() && segment.stored_key(unit, len).eq(key.iter().copied())
        }
        KeyKind::Automatic(_) | KeyKind::None => false,
    }
}

/// Appends a row's key as text to `out`.
pub fn write_key(segment: &Segment<'_>, row: RowKey, out: &mut Vec<u8>) {
    match row.kind() {
        KeyKind::Inline { bytes, len } => out.extend_from_slice(&bytes[..len]),
        KeyKind::Stored { unit, len } => out.extend(segment.stored_key(unit, len)),
        KeyKind::Automatic(number) => write_number(number, out),
        KeyKind::None => {}
    }
}
