//! The values of many rows of a column at once. How they are stored is looked at once a window.

use std::sync::atomic::Ordering::Relaxed;

use spirit_kernel::Width;

use super::Column;

impl Column<'_> {
    /// Calls `take` with the values of each row whose bit is set in the window `bits` of ranks from
    /// `rank` on. Those of one row ascend. No rank of the window is below the newest row's.
    pub fn each_row(&self, rank: u32, bits: &[u64], take: impl FnMut(&[u64])) {
        let first = rank.wrapping_sub(self.base_rank());
        if self.entry.is_listed {
            return self.each_listed(first, bits, take);
        }
        let first = first as usize;
        match self.entry.width {
            None => self.each_dense(first, bits, |_| self.entry.min, take),
            Some(Width::One) => self.each_dense(first, bits, |slot| self.packed::<1>(slot), take),
            Some(Width::Two) => self.each_dense(first, bits, |slot| self.packed::<2>(slot), take),
            Some(Width::Four) => self.each_dense(first, bits, |slot| self.packed::<4>(slot), take),
            Some(Width::Eight) => {
                self.each_dense(first, bits, |slot| self.packed::<8>(slot), take);
            }
        }
    }

    #[inline]
    fn each_dense(
        &self,
        first: usize,
        bits: &[u64],
        value: impl Fn(usize) -> u64,
        mut take: impl FnMut(&[u64]),
    ) {
        each_bit(bits, |bit| {
            let index = first + bit;
            match self.has(index) {
                true => take(&[self.read(value(index))]),
                false => take(&[]),
            }
        });
    }

    fn each_listed(&self, first: u32, bits: &[u64], mut take: impl FnMut(&[u64])) {
        let slots = self.slots_in(first, bits.len());
        let (mut slot, end) = (slots.start, slots.end);
        let mut values = Vec::new();
        each_bit(bits, |bit| {
            let index = first as usize + bit;
            let row = |slot: usize| self.listed[slot].load(Relaxed) as usize;
            while slot < end && row(slot) < index {
                slot += 1;
            }
            values.clear();
            while slot < end && row(slot) == index {
                values.push(self.read(self.value(slot)));
                slot += 1;
            }
            take(&values);
        });
    }
}

/// Calls `take` with each bit that is set, ascending.
#[inline]
fn each_bit(bits: &[u64], mut take: impl FnMut(usize)) {
    for (number, word) in bits.iter().enumerate() {
        let mut left = *word;
        while left != 0 {
            take(number * 64 + left.trailing_zeros() as usize);
            left &= left - 1;
        }
    }
}
