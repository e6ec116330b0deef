//! Document lengths as Lucene and tantivy keep them: one byte each.
//!
//! A byte below 24 is the length itself. Above, what is over 24 is a number of four significant bits, the first of which
//! is 1 and not stored: three bits and by how much to shift them. So lengths are exact up to 40, and rounded down above.
//! Lucene calls this `SmallFloat.intToByte4`; tantivy has the same values in a table.

/// Lengths that are their own byte.
const PLAIN: u32 = 24;

/// The byte of a length.
pub(crate) fn int_to_byte4(length: u32) -> u8 {
    if length < PLAIN { length as u8 } else { PLAIN as u8 + to_float(length - PLAIN) }
}

/// The least length that has this byte.
pub(crate) fn byte4_to_int(byte: u8) -> u32 {
    let byte = u32::from(byte);
    if byte < PLAIN { byte } else { PLAIN + of_float(byte - PLAIN) }
}

/// The length that a peer scores by.
pub(crate) fn rounded(length: u32) -> u32 {
    byte4_to_int(int_to_byte4(length))
}

fn to_float(value: u32) -> u8 {
    if value < 8 {
        return value as u8;
    }
    let shift = u32::BITS - value.leading_zeros() - 4;
    (((value >> shift) & 7) | ((shift + 1) << 3)) as u8
}

fn of_float(float: u32) -> u32 {
    match float >> 3 {
        0 => float,
        shift => ((float & 7) | 8) << (shift - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_lengths_are_exact() {
        for length in 0..=40 {
            assert_eq!((rounded(length), u32::from(int_to_byte4(length))), (length, length));
        }
    }

    #[test]
    fn long_lengths_are_rounded_down_as_lucene_and_tantivy_do() {
        let known = [
            (41, 40, 40),
            (42, 41, 42),
            (54, 47, 54),
            (63, 49, 60),
            (100, 57, 96),
            (158, 64, 152),
            (1_000, 87, 984),
            (4_119, 103, 3_864),
            (1_048_600, 168, 1_048_600),
            (1_073_741_848, 248, 1_073_741_848),
            (i32::MAX as u32, 255, 2_013_265_944),
        ];
        for (length, byte, least) in known {
            assert_eq!((int_to_byte4(length), rounded(length)), (byte, least), "{length}");
        }
    }

    #[test]
    fn a_byte_stands_for_the_lengths_up_to_the_next() {
        for byte in 0..=254 {
            let (least, next) = (byte4_to_int(byte), byte4_to_int(byte + 1));
            assert!(least < next);
            assert_eq!((int_to_byte4(least), int_to_byte4(next - 1)), (byte, byte));
        }
    }
}
