//! Any facets of any query: they are refused, or answered, and what they count is there.

use std::cell::RefCell;
use std::sync::OnceLock;

use spirit::facets::{Aggregate, DateInterval, Facet};
use spirit::schema::TimeUnit;
use spirit::{Document, FieldKind, Index, Reader, SearchError};

use crate::bytes::Bytes;

const FIELDS: [&str; 7] = ["n", "x", "at", "tag", "flag", "text", "none"];
const QUERIES: [&str; 4] = ["*", "a", "b", "n:>3"];

fn index() -> &'static Index {
    static INDEX: OnceLock<Index> = OnceLock::new();
    INDEX.get_or_init(|| {
        let options = Index::builder().dram_bytes(4 << 20).segment_bytes(64 << 10).executors(2);
        let options = options.field("tag", FieldKind::Keyword);
        let options = options.field("at", FieldKind::Time(TimeUnit::Milliseconds));
        let index = options.open().expect("these settings are good");
        let numbers = [0.0, -0.0, 1.5, f64::MAX, f64::MIN, f64::INFINITY, f64::NAN, 5e-324];
        for n in 0..120_i64 {
            let (tag, x) = (format!("t{}", n % 7), numbers[n as usize % numbers.len()]);
            let far = [n, i64::MAX - n, i64::MIN + n, n * 86_400_000][n as usize % 4];
            let document = Document::new().text(if n % 2 == 0 { "a" } else { "a b" });
            let document = document.field("n", far).field("x", x).field("at", far);
            let document = document.field("tag", &tag).field("flag", n % 3 == 0);
            index.add(&document).expect("the heap is large enough");
            if n % 50 == 0 {
                index.flush().expect("it goes on");
            }
        }
        index
    })
}

thread_local! {
    static READER: RefCell<Reader> =
        RefCell::new(index().reader().expect("a reader a thread"));
}

/// Asks for the facets that `data` says.
pub fn facets(data: &[u8]) {
    let mut bytes = Bytes(data);
    let query = QUERIES[usize::from(bytes.byte()) % QUERIES.len()];
    let mut facets = Vec::new();
    while !bytes.is_empty() && facets.len() < 5 {
        facets.push(facet(&mut bytes));
    }
    READER.with_borrow_mut(|reader| match reader.aggregate(query, &facets) {
        Ok(found) => {
            assert_eq!(found.len(), facets.len());
            facets.iter().zip(&found).for_each(|(facet, found)| check(facet, found));
        }
        Err(
            error @ (SearchError::Unaggregatable { .. }
            | SearchError::FacetInterval { .. }
            | SearchError::Percentile { .. }
            | SearchError::TooManyFacets { .. }),
        ) => assert!(!error.to_string().is_empty()),
        Err(error) => panic!("{error}: {facets:?}"),
    });
}

fn facet(bytes: &mut Bytes<'_>) -> Facet {
    let kind = bytes.byte() % 7;
    let field = FIELDS[usize::from(bytes.byte()) % FIELDS.len()].to_owned();
    match kind {
        0 => Facet::Terms { field, top: usize::from(bytes.byte()) },
        1 => Facet::Histogram { field, interval: number(bytes) },
        2 => {
            let interval = DateInterval::Milliseconds(number(bytes) as i64);
            Facet::Dates { field, interval }
        }
        3 => Facet::Dates { field, interval: DateInterval::Month },
        4 => Facet::Stats { field },
        5 => Facet::Cardinality { field },
        _ => Facet::Percentiles { field, at: vec![number(bytes), f64::from(bytes.byte())] },
    }
}

/// Any number, those that are none among them.
fn number(bytes: &mut Bytes<'_>) -> f64 {
    match bytes.byte() {
        0 => f64::from_bits((0..8).fold(0, |bits, _| bits << 8 | u64::from(bytes.byte()))),
        1 => [0.0, -1.0, f64::NAN, f64::INFINITY][usize::from(bytes.byte()) % 4],
        _ => f64::from(bytes.number()) / 8.0,
    }
}

fn check(facet: &Facet, found: &Aggregate) {
    match found {
        Aggregate::Terms(terms) => {
            assert!(terms.top.len() as u64 <= terms.distinct, "{facet:?}");
            assert!(terms.top.is_sorted_by(|a, b| a.1 >= b.1), "{facet:?}");
        }
        Aggregate::Histogram(buckets) => assert!(buckets.iter().all(|(_, n)| *n > 0), "{facet:?}"),
        Aggregate::Dates(buckets) => {
            assert!(buckets.is_sorted_by(|a, b| a.0 < b.0), "{facet:?}: {buckets:?}");
        }
        Aggregate::Stats(summary) => assert!(summary.is_none_or(|s| s.min <= s.max), "{facet:?}"),
        Aggregate::Percentiles(at) => assert!(at.len() <= 2, "{facet:?}"),
        Aggregate::Cardinality(_) => {}
        other => panic!("{other:?} of {facet:?}"),
    }
}
