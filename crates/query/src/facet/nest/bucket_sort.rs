//! Documents of a batch, brought together by bucket.

/// A bucket, and a document of the batch that lies in it.
pub(super) type Lying = (i64, u32);

/// Runs of equal buckets are this long at least, on average, where they stay in their order.
const RUN: usize = 16;

/// Sorts by bucket, in place of a table that is looked at for each document.
#[derive(Default)]
pub(super) struct BucketSort {
    /// For each bucket from the least on, how many there are; then where its next one goes.
    places: Vec<u32>,
    sorted: Vec<Lying>,
}

impl BucketSort {
    /// Puts documents of one bucket next to each other, in their order. A bucket may have several
    /// such groups if there are few groups.
    pub(super) fn group(&mut self, lying: &mut Vec<Lying>) {
        let Some((first, _)) = lying.first() else { return };
        let (mut min, mut max, mut last, mut changes) = (*first, *first, *first, 0);
        for (bucket, _) in lying.iter() {
            (min, max) = (min.min(*bucket), max.max(*bucket));
            changes += usize::from(*bucket != last);
            last = *bucket;
        }
        // Moments of documents that came one after the other lie in few intervals.
        if changes * RUN <= lying.len() {
            return;
        }
        match max.abs_diff(min) {
            span if span < 4 * lying.len() as u64 => self.count(lying, min, span as usize),
            _ => lying.sort_unstable(),
        }
    }

    /// Sorts buckets from `min` to `min + span` by counting.
    fn count(&mut self, lying: &mut Vec<Lying>, min: i64, span: usize) {
        self.places.clear();
        self.places.resize(span + 1, 0);
        let of = |bucket: i64| bucket.abs_diff(min) as usize;
        lying.iter().for_each(|(bucket, _)| self.places[of(*bucket)] += 1);
        let mut next = 0;
        for place in &mut self.places {
            (*place, next) = (next, next + *place);
        }
        self.sorted.clear();
        self.sorted.resize(lying.len(), (0, 0));
        for (bucket, document) in lying.iter() {
            let place = &mut self.places[of(*bucket)];
            self.sorted[*place as usize] = (*bucket, *document);
            *place += 1;
        }
        std::mem::swap(lying, &mut self.sorted);
    }

    /// Returns the bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.places.capacity() * size_of::<u32>() + self.sorted.capacity() * size_of::<Lying>()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn buckets() -> impl Strategy<Value = Vec<i64>> {
        let bucket = prop_oneof![-3i64..3, -300i64..300, any::<i64>(), Just(i64::MIN)];
        let run = (bucket, 1usize..40).prop_map(|(bucket, len)| vec![bucket; len]);
        let runs = prop::collection::vec(run, 0..60).prop_map(|runs| runs.concat());
        prop_oneof![runs, prop::collection::vec(-200i64..200, 0..500)]
    }

    proptest! {
        #[test]
        fn groups_have_their_documents_in_order(buckets in buckets()) {
            let given: Vec<Lying> = buckets.into_iter().zip(0..).collect();
            let (mut lying, mut sort) = (given.clone(), BucketSort::default());
            sort.group(&mut lying);
            let groups = lying.chunk_by(|one, other| one.0 == other.0);
            let mut distinct: Vec<i64> = given.iter().map(|(bucket, _)| *bucket).collect();
            distinct.sort_unstable();
            distinct.dedup();
            prop_assert!(groups.count() <= (given.len() / RUN + 1).max(distinct.len()));
            // A sort that keeps the order of equal ones shows what each bucket has, and in which order.
            let by_bucket = |mut of: Vec<Lying>| {
                of.sort_by_key(|(bucket, _)| *bucket);
                of
            };
            prop_assert_eq!(by_bucket(lying), by_bucket(given));
        }
    }
}
