//! The newest matches of either of two terms, of which each has a list of its own. So the entry also
//! answers the questions for one term, exactly: see [`matching`](super::matching).
//!
//! | words of the value | |
//! |---|---|
//! | 0, 1 | [footing](super::footing), with 1 if the first list is cut, and 2 if the second one is |
//! | 2 | first position (high half) and end (low half) of the segments |
//! | 3 | words of the first list |
//! | the rest | the matches of the first list, then those of the second, newest first, in [runs](super::runs) |
//!
//! Each list is renewed like that of a single term. A match of both terms is in both. Both lists
//! together have the newest matches of either term: if a list is cut, it has as many as are wanted,
//! so nothing that it lacks is among these.

use spirit_query::{Address, Stop, take_term};

use super::footing::Footing;
use super::known::KnownPair;
use super::pair::Pair;
use super::runs;
use super::{Caller, Candidate, Outcome, Recall};

impl Candidate<'_> {
    /// Adds the newest matches in registered segments to `hits`, with what is known of each term,
    /// until there are `end`. Those from `first` on are in registered segments.
    pub(super) fn newest_of_either(
        self,
        known: Option<KnownPair>,
        (mut caller, footing): (Caller<'_>, Footing),
        (first, end): (usize, usize),
        k: usize,
        hits: &mut Vec<Address>,
        recall: &mut Recall,
    ) -> Result<(), Stop> {
        let Recall { value, pair: Pair { query, lists }, .. } = recall;
        let (mut is_cut, mut outcomes) = ([true; 2], [Outcome::Hit; 2]);
        for (number, list) in lists.iter_mut().enumerate() {
            take_term(query, caller.query, number);
            let mut of_term = caller.with(query);
            let known = known.map(|known| known.list(number));
            let words = known
                .as_ref()
                .map_or(&[][..], |(_, range)| &value[range.start..range.end.min(value.len())]);
            list.clear();
            let known = known.map(|(known, _)| (known, words));
            (outcomes[number], is_cut[number]) =
                of_term.newest_registered(known, end - first, k, list)?;
        }
        merge(lists, first + k, hits);
        if outcomes != [Outcome::Hit; 2] {
            self.keep_pair(footing, is_cut, hits.len() - first, &caller, recall);
        }
        hits.truncate(end);
        outcomes.into_iter().for_each(|outcome| self.note(outcome, recall));
        Ok(())
    }

    /// Keeps both lists, which together have at least `found` matches.
    fn keep_pair(
        self,
        footing: Footing,
        is_cut: [bool; 2],
        found: usize,
        caller: &Caller<'_>,
        recall: &mut Recall,
    ) {
        if (found as u64) < self.cache.settings.matches_min {
            return;
        }
        let Recall { value, pair: Pair { lists, .. }, .. } = recall;
        value.clear();
        footing.write(u32::from(is_cut[0]) | u32::from(is_cut[1]) << 1, value);
        value.extend([caller.snapshot.window().word(), 0]);
        let (count, first) = (value.len() - 1, value.len());
        runs::write(&lists[0], value);
        value[count] = (value.len() - first) as u64;
        runs::write(&lists[1], value);
        recall.wait(caller.executor);
    }
}

/// Adds the matches of both lists to `hits`, newest first and each once, until there are `end`.
fn merge(lists: &[Vec<Address>; 2], end: usize, hits: &mut Vec<Address>) {
    let age = |hit: &&Address| (hit.segment.position(), hit.local);
    let [mut a, mut b] = lists.each_ref().map(|list| list.iter().peekable());
    while hits.len() < end {
        let (of_a, of_b) = (a.peek().map(age), b.peek().map(age));
        // None is less than any.
        let newest = if of_a >= of_b { a.next() } else { b.next() };
        if of_a == of_b {
            b.next();
        }
        match newest {
            Some(hit) => hits.push(*hit),
            None => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use spirit_index::ground::SegmentId;

    use super::*;

    #[test]
    fn a_match_of_both_terms_is_there_once() {
        let hit = |position: u32, local: u32| {
            let segment = SegmentId::first(position);
            Address { executor: 0, segment, local }
        };
        let lists = [vec![hit(3, 9), hit(3, 4), hit(1, 7)], vec![hit(3, 4), hit(2, 8), hit(1, 7)]];
        let all = [hit(3, 9), hit(3, 4), hit(2, 8), hit(1, 7)];
        for end in 0..6 {
            let mut hits = Vec::new();
            merge(&lists, end, &mut hits);
            assert_eq!(hits, all[..end.min(4)]);
        }
    }
}
