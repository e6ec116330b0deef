//! The greatest document length at which terms with a frequency of 1 beat a bar.
//!
//! The score of such a term depends only on the document's length, so a bar is a length. Few
//! documents are short enough to be among the best. A window's [short
//! bits](spirit_kernel::short_bits) select them.

use spirit_kernel::{Bar, Bm25};

use super::SLACK;

/// Returns the greatest length at which terms of one field, whose weights have this sum, score more
/// than `needed`. `None` if no length suffices.
pub(crate) fn longest(bm25: Bm25, weight: f32, needed: f32) -> Option<u16> {
    if needed <= 0.0 {
        return Some(u16::MAX);
    }
    length(bm25, slack(weight) / f64::from(needed) - 1.0)
}

/// Returns the greatest length at which a posting may be above a bar. `None` if no length suffices.
pub(crate) fn longest_below(bm25: Bm25, bar: Bar) -> Option<u16> {
    let Some(rest) = bar.rest.filter(|_| bar.threshold > 0.0) else {
        return longest(bm25, bm25.weight, bar.threshold);
    };
    // Let z be the part of the denominator beside a frequency, and t the threshold. Then
    // w / (1 + z) + r · f / (f + z) is above t where t · z² + b · z + c is below 0.
    let (t, f) = (f64::from(bar.threshold), f64::from(rest.frequency));
    let (w, r) = (slack(bm25.weight), slack(rest.weight));
    let (b, c) = (t * (1.0 + f) - w - r * f, f * (t - w - r));
    if c >= 0.0 {
        return None;
    }
    let root = (b * b - 4.0 * t * c).sqrt();
    // The form that does not subtract two nearly equal numbers.
    let beside = if b < 0.0 { (root - b) / (2.0 * t) } else { -2.0 * c / (b + root) };
    let needed = t - slack(rest.most);
    length(bm25, if needed > 0.0 { beside.min(w / needed - 1.0) } else { beside })
}

/// Returns a sum with the slack for its rounding.
fn slack(sum: f32) -> f64 {
    f64::from(sum) * (1.0 + f64::from(SLACK))
}

/// Returns the greatest length that adds at most `beside` to the denominator, next to the
/// frequency.
fn length(bm25: Bm25, beside: f64) -> Option<u16> {
    let left = beside * (1.0 + f64::from(SLACK)) + f64::from(SLACK) - f64::from(bm25.c0);
    // A token may add nothing. Then any length is short enough.
    (left >= 0.0).then(|| (left / f64::from(bm25.c1)).min(f64::from(u16::MAX)) as u16)
}

#[cfg(test)]
mod tests {
    use super::super::score;
    use super::*;
    use proptest::prelude::*;
    use spirit_kernel::Rest;

    fn any_share(least: f32) -> impl Strategy<Value = f32> {
        let small = (0.0f32..9.0).prop_map(|n| 10.0f32.powf(-n));
        prop_oneof![2 => least.max(0.01)..2.0f32, 1 => Just(least), 1 => small]
    }

    /// True if a length slightly above `most` is too long.
    fn is_tight(most: Option<u16>, is_above: impl Fn(u32) -> bool) -> bool {
        let next = most.map_or(0, |most| u32::from(most) + 2 + u32::from(most) / 1000);
        next > u32::from(u16::MAX) || !is_above(next)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// Every posting above a number is at most as long, and every longer one is not above it.
        #[test]
        fn what_is_longer_scores_less(
            weights in prop::collection::vec(0.0f32..12.0, 1..5),
            (c0, c1) in (any_share(0.0), any_share(0.0)),
            share in 0.0f32..1.1,
            length in prop_oneof![0u32..50, 0u32..65_536],
        ) {
            let bm25 = Bm25 { weight: weights[0], c0, c1, term: 0 };
            let sum_at = |length| weights.iter().map(|w| score(Bm25 { weight: *w, ..bm25 }, 1.0, length)).sum::<f32>();
            for needed in [-1.0, 0.0, sum_at(0) * share, sum_at(length), sum_at(length).next_down()] {
                let most = longest(bm25, weights.iter().sum(), needed);
                let is_above = |length| sum_at(length) > needed;
                prop_assert!(!is_above(length) || most.is_some_and(|most| length <= u32::from(most)));
                prop_assert!(needed <= 0.0 || sum_at(0) < needed * 1.001 || is_tight(most, is_above) || c1 < 1e-3);
            }
        }

        /// Like the test above, for a bar.
        #[test]
        fn what_is_longer_is_below_the_bar(
            (weight, rest_weight) in (0.01f32..12.0, 0.01f32..12.0),
            (c0, c1) in (any_share(0.0), any_share(0.0)),
            frequency in prop_oneof![3 => (1u32..9).prop_map(|f| f as f32), 1 => Just(1e9f32)],
            most in prop_oneof![Just(1.0f32), 0.1f32..1.0],
            share in 0.0f32..1.1,
            length in prop_oneof![0u32..50, 0u32..65_536],
        ) {
            let bm25 = Bm25 { weight, c0, c1, term: 0 };
            let rest = Rest { weight: rest_weight, frequency, most: most * rest_weight };
            let others = Bm25 { weight: rest_weight, ..bm25 };
            let sum_at = |length| score(bm25, 1.0, length) + score(others, frequency, length).min(rest.most);
            for threshold in [-1.0, 0.0, sum_at(0) * share, sum_at(length), sum_at(length).next_down()] {
                let found = longest_below(bm25, Bar { threshold, rest: Some(rest) });
                let is_above = |length| sum_at(length) > threshold;
                prop_assert!(!is_above(length) || found.is_some_and(|most| length <= u32::from(most)));
                prop_assert!(threshold <= 0.0 || sum_at(0) < threshold * 1.001 || is_tight(found, is_above) || c1 < 1e-3);
            }
        }
    }
}
