//! The instruction sets a kernel can be run with, and which of them this machine has.
//!
//! Detection is at run time, so that one binary serves every x86-64 machine, and measured to cost
//! nothing against a build for this machine. A `Level` is a wish, not a proof: each kernel
//! asks [`Level::usable`] before it calls a shell, so a wrong wish is slow and never undefined.
//!
//! Not here: finer choices. Only the bitmap count looks at one more feature (VPOPCNTDQ) on its own.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// An instruction set, in ascending order of width.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Level {
    /// What every target has; no `unsafe`.
    Portable,
    /// AVX2 with BMI1, BMI2, LZCNT and POPCNT: 8 words at a time.
    Avx2,
    /// AVX-512 F and BW on top of those: 16 words at a time.
    Avx512,
}

/// The detected level plus one; 0 until somebody has asked.
static DETECTED: AtomicU8 = AtomicU8::new(0);

impl Default for Level {
    /// The widest of this machine.
    fn default() -> Level {
        Level::detect()
    }
}

impl Level {
    const ALL: [Level; 3] = [Level::Portable, Level::Avx2, Level::Avx512];

    /// The widest level of this machine. Costs one relaxed load after the first call.
    #[inline]
    pub fn detect() -> Level {
        match DETECTED.load(Relaxed) {
            1 => Level::Portable,
            2 => Level::Avx2,
            3 => Level::Avx512,
            _ => Self::detect_and_remember(),
        }
    }

    /// Every level this machine has, narrowest first: what a test stamps its cases over.
    pub fn all_supported() -> impl Iterator<Item = Level> {
        Self::ALL.into_iter().filter(|level| *level <= Self::detect())
    }

    /// The level itself, or the widest one of this machine if that is narrower.
    ///
    /// The one fact every call of a shell rests on: the result never exceeds what was detected.
    #[inline]
    pub(crate) fn usable(self) -> Level {
        self.min(Self::detect())
    }

    #[cold]
    fn detect_and_remember() -> Level {
        let level = probe_machine();
        DETECTED.store(level as u8 + 1, Relaxed);
        level
    }
}

/// Miri interprets no inline assembly, so under it the portable twins are the only ones.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn probe_machine() -> Level {
    Level::Portable
}

/// Asks for exactly the features the shells enable; the lists must stay equal.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn probe_machine() -> Level {
    use std::arch::is_x86_feature_detected as has;
    let scalar = has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt");
    let avx2 = scalar && has!("avx2");
    let avx512 = avx2 && has!("avx512f") && has!("avx512bw");
    match (avx512, avx2) {
        (true, _) => Level::Avx512,
        (false, true) => Level::Avx2,
        (false, false) => Level::Portable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_capped_by_the_machine() {
        for wish in Level::ALL {
            assert!(wish.usable() <= Level::detect());
            assert!(wish.usable() <= wish);
        }
    }

    #[test]
    fn supported_levels_ascend_from_portable_to_the_detected_one() {
        let levels: Vec<_> = Level::all_supported().collect();
        assert_eq!(levels.first(), Some(&Level::Portable));
        assert_eq!(levels.last(), Some(&Level::detect()));
        assert!(levels.is_sorted());
    }
}
