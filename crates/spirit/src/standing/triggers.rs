//! Triggers: the terms of new rows lead to the standing queries that must be asked about them.
//!
//! A query is entered under its [necessary terms](spirit_query::Query::necessary_terms). A row's
//! [vector](spirit_index::rows) has the ordinals of its terms in its segment. For each segment that
//! is being filled, an array knows by ordinal which list of queries a term has. So a term is looked up
//! once for each segment, and each of its occurrences costs one load.

use std::collections::HashMap;

use spirit_index::ground::{SegmentId, TermKey};
use spirit_index::snapshot::{FRESH_MAX, Segment};

/// The number of a standing query.
pub(super) type QueryId = u32;

/// An ordinal that was not looked up yet, and one whose term leads to no query. Others are numbers of
/// lists, plus two.
const UNKNOWN: u32 = 0;
const NO_LIST: u32 = 1;

/// Standing queries by the terms that their matches have.
#[derive(Default)]
pub(super) struct Triggers {
    lists: Vec<Vec<QueryId>>,
    by_term: HashMap<TermKey, u32>,
    /// Numbers of lists without a term.
    unused: Vec<u32>,
    /// Queries without necessary terms.
    always: Vec<QueryId>,
    /// Segments of each executor, the newest last.
    segments: Vec<Vec<(SegmentId, Vec<u32>)>>,
}

impl Triggers {
    pub(super) fn new(executors: usize) -> Triggers {
        Triggers { segments: (0..executors).map(|_| Vec::new()).collect(), ..Triggers::default() }
    }

    /// Enters a query under its necessary terms.
    pub(super) fn add(&mut self, query: QueryId, terms: Option<&[TermKey]>) {
        let Some(terms) = terms else { return self.always.push(query) };
        for term in terms {
            let list = match self.by_term.get(term) {
                Some(list) => *list,
                None => self.new_list(*term),
            };
            self.lists[list as usize].push(query);
        }
    }

    fn new_list(&mut self, term: TermKey) -> u32 {
        let list = self.unused.pop().unwrap_or_else(|| {
            self.lists.push(Vec::new());
            self.lists.len() as u32 - 1
        });
        self.by_term.insert(term, list);
        self.forget_segments();
        list
    }

    /// Removes a query.
    pub(super) fn remove(&mut self, query: QueryId, terms: Option<&[TermKey]>) {
        let Some(terms) = terms else { return self.always.retain(|other| *other != query) };
        for term in terms {
            let Some(list) = self.by_term.get(term).copied() else { continue };
            let queries = &mut self.lists[list as usize];
            queries.retain(|other| *other != query);
            if queries.is_empty() {
                self.by_term.remove(term);
                self.unused.push(list);
                self.forget_segments();
            }
        }
    }

    /// What was known of ordinals holds as long as the same terms have lists.
    fn forget_segments(&mut self) {
        self.segments.iter_mut().for_each(Vec::clear);
    }

    /// Returns the queries that are asked about any row.
    pub(super) fn always(&self) -> &[QueryId] {
        &self.always
    }

    /// Calls `visit` with each query that a row of a fresh segment leads to, and the key of the term.
    /// A query may come several times.
    pub(super) fn each_of_row(
        &mut self,
        executor: usize,
        segment: &Segment<'_>,
        local: u32,
        mut visit: impl FnMut(QueryId, TermKey),
    ) {
        let known = known(&mut self.segments[executor], segment.id());
        let row = segment.vector_row(local);
        let (vectors, extent, terms) =
            (segment.vectors(), segment.extent(), segment.fresh_ordinals());
        let ordinals = vectors.ordinals(row.vector(), row.tokens()).flatten();
        for ordinal in ordinals.filter(|ordinal| terms.contains(ordinal)) {
            let place = ordinal as usize;
            if place >= known.len() {
                known.resize((place + 1).next_power_of_two(), UNKNOWN);
            }
            if known[place] == UNKNOWN {
                let list = self.by_term.get(&extent.record(ordinal).key());
                known[place] = list.map_or(NO_LIST, |list| list + 2);
            }
            if let Some(list) = known[place].checked_sub(2) {
                let key = extent.record(ordinal).key();
                self.lists[list as usize].iter().for_each(|query| visit(*query, key));
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
    fn lists_are_used_again() {
        let mut triggers = Triggers::new(1);
        for round in 0..1_000 {
            let terms = [key(&format!("a{round}")), key("sea")];
            triggers.add(round, Some(&terms));
            triggers.add(round + 1_000, None);
            triggers.remove(round, Some(&terms));
            triggers.remove(round + 1_000, None);
        }
        assert_eq!((triggers.by_term.len(), triggers.lists.len()), (0, 2));
        assert!(triggers.always().is_empty());
    }
}
