//! The values of a document's fields: data that is not a term, or not only one.
//!
//! A row with values has a *record* in the fresh segment's area, among blocks and long terms:
//!
//! | words of 32 bits | |
//! |---|---|
//! | 1 | number of values |
//! | values / 2 | field (12 bits) and kind (4 bits) of each, two in a word |
//! | values × 2 | the values' bits, low half first |
//!
//! Values are in the order of their fields. Those of one field are in the order of the document.
//! Behind the rows of a chunk, a word for each row has the place of its record, or 0 if it has
//! none. Records are freed with the extent: a flush makes [columns](crate::column) of them.
//!
//! Each kind's values have a [sortable](ValueKind::sortable) form: unsigned numbers in the order of
//! the values. Floating-point numbers have the order of IEEE 754, in which −0 and 0 are equal. All
//! NaNs are one number, above all others.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use crate::ground::term::FieldId;

/// The kind of a value, which defines its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ValueKind {
    /// Text that was cut into terms: the number of kept tokens. A record has two (`field_lengths`)
    /// of these for a field.
    Text = 1,
    /// A term: its ordinal in the segment.
    Keyword = 2,
    /// A signed number of 64 bits.
    Integer = 3,
    /// A floating-point number of 64 bits.
    Float = 4,
    /// Milliseconds since 1970, signed.
    Time = 5,
    /// 0 or 1.
    Boolean = 6,
}

/// The bit that marks a negative number.
const SIGN: u64 = 1 << 63;

impl ValueKind {
    pub(crate) fn from_number(number: u8) -> Option<ValueKind> {
        use ValueKind::*;
        [Text, Keyword, Integer, Float, Time, Boolean].into_iter().find(|k| *k as u8 == number)
    }

    /// Returns the sortable form of the value with these bits: an unsigned number with the order of
    /// the values of this kind.
    pub fn sortable(self, bits: u64) -> u64 {
        match self {
            ValueKind::Integer | ValueKind::Time => bits ^ SIGN,
            ValueKind::Float => sortable_float(f64::from_bits(bits)),
            ValueKind::Text | ValueKind::Keyword | ValueKind::Boolean => bits,
        }
    }

    /// Returns the bits of the value with this sortable form.
    pub fn from_sortable(self, sortable: u64) -> u64 {
        match self {
            ValueKind::Integer | ValueKind::Time => sortable ^ SIGN,
            ValueKind::Float if sortable & SIGN == 0 => !sortable,
            ValueKind::Float => sortable ^ SIGN,
            ValueKind::Text | ValueKind::Keyword | ValueKind::Boolean => sortable,
        }
    }

    /// True if values of this kind can be read as values of the other one. A field of whole numbers
    /// may have been [widened](Self::converted).
    #[inline]
    pub(crate) fn reads_as(self, other: ValueKind) -> bool {
        use ValueKind::{Float, Integer};
        self == other || matches!((self, other), (Integer, Float) | (Float, Integer))
    }

    /// Converts a value of this kind, in sortable form, to the other kind. Never changes the order
    /// of two values, but may make them equal.
    ///
    /// An integer becomes the nearest floating-point number, of two equally near ones the even one.
    /// A floating-point number is rounded downwards, and to the nearest integer of 64 bits; a NaN
    /// becomes the highest. Only a query that was compiled before the field was widened needs that.
    #[inline]
    pub(crate) fn converted(self, to: ValueKind, sortable: u64) -> u64 {
        match (self, to) {
            (ValueKind::Integer, ValueKind::Float) => {
                let number = self.from_sortable(sortable).cast_signed();
                to.sortable((number as f64).to_bits())
            }
            (ValueKind::Float, ValueKind::Integer) => {
                let number = f64::from_bits(self.from_sortable(sortable));
                let whole = if number.is_nan() { i64::MAX } else { number.floor() as i64 };
                to.sortable(whole.cast_unsigned())
            }
            _ => sortable,
        }
    }
}

/// Returns the sortable form of a number. Larger positive numbers have larger bits, and larger
/// negative numbers have smaller ones.
fn sortable_float(number: f64) -> u64 {
    let canonical = if number.is_nan() { f64::NAN.abs() } else { number + 0.0 };
    let bits = canonical.to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowValue {
    /// Its field.
    pub field: FieldId,
    /// Its kind.
    pub kind: ValueKind,
    /// Its bits.
    pub bits: u64,
}

impl RowValue {
    /// Returns the value in [sortable](ValueKind::sortable) form, if it is one of this field that
    /// can be read as this kind.
    #[inline]
    pub fn read_as(self, field: FieldId, kind: ValueKind) -> Option<u64> {
        if self.field != field || !self.kind.reads_as(kind) {
            return None;
        }
        Some(self.kind.converted(kind, self.kind.sortable(self.bits)))
    }
}

/// Number of bits of a field before the kind.
pub(crate) const FIELD_BITS: u32 = 12;
const _: () = assert!(FieldId::MAX.0 as u32 == (1 << FIELD_BITS) - 1);

/// Returns the field and the kind of a value in 16 bits.
pub(crate) fn which(field: FieldId, kind: ValueKind) -> u32 {
    field.0 as u32 | (kind as u32) << FIELD_BITS
}

/// Returns the field and the kind in these 16 bits.
pub(crate) fn of_which(which: u16) -> (FieldId, Option<ValueKind>) {
    let kind = ValueKind::from_number((which >> FIELD_BITS) as u8);
    (FieldId(which & FieldId::MAX.0), kind)
}

/// Returns the number of words of a record.
pub(crate) fn record_words(values: usize) -> u32 {
    if values == 0 { 0 } else { (1 + values.div_ceil(2) + values * 2) as u32 }
}

/// Writes a record to `words`, which have its length.
pub(crate) fn write_record(words: &[AtomicU32], values: &[RowValue]) {
    let (head, bits) = words.split_at(1 + values.len().div_ceil(2));
    head[0].store(values.len() as u32, Relaxed);
    let which = |value: &RowValue| which(value.field, value.kind);
    for (word, pair) in head[1..].iter().zip(values.chunks(2)) {
        let second = pair.get(1).map_or(0, which);
        word.store(which(&pair[0]) | second << 16, Relaxed);
    }
    for (words, value) in bits.chunks_exact(2).zip(values) {
        words[0].store(value.bits as u32, Relaxed);
        words[1].store((value.bits >> 32) as u32, Relaxed);
    }
}

/// Finds the two words of a record with the length of a field of text, in halves.
pub(crate) fn find_length(record: &[AtomicU32], field: FieldId) -> Option<[&[AtomicU32; 2]; 2]> {
    let Values { which: all, bits, .. } = Values::new(record);
    let (bits, _) = bits.as_chunks::<2>();
    let wanted = which(field, ValueKind::Text);
    let of_value = |index: &usize| all[index / 2].load(Relaxed) >> (16 * (index % 2)) & 0xFFFF;
    let first = (0..bits.len()).find(|index| of_value(index) == wanted)?;
    Some([bits.get(first)?, bits.get(first + 1)?])
}

/// An iterator over the values of a row, in the order of their fields.
#[derive(Clone, Debug)]
pub struct Values<'a> {
    /// Field and kind of each value, and its bits.
    which: &'a [AtomicU32],
    bits: &'a [AtomicU32],
    next: usize,
}

impl<'a> Values<'a> {
    /// The values of a row that has none.
    pub const NONE: Values<'static> = Values { which: &[], bits: &[], next: 0 };

    /// Makes the values of the record that begins with the first of `words`. They are none if there
    /// are too few words.
    pub(crate) fn new(words: &'a [AtomicU32]) -> Values<'a> {
        let split = || {
            let (first, rest) = words.split_first()?;
            let count = first.load(Relaxed) as usize;
            let (which, rest) = rest.split_at_checked(count.div_ceil(2))?;
            Some(Values { which, bits: rest.get(..count * 2)?, next: 0 })
        };
        split().unwrap_or(Values::NONE)
    }
}

impl Iterator for Values<'_> {
    type Item = RowValue;

    fn next(&mut self) -> Option<RowValue> {
        let [low, high] = [0, 1].map(|half| self.bits.get(self.next * 2 + half));
        let bits = low?.load(Relaxed) as u64 | (high?.load(Relaxed) as u64) << 32;
        let which = self.which[self.next / 2].load(Relaxed) >> (16 * (self.next % 2));
        self.next += 1;
        let (field, kind) = of_which(which as u16);
        Some(RowValue { field, kind: kind?, bits })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Numbers that are easily got wrong, and any other.
    fn float() -> impl Strategy<Value = f64> {
        let edges =
            [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, 5e-324, -5e-324];
        prop_oneof![any::<u64>().prop_map(f64::from_bits), prop::sample::select(edges.to_vec())]
    }

    fn integer() -> impl Strategy<Value = i64> {
        prop_oneof![any::<i64>(), -2i64..2, Just(i64::MIN), Just(i64::MAX)]
    }

    proptest! {
        #[test]
        fn sortable_numbers_are_in_the_order_of_numbers(a in integer(), b in integer()) {
            for kind in [ValueKind::Integer, ValueKind::Time] {
                let of = |number: i64| kind.sortable(number.cast_unsigned());
                prop_assert_eq!(of(a).cmp(&of(b)), a.cmp(&b));
                prop_assert_eq!(kind.from_sortable(of(a)), a.cast_unsigned());
            }
        }

        /// What is no number is above all that are, and the same as itself.
        #[test]
        fn sortable_floats_are_in_the_order_of_floats(a in float(), b in float()) {
            let kind = ValueKind::Float;
            let of = |number: f64| kind.sortable(number.to_bits());
            let order = a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()));
            prop_assert_eq!(of(a).cmp(&of(b)), order);
            let back = f64::from_bits(kind.from_sortable(of(a)));
            prop_assert!(back == a || back.is_nan() && a.is_nan());
            prop_assert_eq!(of(back), of(a));
        }

        /// A search for an interval's ends relies on this.
        #[test]
        fn a_conversion_keeps_the_order(a in integer(), b in integer(), x in float(), y in float()) {
            use ValueKind::{Float, Integer};
            let as_float = |n: i64| Integer.converted(Float, Integer.sortable(n.cast_unsigned()));
            prop_assert_eq!(as_float(a), Float.sortable((a as f64).to_bits()));
            prop_assert_eq!(as_float(a) < as_float(b), (a as f64) < b as f64);
            let of = |x: f64| Float.sortable(x.to_bits());
            let as_integer = |x: f64| Float.converted(Integer, of(x));
            prop_assert!(of(x) > of(y) || as_integer(x) <= as_integer(y));
            if a.unsigned_abs() < 1 << 53 {
                prop_assert_eq!(Float.converted(Integer, as_float(a)), Integer.sortable(a.cast_unsigned()));
            }
        }

        #[test]
        fn a_record_reads_back(given in prop::collection::vec((0..=FieldId::MAX.0, 1u8..7, any::<u64>()), 1..50)) {
            let value = |(field, kind, bits)| RowValue {
                field: FieldId(field),
                kind: ValueKind::from_number(kind).unwrap(),
                bits,
            };
            let values: Vec<RowValue> = given.into_iter().map(value).collect();
            let count = record_words(values.len()) as usize;
            let words: Vec<AtomicU32> = (0..count + 3).map(|_| AtomicU32::new(77)).collect();
            write_record(&words[..count], &values);
            prop_assert_eq!(Values::new(&words).collect::<Vec<_>>(), values);
            prop_assert_eq!(Values::new(&words[..count - 1]).count(), 0);
        }
    }
}
