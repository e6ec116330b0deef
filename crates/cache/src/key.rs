//! Keys: words that say which question an entry answers.

/// A key, with its hash.
#[derive(Clone, Copy, Debug)]
pub struct Key<'k> {
    /// The words, at least one.
    pub words: &'k [u64],
    /// Their hash.
    pub hash: u64,
}

/// An odd constant with well spread bits (the golden ratio), and one more (xxHash's second prime).
const MULTIPLIERS: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F];

impl<'k> Key<'k> {
    /// Hashes a key. An empty one gets a word.
    #[inline]
    pub fn new(words: &'k [u64]) -> Key<'k> {
        let words = if words.is_empty() { &[0] } else { words };
        Key { words, hash: hash(words.iter().copied()) }
    }
}

/// Hashes words.
#[inline]
pub fn hash(words: impl ExactSizeIterator<Item = u64>) -> u64 {
    let seed = words.len() as u64;
    words.fold(seed, |hash, word| mixed(hash ^ word))
}

/// Multiplies, and folds the upper half of the product into the lower: all bits of the result depend
/// on all bits of `word`.
#[inline]
fn mixed(word: u64) -> u64 {
    let product = u128::from(word ^ MULTIPLIERS[0]) * u128::from(MULTIPLIERS[1]);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn neighbouring_keys_have_different_hashes() {
        let one = (0..1000u64).map(|n| Key::new(&[n]).hash);
        let two = (0..1000u64).map(|n| Key::new(&[n, 0]).hash);
        let last = (0..1000u64).map(|n| Key::new(&[0, n]).hash);
        let all: HashSet<u64> = one.chain(two).chain(last.skip(1)).collect();
        assert_eq!(all.len(), 2999);
        let upper: HashSet<u64> = all.iter().map(|hash| hash >> 32 & 0xFFFF).collect();
        assert!(upper.len() > 2850, "{}", upper.len());
        assert_eq!(Key::new(&[]).words, [0]);
    }
}
