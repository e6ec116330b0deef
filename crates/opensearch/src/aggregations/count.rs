//! The number of buckets that an answer is made of: it bounds the memory of aggregations within others.

use std::cell::Cell;

use super::BUCKETS_MAX;
use crate::error::Refusal;

/// Buckets that are made for one answer, at most. Some of them are left out of it later.
const MADE_MAX: usize = 4 * BUCKETS_MAX;

/// Counts the buckets of all aggregations of an answer.
#[derive(Default)]
pub(super) struct Count(Cell<usize>);

impl Count {
    /// Counts a bucket. Fails if there are too many.
    pub(super) fn add(&self) -> Result<(), Refusal> {
        self.0.set(self.0.get() + 1);
        if self.0.get() <= MADE_MAX { Ok(()) } else { Err(too_many(MADE_MAX)) }
    }
}

/// Fails if one aggregation has too many buckets.
pub(super) fn check(count: i64) -> Result<(), Refusal> {
    match usize::try_from(count).unwrap_or(0) < BUCKETS_MAX {
        true => Ok(()),
        false => Err(too_many(BUCKETS_MAX)),
    }
}

fn too_many(max: usize) -> Refusal {
    let what = format!("Trying to create too many buckets. Must be less than or equal to: [{max}]");
    Refusal::new("too_many_buckets_exception", 503, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_counted_to_the_last() {
        let count = Count::default();
        for _ in 0..MADE_MAX {
            count.add().unwrap();
        }
        assert_eq!(count.add().unwrap_err().kind, "too_many_buckets_exception");
        assert!(check(BUCKETS_MAX as i64 - 1).is_ok() && check(BUCKETS_MAX as i64).is_err());
    }
}
