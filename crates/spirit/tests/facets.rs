//! What facets refuse, and what they are for the simplest of documents. That they are those of the naive index is proved with the
//! fields of random documents.

mod support;

use spirit::{
    Aggregate, Calendar, DateInterval, Document, Facet, FacetError, FieldKind, Index, Search,
    SearchError, TimeUnit, parse_time,
};
use support::tiny;

/// Visits of three days, the first two in flushed segments.
fn visits() -> Index {
    let options =
        tiny(1, 8 << 20).field("page", FieldKind::Keyword).field("ms", FieldKind::Integer);
    let index = options.field("at", FieldKind::Time(TimeUnit::Milliseconds)).open().unwrap();
    for day in 30..33 {
        for n in 0..200i64 {
            let at = parse_time("2026-01-01T12:00:00Z").unwrap() + day * 86_400_000 + n * 1000;
            let page = ["home", "about", "home", "news"][n as usize % 4];
            let document =
                Document::new().text("visit").field("page", page).field("ms", n * n % 97);
            index.add_document(&document.field("at", spirit::Value::Time(at))).unwrap();
        }
        if day < 32 {
            index.flush().unwrap();
        }
    }
    index.settle();
    index
}

#[test]
fn facets_of_plain_documents() {
    let index = visits();
    let mut reader = index.reader().unwrap();
    let field = |name: &str| name.to_owned();
    let found = reader.aggregate_text(
        "visit",
        &[
            Facet::Terms { field: field("page"), top: 2 },
            Facet::Dates { field: field("at"), interval: DateInterval::Calendar(Calendar::Month) },
            Facet::Dates { field: field("at"), interval: DateInterval::Milliseconds(86_400_000) },
            Facet::Cardinality { field: field("at") },
            Facet::Stats { field: field("ms") },
            Facet::Terms { field: field("ms"), top: 1 },
        ],
    );
    let found = found.unwrap();
    let Aggregate::Terms(pages) = &found[0] else { panic!("{found:?}") };
    assert_eq!(pages.top, [(field("home"), 300), (field("about"), 150)]);
    assert_eq!((pages.others, pages.distinct), (150, 3));
    let time = |text: &str| parse_time(&format!("{text}T00:00:00Z")).unwrap();
    assert_eq!(
        found[1],
        Aggregate::Dates(vec![(time("2026-01-01"), 200), (time("2026-02-01"), 400)])
    );
    let days = ["2026-01-31", "2026-02-01", "2026-02-02"].map(|day| (time(day), 200));
    assert_eq!(found[2], Aggregate::Dates(days.to_vec()));
    assert_eq!(found[3], Aggregate::Cardinality(600));
    let Aggregate::Stats(Some(stats)) = found[4] else { panic!("{found:?}") };
    let expected: i64 = (0..200).map(|n| n * n % 97).sum();
    assert_eq!((stats.count, stats.sum, stats.min), (600, 3.0 * expected as f64, 0.0));
    assert!((stats.mean() - expected as f64 / 200.0).abs() < 1e-9);
    let Aggregate::Terms(numbers) = &found[5] else { panic!("{found:?}") };
    assert_eq!(numbers.top, [("1".to_owned(), 15)]);
}

#[test]
fn what_is_no_facet_is_refused() {
    let index = visits();
    let mut reader = index.reader().unwrap();
    let mut refused = |facet: Facet| match reader.aggregate_text("*", &[facet]) {
        Err(SearchError::Facet(error)) => error,
        other => panic!("{other:?}"),
    };
    let field = |name: &str| name.to_owned();
    let unknown = refused(Facet::Stats { field: field("nothing") });
    assert_eq!(unknown, FacetError::UnknownField { field: field("nothing") });
    for facet in [
        Facet::Stats { field: field("text") },
        Facet::Stats { field: field("page") },
        Facet::Terms { field: field("at"), top: 3 },
        Facet::Dates { field: field("ms"), interval: DateInterval::Milliseconds(1) },
    ] {
        assert!(matches!(refused(facet), FacetError::Kind { .. }));
    }
    for interval in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = refused(Facet::Histogram { field: field("ms"), interval });
        assert!(matches!(error, FacetError::Interval { .. }));
    }
    let none = Facet::Dates { field: field("at"), interval: DateInterval::Milliseconds(0) };
    assert!(matches!(refused(none), FacetError::Interval { .. }));
    for percent in [-0.1, 100.1, f64::NAN] {
        let error = refused(Facet::Percentiles { field: field("ms"), at: vec![50.0, percent] });
        assert!(matches!(error, FacetError::Percentile { .. }));
    }
}

/// Dead documents count for nothing, and what is asked again is found again.
#[test]
fn the_dead_are_left_out() {
    let index = visits();
    for (n, page) in [(0, "home"), (1, "about"), (599, "news")] {
        assert!(index.delete(&n.to_string()).unwrap(), "{page}");
    }
    let mut reader = index.reader().unwrap();
    let pages = [Facet::Terms { field: "page".to_owned(), top: 9 }];
    for _ in 0..2 {
        let found = reader.aggregate_text("*", &pages).unwrap();
        let Aggregate::Terms(pages) = &found[0] else { panic!("{found:?}") };
        let counts: Vec<u64> = pages.top.iter().map(|(_, count)| *count).collect();
        assert_eq!(counts, [299, 149, 149]);
        assert_eq!(reader.search_text("*", Search::newest(1)).unwrap().keys().unwrap(), ["598"]);
    }
}
