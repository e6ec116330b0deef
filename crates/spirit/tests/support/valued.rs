//! Orders by fields and facets of whatever is asked, held to the naive index.

use std::collections::{BTreeMap, BTreeSet};

use spirit::facets::{Aggregate, DateInterval, Facet};
use spirit::search::Direction;
use spirit::{Clause, Index, Query, Reader, Search};
use spirit_oracle::{Document, Oracle, Value};

const DAY: i64 = 86_400_000;
/// Fields that hits are sorted by.
const SORTED: [&str; 5] = ["views", "score", "at", "flag", "channel"];

/// Hits in the order of a field, another one for each question: the first, all of them, and by pages.
pub(crate) fn check_sorted(index: &Index, oracle: &Oracle, query: &Query, asked: &Clause) {
    let mut reader = index.reader().unwrap();
    let written = asked.to_string().len();
    let field = SORTED[written % SORTED.len()];
    let descending = (written / SORTED.len()).is_multiple_of(2);
    let direction = if descending { Direction::Descending } else { Direction::Ascending };
    let expected = oracle.sorted(asked, field, descending);
    let expected: Vec<&str> = expected.iter().map(|document| &*document.key).collect();
    for k in [1, 9, Search::HITS_MAX] {
        let search = Search::by_field(k, field, direction);
        let found = reader.search(query, search).unwrap().keys().unwrap();
        let expected = &expected[..k.min(expected.len())];
        assert_eq!(found, expected, "{k} of {asked} by {field}, {direction:?}");
    }
    let (mut paged, mut search) = (Vec::new(), Search::by_field(6, field, direction));
    for _ in 0..4 {
        let hits = reader.search(query, search).unwrap();
        paged.extend(hits.keys().unwrap());
        let Some(cursor) = hits.cursor().unwrap() else { break };
        search = Search::by_field(6, field, direction).after(cursor);
    }
    let expected = &expected[..expected.len().min(24)];
    assert_eq!(paged, expected, "pages of {asked} by {field}, {direction:?}");
    check_keys(&mut reader, oracle, query, asked, written);
}

/// Hits in the order of two or three keys, by pages.
fn check_keys(reader: &mut Reader, oracle: &Oracle, query: &Query, asked: &Clause, choice: usize) {
    let is_set = |bit: usize| choice >> bit & 1 == 1;
    let keys: Vec<(&str, bool, bool)> = (0..2 + choice % 2)
        .map(|at| (SORTED[(choice + 2 * at) % SORTED.len()], is_set(at), is_set(at + 1)))
        .collect();
    let directed =
        |descending| if descending { Direction::Descending } else { Direction::Ascending };
    let first = |k| {
        let (field, descending, missing_first) = keys[0];
        let begun = Search::by_field(k, field, directed(descending));
        let begun = if missing_first { begun.missing_first() } else { begun };
        keys[1..].iter().fold(begun, |search, (field, descending, missing_first)| {
            let search = search.then_by(field, directed(*descending));
            if *missing_first { search.missing_first() } else { search }
        })
    };
    let expected = oracle.sorted_by(asked, &keys);
    let expected: Vec<&str> = expected.iter().map(|document| &*document.key).collect();
    let all = reader.search(query, first(Search::HITS_MAX)).unwrap().keys().unwrap();
    assert_eq!(all, expected, "{asked} by {keys:?}");
    let (mut paged, mut search) = (Vec::new(), first(7));
    for _ in 0..4 {
        let hits = reader.search(query, search).unwrap();
        paged.extend(hits.keys().unwrap());
        let Some(cursor) = hits.cursor().unwrap() else { break };
        search = first(7).after(cursor.to_string().parse().unwrap());
    }
    assert_eq!(paged, expected[..expected.len().min(28)], "pages of {asked} by {keys:?}");
}

/// What documents have in a field, value by value.
fn had<T>(documents: &[&Document], field: &str, of: impl Fn(&Value) -> Option<T>) -> Vec<Vec<T>> {
    let of_document = |document: &&Document| {
        let own = document.fields.iter().filter(|(name, _)| name == field);
        own.filter_map(|(_, value)| of(value)).collect()
    };
    documents.iter().map(of_document).collect()
}

/// How many documents have each different value.
fn counted<T: Ord + Clone>(had: &[Vec<T>]) -> BTreeMap<T, u64> {
    let mut counts = BTreeMap::new();
    for value in had.iter().flat_map(|values| values.iter().collect::<BTreeSet<_>>()) {
        *counts.entry(value.clone()).or_default() += 1;
    }
    counts
}

fn integer(value: &Value) -> Option<i64> {
    if let Value::Integer(number) = value { Some(*number) } else { None }
}

fn moment(value: &Value) -> Option<i64> {
    if let Value::Time(time) = value { Some(*time) } else { None }
}

fn term(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        Value::Boolean(yes) => Some(yes.to_string()),
        _ => None,
    }
}

/// Facets of each kind that is exact.
pub(crate) fn check_facets(index: &Index, oracle: &Oracle, query: &Query, asked: &Clause) {
    let facets = [
        Facet::Terms { field: "channel".into(), top: 3 },
        Facet::Terms { field: "flag".into(), top: 3 },
        Facet::Cardinality { field: "channel".into() },
        Facet::Stats { field: "views".into() },
        Facet::Histogram { field: "views".into(), interval: 5.0 },
        Facet::Dates { field: "at".into(), interval: DateInterval::Milliseconds(DAY) },
    ];
    let documents: Vec<&Document> = oracle.matches(asked).collect();
    let found = index.reader().unwrap().aggregate(query, &facets).unwrap();
    for (facet, found) in facets.iter().zip(&found) {
        check_facet(facet, found, &documents, &format!("{facet:?} of {asked}"));
    }
}

fn check_facet(facet: &Facet, found: &Aggregate, documents: &[&Document], of: &str) {
    match (facet, found) {
        (Facet::Terms { field, top }, Aggregate::Terms(terms)) => {
            let mut all: Vec<_> = counted(&had(documents, field, term)).into_iter().collect();
            all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            assert_eq!(terms.distinct, all.len() as u64, "{of}");
            let others: u64 = all.iter().skip(*top).map(|(_, count)| count).sum();
            all.truncate(*top);
            assert_eq!((&terms.top, terms.others), (&all, others), "{of}");
        }
        (Facet::Cardinality { field }, Aggregate::Cardinality(count)) => {
            assert_eq!(*count, counted(&had(documents, field, term)).len() as u64, "{of}");
        }
        (Facet::Stats { field }, Aggregate::Stats(found)) => {
            let all: Vec<i64> = had(documents, field, integer).into_iter().flatten().collect();
            let sum = all.iter().map(|number| i128::from(*number)).sum::<i128>() as f64;
            let ends = all.iter().min().zip(all.iter().max());
            let expected = ends.map(|(min, max)| (all.len() as u64, *min as f64, *max as f64, sum));
            assert_eq!(found.map(|s| (s.count, s.min, s.max, s.sum)), expected, "{of}");
        }
        (Facet::Histogram { field, interval }, Aggregate::Histogram(found)) => {
            let bucket = |value: &Value| Some((integer(value)? as f64 / interval).floor() as i64);
            let expected = counted(&had(documents, field, bucket)).into_iter();
            let expected: Vec<_> = expected.map(|(at, n)| (at as f64 * interval, n)).collect();
            assert_eq!(*found, expected, "{of}");
        }
        (Facet::Dates { field, .. }, Aggregate::Dates(found)) => {
            let day = |value: &Value| Some(moment(value)?.div_euclid(DAY) * DAY);
            let expected: Vec<_> = counted(&had(documents, field, day)).into_iter().collect();
            assert_eq!(*found, expected, "{of}");
        }
        other => panic!("{other:?}"),
    }
}
