//! Elias-Fano: the low bits of each number as they are, and the high ones in unary, a one for each number and a zero for each value of
//! them.
//!
//! A number of `n` below `end` has `log2(end / n)` low bits, so that high bits take 2 or 3 a number. Where the numbers with given
//! high bits begin is known for every 64th value of them; from there zeros are counted.

use super::List;

/// Values of the high bits from one known place to the next.
const SAMPLE: u32 = 64;
/// Values that an AND passes one by one rather than look a place up.
const NEAR: u32 = 16;

pub(crate) struct EliasFano {
    /// A stream of bits, lowest first: the low ones of each number.
    lows: Vec<u64>,
    /// Bits of a low part.
    width: u32,
    /// A stream of bits, lowest first: ones are numbers, a zero ends those of a value.
    highs: Vec<u64>,
    /// Where the ones of every [`SAMPLE`]th value begin.
    places: Vec<u32>,
    len: usize,
}

/// A place in a list.
struct Cursor<'a> {
    list: &'a EliasFano,
    /// In the high bits.
    bit: usize,
    /// Numbers that are behind us.
    passed: usize,
}

impl List for EliasFano {
    const NAME: &'static str = "Elias-Fano";

    fn of(numbers: &[u32], end: u32) -> EliasFano {
        let width = (end / (numbers.len() as u32).max(1)).checked_ilog2().unwrap_or(0);
        let values = (end >> width) as usize + 1;
        let mut list = EliasFano {
            lows: vec![0; (numbers.len() * width as usize).div_ceil(64)],
            width,
            highs: vec![0; (numbers.len() + values).div_ceil(64)],
            places: Vec::new(),
            len: numbers.len(),
        };
        for (index, number) in numbers.iter().enumerate() {
            let bit = (number >> width) as usize + index;
            list.highs[bit / 64] |= 1 << (bit % 64);
            list.set_low(index, number & ((1 << width) - 1));
        }
        let before = |value: u32| numbers.partition_point(|number| number >> width < value);
        let place = |value: u32| value + before(value) as u32;
        list.places = (0..values as u32).step_by(SAMPLE as usize).map(place).collect();
        list
    }

    fn bytes(&self) -> usize {
        (self.lows.len() + self.highs.len()) * size_of::<u64>()
            + self.places.len() * size_of::<u32>()
    }

    fn and_count(&self, other: &EliasFano) -> usize {
        let (mut a, mut b) = (Cursor::new(self), Cursor::new(other));
        let (mut count, mut wanted) = (0, a.next());
        while let Some(number) = wanted {
            match b.seek(number) {
                None => break,
                Some(found) if found == number => {
                    count += 1;
                    wanted = a.next();
                }
                // It may be in the other list.
                Some(found) => {
                    wanted = a.seek(found);
                    if wanted == Some(found) {
                        count += 1;
                        wanted = a.next();
                    }
                }
            }
        }
        count
    }
}

impl EliasFano {
    fn set_low(&mut self, index: usize, low: u32) {
        let bit = index * self.width as usize;
        let bits = u128::from(low) << (bit % 64);
        for (word, bits) in
            self.lows.iter_mut().skip(bit / 64).zip([bits as u64, (bits >> 64) as u64])
        {
            *word |= bits;
        }
    }

    fn low(&self, index: usize) -> u32 {
        let bit = index * self.width as usize;
        let word = |at: usize| u128::from(self.lows.get(at).copied().unwrap_or(0));
        let bits = (word(bit / 64) | word(bit / 64 + 1) << 64) >> (bit % 64);
        (bits & ((1 << self.width) - 1)) as u32
    }

    /// Returns where the ones of a value of the high bits begin.
    fn place(&self, value: u32) -> usize {
        let known = (value / SAMPLE) as usize;
        let (bit, mut zeros) = (self.places[known] as usize, value % SAMPLE);
        if zeros == 0 {
            return bit;
        }
        let mut at = bit / 64;
        // Zeros of a word, without those before the place.
        let mut word = !self.highs[at] & u64::MAX << (bit % 64);
        while word.count_ones() < zeros {
            zeros -= word.count_ones();
            at += 1;
            word = !self.highs[at];
        }
        (1..zeros).for_each(|_| word &= word - 1);
        at * 64 + word.trailing_zeros() as usize + 1
    }
}

impl Cursor<'_> {
    fn new(list: &EliasFano) -> Cursor<'_> {
        Cursor { list, bit: 0, passed: 0 }
    }

    /// Returns the next number.
    fn next(&mut self) -> Option<u32> {
        if self.passed == self.list.len {
            return None;
        }
        let mut at = self.bit / 64;
        let mut word = self.list.highs[at] & u64::MAX << (self.bit % 64);
        // Ends, since a one is left.
        while word == 0 {
            at += 1;
            word = self.list.highs[at];
        }
        let bit = at * 64 + word.trailing_zeros() as usize;
        let value = (bit - self.passed) as u32;
        let number = value << self.list.width | self.list.low(self.passed);
        (self.bit, self.passed) = (bit + 1, self.passed + 1);
        Some(number)
    }

    /// Returns the next number that is not below `target`.
    fn seek(&mut self, target: u32) -> Option<u32> {
        let value = target >> self.list.width;
        let here = (self.bit - self.passed) as u32;
        if value > here + NEAR {
            let bit = self.list.place(value);
            (self.bit, self.passed) = (bit, bit - value as usize);
        }
        loop {
            let number = self.next()?;
            if number >= target {
                return Some(number);
            }
        }
    }
}
