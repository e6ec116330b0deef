//! What facets refuse, and what they are for the simplest of documents. That they are those of the naive index is proved with the
//! fields of random documents.

use std::collections::BTreeSet;

use spirit::facets::{Aggregate, DateInterval, Facet, TopTerms};
use spirit::lab::{format_time, parse_time};
use spirit::schema::TimeUnit;
use spirit::search::Limits;
use spirit::{Document, FieldKind, Index, Search, SearchError, Value};
use spirit_oracle as oracle;

use crate::support::directory::Directory;
use crate::support::tiny;

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

/// The values of a field, as text for keywords, else as numbers.
fn had(document: &oracle::Document, field: &str) -> Vec<(String, f64)> {
    let own = document.fields.iter().filter(|(name, _)| name == field);
    let value = |value: &oracle::Value| match value {
        oracle::Value::Text(text) => (text.clone(), 0.0),
        oracle::Value::Integer(n) | oracle::Value::Time(n) => (n.to_string(), *n as f64),
        oracle::Value::Float(number) => (number.to_string(), *number),
        other => panic!("{other:?}"),
    };
    own.map(|(_, given)| value(given)).collect()
}

/// What a facet and all within it answer on paper: a line for each bucket and number.
fn naive(facet: &Facet, documents: &[&oracle::Document], indent: usize, lines: &mut Vec<String>) {
    let (plain, refined) = match facet {
        Facet::Refined(refined) => (&refined.facet, Some(refined)),
        facet => (facet, None),
    };
    let field = plain.field();
    let values: Vec<_> = documents.iter().map(|document| had(document, field)).collect();
    let blank = " ".repeat(indent);
    if let Facet::Stats { .. } = plain {
        let all: Vec<f64> = values.iter().flatten().map(|(_, number)| *number).collect();
        let (min, max) =
            (all.iter().copied().reduce(f64::min), all.iter().copied().reduce(f64::max));
        let sum = all.iter().sum::<f64>() + 0.0;
        return lines.push(format!("{blank}{} {min:?} {max:?} {sum}", all.len()));
    }
    if let Facet::Cardinality { .. } = plain {
        let all: BTreeSet<_> = values.iter().flatten().map(|(text, _)| text).collect();
        return lines.push(format!("{blank}{} different", all.len()));
    }
    let buckets = match plain {
        Facet::Filters { queries } => naive_filters(queries, documents),
        _ => naive_buckets(facet, &values),
    };
    for (name, places) in buckets {
        lines.push(format!("{blank}{} {name:?}", places.len()));
        let of_bucket: Vec<_> = places.iter().map(|place| documents[*place]).collect();
        let within = refined.iter().flat_map(|refined| &refined.within);
        within.for_each(|within| naive(within, &of_bucket, indent + 2, lines));
    }
}

/// A bucket's name, none for what is missing, and the places of its documents.
type NaiveBucket = (Option<String>, Vec<usize>);

/// The documents with the word that each query is.
fn naive_filters(queries: &[String], documents: &[&oracle::Document]) -> Vec<NaiveBucket> {
    let places = |query: &String| {
        let has = |place: &usize| query == "*" || documents[*place].words.contains(query);
        (0..documents.len()).filter(has).collect()
    };
    queries.iter().map(|query| (Some(query.clone()), places(query))).collect()
}

fn naive_buckets(facet: &Facet, values: &[Vec<(String, f64)>]) -> Vec<NaiveBucket> {
    let (facet, refined) = match facet {
        Facet::Refined(refined) => (&refined.facet, Some(refined)),
        facet => (facet, None),
    };
    let places = |is_in: &dyn Fn(&(String, f64)) -> bool| -> Vec<usize> {
        (0..values.len()).filter(|place| values[*place].iter().any(is_in)).collect()
    };
    let all = || values.iter().flatten();
    let (offset, empty) = refined.map_or((0.0, false), |refined| (refined.offset, refined.empty));
    let is_in_berlin = refined.is_some_and(|refined| refined.zone.is_some());
    let ahead = |time| if is_in_berlin { oracle::facets::ahead_in_berlin(time) } else { 0 };
    // The documents by the beginnings of buckets, with empty ones in between if they are wanted.
    let filled = |start: &dyn Fn(f64) -> f64, step: f64, name: &dyn Fn(f64) -> String| {
        let starts: Vec<Vec<f64>> =
            values.iter().map(|own| own.iter().map(|(_, n)| start(*n)).collect()).collect();
        let mut all: Vec<f64> = starts.iter().flatten().copied().collect();
        all.sort_by(f64::total_cmp);
        let last = all.last().copied();
        let mut next = all.first().map(|first| start(first + 1.5 * step));
        while let (true, Some(begins), Some(last)) = (empty, next, last)
            && begins < last
        {
            all.push(begins);
            next = Some(start(begins + 1.5 * step));
        }
        all.sort_by(f64::total_cmp);
        all.dedup();
        let of = |from: f64| {
            let places = (0..starts.len()).filter(|place| starts[*place].contains(&from));
            (Some(name(from)), places.collect())
        };
        all.into_iter().map(of).collect()
    };
    let mut found: Vec<NaiveBucket> = match facet {
        Facet::Terms { top, .. } => {
            let names: BTreeSet<&String> = all().map(|(text, _)| text).collect();
            let of = |name: &String| (Some(name.clone()), places(&|(text, _)| text == name));
            let mut found: Vec<NaiveBucket> = names.into_iter().map(of).collect();
            found.sort_by_key(|(_, places)| std::cmp::Reverse(places.len()));
            found.truncate(*top);
            found
        }
        Facet::Histogram { interval, .. } => {
            let start = |number| oracle::facets::bucket_of(number, *interval, offset).unwrap();
            filled(&start, *interval, &|from| from.to_string())
        }
        Facet::Dates { interval, .. } => {
            let (unit, days) = match interval {
                DateInterval::Day => (oracle::facets::Unit::Day, 1.0),
                DateInterval::Week => (oracle::facets::Unit::Week, 7.0),
                DateInterval::Month => (oracle::facets::Unit::Month, 30.0),
                DateInterval::Quarter => (oracle::facets::Unit::Quarter, 90.0),
                other => panic!("{other:?}"),
            };
            let start = |time: f64| {
                oracle::facets::start_of(unit, time as i64, |t| ahead(t) - offset as i64) as f64
            };
            let name = |from: f64| {
                let hours = ahead(from as i64) / 3_600_000;
                let text = format_time(from as i64 + hours * 3_600_000);
                if is_in_berlin { text.replace('Z', &format!("+0{hours}:00")) } else { text }
            };
            filled(&start, days * 86_400_000.0, &name)
        }
        Facet::Ranges { ranges, .. } => {
            let text = |bound: Option<f64>| bound.map_or(String::new(), |bound| bound.to_string());
            let of = |(from, to): &(Option<f64>, Option<f64>)| {
                let is_in = |(_, n): &(String, f64)| {
                    from.is_none_or(|from| *n >= from) && to.is_none_or(|to| *n < to)
                };
                (Some(format!("{}..{}", text(*from), text(*to))), places(&is_in))
            };
            ranges.iter().map(of).collect()
        }
        other => panic!("{other:?}"),
    };
    if refined.is_some_and(|refined| refined.missing) {
        let missing = (0..values.len()).filter(|place| values[*place].is_empty());
        found.push((None, missing.collect()));
    }
    found
}

/// The lines of an answer.
fn written(found: &Aggregate, indent: usize, lines: &mut Vec<String>) {
    let mut line = |text: String| lines.push(format!("{:indent$}{text}", ""));
    match found {
        Aggregate::Stats(None) => line("0 None None 0".to_owned()),
        Aggregate::Stats(Some(stats)) => {
            let (min, max) = (Some(stats.min), Some(stats.max));
            line(format!("{} {min:?} {max:?} {}", stats.count, stats.sum));
        }
        Aggregate::Cardinality(count) => line(format!("{count} different")),
        Aggregate::Terms(terms) => {
            terms.top.iter().for_each(|(name, count)| line(format!("{count} {:?}", Some(name))));
        }
        Aggregate::Buckets { buckets, .. } => {
            for (name, documents, within) in buckets {
                lines.push(format!("{:indent$}{documents} {name:?}", ""));
                within.iter().for_each(|within| written(within, indent + 2, lines));
            }
        }
        other => panic!("{other:?}"),
    }
}

/// Facets of which others are within others, with all choices.
fn refined_facets() -> Vec<Facet> {
    let field = |name: &str| name.to_owned();
    let terms = |name: &str, top| Facet::Terms { field: field(name), top };
    let dates = |interval| Facet::Dates { field: field("when"), interval };
    let prices = |interval| Facet::Histogram { field: field("price"), interval };
    let stats = |name: &str| Facet::Stats { field: field(name) };
    let words = |text: &str| text.split(' ').map(str::to_owned).collect();
    let thirds =
        vec![(None, Some(0.0)), (Some(0.0), Some(0.3)), (Some(0.3), None), (Some(2.0), Some(1.0))];
    let ranges = Facet::Ranges { field: field("price"), ranges: thirds };
    let users = Facet::Cardinality { field: field("user") };
    let months = dates(DateInterval::Month).in_zone("Europe/Berlin").with_empty();
    let months = months.then(stats("size")).then(users);
    let weeks = dates(DateInterval::Week).in_zone("Europe/Berlin").offset(21_600_000.0);
    vec![
        terms("user", 3).with_missing().then(months).then(prices(0.1).offset(0.05)),
        weeks
            .with_missing()
            .then(terms("n", 2).then(ranges.clone().with_missing().then(stats("n")))),
        ranges,
        prices(0.25).with_empty().with_missing().then(terms("user", 5)),
        prices(0.01).then(stats("size")),
        terms("price", 4),
        dates(DateInterval::Day).in_zone("europe/berlin"),
        terms("user", 2).then(Facet::Filters { queries: words("blue nobody") }).then(stats("n")),
        Facet::Filters { queries: words("red * blue") }
            .then(prices(0.5).then(Facet::Filters { queries: words("red") })),
        dates(DateInterval::Quarter).offset(-86_400_000.0).with_empty(),
        eight_deep(),
    ]
}

/// Eight facets within each other.
fn eight_deep() -> Facet {
    let user = |top| Facet::Terms { field: "user".to_owned(), top };
    let price = Facet::Histogram { field: "price".to_owned(), interval: 0.5 };
    let month = Facet::Dates { field: "when".to_owned(), interval: DateInterval::Month };
    let sizes = Facet::Ranges {
        field: "size".to_owned(),
        ranges: vec![(None, Some(0.0)), (Some(0.0), None)],
    };
    let words = Facet::Filters { queries: vec!["red".to_owned(), "blue".to_owned()] };
    let numbers = Facet::Terms { field: "n".to_owned(), top: 2 };
    let stats = Facet::Stats { field: "size".to_owned() };
    let deepest = numbers.then(user(2).then(stats));
    let inner = price.with_missing().then(sizes.then(month.with_missing().then(deepest)));
    user(3).with_missing().then(words.then(inner))
}

/// Documents with some of the fields, of which some are replaced or deleted; `flush` is called twice in between.
fn fill(index: &Index, oracle: &mut oracle::Oracle) {
    let mut random = 7u64;
    let mut below = |end: u64| {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % end
    };
    for number in 0..600 {
        let key = format!("k{}", if number % 9 == 8 { below(number) } else { number });
        let users: Vec<String> = (0..below(3)).map(|_| format!("u{}", below(6))).collect();
        let mut fields: Vec<(&str, oracle::Value)> =
            users.into_iter().map(|user| ("user", oracle::Value::Text(user))).collect();
        if below(4) > 0 {
            let hundredths = below(300) as i64 - 150;
            fields
                .push(("price", oracle::Value::Float(format!("{hundredths}e-2").parse().unwrap())));
        }
        if below(4) > 0 {
            // From the end of 2023 on, by minutes, for half a year.
            let time = 1_703_000_000_000 + below(260_000) as i64 * 60_000;
            fields.push(("when", oracle::Value::Time(time)));
        }
        fields.push(("size", oracle::Value::Float(below(8000) as f64 / 8.0 - 400.0)));
        fields.push(("n", oracle::Value::Integer(below(5) as i64 - 2)));
        let word = ["red", "blue"][below(2) as usize];
        let owned = fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        oracle.add_document(Some(&key), word, owned.collect());
        let document =
            fields.iter().fold(Document::new().text(word), |document, (name, value)| match value {
                oracle::Value::Text(text) => document.field(name, text.as_str()),
                oracle::Value::Float(number) => document.field(name, *number),
                oracle::Value::Integer(number) => document.field(name, *number),
                oracle::Value::Time(time) => document.field(name, Value::Time(*time)),
                other => panic!("{other:?}"),
            });
        index.put(&key, document).unwrap();
        if number % 7 == 0 {
            let old = format!("k{}", below(number + 1));
            assert_eq!(index.delete(&old).unwrap(), oracle.delete(&old));
        }
        if number == 150 || number == 400 {
            index.flush().unwrap();
        }
    }
}

#[test]
fn facets_within_facets_are_those_of_the_naive_index() {
    for (executors, packed) in [(1, false), (3, true)] {
        let folder = Directory::new();
        let index = tiny(executors, 8 << 20)
            .directory(folder.path())
            .nvm_bytes(executors as u64 * (16 << 20))
            .packed(packed)
            .field("user", FieldKind::Keyword)
            .field("price", FieldKind::Float)
            .field("size", FieldKind::Float)
            .field("n", FieldKind::Integer)
            .field("when", FieldKind::Time(TimeUnit::Milliseconds))
            .open()
            .unwrap();
        let mut oracle = oracle::Oracle::default();
        fill(&index, &mut oracle);
        let facets = refined_facets();
        for state in ["fresh and flushed", "flushed", "engraved"] {
            for query in ["*", "red", "nobody"] {
                let is_match =
                    |document: &&oracle::Document| query == "*" || document.text == query;
                let documents: Vec<_> = oracle.documents().filter(is_match).collect();
                let found = index.reader().unwrap().aggregate(query, &facets).unwrap();
                for (facet, found) in facets.iter().zip(&found) {
                    let (mut expected, mut lines) = (Vec::new(), Vec::new());
                    naive(facet, &documents, 0, &mut expected);
                    written(found, 0, &mut lines);
                    assert_eq!(lines, expected, "{state}, {query}, {executors}: {facet:?}");
                }
            }
            match state {
                "flushed" => index.settle(),
                _ => index.flush().unwrap(),
            }
        }
    }
}

#[test]
fn facets_within_facets_keep_to_their_limits() {
    let index = visits();
    let field = |name: &str| name.to_owned();
    let pages = || Facet::Terms { field: field("page"), top: 5 };
    let sizes = || Facet::Histogram { field: field("ms"), interval: 1.0 };
    let stats = || Facet::Stats { field: field("ms") };
    let mut reader = index.reader().unwrap();
    let mut refused = |facet: Facet| match reader.aggregate("*", &[facet]) {
        Err(error) => error,
        found => panic!("{found:?}"),
    };
    for wrong in [
        stats().then(stats()),
        stats().with_missing(),
        pages().in_zone("Europe/Berlin"),
        pages().offset(1.0),
        pages().with_empty(),
        sizes().offset(f64::NAN),
        pages().then(stats().with_empty()),
    ] {
        assert!(matches!(refused(wrong), SearchError::FacetChoice { .. }));
    }
    let dates = Facet::Dates { field: field("at"), interval: DateInterval::Day };
    let unknown = refused(dates.in_zone("Europe/Nowhere"));
    assert_eq!(unknown, SearchError::Zone { name: field("Europe/Nowhere") });
    let text = refused(Facet::Terms { field: field("text"), top: 3 }).to_string();
    assert!(text.contains("declare the field as a keyword"), "{text}");
    let inner = refused(pages().then(Facet::Stats { field: field("page") }));
    assert!(matches!(inner, SearchError::Unaggregatable { .. }));
    let phrase = refused(Facet::Filters { queries: vec![field("page:(")] });
    assert!(matches!(phrase, SearchError::Parse(_)));
    let many = vec![stats(); 32];
    let wide = many.iter().cloned().fold(pages(), Facet::then);
    let tiny_steps = Facet::Histogram { field: field("ms"), interval: 1e-5 };
    assert!(matches!(refused(tiny_steps.with_empty()), SearchError::TooManyBuckets { .. }));
    assert!(reader.aggregate("*", std::slice::from_ref(&wide)).is_ok());
    let twice = reader.aggregate("*", &[wide.clone(), wide]);
    assert!(matches!(twice, Err(SearchError::TooManyFacets { facets: 66, max: 64 })));
    reader.limits(Limits { facet_bytes: 4 << 10, ..Limits::default() });
    let nested = pages().then(sizes().then(stats()));
    let found = reader.aggregate("*", std::slice::from_ref(&nested));
    assert_eq!(found, Err(SearchError::FacetMemory { max: 4 << 10 }));
    reader.limits(Limits::default());
    assert!(reader.aggregate("*", &[nested]).is_ok());
}

/// Sums do not depend on the order in which documents came, nor on executors; whole numbers are exact beyond 53 bits.
#[test]
fn sums_are_exact() {
    let numbers = [0.1, 1e16, 0.2, -1e16, 0.3, 1e-9, 3e15, -3e15];
    for executors in [1, 3] {
        for turn in 0..numbers.len() {
            let index = tiny(executors, 8 << 20).open().unwrap();
            for at in 0..numbers.len() {
                let number = numbers[(at + turn) % numbers.len()];
                let whole = (1i64 << 53) + 1;
                index.add(Document::new().field("x", number).field("n", whole)).unwrap();
                if at == 3 {
                    index.flush().unwrap();
                }
            }
            let facets = ["x", "n"].map(|field| Facet::Stats { field: field.to_owned() });
            let found = index.reader().unwrap().aggregate("*", &facets).unwrap();
            let Aggregate::Stats(Some(stats)) = &found[0] else { panic!("{found:?}") };
            assert_eq!((stats.sum, stats.whole), (0.600_000_001_000_000_1, None));
            let Aggregate::Stats(Some(stats)) = &found[1] else { panic!("{found:?}") };
            let whole = (1i64 << 53) + 1;
            assert_eq!(stats.whole, Some((whole, whole, 8 * i128::from(whole))));
        }
    }
}
