//! The key of a row: its hash, its text, and comparison with other keys.

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

/// Appends a number in decimal.
pub fn write_number(mut number: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Returns the number that `key` is in plain decimal (no sign, no leading zero), if it could be an
/// automatic key.
pub fn as_number(key: &[u8]) -> Option<u64> {
    let plain = key.len() <= 18 && !key.is_empty() && key.iter().all(u8::is_ascii_digit);
    if !plain || (key[0] == b'0' && key.len() > 1) {
        return None;
    }
    Some(key.iter().fold(0, |n, digit| n * 10 + u64::from(digit - b'0')))
}
