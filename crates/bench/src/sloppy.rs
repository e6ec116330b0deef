//! How often two different terms are near each other in a document, as each engine counts it.
//!
//! Positions are those at which the phrase would begin: of the second term one less than its own. Two terms that
//! stand as in the phrase are then at the same position, and the difference is their distance.

/// The positions of a phrase of two terms in one document; neither is empty.
pub(crate) struct Pair {
    pub(crate) first: Vec<i64>,
    pub(crate) second: Vec<i64>,
    /// Whether the second term is in fewer documents than the first.
    pub(crate) second_is_rarer: bool,
}

/// Lucene: whichever term is behind moves up to the other as near as it can and then past it, which is a match if it was near
/// enough, and the other is behind. A match counts for one over one more than its distance.
pub(crate) fn lucene(pair: &Pair, slop: u32) -> f64 {
    let [Some((first, firsts)), Some((second, seconds))] =
        [pair.first.split_first(), pair.second.split_first()]
    else {
        return 0.0;
    };
    let mut later = [firsts, seconds];
    let mut behind = usize::from(second < first);
    let mut ahead = *first.max(second);
    let mut distance = first.abs_diff(*second);
    let mut frequency = 0.0;
    let mut matched = |distance: u64| {
        if distance <= u64::from(slop) {
            frequency += 1.0 / (1 + distance) as f64;
        }
    };
    while let Some((next, rest)) = later[behind].split_first() {
        later[behind] = rest;
        if *next > ahead {
            matched(distance);
            behind = 1 - behind;
            distance = next.abs_diff(ahead);
            ahead = *next;
        } else {
            distance = next.abs_diff(ahead);
        }
    }
    matched(distance);
    frequency
}

/// tantivy: each occurrence of the more frequent term goes with the last of the rarer one up to it, or with the first one after it,
/// if that is near enough, and both are used up. A match counts for one.
pub(crate) fn tantivy(pair: &Pair, slop: u32) -> f64 {
    let (mut left, mut right) = (pair.first.as_slice(), pair.second.as_slice());
    if pair.second_is_rarer {
        std::mem::swap(&mut left, &mut right);
    }
    let mut count = 0;
    while let (Some(a), Some(b)) = (left.first(), right.first()) {
        if a.abs_diff(*b) <= u64::from(slop) {
            let reached = left.iter().take_while(|at| *at <= b).count();
            left = &left[reached.max(1)..];
            right = &right[1..];
            count += 1;
        } else if a < b {
            left = &left[1..];
        } else {
            right = &right[1..];
        }
    }
    f64::from(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(first: &[i64], second: &[i64]) -> Pair {
        let second = second.iter().map(|at| at - 1).collect();
        Pair { first: first.to_vec(), second, second_is_rarer: false }
    }

    #[test]
    fn one_match_counts_for_less_the_wider_it_is_or_not() {
        for (second, distance) in [(6, 0), (7, 1), (8, 2), (4, 2), (3, 3)] {
            let pair = pair(&[5], &[second]);
            assert_eq!(lucene(&pair, distance), 1.0 / f64::from(1 + distance));
            assert_eq!(tantivy(&pair, distance), 1.0);
            if distance > 0 {
                assert_eq!((lucene(&pair, distance - 1), tantivy(&pair, distance - 1)), (0.0, 0.0));
            }
        }
    }

    #[test]
    fn lucene_uses_an_occurrence_again_where_tantivy_does_not() {
        // a b a: the second a is two before where it would have to be.
        let pair = pair(&[1, 3], &[2]);
        assert_eq!(lucene(&pair, 2), 1.0 + 1.0 / 3.0);
        assert_eq!(tantivy(&pair, 2), 1.0);
    }

    #[test]
    fn the_nearest_occurrence_counts() {
        // a a b
        let pair = pair(&[1, 2], &[3]);
        assert_eq!((lucene(&pair, 4), tantivy(&pair, 4)), (1.0, 1.0));
    }
}
