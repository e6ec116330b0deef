//! What many blocks can score at best, a multiplication a pair.
//!
//! A posting scores `weight / (1 + 1 / r)`, where `r` is its frequency over what is below the line beside that, which the length decides. So of many pairs the one with the
//! highest `r` is the best, and as there are 256 classes of lengths, what a frequency is divided by is kept inverted: a table for each field, computed
//! anew when the field's average length has changed.

use spirit_index::ground::posting::FREQUENCY_MAX;
use spirit_index::ground::term::FieldId;
use spirit_index::lists::maxima::Maxima;
use spirit_kernel::Bm25;

use super::MORE;

/// By class of length: `1 / (c0 + c1 · shortest)`.
pub(crate) type Inverse = [f32; 256];

/// Of what is worth the same in documents of any length.
pub(crate) static OF_ANY: Inverse = [f32::INFINITY; 256];

/// The tables of some fields.
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

    /// Makes ready that of a field.
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

    /// That of a field, for a term.
    pub(crate) fn of(&self, field: FieldId, bm25: Bm25) -> &Inverse {
        let is_of = |table: &&Table| (table.field, table.c0, table.c1) == (field, bm25.c0, bm25.c1);
        self.0.iter().find(is_of).map_or(&OF_ANY, |table| &table.inverse)
    }
}

/// What the pairs of many blocks are at best.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Best {
    ratio: f32,
    /// The highest frequency, saturated.
    pub(crate) frequency: u32,
}

impl Best {
    /// Takes a block along.
    #[inline(always)]
    pub(crate) fn add(&mut self, maxima: Maxima, inverse: &Inverse) {
        for pair in maxima.pairs() {
            let ratio = f32::from(pair.frequency) * inverse[pair.class() as usize];
            // NaN, for an empty pair where all lengths are worth the same, is not above anything.
            self.ratio = if ratio > self.ratio { ratio } else { self.ratio };
        }
        self.frequency = self.frequency.max(u32::from(maxima.frequency()));
    }

    /// Above what every posting of the blocks scores.
    pub(crate) fn bound(self, bm25: Bm25) -> f32 {
        if self.frequency == FREQUENCY_MAX {
            return bm25.weight;
        }
        (bm25.weight / (1.0 + 1.0 / self.ratio) * MORE).min(bm25.weight)
    }
}

/// The ratio that a posting of a term needs to score more than `needed`; below every ratio if any does.
pub(crate) fn ratio_for(bm25: Bm25, needed: f32) -> f32 {
    let share = needed / bm25.weight / MORE;
    // Above every ratio, but for that of a length that is worth nothing.
    let highest = if share < 1.0 { share / (1.0 - share) } else { f32::MAX };
    if needed > 0.0 { highest / MORE } else { -1.0 }
}

#[cfg(test)]
mod tests {
    use super::super::score;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// No posting of any block scores more, and one nearly as much.
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
            // What may score more than a number has the ratio for it.
            for needed in [-1.0, 0.0, highest / 3.0, highest.next_down()] {
                prop_assert!(best.ratio > ratio_for(bm25, needed));
            }
        }
    }
}
