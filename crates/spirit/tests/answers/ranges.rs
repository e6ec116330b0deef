//! Ranges, sets, orders by fields and scores that fade, on an index whose segments are fresh, flushed and engraved.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use spirit::lab::StoredValue;
use spirit::schema::TimeUnit;
use spirit::search::{Direction, Limits};
use spirit::{
    Analyzer, Builder, Clause, Document, FieldKind, Index, Mode, OnFull, Query, Search,
    SearchError, Value,
};

use crate::support::directory::Directory;
use crate::support::{Chance, tiny};

fn keys(index: &Index, query: &str) -> Vec<String> {
    let mut reader = index.reader().unwrap();
    let found = reader.search(query, Search::newest(100)).unwrap().keys().unwrap();
    assert_eq!(reader.count(query).unwrap(), found.len() as u64, "{query}");
    found
}

fn sorted(index: &Index, query: &str, field: &str, direction: Direction) -> Vec<String> {
    let mut reader = index.reader().unwrap();
    reader.search(query, Search::by_field(100, field, direction)).unwrap().keys().unwrap()
}

fn options() -> Builder {
    tiny(1, 8 << 20)
        .field("level", FieldKind::Keyword)
        .field("note", FieldKind::Text(Analyzer::Simple))
        .field("views", FieldKind::Integer)
        .field("score", FieldKind::Float)
        .field("at", FieldKind::Time(TimeUnit::Seconds))
        .field("seen", FieldKind::Boolean)
        .strict(true)
}

const KEYS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// Documents `a` to `f`, of which `flush` says behind which a segment ends.
fn log(options: Builder, flush: &[&str]) -> Index {
    let index = options.open().unwrap();
    let log = [
        Document::new().key("a").field("level", "error").field("views", 3).field("at", 1_000),
        Document::new().key("b").field("level", "info").field("views", -7).field("score", 2.5),
        Document::new().key("c").field("level", "info").field("views", 3).field("views", 40),
        Document::new().key("d").field("at", "2026-11-22T18:30:00Z").field("seen", true),
        Document::new().key("e").field("at", "2026-11-23T00:00:00Z").field("seen", false),
        Document::new()
            .key("f")
            .field("level", "grey heron")
            .field("note", "A heron")
            .field("score", -0.0),
    ];
    for (document, key) in log.iter().zip(KEYS) {
        index.add(document).unwrap();
        if flush.contains(&key) {
            index.flush().unwrap();
        }
    }
    index
}

fn in_every_state(check: impl Fn(&Index)) {
    let directory = Directory::new();
    check(&log(options(), &[]));
    check(&log(options(), &["b", "e"]));
    check(&log(options(), &KEYS));
    let kept = options().directory(directory.path()).nvm_bytes(8 << 20).document_bytes_max(8 << 10);
    let index = log(kept.clone(), &KEYS);
    index.settle();
    check(&index);
    index.close().unwrap();
    check(&kept.open().unwrap());
}

#[test]
fn values_are_found_by_what_they_are_between() {
    in_every_state(|index| {
        for (query, expected) in [
            ("views:3", vec!["c", "a"]),
            ("views:[-7 TO 3]", vec!["c", "b", "a"]),
            ("views:{-7 TO 3}", vec![]),
            ("views:{-7 TO 3]", vec!["c", "a"]),
            ("views:>3", vec!["c"]),
            ("views:<=-7", vec!["b"]),
            ("views:[3 TO -7]", vec![]),
            ("views:*", vec!["c", "b", "a"]),
            ("-views:*", vec!["f", "e", "d"]),
            ("views:IN [40 -7 8]", vec!["c", "b"]),
            ("views:IN []", vec![]),
            ("score:0", vec!["f"]),
            ("score:[* TO 2.5}", vec!["f"]),
            ("score:[0 TO *]", vec!["f", "b"]),
            ("at:1000", vec!["a"]),
            ("at:2026-11-22", vec!["d"]),
            ("at:[2026-11-22 TO 2026-11-23]", vec!["e", "d"]),
            ("at:[2026-11-22 TO 2026-11-23}", vec!["d"]),
            ("at:<2026-11-22", vec!["a"]),
            ("at:>2026-11-22", vec!["e"]),
            ("at:>=2026-11-23", vec!["e"]),
            ("at:{2026-11-21 TO 2026-11-22]", vec!["d"]),
            ("at:[* TO now-1000000w]", vec![]),
            ("at:<now+1000000w", vec!["e", "d", "a"]),
            ("seen:true", vec!["d"]),
            ("seen:[false TO false]", vec!["e"]),
            ("seen:*", vec!["e", "d"]),
            ("level:[error TO info}", vec!["f", "a"]),
            ("level:{error TO *]", vec!["f", "c", "b"]),
            ("level:IN [error \"grey heron\"]", vec!["f", "a"]),
            ("level:*", vec!["f", "c", "b", "a"]),
            ("note:[a TO b]", vec!["f"]),
            ("note:*", vec!["f"]),
            ("+level:info +views:<0", vec!["b"]),
            ("+level:info -views:<0", vec!["c"]),
            ("(views:3 level:info seen:true)~2", vec!["c"]),
        ] {
            assert_eq!(keys(index, query), expected, "{query}");
        }
    });
}

#[test]
fn a_range_scores_its_boost() {
    in_every_state(|index| {
        let mut reader = index.reader().unwrap();
        let mut best = |query: &str| {
            let hits = reader.search(query, Search::best(9)).unwrap();
            let scores: Vec<f32> = hits.iter().filter_map(|hit| hit.score()).collect();
            hits.keys().unwrap().into_iter().zip(scores).collect::<Vec<_>>()
        };
        let scored = |all: &[(&str, f32)]| -> Vec<(String, f32)> {
            all.iter().map(|(key, score)| ((*key).to_owned(), *score)).collect()
        };
        assert_eq!(best("views:3"), scored(&[("c", 1.0), ("a", 1.0)]));
        assert_eq!(best("views:>=3^2 views:<0^3"), scored(&[("b", 3.0), ("c", 2.0), ("a", 2.0)]));
        assert_eq!(
            best("level:IN [error info]^2 seen:*"),
            scored(&[("c", 2.0), ("b", 2.0), ("a", 2.0), ("e", 1.0), ("d", 1.0)])
        );
    });
}

#[test]
fn hits_come_in_the_order_of_a_field() {
    use Direction::{Ascending, Descending};
    in_every_state(|index| {
        assert_eq!(sorted(index, "*", "views", Descending), ["c", "a", "b", "f", "e", "d"]);
        assert_eq!(sorted(index, "*", "views", Ascending), ["b", "c", "a", "f", "e", "d"]);
        assert_eq!(sorted(index, "at:*", "at", Descending), ["e", "d", "a"]);
        assert_eq!(sorted(index, "*", "score", Ascending), ["f", "b", "e", "d", "c", "a"]);
        assert_eq!(sorted(index, "seen:*", "seen", Ascending), ["e", "d"]);
        assert_eq!(sorted(index, "*", "level", Ascending), ["a", "f", "c", "b", "e", "d"]);
        assert_eq!(sorted(index, "*", "level", Descending), ["c", "b", "f", "a", "e", "d"]);
        assert_eq!(sorted(index, "level:info", "views", Ascending), ["b", "c"]);
        assert_eq!(sorted(index, "key:a", "views", Ascending), ["a"]);
        assert_eq!(sorted(index, "", "views", Ascending), [""; 0]);
        let mut reader = index.reader().unwrap();
        let hits = reader.search("level:*", Search::by_field(9, "views", Descending)).unwrap();
        let values: Vec<_> =
            hits.iter().map(|hit| hit.sort_value().and_then(StoredValue::of)).collect();
        let integer = |number| Some(StoredValue::Integer(number));
        assert_eq!(values, [integer(40), integer(3), integer(-7), None]);
        drop(hits);
        let hits = reader.search("-views:40", Search::by_field(9, "level", Descending)).unwrap();
        let values: Vec<_> =
            hits.iter().map(|hit| hit.sort_value().and_then(StoredValue::of)).collect();
        let level = |text: &str| Some(StoredValue::Text(text.to_owned()));
        assert_eq!(values, [level("info"), level("grey heron"), level("error"), None, None]);
        drop(hits);
        let hits = reader.search("level:*", Search::by_field(9, "views", Descending)).unwrap();
        assert!(hits.iter().all(|hit| hit.score().is_none()));
    });
}

/// Of equal documents a second and a third key decide; those without a value come where they are wanted.
#[test]
fn hits_come_in_the_order_of_several_keys() {
    use Direction::{Ascending, Descending};
    in_every_state(|index| {
        let mut reader = index.reader().unwrap();
        let mut keys = |search: Search| reader.search("*", search).unwrap().keys().unwrap();
        let level = || Search::by_field(9, "level", Ascending);
        assert_eq!(keys(level().then_by("views", Ascending)), ["a", "f", "b", "c", "e", "d"]);
        assert_eq!(keys(level().then_by("views", Descending)), ["a", "f", "c", "b", "e", "d"]);
        assert_eq!(keys(level().missing_first()), ["e", "d", "a", "f", "c", "b"]);
        let third = level().missing_first().then_by("views", Ascending).then_by("at", Ascending);
        assert_eq!(keys(third), ["d", "e", "a", "f", "b", "c"]);
        let hits = reader.search("*", level().then_by("views", Ascending)).unwrap();
        assert!(hits.is_sorted_by_field());
        let first = hits.get(0).unwrap().sort_value().and_then(StoredValue::of);
        assert_eq!(first, Some(StoredValue::Text("error".to_owned())));
        assert!(hits.get(5).unwrap().sort_value().is_none());
        let cursor = hits.cursor().unwrap().unwrap();
        drop(hits);
        for other in [level(), level().then_by("views", Descending), level().missing_first()] {
            let refused = reader.search("*", other.after(cursor.clone())).map(drop);
            assert_eq!(refused, Err(SearchError::Cursor));
        }
        let four = level().then_by("views", Ascending).then_by("at", Ascending);
        let refused = reader.search("*", four.then_by("flag", Ascending)).map(drop);
        assert_eq!(refused, Err(SearchError::TooManyKeys { keys: 4, max: 3 }));
        let unknown = reader.search("*", level().then_by("nothing", Ascending)).map(drop);
        assert!(matches!(unknown, Err(SearchError::Unsortable { kind: None, .. })));
    });
}

/// Documents that come between two pages by several keys are in neither, of all executors.
#[test]
fn pages_by_several_keys_are_not_disturbed() {
    use Direction::{Ascending, Descending};
    for executors in [1, 3] {
        let options = tiny(executors, 8 << 20).field("tag", FieldKind::Keyword);
        let index = options.field("n", FieldKind::Integer).open().unwrap();
        let add = |number: i64| {
            let document = Document::new().text("x").field("n", number % 4);
            let tag = ["b", "a", ""][number as usize % 3];
            let document = if tag.is_empty() { document } else { document.field("tag", tag) };
            index.add(document).unwrap();
        };
        (0..120).for_each(add);
        let first =
            |k| Search::by_field(k, "tag", Descending).missing_first().then_by("n", Ascending);
        let mut reader = index.reader().unwrap();
        let all = reader.search("x", first(1000)).unwrap().keys().unwrap();
        assert_eq!(all.len(), 120);
        let (mut paged, mut search) = (Vec::new(), first(7));
        for page in 0.. {
            let hits = reader.search("x", search).unwrap();
            paged.extend(hits.keys().unwrap());
            let Some(cursor) = hits.cursor().unwrap() else { break };
            search = first(7).after(cursor.to_string().parse().unwrap());
            drop(hits);
            (120 + page * 9..129 + page * 9).for_each(add);
            if page == 3 {
                index.flush().unwrap();
                index.settle();
            }
        }
        assert_eq!(paged, all);
    }
}

/// 2026-11-23T00:00:00Z, the moment of `e`; that of `d` is five and a half hours before.
const MIDNIGHT: i64 = 1_795_392_000_000;

#[test]
fn scores_fade_with_age() {
    in_every_state(|index| {
        let mut reader = index.reader().unwrap();
        let mut best = |query: &str, half_life: u64, now: i64| {
            let half_life = Duration::from_secs(half_life);
            let search = Search::best(9).recency_as_of("at", half_life, now);
            let hits = reader.search(query, search).unwrap();
            let scores: Vec<f32> = hits.iter().filter_map(|hit| hit.score()).collect();
            hits.keys().unwrap().into_iter().zip(scores).collect::<Vec<_>>()
        };
        let found = best("*", 3600, MIDNIGHT);
        assert_eq!(found[0], ("e".to_owned(), 1.0));
        assert_eq!((&*found[1].0, found[1].1), ("d", (-5.5f32).exp2()));
        // Age took all of a's score, and the others have no moment.
        let rest: Vec<_> = found[2..].iter().map(|(key, score)| (&**key, *score)).collect();
        assert_eq!(rest, [("f", 0.0), ("c", 0.0), ("b", 0.0), ("a", 0.0)]);
        let both = best("at:*", 5 * 3600 + 1800, MIDNIGHT - 3_600_000 * 11 / 2);
        assert_eq!(both[..2], [("e".to_owned(), 1.0), ("d".to_owned(), 1.0)]);
        assert_eq!(
            best("seen:[true TO *]^8 seen:false^=2", 5 * 3600 + 1800, MIDNIGHT)[0],
            ("d".to_owned(), 4.0)
        );
    });
}

#[test]
fn pages_fade_as_of_the_first() {
    let index = tiny(2, 8 << 20).open().unwrap();
    for n in 0..300i64 {
        let text = format!("sea {}", "and sky ".repeat(n as usize % 7));
        let at = Value::Time(n * 7919 % 300 * 1000);
        index.add(Document::new().text(&text).field("at", at)).unwrap();
        if n % 100 == 99 {
            index.flush().unwrap();
        }
    }
    let mut reader = index.reader().unwrap();
    let half_life = Duration::from_secs(60);
    let best = |k, now| Search::best(k).recency_as_of("at", half_life, now);
    for query in ["sea", "sea AND sky", "sea sky", "(sea sky)~2 -night"] {
        let search = || best(1000, 300_000);
        let whole = reader.search(query, search()).unwrap().keys().unwrap();
        let all = reader.search(query, search().exhaustive()).unwrap().keys().unwrap();
        assert_eq!(whole, all, "{query}");
        let (mut paged, mut after) = (Vec::new(), None);
        for page in 0.. {
            // The clock has gone on.
            let search = best(9, 300_000 + page * 10_000);
            let search = match after {
                Some(cursor) => search.after(cursor),
                None => search,
            };
            let hits = reader.search(query, search).unwrap();
            paged.extend(hits.keys().unwrap());
            after = hits.cursor().unwrap().map(|cursor| cursor.to_string().parse().unwrap());
            if after.is_none() {
                break;
            }
        }
        assert_eq!(paged, whole, "{query}");
    }
}

#[test]
fn scores_fade_by_moments_only() {
    let index = log(options(), &[]);
    let mut reader = index.reader().unwrap();
    let hour = Duration::from_secs(3600);
    for (field, kind) in [("views", Some(FieldKind::Integer)), ("nobody", None)] {
        let search = Search::best(1).recency(field, hour);
        let expected = SearchError::NoMoments { field: field.into(), kind };
        assert_eq!(reader.search("*", search).err(), Some(expected));
    }
    let cursor = |search| {
        let mut reader = index.reader().unwrap();
        let cursor = reader.search("*", search).unwrap().cursor().unwrap();
        cursor.unwrap()
    };
    let faded = || Search::best(1).recency("at", hour);
    for search in [faded().after(cursor(Search::best(1))), Search::best(1).after(cursor(faded()))] {
        assert_eq!(reader.search("*", search).err(), Some(SearchError::Cursor));
    }
}

#[test]
fn not_every_field_can_be_sorted_by() {
    let index = log(options(), &[]);
    let mut reader = index.reader().unwrap();
    for (field, kind) in [("note", Some(FieldKind::Text(Analyzer::Simple))), ("nobody", None)] {
        let refused = reader.search("*", Search::by_field(9, field, Direction::Ascending));
        let expected = SearchError::Unsortable { field: field.into(), kind };
        assert_eq!(refused.err(), Some(expected));
    }
    let newest = reader.search("*", Search::newest(1)).unwrap();
    assert!(newest.iter().all(|hit| hit.sort_value().is_none()));
    let of_newest = newest.cursor().unwrap().unwrap();
    drop(newest);
    let by = |field, direction| Search::by_field(1, field, direction);
    let views = reader.search("*", by("views", Direction::Ascending)).unwrap();
    let of_views = views.cursor().unwrap().unwrap();
    drop(views);
    let level = reader.search("*", by("level", Direction::Ascending)).unwrap();
    let of_level = level.cursor().unwrap().unwrap();
    drop(level);
    let views_by_level = of_level.to_string().replace(".w", ".").parse().unwrap();
    for (search, cursor) in [
        (by("views", Direction::Ascending), of_newest),
        (by("views", Direction::Descending), of_views.clone()),
        (by("score", Direction::Ascending), of_views.clone()),
        (by("level", Direction::Descending), of_level),
        (by("level", Direction::Ascending), views_by_level),
        (Search::newest(1), of_views.clone()),
        (Search::best(1), of_views),
    ] {
        let refused = reader.search("*", search.after(cursor));
        assert_eq!(refused.err(), Some(SearchError::Cursor));
    }
}

/// Pages stay what they were, whatever is added between them, and wherever it lies.
#[test]
fn pages_in_the_order_of_a_field_are_not_disturbed() {
    for executors in [1, 2] {
        let index = tiny(executors, 8 << 20).open().unwrap();
        let add = |n: i64| {
            let document = Document::new().text("sea");
            let some = if n % 5 > 0 { document.field("views", n * 7 % 40) } else { document };
            index.add(&some).unwrap();
        };
        (0..200).for_each(add);
        index.flush().unwrap();
        (200..300).for_each(add);
        let mut reader = index.reader().unwrap();
        for direction in [Direction::Ascending, Direction::Descending] {
            let by = |k| Search::by_field(k, "views", direction);
            let whole = reader.search("sea", by(10_000)).unwrap().keys().unwrap();
            let (mut paged, mut search) = (Vec::new(), by(9));
            loop {
                let hits = reader.search("sea", search).unwrap();
                paged.extend(hits.keys().unwrap());
                let Some(cursor) = hits.cursor().unwrap() else { break };
                (0..7).for_each(add);
                if paged.len() == 45 {
                    index.flush().unwrap();
                }
                search = by(9).after(cursor.to_string().parse().unwrap());
            }
            assert_eq!(paged, whole, "{direction:?} with {executors} executors");
        }
    }
}

#[test]
fn ranges_are_built_as_they_are_written() {
    let index = log(options(), &["c"]);
    let mut reader = index.reader().unwrap();
    for (clause, text, expected) in [
        (Clause::range("views", -7..3), "views:[-7 TO 3}", 1),
        (Clause::range("views", 3..), "views:[3 TO *]", 2),
        (Clause::range("at", ..="2026-11-22"), "at:[* TO 2026-11-22]", 2),
        (Clause::range("level", "e".."i"), "level:[e TO i}", 2),
        (Clause::one_of("views", [3, 40]), "views:IN [3 40]", 2),
        (Clause::one_of("level", ["grey heron", "x"]), "level:IN [\"grey heron\" x]", 1),
        (Clause::exists("seen"), "seen:*", 2),
        (Clause::value("views", -7), "views:\\-7", 1),
    ] {
        assert_eq!(clause.to_string(), text);
        let query = Query::in_schema(&clause, &index.schema()).unwrap();
        assert_eq!(reader.count(&query), Ok(expected), "{text}");
        assert_eq!(reader.count(text), Ok(expected), "{text}");
    }
    for clause in [
        Clause::range("views", "a".."b"),
        Clause::one_of("views", ["3", "x"]),
        Clause::value("seen", "maybe"),
        Clause::Prefix(spirit::query::Word { field: "views".into(), text: "3".into() }),
        Clause::exists("nobody"),
    ] {
        assert!(Query::in_schema(&clause, &index.schema()).is_err(), "{clause}");
    }
}

/// Keywords in a column are counted by their places, whatever a query may cost.
#[test]
fn a_range_of_many_keywords_costs_no_terms() {
    let index = tiny(1, 8 << 20).field("tag", FieldKind::Keyword).open().unwrap();
    for n in 0..500 {
        index.add(Document::new().field("tag", &format!("t{n:03}"))).unwrap();
    }
    let mut reader = index.reader().unwrap();
    reader.limits(Limits { expansions: 10, ..Limits::default() });
    let stopped = Err(SearchError::TooManyTerms { max: 10 });
    assert_eq!(reader.count("tag:[t100 TO t400}"), stopped);
    index.flush().unwrap();
    index.settle();
    assert_eq!(reader.count("tag:[t100 TO t400}"), Ok(300));
    assert_eq!(reader.count("tag:{t100 TO t4]"), Ok(299));
    assert_eq!(reader.count("tag:t1*"), stopped);
}

/// Keys are given again and again, so that segments are mostly dead and rewritten.
#[test]
fn what_is_rewritten_is_found_and_sorted() {
    let options = tiny(1, 2 << 20).mode(Mode::Volatile).on_full(OnFull::Wait);
    let index = options.open().unwrap();
    let (mut chance, mut model) = (Chance::new(3), HashMap::new());
    for number in 0..12_000u64 {
        let key = format!("k{}", if number % 50 == 0 { number } else { chance.below(80) });
        let views = chance.below(300) as i64 - 150;
        let document = Document::new().key(&key).text("red and much else that fills a segment");
        let some = if views % 4 > 0 { document.field("views", views) } else { document };
        index.add(&some).unwrap();
        model.insert(key, (number, (views % 4 > 0).then_some(views)));
    }
    index.settle();
    assert!(index.stats().unwrap().rewritten_segments > 3);
    let mut newest: Vec<_> =
        model.iter().map(|(key, (number, views))| (number, key, views)).collect();
    newest.sort_by_key(|(number, ..)| std::cmp::Reverse(*number));
    for (low, high) in [(-150, 150), (-20, 3), (140, 149), (5, 4)] {
        let within = |views: &Option<i64>| views.is_some_and(|views| (low..=high).contains(&views));
        let expected: Vec<_> = newest.iter().filter(|(_, _, views)| within(views)).collect();
        let keys_of: Vec<_> = expected.iter().map(|(_, key, _)| (*key).clone()).collect();
        let query = format!("views:[{low} TO {high}]");
        let mut reader = index.reader().unwrap();
        let found = reader.search(&query, Search::newest(10_000)).unwrap().keys().unwrap();
        assert_eq!(found, keys_of, "{query}");
        let mut by_views = expected.clone();
        by_views.sort_by_key(|(_, _, views)| **views);
        let by_views: Vec<_> = by_views.iter().map(|(_, key, _)| (*key).clone()).collect();
        let search = Search::by_field(10_000, "views", Direction::Ascending);
        assert_eq!(reader.search(&query, search).unwrap().keys().unwrap(), by_views, "{query}");
    }
}

/// Whatever is added and flushed meanwhile, each query sees the documents that were there whole, by value and in order.
#[test]
fn ranges_hold_while_a_stream_goes_in() {
    let index = tiny(2, 16 << 20).on_full(OnFull::Refuse).open().unwrap();
    for n in 0..500i64 {
        index.add(Document::new().text("old").field("views", n)).unwrap();
    }
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0i64.. {
                let document = Document::new().text("new").field("views", 1000 + n % 77);
                if over.load(Relaxed) || index.add(&document).is_err() {
                    break;
                }
            }
        });
        let mut reader = index.reader().unwrap();
        // While the stream fills some segments, and a moment longer.
        for round in 0u64.. {
            if round % 64 == 0 && index.stats().unwrap().segments.len() > 8 {
                break;
            }
            let count = reader.count("views:[* TO 999]").unwrap();
            assert_eq!(count, 500, "round {round}");
            let first = Search::by_field(3, "views", Direction::Ascending);
            let hits = reader.search("views:* -new", first).unwrap();
            let values: Vec<_> =
                hits.iter().map(|hit| hit.sort_value().and_then(StoredValue::of)).collect();
            assert_eq!(values, [0, 1, 2].map(|n| Some(StoredValue::Integer(n))), "round {round}");
            drop(hits);
            let new = reader.count("views:>=1000").unwrap();
            assert!(reader.count("new").unwrap() >= new, "round {round}");
        }
        over.store(true, Relaxed);
    });
}
