//! Triggers: the terms of new rows lead to the standing queries that may match them.
//!
//! Each term of a standing query has a number. A row's [vector](spirit_index::rows) has the ordinals of
//! its terms in its segment. For each segment that is being filled, an array knows by ordinal which
//! number a term has. So a term is looked up once for each segment, and each of its occurrences costs one
//! load.
//!
//! A query is entered under its [necessary terms](spirit_query::Query::necessary_terms). Its other terms
//! have numbers only to [decide](spirit_query::Decider) it.

use foldhash::{HashMap, HashMapExt};

use spirit_index::ground::{SegmentId, TermKey};
use spirit_index::snapshot::{FRESH_MAX, Segment};

use super::row_terms::RowTerms;

/// The number of a standing query.
pub(super) type QueryId = u32;

/// An ordinal that was not looked up yet, and one whose term no query has. Others are numbers of terms,
/// plus two.
const UNKNOWN: u32 = 0;
const NO_TERM: u32 = 1;

/// A term of standing queries.
struct Watched {
    key: TermKey,
    /// How often queries have it.
    uses: u32,
    /// The queries that are entered under it.
    queries: Vec<QueryId>,
}

/// The terms of a query, by their numbers.
pub(super) struct Numbers {
    /// Each of the query's terms.
    pub(super) terms: Vec<u32>,
    /// Those that it is entered under. `None` if it has no necessary terms.
    necessary: Option<Vec<u32>>,
}

/// Standing queries by the terms that their matches have.
pub(super) struct Triggers {
    terms: Vec<Watched>,
    by_key: HashMap<TermKey, u32>,
    /// Numbers without a term.
    unused: Vec<u32>,
    /// Queries without necessary terms.
    always: Vec<QueryId>,
    /// Segments of each executor, the newest last.
    segments: Vec<Vec<(SegmentId, Vec<u32>)>>,
}

impl Triggers {
    pub(super) fn new(executors: usize) -> Triggers {
        let segments = (0..executors).map(|_| Vec::new()).collect();
        let (terms, unused, always) = (Vec::new(), Vec::new(), Vec::new());
        Triggers { terms, by_key: HashMap::new(), unused, always, segments }
    }

    /// Enters a query, which has some terms, under its necessary ones of them.
    pub(super) fn add(
        &mut self,
        query: QueryId,
        keys: impl Iterator<Item = TermKey>,
        necessary: Option<&[TermKey]>,
    ) -> Numbers {
        let terms = keys.map(|key| self.number(key)).collect();
        let Some(necessary) = necessary else {
            self.always.push(query);
            return Numbers { terms, necessary: None };
        };
        let necessary: Vec<u32> = necessary.iter().map(|key| self.number(*key)).collect();
        for term in &necessary {
            self.terms[*term as usize].queries.push(query);
        }
        Numbers { terms, necessary: Some(necessary) }
    }

    /// Returns the number of a term that one more query has.
    fn number(&mut self, key: TermKey) -> u32 {
        let number = match self.by_key.get(&key) {
            Some(number) => *number,
            None => self.new_number(key),
        };
        self.terms[number as usize].uses += 1;
        number
    }

    fn new_number(&mut self, key: TermKey) -> u32 {
        let number = self.unused.pop().unwrap_or_else(|| {
            self.terms.push(Watched { key, uses: 0, queries: Vec::new() });
            self.terms.len() as u32 - 1
        });
        self.terms[number as usize].key = key;
        self.by_key.insert(key, number);
        self.forget_segments();
        number
    }

    /// Removes a query.
    pub(super) fn remove(&mut self, query: QueryId, numbers: &Numbers) {
        match &numbers.necessary {
            None => self.always.retain(|other| *other != query),
            Some(necessary) => necessary.iter().for_each(|term| {
                self.terms[*term as usize].queries.retain(|other| *other != query);
            }),
        }
        for number in numbers.terms.iter().chain(numbers.necessary.iter().flatten()) {
            let term = &mut self.terms[*number as usize];
            term.uses -= 1;
            if term.uses == 0 {
                self.by_key.remove(&term.key);
                self.unused.push(*number);
                self.forget_segments();
            }
        }
    }

    /// What was known of ordinals holds as long as the same terms have numbers.
    fn forget_segments(&mut self) {
        self.segments.iter_mut().for_each(Vec::clear);
    }

    /// Returns the queries that are asked about any row.
    pub(super) fn always(&self) -> &[QueryId] {
        &self.always
    }

    /// Returns the queries that are entered under a term.
    pub(super) fn queries(&self, term: u32) -> &[QueryId] {
        &self.terms[term as usize].queries
    }

    /// Reads the terms of a row of a fresh segment.
    pub(super) fn read(
        &mut self,
        executor: usize,
        segment: &Segment<'_>,
        local: u32,
        into: &mut RowTerms,
    ) {
        let known = known(&mut self.segments[executor], segment.id());
        let row = segment.vector_row(local);
        let (vectors, extent, terms) =
            (segment.vectors(), segment.extent(), segment.fresh_ordinals());
        into.begin(self.terms.len());
        for (position, ordinal) in (0..).zip(vectors.ordinals(row.vector(), row.tokens())) {
            let Some(ordinal) = ordinal.filter(|ordinal| terms.contains(ordinal)) else { continue };
            let place = ordinal as usize;
            if place >= known.len() {
                known.resize((place + 1).next_power_of_two(), UNKNOWN);
            }
            if known[place] == UNKNOWN {
                let number = self.by_key.get(&extent.record(ordinal).key());
                known[place] = number.map_or(NO_TERM, |number| number + 2);
            }
            if let Some(number) = known[place].checked_sub(2) {
                into.push(position, number);
            }
        }
    }
}

/// Returns what is known of a segment's ordinals.
fn known(segments: &mut Vec<(SegmentId, Vec<u32>)>, id: SegmentId) -> &mut Vec<u32> {
    let place = segments.iter().position(|(other, _)| *other == id).unwrap_or_else(|| {
        // The memory of a segment that is not filled any more serves the next one.
        let mut known = match segments.len() {
            FRESH_MAX.. => segments.remove(0).1,
            _ => Vec::new(),
        };
        known.clear();
        segments.push((id, known));
        segments.len() - 1
    });
    &mut segments[place].1
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirit_index::ground::{FieldId, Term};

    fn key(word: &str) -> TermKey {
        Term::new(FieldId::TEXT, word.as_bytes()).unwrap().key
    }

    #[test]
    fn numbers_are_used_again() {
        let mut triggers = Triggers::new(1);
        for round in 0..1_000 {
            let terms = [key(&format!("a{round}")), key("sea"), key("sky")];
            let entered = triggers.add(round, terms.into_iter(), Some(&terms[..2]));
            let asked = triggers.add(round + 1_000, terms.into_iter(), None);
            assert_eq!(entered.terms, asked.terms);
            assert_eq!(triggers.queries(entered.terms[1]), [round]);
            assert!(triggers.queries(entered.terms[2]).is_empty());
            triggers.remove(round, &entered);
            triggers.remove(round + 1_000, &asked);
        }
        assert_eq!((triggers.by_key.len(), triggers.terms.len()), (0, 3));
        assert!(triggers.always().is_empty());
    }
}
