//! How many queries two engines answer alike, and the first that they do not.

use spirit_peer_protocol::{Answer, Query as Tree};

use crate::bm25::{Bm25, Document};
use crate::equal::{self, Difference};
use crate::language;
use crate::peers::Outcome;

use super::side::Side;
use super::{Asked, K};

/// Queries of one class and two engines.
#[derive(Default)]
pub(super) struct Tally {
    equal: usize,
    different: usize,
    /// Queries that one of the two does not have, or means something else by.
    unsupported: usize,
    /// The first difference, with its query and both answers.
    pub(super) first: Option<String>,
}

/// What two engines answer differently, and how.
struct Wrong<'a> {
    what: String,
    difference: Difference,
    answers: [&'a Answer; 2],
}

impl Tally {
    /// Compares the answers to one query.
    pub(super) fn add(&mut self, asked: &Asked<'_>, number: usize, sides: [&Side; 2]) {
        let query = &asked.set.queries[number].query;
        let newest = both(sides, sides.map(|side| &side.newest[number]));
        let best = both(sides, sides.map(|side| &side.best[number]));
        let wrong = newest
            .and_then(newest_differ)
            .or_else(|| best.and_then(|best| best_differ(asked, query, sides, best)));
        match wrong {
            _ if newest.is_none() && best.is_none() => self.unsupported += 1,
            None => self.equal += 1,
            Some(wrong) => {
                self.different += 1;
                self.first.get_or_insert_with(|| wrong.text(query, sides));
            }
        }
    }

    /// How many queries are what.
    pub(super) fn figures(&self) -> [(&'static str, usize); 3] {
        let Tally { equal, different, unsupported, .. } = *self;
        [("equal", equal), ("different", different), ("unsupported", unsupported)]
    }

    /// The same in few words.
    pub(super) fn cell(&self) -> String {
        let Tally { equal, different, unsupported, .. } = *self;
        let mut text = if equal + different > 0 { equal.to_string() } else { "-".to_owned() };
        if different > 0 {
            text.push_str(&format!(", {different} differ"));
        }
        if unsupported > 0 && equal + different > 0 {
            text.push_str(&format!(", {unsupported} lacking"));
        }
        text
    }
}

impl Wrong<'_> {
    fn text(&self, query: &Tree, sides: [&Side; 2]) -> String {
        let Wrong { what, difference, answers } = self;
        let said = |at: usize| {
            let Answer { count, keys, scores, .. } = answers[at];
            format!("{}: {count} matches, {keys:?} {scores:?}", sides[at].name)
        };
        let query = language::shown(query);
        format!("{what} for `{query}`: {difference}\n      {}\n      {}", said(0), said(1))
    }
}

fn newest_differ(answers: [&Answer; 2]) -> Option<Wrong<'_>> {
    let difference = equal::newest(answers[0], answers[1]).err()?;
    let counts = matches!(difference, Difference::Counts(_));
    let what = if counts { "counts" } else { "newest" }.to_owned();
    Some(Wrong { what, difference, answers })
}

/// Each list is held to what its engine promises; where that cannot be computed, nothing is said.
fn best_differ<'a>(
    asked: &Asked<'_>,
    query: &Tree,
    sides: [&Side; 2],
    answers: [&'a Answer; 2],
) -> Option<Wrong<'a>> {
    let [a, b] = answers;
    let wrong = |what: String, difference| Some(Wrong { what, difference, answers });
    if sides.iter().all(|side| side.is_ours) {
        return equal::same(a, b).err().and_then(|difference| wrong("best".to_owned(), difference));
    }
    for (side, [answer, other]) in [(sides[0], [a, b]), (sides[1], [b, a])] {
        let bm25 = Bm25 { statistics: asked.statistics, convention: side.convention? };
        let document = |number| {
            let row = asked.columns.map(|columns| columns.row(number));
            Document::new(asked.corpus.get(number)).with(row)
        };
        let score = |key| bm25.score(query, &document(key as usize));
        if let Err(difference) = equal::ranked(answer, other, K, score).ok()? {
            return wrong(format!("best of {}", side.name), difference);
        }
    }
    let difference = equal::counts(a, b).err()?;
    wrong("counts".to_owned(), difference)
}

/// Both answers, if both engines have the query and mean the same by it; one engine in two ways always does.
fn both<'a>(sides: [&Side; 2], [a, b]: [&'a Outcome; 2]) -> Option<[&'a Answer; 2]> {
    let answers = [a.as_ref().ok()?, b.as_ref().ok()?];
    let means_the_same = sides.iter().all(|side| side.is_ours)
        || answers.iter().all(|answer| answer.differs.is_none());
    means_the_same.then_some(answers)
}
