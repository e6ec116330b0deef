//! A watch on the hit rate, which notices that the requests have changed.
//!
//! Requests are taken in parts of equal length. A part is a surprise if its hits are fewer than
//! usual by a fifth and by four standard deviations (the hits of a part vary by the square root of
//! their number). The usual number is a mean over the parts; the last one has a weight of an
//! eighth.

/// The weight of a part in the mean is one in this many.
const PARTS: u64 = 8;

/// A watch on the hit rate.
pub(super) struct Watch {
    /// The requests of a part.
    length: u64,
    /// The requests of this part until now, and the hits among them.
    requests: u64,
    hits: u64,
    /// The mean number of hits of a part, times [`PARTS`].
    usual: u64,
}

impl Watch {
    /// Returns a watch that has seen no request. Parts have `length` requests.
    pub(super) fn new(length: u64) -> Watch {
        Watch { length, requests: 0, hits: 0, usual: 0 }
    }

    /// Notes a request. True if a part ends with it that is a surprise.
    pub(super) fn note(&mut self, is_hit: bool) -> bool {
        self.requests += 1;
        self.hits += u64::from(is_hit);
        if self.requests < self.length {
            return false;
        }
        let (usual, hits) = (self.usual / PARTS, self.hits);
        let fewer = usual.saturating_sub(hits);
        self.usual = self.usual - usual + hits;
        (self.requests, self.hits) = (0, 0);
        fewer * 5 > usual && fewer * fewer > 16 * usual
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns if a part is a surprise in which the first `hits` requests are hits.
    fn part(watch: &mut Watch, hits: u64) -> bool {
        let surprises = (0..watch.length).filter(|n| watch.note(*n < hits)).count();
        surprises == 1
    }

    #[test]
    fn far_fewer_hits_are_a_surprise_until_they_are_usual() {
        let mut watch = Watch::new(2000);
        (0..100).for_each(|_| assert!(!part(&mut watch, 1000)));
        assert_eq!(watch.usual / PARTS, 1000);
        assert!(!part(&mut watch, 870), "by four standard deviations, but not by a fifth");
        let surprises = (0..100).filter(|_| part(&mut watch, 500)).count();
        assert_eq!(surprises, 11);
        assert!(!part(&mut watch, 2000), "more hits are no surprise");
    }

    #[test]
    fn chance_is_no_surprise_where_hits_are_rare() {
        let mut watch = Watch::new(2000);
        (0..100).for_each(|_| assert!(!part(&mut watch, 40)));
        assert!(!part(&mut watch, 20), "by a half, but not by four standard deviations");
        assert!(part(&mut watch, 5));
    }
}
