//! Intersection of runs of similar length by a linear merge, one word of each at a time.
//!
//! [`naive`] is the textbook loop the papers compare against; [`branch_light`] is the same walk
//! without a branch on the comparison, which is what the portable level uses: on random ranks the
//! textbook loop loses most of its time to mispredictions.
//!
//! Not here: runs of very different length, see `search.rs`.

use crate::run::{FREQUENCY_BITS, Run, rank, word};
use crate::sink::Sink;
use std::cmp::Ordering;

/// Visits every word of both runs and branches three ways. Returns what was consumed of each.
pub(crate) fn naive<S: Sink>(a: Run, b: Run, sink: &mut S) -> (usize, usize) {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() && !sink.is_full() {
        match rank(&a[i]).cmp(&rank(&b[j])) {
            Ordering::Less => i += 1,
            Ordering::Greater => j += 1,
            Ordering::Equal => {
                sink.offer(word(&a[i]), true);
                (i, j) = (i + 1, j + 1);
            }
        }
    }
    (i, j)
}

/// The same, turning each comparison into additions. The only branches are the loop's ends.
#[inline]
pub(crate) fn branch_light<S: Sink>(a: Run, b: Run, sink: &mut S) -> (usize, usize) {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() && !sink.is_full() {
        let left = word(&a[i]);
        let (x, y) = (left >> FREQUENCY_BITS, rank(&b[j]));
        sink.offer(left, x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    (i, j)
}
