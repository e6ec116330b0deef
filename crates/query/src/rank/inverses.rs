//! Upper bounds of many blocks, with one multiplication for each pair of their maxima.
//!
//! A posting scores `weight / (1 + 1 / r)`. Here `r` is the frequency divided by the rest of the
//! denominator, which depends on the length. So the best pair is the one with the highest `r`.
//! There are 256 classes of lengths, so a table for each field has the inverse for each class. It
//! is computed again when the field's average length has changed.

use spirit_index::ground::FREQUENCY_MAX;
use spirit_index::ground::FieldId;
use spirit_index::lists::Maxima;
use spirit_kernel::Bm25;

use super::MORE;

/// For each class of lengths, `1 / (c0 + c1 · shortest)`.
pub(crate) type Inverse = [f32; 256];

/// The table for terms that score their weight at any length.
pub(crate) static OF_ANY: Inverse = [f32::INFINITY; 256];

/// The tables of several fields.
#[derive(Debug, Default)]
pub(crate) struct Inverses(Vec<Table>);

#[derive(Debug)]
struct Table {
    field: FieldId,
    c0: f32,
    c1: f32,
    inverse: Inverse,
}

impl Inverses {
    pub(crate) fn with_capacity(fields: usize) -> Inverses {
        Inverses(Vec::with_capacity(fields))
    }

    /// Computes the table of a field, unless it is up to date.
    pub(crate) fn prepare(&mut self, field: FieldId, bm25: Bm25) {
        let Bm25 { c0, c1, .. } = bm25;
        let at = self.0.iter().position(|table| table.field == field).unwrap_or_else(|| {
            self.0.push(Table { field, c0: 0.0, c1: 0.0, inverse: OF_ANY });
            self.0.len() - 1
        });
        let table = &mut self.0[at];
        if (table.c0, table.c1) != (c0, c1) {
            (table.c0, table.c1) = (c0, c1);
            let each = table.inverse.iter_mut().zip(&Maxima::SHORTEST);
            each.for_each(|(inverse, length)| *inverse = 1.0 / (c0 + c1 * *length as f32));
        }
    }

    /// Returns the table of a field, for a term; [`OF_ANY`] if none has the term's parameters.
    pub(crate) fn of(&self, field: FieldId, bm25: Bm25) -> &Inverse {
        let is_of = |table: &&Table| (table.field, table.c0, table.c1) == (field, bm25.c0, bm25.c1);
        self.0.iter().find(is_of).map_or(&OF_ANY, |table| &table.inverse)
    }
}

/// The best of the pairs of many blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Best {
    ratio: f32,
    /// The highest frequency, saturated.
    pub(crate) frequency: u32,
}

impl Best {
    /// Adds a block.
    #[inline(always)]
    pub(crate) fn add(&mut self, maxima: Maxima, inverse: &Inverse) {
        for pair in maxima.pairs() {
            let ratio = f32::from(pair.frequency) * inverse[pair.class() as usize];
            // An empty pair gives NaN where lengths are worth the same. NaN is not greater than
            // anything.
            self.ratio = if ratio > self.ratio { ratio } else { self.ratio };
        }
        self.frequency = self.frequency.max(u32::from(maxima.frequency()));
    }

    /// Returns an upper bound on the scores of all postings in the blocks.
    pub(crate) fn bound(self, bm25: Bm25) -> f32 {
        if self.frequency == FREQUENCY_MAX {
            return bm25.weight;
        }
        (bm25.weight / (1.0 + 1.0 / self.ratio) * MORE).min(bm25.weight)
    }
}

/// Returns the ratio that a posting of a term needs to score more than `needed`; below every ratio
/// if any posting does.
pub(crate) fn ratio_for(bm25: Bm25, needed: f32) -> f32 {
    let share = needed / bm25.weight / MORE;
    // Above every ratio, except that of a length that is worth nothing.
    let highest = if share < 1.0 { share / (1.0 - share) } else { f32::MAX };
    if needed > 0.0 { highest / MORE } else { -1.0 }
}

#[cfg(test)]
mod tests {
    use super::super::score;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// No posting of any block scores above the bound, and the highest block's bound is close
        /// to it.
        #[test]
        fn the_best_of_many_is_above_each(
            blocks in prop::collection::vec(prop::collection::vec((1u8..20, prop_oneof![1u16..90, 1u16..]), 1..20), 1..6),
            (weight, c0, c1) in (0.01f32..12.0, prop_oneof![Just(0.0f32), 0.0f32..2.0], prop_oneof![Just(0.0f32), 0.0f32..0.4]),
        ) {
            let bm25 = Bm25 { weight, c0, c1, term: 0 };
            let mut inverses = Inverses::default();
            inverses.prepare(FieldId::TEXT, Bm25 { c0: 1.0, ..bm25 });
            inverses.prepare(FieldId::TEXT, bm25);
            let mut best = Best::default();
            for block in &blocks {
                best.add(Maxima::of(block.iter().copied()), inverses.of(FieldId::TEXT, bm25));
            }
            let bound = best.bound(bm25);
            let scores = blocks.iter().flatten().map(|(f, l)| score(bm25, f32::from(*f), u32::from(*l)));
            prop_assert!(scores.fold(0.0, f32::max) <= bound);
            let bounds = blocks.iter().map(|block| super::super::bound(bm25, Maxima::of(block.iter().copied()).word()));
            let highest = bounds.fold(0.0, f32::max);
            prop_assert!(bound <= highest * 1.0001);
            // The best posting scores above the number, so its ratio is above the one needed.
            for needed in [-1.0, 0.0, highest / 3.0, highest.next_down()] {
                prop_assert!(best.ratio > ratio_for(bm25, needed));
            }
        }
    }
}
