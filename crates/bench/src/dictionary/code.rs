//! Keys as bytes, in the order of fields and bytes, for engines whose keys are bytes.

use spirit_index::ground::{FieldId, TERM_BYTES_MAX, Term};

use crate::Fallible;

/// Bytes of the longest key.
pub(super) const KEY_BYTES_MAX: usize = 2 + TERM_BYTES_MAX;

/// Writes a key to `out`.
pub(super) fn encode(key: Term<'_>, out: &mut Vec<u8>) {
    out.clear();
    push(key, out);
}

/// Appends a key to `out`.
pub(super) fn push(key: Term<'_>, out: &mut Vec<u8>) {
    let (code, len) = key.key.field().code();
    out.extend_from_slice(&code[..len]);
    if key.key.is_long() {
        out.extend_from_slice(key.bytes);
    } else {
        let (bytes, len) = key.key.inline_bytes();
        out.extend_from_slice(&bytes[..len]);
    }
}

/// Returns the field and the bytes of an encoded key.
pub(super) fn decode(key: &[u8]) -> Fallible<(FieldId, &[u8])> {
    let (field, len) = FieldId::from_code(key).ok_or("a key without a field")?;
    Ok((field, &key[len..]))
}
