//! Words of one's own that are zeros: the kernel backs them when they are touched, so memory that is seldom needed whole costs
//! nothing until it is.

use crate::span::Shared;

/// `len` zeros.
pub fn zeroed<T: Shared>(len: usize) -> Box<[T]> {
    let words = Box::<[T]>::new_zeroed_slice(len);
    // SAFETY: `Shared` is sealed to types made of atomics for which every bit pattern is a value, zeros too.
    unsafe { words.assume_init() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    #[test]
    fn they_are_zeros() {
        let words: Box<[AtomicU32]> = zeroed(100_000);
        assert!(words.len() == 100_000 && words.iter().all(|word| word.load(Relaxed) == 0));
        assert!(zeroed::<AtomicU32>(0).is_empty());
    }
}
