//! Whether two engines answer a query equally.
//!
//! Counts have to be the same. Of ranked lists that cannot be asked: engines round lengths and multiply scores each in its
//! own way, and of equal scores any may come first. But each list can be held to what its own engine promises: every
//! score is the one computed for that document by the engine's convention ([`crate::bm25`]), no score is higher than
//! the one before it, and no document that the other engine shows and this one does not has a higher score than the last
//! one shown. Two engines for which all that holds differ in nothing but rounding and ties. One engine in two of its ways has
//! no such excuse: scores have to be the same to the last bit.

use std::fmt;

use spirit_peer_protocol::Answer;

/// Scores are sums of numbers in single precision.
const TOLERANCE: f64 = 1e-4;

/// How an answer is not what it has to be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Difference {
    Counts([u64; 2]),
    /// The documents shown differ from this place on.
    Hits(usize),
    /// This many documents are shown, and this many should be.
    Shown(usize, usize),
    /// A document's score, and what it should be; nothing where it does not match at all.
    Score(u64, f64, Option<f64>),
    /// The score at this place is higher than the one before.
    Order(usize),
    /// A document that is missing, and its score.
    Missing(u64, f64),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Counts([a, b]) => write!(f, "{a} matches, and {b}"),
            Difference::Hits(place) => write!(f, "the hits differ from place {} on", place + 1),
            Difference::Shown(shown, expected) => {
                write!(f, "{shown} documents shown, not {expected}")
            }
            Difference::Score(key, score, Some(expected)) => {
                write!(f, "document {key} has score {score}, not {expected}")
            }
            Difference::Score(key, score, None) => {
                write!(f, "document {key} has score {score} and does not match")
            }
            Difference::Order(place) => {
                write!(f, "place {} is better than the one before", place + 1)
            }
            Difference::Missing(key, score) => {
                write!(f, "document {key} with score {score} is missing")
            }
        }
    }
}

/// Whether two engines count alike.
pub(crate) fn counts(a: &Answer, b: &Answer) -> Result<(), Difference> {
    if a.count == b.count { Ok(()) } else { Err(Difference::Counts([a.count, b.count])) }
}

/// Whether two engines show the same newest documents.
pub(crate) fn newest(a: &Answer, b: &Answer) -> Result<(), Difference> {
    counts(a, b)?;
    if a.keys == b.keys {
        return Ok(());
    }
    let same = a.keys.iter().zip(&b.keys).take_while(|(a, b)| a == b).count();
    Err(Difference::Hits(same))
}

/// Whether one engine answers the same in two ways, scores included.
pub(crate) fn same(a: &Answer, b: &Answer) -> Result<(), Difference> {
    newest(a, b)?;
    let scores = a.scores.iter().zip(&b.scores);
    match scores.into_iter().position(|(a, b)| a.to_bits() != b.to_bits()) {
        None if a.scores.len() == b.scores.len() => Ok(()),
        place => Err(Difference::Hits(place.unwrap_or(0))),
    }
}

/// Whether an engine's best `k` are the best by its own convention, among what it and another engine show.
pub(crate) fn ranked<E>(
    answer: &Answer,
    other: &Answer,
    k: usize,
    mut score: impl FnMut(u64) -> Result<Option<f64>, E>,
) -> Result<Result<(), Difference>, E> {
    let expected = k.min(answer.count as usize);
    if answer.keys.len() != expected || answer.scores.len() != expected {
        return Ok(Err(Difference::Shown(answer.keys.len().min(answer.scores.len()), expected)));
    }
    for (key, reported) in answer.keys.iter().zip(&answer.scores) {
        let reported = f64::from(*reported);
        let computed = score(*key)?;
        if !computed.is_some_and(|computed| are_near(computed, reported)) {
            return Ok(Err(Difference::Score(*key, reported, computed)));
        }
    }
    if let Some(place) = answer.scores.windows(2).position(|pair| pair[0] < pair[1]) {
        return Ok(Err(Difference::Order(place + 1)));
    }
    let last = answer.scores.last().map_or(f64::NEG_INFINITY, |last| f64::from(*last));
    for key in other.keys.iter().filter(|key| !answer.keys.contains(key)) {
        let missing = score(*key)?.filter(|score| *score > last && !are_near(*score, last));
        if let Some(score) = missing {
            return Ok(Err(Difference::Missing(*key, score)));
        }
    }
    Ok(Ok(()))
}

fn are_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= TOLERANCE * a.abs().max(b.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(count: u64, hits: &[(u64, f32)]) -> Answer {
        let (keys, scores) = hits.iter().copied().unzip();
        Answer { count, keys, scores, differs: None }
    }

    /// Document n has score n, and 10 does not match.
    fn by_number(answer: &Answer, other: &Answer) -> Result<(), Difference> {
        let score = |key| Ok::<_, ()>((key != 10).then_some(key as f64));
        ranked(answer, other, 2, score).unwrap()
    }

    #[test]
    fn a_list_that_its_own_scores_explain_is_right() {
        let other = answer(3, &[(3, 6.0), (2, 4.0)]);
        assert_eq!(by_number(&answer(3, &[(3, 3.0), (2, 2.0)]), &other), Ok(()));
        // Rounding alone, and a tie at the end.
        assert_eq!(by_number(&answer(3, &[(3, 3.0001), (2, 1.9999)]), &other), Ok(()));
        assert_eq!(by_number(&answer(1, &[(3, 3.0)]), &answer(1, &[(3, 1.0)])), Ok(()));
    }

    #[test]
    fn what_is_wrong_with_a_list_is_told() {
        let other = answer(3, &[(3, 6.0), (2, 4.0)]);
        let wrong = |hits: &[(u64, f32)]| by_number(&answer(3, hits), &other).unwrap_err();
        assert_eq!(wrong(&[(3, 3.0)]), Difference::Shown(1, 2));
        assert_eq!(
            wrong(&[(3, 3.1), (2, 2.0)]),
            Difference::Score(3, f64::from(3.1_f32), Some(3.0))
        );
        assert_eq!(wrong(&[(10, 3.0), (2, 2.0)]), Difference::Score(10, 3.0, None));
        assert_eq!(wrong(&[(2, 2.0), (3, 3.0)]), Difference::Order(1));
        assert_eq!(wrong(&[(3, 3.0), (1, 1.0)]), Difference::Missing(2, 2.0));
    }

    #[test]
    fn a_document_less_good_by_one_convention_may_be_missing() {
        let other = answer(3, &[(1, 9.0), (2, 4.0)]);
        assert_eq!(by_number(&answer(3, &[(3, 3.0), (2, 2.0)]), &other), Ok(()));
    }

    #[test]
    fn counts_and_the_newest_are_the_same_or_not() {
        let [a, b] = [answer(2, &[(9, 0.0), (4, 0.0)]), answer(2, &[(9, 0.0), (3, 0.0)])];
        assert_eq!((counts(&a, &b), newest(&a, &a)), (Ok(()), Ok(())));
        assert_eq!(newest(&a, &b), Err(Difference::Hits(1)));
        let more = answer(3, &[(9, 0.0), (4, 0.0)]);
        assert_eq!(newest(&a, &more), Err(Difference::Counts([2, 3])));
        let scored = answer(2, &[(9, 0.0), (4, 1e-9)]);
        assert_eq!((same(&a, &a), same(&a, &scored)), (Ok(()), Err(Difference::Hits(1))));
        assert_eq!(same(&a, &Answer { scores: Vec::new(), ..a.clone() }), Err(Difference::Hits(0)));
    }
}
