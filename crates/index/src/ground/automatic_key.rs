//! Automatic keys: the number of a document in plain decimal, as text.

/// Appends the automatic key of document `number`.
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
