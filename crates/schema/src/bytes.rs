//! Numbers and strings as bytes. Numbers have variable length: seven bits a byte, the lowest first.

/// Appends a number.
pub(crate) fn put_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Removes a number from the front; none if it ends early, has more than 64 bits, or more bytes
/// than it needs.
pub(crate) fn take_number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for at in 0..10 {
        let byte = take_byte(rest)?;
        number |= u64::from(byte & 0x7F) << (7 * at);
        if byte < 0x80 {
            let is_least = at == 0 || byte > 0;
            let fits = at < 9 || byte == 1;
            return (is_least && fits).then_some(number);
        }
    }
    None
}

/// Maps signed numbers to unsigned ones, so that small ones are short with either sign.
pub(crate) fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63).cast_unsigned()
}

/// Inverts [`zigzag`].
pub(crate) fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

/// Removes a byte from the front; none at the end.
pub(crate) fn take_byte(rest: &mut &[u8]) -> Option<u8> {
    let (first, others) = rest.split_first()?;
    *rest = others;
    Some(*first)
}

/// Appends a string, after its length.
pub(crate) fn put_text(text: &str, out: &mut Vec<u8>) {
    put_number(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

/// Removes a string from the front; none if it ends early, or is not UTF-8.
pub(crate) fn take_text<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let len = usize::try_from(take_number(rest)?).ok()?;
    let (text, others) = rest.split_at_checked(len)?;
    *rest = others;
    std::str::from_utf8(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(number: u64, signed: i64, shift in 0u32..64) {
            let mut bytes = Vec::new();
            put_number(number >> shift, &mut bytes);
            put_number(zigzag(signed >> shift), &mut bytes);
            let mut rest = &bytes[..];
            prop_assert_eq!(take_number(&mut rest), Some(number >> shift));
            prop_assert_eq!(take_number(&mut rest).map(unzigzag), Some(signed >> shift));
            prop_assert_eq!(take_number(&mut rest), None);
        }

        /// So equal values have equal bytes.
        #[test]
        fn a_number_has_one_form(bytes in prop::collection::vec(any::<u8>(), 0..12)) {
            let mut rest = &bytes[..];
            if let Some(number) = take_number(&mut rest) {
                let mut again = Vec::new();
                put_number(number, &mut again);
                prop_assert_eq!(&again[..], &bytes[..bytes.len() - rest.len()]);
            }
        }
    }
}
