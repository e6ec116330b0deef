//! A bit for each document: the shortest form of a list that has every second one, and the longest of all others.

use std::sync::atomic::AtomicU64;

use spirit_kernel::{Level, and_count};

use super::List;

pub(crate) struct Bitmap(Vec<AtomicU64>);

impl List for Bitmap {
    const NAME: &'static str = "bitmap";

    fn of(numbers: &[u32], end: u32) -> Bitmap {
        let mut words = vec![0u64; (end as usize).div_ceil(64)];
        numbers.iter().for_each(|number| words[*number as usize / 64] |= 1 << (number % 64));
        Bitmap(words.into_iter().map(AtomicU64::new).collect())
    }

    fn bytes(&self) -> usize {
        self.0.len() * size_of::<AtomicU64>()
    }

    fn and_count(&self, other: &Bitmap) -> usize {
        and_count(Level::detect(), &self.0, &other.0) as usize
    }
}
