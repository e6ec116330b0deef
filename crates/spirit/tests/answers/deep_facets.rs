//! Facets eight deep keep to their limits: documents with many values are in many buckets of each.

use std::time::{Duration, Instant};

use spirit::facets::Facet;
use spirit::search::Limits;
use spirit::{Document, FieldKind, Index, SearchError};

use crate::support::tiny;

fn terms() -> Facet {
    Facet::Terms { field: "tag".into(), top: 3 }
}

/// Puts facets within each other.
fn chain(facet: impl Fn() -> Facet, depth: usize) -> Facet {
    (1..depth).fold(facet(), |within, _| facet().then(within))
}

/// An index of documents that have as many tags each.
fn tagged(documents: usize, tags: usize) -> Index {
    let options = tiny(1, 16 << 20).field("tag", FieldKind::Keyword);
    let index = options.field("n", FieldKind::Integer).open().unwrap();
    for n in 0..documents {
        let document = Document::new().text("sea").field("n", n as i64);
        let tags: Vec<String> = (0..tags).map(|tag| format!("t{tag}")).collect();
        let document = tags.iter().fold(document, |document, tag| document.field("tag", &**tag));
        index.add(document).unwrap();
    }
    index
}

/// Calls `ask` for documents that are fresh, then for the same ones in a flushed segment.
fn fresh_and_flushed(index: &Index, mut ask: impl FnMut()) {
    ask();
    index.flush().unwrap();
    index.settle();
    ask();
}

#[test]
fn eight_levels_are_answered_and_nine_refused() {
    let index = tagged(5, 2);
    fresh_and_flushed(&index, || {
        let mut reader = index.reader().unwrap();
        let found = reader.aggregate("*", &[chain(terms, Facet::DEPTH_MAX)]).unwrap();
        let text = format!("{found:?}");
        let innermost = text.matches(r#"(Some("t1"), 5, [])"#).count();
        let others = text.matches(r#"(Some("t1"), 5, [B"#).count();
        assert_eq!((innermost, others), (1 << 7, (1 << 7) - 1));
        let refused = reader.aggregate("*", &[chain(terms, Facet::DEPTH_MAX + 1)]);
        let max = Facet::DEPTH_MAX;
        assert_eq!(refused, Err(SearchError::FacetDepth { field: "tag".into(), max }));
    });
}

/// One document with 30 tags is in 30^8 buckets. None of the limits waits for its end.
#[test]
fn one_document_takes_no_more_than_the_limits() {
    let index = tagged(1, 30);
    fresh_and_flushed(&index, || {
        let mut reader = index.reader().unwrap();
        let deep = [chain(terms, Facet::DEPTH_MAX)];
        let error = reader.aggregate("*", &deep).unwrap_err();
        let (buckets, bytes) = (Facet::BUCKETS_MAX, Limits::default().facet_bytes);
        let is_limit = matches!(error, SearchError::TooManyBuckets { max } if max == buckets)
            || error == SearchError::FacetMemory { max: bytes };
        assert!(is_limit, "{error:?}");
        reader.limits(Limits { facet_bytes: 1 << 20, ..Limits::default() });
        let stopped = SearchError::FacetMemory { max: 1 << 20 };
        assert_eq!(reader.aggregate("*", &deep).unwrap_err(), stopped);
    });
}

/// Ranges are all in the answer, so eight of them within each other make buckets without documents.
#[test]
fn empty_buckets_within_each_other_are_limited() {
    let index = tagged(1, 1);
    let ranges = || {
        let ranges = (0..30).map(|n| (Some(f64::from(n)), Some(f64::from(n + 1)))).collect();
        Facet::Ranges { field: "n".into(), ranges }
    };
    let mut reader = index.reader().unwrap();
    let error = reader.aggregate("*", &[chain(ranges, Facet::DEPTH_MAX)]).unwrap_err();
    assert!(matches!(error, SearchError::TooManyBuckets { .. }), "{error:?}");
    assert!(reader.aggregate("*", &[chain(ranges, 3)]).is_ok());
}

/// Each document is in 5^8 buckets, which is too few to be refused, but many documents take long.
#[test]
fn a_deadline_ends_facets_between_documents() {
    let index = tagged(300, 5);
    fresh_and_flushed(&index, || {
        let mut reader = index.reader().unwrap();
        let start = Instant::now();
        let timeout = Some(Duration::from_millis(300));
        reader.limits(Limits { timeout, ..Limits::default() });
        let found = reader.aggregate("*", &[chain(terms, Facet::DEPTH_MAX)]);
        assert_eq!(found, Err(SearchError::TimedOut));
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    });
}
