//! What facets refuse, and what they are for the simplest of documents. That they are those of the naive index is proved with the
//! fields of random documents.

mod support;

use spirit::facets::{Aggregate, DateInterval, Facet, TopTerms};
use spirit::lab::parse_time;
use spirit::schema::TimeUnit;
use spirit::search::Limits;
use spirit::{Document, FieldKind, Index, Search, SearchError, Value};
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
            index.add(document.field("at", spirit::Value::Time(at))).unwrap();
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
    let found = reader.aggregate(
        "visit",
        &[
            Facet::Terms { field: field("page"), top: 2 },
            Facet::Dates { field: field("at"), interval: DateInterval::Month },
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
    let mut refused = |facet: Facet| match reader.aggregate("*", &[facet]) {
        Err(error) => error,
        found => panic!("{found:?}"),
    };
    let field = |name: &str| name.to_owned();
    let unknown = refused(Facet::Stats { field: field("nothing") });
    assert_eq!(
        unknown,
        SearchError::Unaggregatable { field: field("nothing"), kind: None, wanted: "" }
    );
    for facet in [
        Facet::Stats { field: field("text") },
        Facet::Stats { field: field("page") },
        Facet::Terms { field: field("at"), top: 3 },
        Facet::Dates { field: field("ms"), interval: DateInterval::Milliseconds(1) },
    ] {
        assert!(matches!(refused(facet), SearchError::Unaggregatable { kind: Some(_), .. }));
    }
    for interval in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = refused(Facet::Histogram { field: field("ms"), interval });
        assert!(matches!(error, SearchError::FacetInterval { .. }));
    }
    let none = Facet::Dates { field: field("at"), interval: DateInterval::Milliseconds(0) };
    assert!(matches!(refused(none), SearchError::FacetInterval { .. }));
    for percent in [-0.1, 100.1, f64::NAN] {
        let error = refused(Facet::Percentiles { field: field("ms"), at: vec![50.0, percent] });
        assert!(matches!(error, SearchError::Percentile { .. }));
    }
}

/// Long keywords, many different numbers, or many facets: what all of it takes is limited, wherever the documents are.
#[test]
fn facets_take_no_more_memory_than_they_may() {
    let options = tiny(1, 16 << 20).field("long", FieldKind::Keyword);
    let options = options.field("n", FieldKind::Integer);
    let index = options.field("at", FieldKind::Time(TimeUnit::Milliseconds)).open().unwrap();
    for n in 0..2000i64 {
        let long = format!("{n:0200}");
        let document = Document::new().text("sea").field("long", &*long).field("n", n);
        index.add(document.field("at", Value::Time(n))).unwrap();
    }
    let mut reader = index.reader().unwrap();
    let [long, n, at] = ["long", "n", "at"].map(str::to_owned);
    // How many bytes they take at least, and at most: keywords, their counts, slots of a table, nodes of a tree.
    let sizes = [
        (Facet::Terms { field: long, top: 1 }, 2000 * 200, 700 << 10),
        (Facet::Terms { field: n.clone(), top: 1 }, 2000 * 16, 80 << 10),
        (Facet::Histogram { field: n.clone(), interval: 1.0 }, 2000 * 16, 110 << 10),
        (Facet::Dates { field: at, interval: DateInterval::Milliseconds(1) }, 2000 * 16, 110 << 10),
        (Facet::Cardinality { field: n.clone() }, 2000 * 8, 40 << 10),
        (Facet::Percentiles { field: n, at: vec![50.0] }, 2000 * 8, 110 << 10),
    ];
    for flushed in [false, true] {
        if flushed {
            index.flush().unwrap();
            index.settle();
        }
        for (facet, low, high) in &sizes {
            let mut within = |facets: usize, facet_bytes: usize| {
                reader.limits(Limits { facet_bytes, ..Limits::default() });
                let stopped = SearchError::FacetMemory { max: facet_bytes };
                match reader.aggregate("*", &vec![facet.clone(); facets]) {
                    Ok(found) => found.len() == facets,
                    Err(error) => {
                        assert_eq!(error, stopped);
                        false
                    }
                }
            };
            assert!(!within(1, *low), "{facet:?}, flushed: {flushed}");
            assert!(within(1, *high), "{facet:?}, flushed: {flushed}");
            assert!(!within(10, *low * 10) && within(10, *high * 10), "{facet:?}");
        }
        reader.limits(Limits::default());
        let stats = Facet::Stats { field: "n".to_owned() };
        assert!(reader.aggregate("*", &vec![stats.clone(); Facet::COUNT_MAX]).is_ok());
        let (facets, max) = (Facet::COUNT_MAX + 1, Facet::COUNT_MAX);
        let refused = reader.aggregate("*", &vec![stats; facets]);
        assert_eq!(refused, Err(SearchError::TooManyFacets { facets, max }));
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
        let found = reader.aggregate("*", &pages).unwrap();
        let Aggregate::Terms(pages) = &found[0] else { panic!("{found:?}") };
        let counts: Vec<u64> = pages.top.iter().map(|(_, count)| *count).collect();
        assert_eq!(counts, [299, 149, 149]);
        assert_eq!(reader.search("*", Search::newest(1)).unwrap().keys().unwrap(), ["598"]);
    }
}

/// One facet of each kind.
fn each_kind() -> [Facet; 7] {
    let [page, ms, at] = ["page", "ms", "at"].map(str::to_owned);
    let day = DateInterval::Milliseconds(86_400_000);
    [
        Facet::Terms { field: page.clone(), top: 5 },
        Facet::Cardinality { field: page },
        Facet::Terms { field: ms.clone(), top: 5 },
        Facet::Histogram { field: ms.clone(), interval: 10.0 },
        Facet::Stats { field: ms.clone() },
        Facet::Percentiles { field: ms, at: vec![50.0] },
        Facet::Dates { field: at, interval: day },
    ]
}

/// Facets of no document at all, of executors and segments that have none of the values, and then of one value.
#[test]
fn facets_of_nothing_are_empty() {
    let nothing = [
        Aggregate::Terms(TopTerms::default()),
        Aggregate::Cardinality(0),
        Aggregate::Terms(TopTerms::default()),
        Aggregate::Histogram(Vec::new()),
        Aggregate::Stats(None),
        Aggregate::Percentiles(Vec::new()),
        Aggregate::Dates(Vec::new()),
    ];
    let options =
        tiny(3, 8 << 20).field("page", FieldKind::Keyword).field("ms", FieldKind::Integer);
    let index = options.field("at", FieldKind::Time(TimeUnit::Milliseconds)).open().unwrap();
    let mut reader = index.reader().unwrap();
    assert_eq!(reader.aggregate("*", &each_kind()).unwrap(), nothing);
    for number in 0..60 {
        index.put(&format!("k{number}"), "visit").unwrap();
        if number == 30 {
            index.flush().unwrap();
        }
    }
    for query in ["*", "visit", "nobody", "page:*"] {
        assert_eq!(reader.aggregate(query, &each_kind()).unwrap(), nothing, "{query}");
    }
    let one = Document::new().text("visit").field("page", "home").field("ms", 7);
    index.add(&one).unwrap();
    for _ in 0..2 {
        let found = reader.aggregate("visit", &each_kind()).unwrap();
        assert_eq!(found[1], Aggregate::Cardinality(1));
        assert_eq!(found[3], Aggregate::Histogram(vec![(0.0, 1)]));
        assert_eq!(found[5], Aggregate::Percentiles(vec![(50.0, 7.0)]));
        assert_eq!(found[6], nothing[6]);
        index.flush().unwrap();
        index.settle();
    }
}

/// Numbers stay different that are one number in floating point.
#[test]
fn whole_numbers_are_told_apart_to_the_last_bit() {
    const EXACT: i64 = 1 << 53;
    let index = tiny(1, 8 << 20).open().unwrap();
    let numbers = [EXACT, EXACT + 1, EXACT + 1, i64::MAX, i64::MAX - 1, i64::MIN, i64::MIN + 1];
    for number in numbers {
        index.add(Document::new().field("n", number)).unwrap();
    }
    let facets = [
        Facet::Terms { field: "n".into(), top: 1 },
        Facet::Cardinality { field: "n".into() },
        Facet::Stats { field: "n".into() },
    ];
    for _ in 0..2 {
        let found = index.reader().unwrap().aggregate("*", &facets).unwrap();
        let Aggregate::Terms(terms) = &found[0] else { panic!("{found:?}") };
        assert_eq!(terms.top, [((EXACT + 1).to_string(), 2)]);
        assert_eq!((terms.others, terms.distinct), (5, 6));
        assert_eq!(found[1], Aggregate::Cardinality(6));
        let sum: i128 = numbers.iter().map(|number| i128::from(*number)).sum();
        let Aggregate::Stats(Some(stats)) = found[2] else { panic!("{found:?}") };
        assert_eq!((stats.count, stats.sum), (7, sum as f64));
        index.flush().unwrap();
        index.settle();
    }
}

/// Of values that as many documents have, those are shown that come first, wherever their documents are.
#[test]
fn values_that_are_equally_frequent_come_in_their_order() {
    for executors in [1, 3] {
        let index = tiny(executors, 8 << 20).field("tag", FieldKind::Keyword).open().unwrap();
        for number in 0..200 {
            let tag = format!("t{:02}", number * 37 % 100);
            index.add(Document::new().field("tag", &tag)).unwrap();
            if number == 120 {
                index.flush().unwrap();
            }
        }
        let top = Facet::Terms { field: "tag".into(), top: 3 };
        let found = index.reader().unwrap().aggregate("*", &[top]).unwrap();
        let Aggregate::Terms(tags) = &found[0] else { panic!("{found:?}") };
        let expected = ["t00", "t01", "t02"].map(|tag| (tag.to_owned(), 2));
        assert_eq!((&tags.top[..], tags.others, tags.distinct), (&expected[..], 194, 100));
    }
}

/// Below zero too a bucket begins at the multiple below its numbers; and a document counts once in it, whatever its values are.
#[test]
fn negative_numbers_fall_into_the_bucket_below() {
    let index = tiny(1, 8 << 20).field("tag", FieldKind::Keyword).open().unwrap();
    for values in [[-4.5, -4.5], [-4.0, -1.0], [-0.5, 0.0], [1.5, 2.0]] {
        let far = Document::new().field("far", values[0] * 1e300);
        let document = values.iter().fold(far, |document, value| {
            document.field("x", *value).field("n", *value as i64).field("tag", "twice")
        });
        index.add(&document).unwrap();
    }
    let histogram = |field: &str| Facet::Histogram { field: field.into(), interval: 2.0 };
    let terms = |field: &str| Facet::Terms { field: field.into(), top: 9 };
    let facets = [histogram("x"), histogram("n"), terms("n"), terms("tag"), histogram("far")];
    for _ in 0..2 {
        let found = index.reader().unwrap().aggregate("*", &facets).unwrap();
        let floats = [(-6.0, 1), (-4.0, 1), (-2.0, 2), (0.0, 2), (2.0, 1)];
        assert_eq!(found[0], Aggregate::Histogram(floats.to_vec()));
        let integers = [(-4.0, 2), (-2.0, 1), (0.0, 2), (2.0, 1)];
        assert_eq!(found[1], Aggregate::Histogram(integers.to_vec()));
        let Aggregate::Terms(terms) = &found[2] else { panic!("{found:?}") };
        let counts: Vec<_> = terms.top.iter().map(|(n, count)| (n.as_str(), *count)).collect();
        assert_eq!(counts, [("-4", 2), ("-1", 1), ("0", 1), ("1", 1), ("2", 1)]);
        let Aggregate::Terms(tags) = &found[3] else { panic!("{found:?}") };
        assert_eq!(tags.top, [("twice".to_owned(), 4)]);
        assert_eq!(found[4], Aggregate::Histogram(Vec::new()));
        index.flush().unwrap();
        index.settle();
    }
}
