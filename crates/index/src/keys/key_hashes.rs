//! Search for keys of engraved segments without the key table: each segment has the sorted hashes
//! of its explicit keys.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crate::ground::ids::Position;
use crate::keys::key_filter::hashes;
use crate::keys::row_key;
use crate::memory::Memory;
use crate::snapshot::Snapshot;

/// Returns the row of the live document with an explicit key, from the engraved segments at
/// `positions`.
pub(crate) fn find_key(
    memory: &Memory,
    snapshot: &Snapshot<'_>,
    key: &[u8],
    hash: u64,
    mut positions: impl Iterator<Item = Position>,
) -> Option<u64> {
    let wanted = hash & 0xFFFF_FFFF;
    positions.find_map(|position| {
        let hashes = hashes(memory, position);
        let first = first_from(hashes, wanted);
        let same = hashes[first..].iter().map(|word| word.load(Relaxed));
        let mut rows = same.take_while(|word| word >> 32 == wanted).map(|word| word as u32);
        let first = rows.next()?;
        let segment = snapshot.segment(position)?;
        let lives = |local: &u32| {
            let row = segment.row_table().row(*local);
            row_key::is(&segment, row.key(), key) && !segment.is_dead(*local)
        };
        std::iter::once(first).chain(rows).find(lives).map(|local| segment.row_number(local))
    })
}

/// Returns the lower bound of `wanted` in ascending hashes. Hashes are uniform, so an interpolated
/// guess and an exponential search find it.
fn first_from(hashes: &[AtomicU64], wanted: u64) -> usize {
    let is_below = |at: usize| hashes[at].load(Relaxed) >> 32 < wanted;
    let len = hashes.len();
    let guess = ((len as u64 * wanted) >> 32) as usize;
    // Invariant: the result is in low ..= high.
    let (mut low, mut high) = (0, len);
    let mut step = 8;
    if guess < len && is_below(guess) {
        low = guess + 1;
        while low + step < len && is_below(low + step) {
            low += step + 1;
            step *= 2;
        }
        high = len.min(low + step);
    } else if guess < len {
        high = guess;
        while high > step && !is_below(high - step) {
            high -= step;
            step *= 2;
        }
        low = high.saturating_sub(step);
    }
    low + hashes[low..high].partition_point(|word| word.load(Relaxed) >> 32 < wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The lower bound equals the naive one, for uniform and skewed hashes.
        #[test]
        fn the_first_is_found_wherever_it_is(
            mut hashes in prop::collection::vec(prop_oneof![any::<u32>(), 0..300u32, 4_000_000_000..u32::MAX], 0..400),
            wanted in prop_oneof![any::<u32>(), 0..300u32, 4_000_000_000..u32::MAX],
        ) {
            hashes.sort_unstable();
            let words: Vec<_> = hashes.iter().map(|hash| AtomicU64::new((*hash as u64) << 32 | 7)).collect();
            let expected = hashes.partition_point(|hash| *hash < wanted);
            prop_assert_eq!(first_from(&words, wanted.into()), expected);
        }
    }
}
