//! Words of 4 bytes: no codec.

use std::sync::atomic::AtomicU32;

use spirit_kernel::{Algorithm, Level, intersect_count};

use super::List;
use super::blocks::word;

pub(crate) struct Raw(Vec<AtomicU32>);

impl List for Raw {
    const NAME: &'static str = "raw";

    fn of(numbers: &[u32], _: u32) -> Raw {
        Raw(numbers.iter().map(|number| AtomicU32::new(word(*number))).collect())
    }

    fn bytes(&self) -> usize {
        self.0.len() * size_of::<AtomicU32>()
    }

    fn and_count(&self, other: &Raw) -> usize {
        intersect_count(Level::detect(), Algorithm::Simd, &self.0, &other.0).found
    }
}
