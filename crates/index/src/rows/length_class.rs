//! Lengths in a byte: a *class* of lengths that are nearly the same.
//!
//! | class c | lengths |
//! |---|---|
//! | 0 .. 64 | c |
//! | 64 .. 224 | 2^(o + 2) from (16 + s) · 2^(o + 2) on; o = (c − 64) / 16, s = (c − 64) mod 16 |
//!
//! So short documents have exact classes: one token more or less changes their scores most. Other
//! lengths are known within a sixteenth. Classes ascend with lengths.

/// Number of lengths with their own class.
const EXACT: u16 = 1 << EXACT_BITS;
const EXACT_BITS: u32 = 6;
/// Number of bits behind the highest that distinguish lengths of the other classes.
const STEP_BITS: u32 = 4;

/// Returns the class of a length.
#[inline(always)]
pub(crate) fn class_of(length: u16) -> u8 {
    if length < EXACT {
        return length as u8;
    }
    let highest = u16::BITS - 1 - length.leading_zeros();
    let step = length >> (highest - STEP_BITS) & ((1 << STEP_BITS) - 1);
    EXACT as u8 + ((highest - EXACT_BITS) << STEP_BITS) as u8 + step as u8
}

/// The least lengths of all classes.
pub(crate) const SHORTEST: [u32; 256] = {
    let (mut shortest, mut class) = ([0; 256], 0);
    while class < 256 {
        shortest[class] = first_of(class as u32);
        class += 1;
    }
    shortest
};

/// Returns the least length of a class. For a class without lengths, returns a greater length than
/// any.
#[inline(always)]
pub(crate) fn shortest_of(class: u8) -> u32 {
    // A table is faster than the computation: it is read four times for each block of a list.
    static TABLE: [u32; 256] = SHORTEST;
    TABLE[class as usize]
}

/// Returns the greatest length of a class.
#[inline]
pub(crate) fn longest_of(class: u8) -> u32 {
    first_of(class as u32 + 1) - 1
}

const fn first_of(class: u32) -> u32 {
    let Some(above) = class.checked_sub(EXACT as u32) else { return class };
    let (octave, step) = (above >> STEP_BITS, above & ((1 << STEP_BITS) - 1));
    (1 << STEP_BITS | step) << (octave + EXACT_BITS - STEP_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_in_its_class() {
        let mut before = 0;
        for length in 0..=u16::MAX {
            let class = class_of(length);
            let (shortest, longest) = (shortest_of(class), longest_of(class));
            assert!((shortest..=longest).contains(&(length as u32)), "{length} in {class}");
            assert!(longest - shortest <= shortest / 16, "{length} in {class}");
            assert!(length >= EXACT || shortest == longest, "{length} in {class}");
            assert!(class == before || class == before + 1, "{length} in {class}");
            before = class;
        }
        assert_eq!((before, longest_of(before)), (223, u16::MAX as u32));
    }

    #[test]
    fn what_no_length_has_is_longer() {
        assert!((224..=255).all(|class| shortest_of(class) > u16::MAX as u32));
    }
}
