//! What the query language finds, in which order, and what a query may cost.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use spirit::facets::Facet;
use spirit::query::Word;
use spirit::schema::TimeUnit;
use spirit::search::{Cursor, Direction, Limits};
use spirit::{
    Analyzer, Builder, Clause, Document, FieldKind, Index, Lenient, Query, Reader, Search,
    SearchError, Value,
};

use crate::support::tiny;

fn keys(index: &Index, query: &str) -> Vec<String> {
    let mut reader = index.reader().unwrap();
    let found = reader.search(query, Search::newest(100)).unwrap().keys().unwrap();
    assert_eq!(reader.count(query).unwrap(), found.len() as u64, "{query}");
    found
}

/// Documents with fields, in a fresh segment and in flushed ones.
fn library() -> Index {
    let options: Builder = tiny(1, 8 << 20).field("by", FieldKind::Keyword);
    let index =
        options.field("stems", FieldKind::Text(Analyzer::English)).strict(true).open().unwrap();
    let books = [
        ("a", "the grey heron stands in the reeds", "Ann Lee", "standing birds"),
        ("b", "a heron and a grey wall", "Bo", "walls"),
        ("c", "grey seas and grey skies", "Ann Lee", "skies and seas"),
    ];
    for (key, text, by, stems) in books {
        let document = Document::new().key(key).text(text).field("by", by).field("stems", stems);
        index.add(&document).unwrap();
        index.flush().unwrap();
    }
    let last = Document::new().key("d").text("nothing but herons").field("by", "Bo");
    index.add(&last).unwrap();
    index
}

#[test]
fn words_phrases_and_fields_are_found() {
    let index = library();
    for (query, expected) in [
        ("heron", vec!["b", "a"]),
        ("\"grey heron\"", vec!["a"]),
        ("\"heron grey\"~1", vec![]),
        ("\"heron grey\"~2", vec!["b", "a"]),
        ("\"grey he\"*", vec!["a"]),
        ("\"grey s\"*", vec!["c"]),
        ("\"grey\"*", vec!["c", "b", "a"]),
        ("\"and a g\"*", vec!["b"]),
        ("\"and * grey\"*", vec!["b"]),
        (&format!("heron AND {}", "x".repeat(300)), vec![]),
        (&format!("heron OR {}", "x".repeat(300)), vec!["b", "a"]),
        (&format!("heron -{}", "x".repeat(300)), vec!["b", "a"]),
        (&format!("\"heron {}\"", "x".repeat(300)), vec![]),
        ("heron AND stems:the", vec!["b", "a"]),
        ("key:a^2 OR key:b", vec!["b", "a"]),
        ("key:* -heron", vec!["d", "c"]),
        ("*:* AND grey wall", vec!["c", "b", "a"]),
        ("\"and gre\"* -seas", vec![]),
        ("grey -\"grey s\"*", vec!["b", "a"]),
        ("+grey \"grey w\"*", vec!["c", "b", "a"]),
        ("(\"the g\"* \"a h\"* seas)~1", vec!["c", "b", "a"]),
        ("\"heron gre\"*", vec![]),
        ("by:\"Ann L\"*", vec!["c", "a"]),
        ("stems:\"skies and se\"*", vec!["c"]),
        ("stems:\"skies seas\"*", vec![]),
        ("heron*", vec!["d", "b", "a"]),
        ("h?rons", vec!["d"]),
        ("herons~1", vec!["d", "b", "a"]),
        ("by:Bo", vec!["d", "b"]),
        ("by:\"Ann Lee\" -skies", vec!["a"]),
        ("by:A*", vec!["c", "a"]),
        ("stems:stand", vec!["a"]),
        ("stems:(sky wall)", vec!["c", "b"]),
        ("stems:*", vec!["c", "b", "a"]),
        ("(grey heron wall)~2", vec!["b", "a"]),
        ("(* heron wall)~2", vec!["b", "a"]),
        ("(* by:* grey -wall)~3", vec!["c", "a"]),
        ("(+grey heron wall)~1", vec!["b", "a"]),
        ("(+by:* heron wall sky)~2", vec!["b"]),
        ("(grey nobody)~2", vec![]),
        ("+grey -heron", vec!["c"]),
    ] {
        assert_eq!(keys(&index, query), expected, "{query}");
    }
    let mut reader = index.reader().unwrap();
    assert!(matches!(reader.count("title:x"), Err(SearchError::Parse(_))));
}

/// What a program asks for by a text goes through the field's analyzer, as what somebody types does.
#[test]
fn a_program_asks_for_words_as_people_type_them() {
    let index = library();
    let mut reader = index.reader().unwrap();
    let mut found = |clause: &Clause| {
        let query = Query::in_schema(clause, &index.schema()).unwrap();
        let found = reader.search(&query, Search::newest(9)).unwrap().keys().unwrap();
        assert_eq!(found, keys(&index, &clause.to_string()), "{clause}");
        found
    };
    assert_eq!(found(&Clause::words("The Grey HERON")), ["a"]);
    assert_eq!(found(&Clause::words("Heron wall")).len(), 0);
    assert_eq!(found(&Clause::words_near("text", "Heron wall", 3)), ["b"]);
    assert_eq!(found(&Clause::words_in("stems", "Sky")), ["c"]);
    assert_eq!(found(&Clause::words_in("stems", "Stands")), ["a"]);
    assert_eq!(found(&Clause::words_in("stems", "skies * SEA")), ["c"]);
    assert_eq!(found(&Clause::words_in("by", "Ann Lee")), ["c", "a"]);
    assert_eq!(found(&Clause::words_prefix("stems", "Skies and SE")), ["c"]);
    assert_eq!(found(&Clause::words_prefix("by", "Ann L")), ["c", "a"]);
    let blank = || Clause::words(" ... ");
    assert_eq!(found(&blank()).len(), 0);
    assert_eq!(found(&Clause::all([blank(), Clause::words("Reeds")])), ["a"]);
}

/// A field that a document brought along can be asked for by readers that were there before.
#[test]
fn a_reader_learns_of_new_fields() {
    let index = tiny(1, 8 << 20).open().unwrap();
    let mut reader = index.reader().unwrap();
    assert!(reader.count("colour:grey").is_err());
    index.add(Document::new().text("a heron").field("colour", "grey and white")).unwrap();
    assert_eq!(reader.count("colour:\"grey and white\"").unwrap(), 1);
    let clause = Clause::Term(spirit::query::Word { field: "colour".into(), text: "grey".into() });
    let query = Query::in_schema(&clause, &index.schema()).unwrap();
    assert_eq!(reader.count(&query).unwrap(), 1);
}

#[test]
fn what_people_type_is_answered() {
    let index = library();
    let mut reader = index.reader().unwrap();
    let asked = Lenient("where is the (grey heron?");
    let hits = reader.search(asked, Search::newest(9)).unwrap();
    assert!(!hits.is_empty() && hits.warnings().len() == 1, "{:?}", hits.warnings());
}

/// What is read leniently may be asked anything that other queries are.
#[test]
fn what_people_type_is_counted_and_explained() {
    let index = library();
    let mut reader = index.reader().unwrap();
    let query = reader.parse(Lenient("(grey heron")).unwrap();
    assert_eq!(reader.warnings().len(), 1);
    assert!(reader.parse("(grey heron").is_err());
    let count = reader.count("grey heron").unwrap();
    assert_eq!(reader.count(&query).unwrap(), count);
    let strict = reader.parse("(grey heron)").unwrap();
    assert_eq!(reader.count(&strict).unwrap(), count);
    assert_eq!(reader.search(&query, Search::newest(99)).unwrap().len() as u64, count);
    assert!(!reader.plan(&query, &Search::best(9)).unwrap().executors().is_empty());
}

#[test]
fn the_best_come_first_and_parameters_count() {
    let index = tiny(1, 8 << 20).open().unwrap();
    for text in ["sea", "sea sea sea and much else that is not the sea", "sea and sky", "sky"] {
        index.add(text).unwrap();
    }
    let best = |search: Search, query: &str| {
        let mut reader = index.reader().unwrap();
        let hits = reader.search(query, search).unwrap();
        let scores: Vec<f32> = hits.iter().filter_map(|hit| hit.score()).collect();
        assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
        hits.keys().unwrap()
    };
    let usual = || Search::best(9);
    assert_eq!(best(usual(), "sea"), ["0", "1", "2"]);
    // Without lengths only occurrences count; without either, the newest is first.
    assert_eq!(best(usual().bm25(1.2, 0.0), "sea"), ["1", "2", "0"]);
    assert_eq!(best(usual().bm25(0.0, 0.0), "sea"), ["2", "1", "0"]);
    assert_eq!(best(usual(), "sea sky^9"), ["3", "2", "0", "1"]);
    assert_eq!(best(usual(), "sky^=1 sea^=3"), ["2", "1", "0", "3"]);
}

/// What a cursor leaves out depends on the query, its scores and its order: another one would get pages that are nobody's.
#[test]
fn a_cursor_of_another_search_is_refused() {
    let options = tiny(1, 8 << 20).field("views", FieldKind::Integer);
    let index = options.field("at", FieldKind::Time(TimeUnit::Milliseconds)).open().unwrap();
    for n in 0..9 {
        let document = Document::new().text("aapl goog rt").field("views", n);
        index.add(document.field("at", Value::Time(n * 1000))).unwrap();
    }
    let reader = || index.reader().unwrap();
    let cursor = |query: &str, search: Search| -> Cursor {
        let cursor = reader().search(query, search).unwrap().cursor().unwrap();
        cursor.unwrap().to_string().parse().unwrap()
    };
    let goes_on = |query: &str, search: &Search, cursor: &Cursor| {
        let is_ranked = reader()
            .search(query, search.clone())
            .unwrap()
            .get(0)
            .is_some_and(|hit| hit.score().is_some());
        let page = search.clone().after(cursor.clone());
        let explained = reader().explain(query, &page, "0").map(drop);
        let found = reader().search(query, page).map(|hits| assert_eq!(hits.len(), 2));
        if is_ranked {
            assert_eq!(explained, found.clone(), "{query}");
        }
        match found {
            Ok(()) => true,
            Err(SearchError::Cursor) => false,
            Err(error) => panic!("{error}"),
        }
    };
    let by = |k1| Search::best(2).bm25(k1, 0.5);
    let fading = |seconds| by(1.0).recency("at", Duration::from_secs(seconds));
    let searches = [
        by(1.0),
        by(2.0),
        Search::best(2).bm25(1.0, 0.25),
        fading(9),
        fading(7),
        Search::by_field(2, "views", Direction::Ascending),
        Search::by_field(2, "views", Direction::Descending),
        Search::by_field(2, "at", Direction::Descending),
    ];
    let queries = ["aapl goog", "aapl rt", "aapl AND goog", "aapl^2 goog", "goog aapl", "*"];
    for (number, search) in searches.iter().enumerate() {
        for query in queries {
            let cursor = cursor(query, search.clone());
            for (other_number, other) in searches.iter().enumerate() {
                for another in queries {
                    let same = query == another && number == other_number;
                    assert_eq!(goes_on(another, other, &cursor), same, "{query}, {another}");
                }
            }
        }
    }
    // A place in the stream is one for every query; and an hour that moves on is the same question.
    assert!(goes_on("rt", &Search::newest(2), &cursor("aapl goog", Search::newest(2))));
    for search in [by(1.0), Search::by_field(2, "views", Direction::Ascending)] {
        let since = cursor("aapl at:<=now-1h", search.clone());
        std::thread::sleep(Duration::from_millis(2));
        assert!(goes_on("aapl at:<=now-1h", &search, &since));
    }
}

/// Pages of the best stay what they were, whatever is added between them.
#[test]
fn pages_of_the_best_are_not_disturbed() {
    let index = tiny(1, 8 << 20).open().unwrap();
    let text = |n: usize| format!("sea {}", "and sky ".repeat(n % 7));
    for n in 0..100 {
        index.add(&text(n)).unwrap();
    }
    let mut reader = index.reader().unwrap();
    let whole = reader.search("sea sky", Search::best(100)).unwrap().keys().unwrap();
    let (mut paged, mut search) = (Vec::new(), Search::best(9));
    loop {
        let hits = reader.search("sea sky", search).unwrap();
        paged.extend(hits.keys().unwrap());
        let Some(cursor) = hits.cursor().unwrap() else { break };
        for _ in 0..5 {
            index.add("sea sea sea").unwrap();
        }
        if paged.len() == 45 {
            index.flush().unwrap();
        }
        let cursor = cursor.to_string().parse().unwrap();
        search = Search::best(9).after(cursor);
    }
    assert_eq!(paged, whole);
    let cursor = reader.search("sea", Search::best(1)).unwrap().cursor().unwrap().unwrap();
    let other = reader.search("sea sky", Search::best(1).after(cursor.clone()));
    assert_eq!(other.err(), Some(SearchError::Cursor));
    let other = reader.search("sea", Search::newest(1).after(cursor));
    assert_eq!(other.err(), Some(SearchError::Cursor));
}

#[test]
fn a_query_ends_in_time() {
    let index = tiny(1, 8 << 20).field("n", FieldKind::Integer).open().unwrap();
    for n in 0..3000 {
        index.add(&format!("word{n} sea")).unwrap();
    }
    let mut reader = index.reader().unwrap();
    let too_many = |max| Err(SearchError::TooManyTerms { max });
    reader.limits(Limits { expansions: 100, ..Limits::default() });
    assert_eq!(reader.count("word*"), too_many(100));
    assert_eq!(reader.count("\"sea word\"*"), too_many(100));
    // What the last word stands for is not asked where the others are not.
    assert_eq!(reader.count("\"sky word\"*"), Ok(0));
    assert_eq!(reader.count("\"word7 s\"*"), Ok(1));
    assert_eq!(reader.count("word1"), Ok(1));
    // Each word is in one segment.
    reader.limits(Limits { expansions: 2999, ..Limits::default() });
    assert_eq!(reader.count("word*"), too_many(2999));
    reader.limits(Limits { expansions: 3000, ..Limits::default() });
    assert_eq!(reader.count("word*"), Ok(3000));
    reader.limits(Limits { timeout: Some(Duration::ZERO), ..Limits::default() });
    assert_eq!(reader.count("word* -sea"), Err(SearchError::TimedOut));
    let flag = Arc::new(AtomicBool::new(true));
    reader.limits(Limits { cancelled: Some(flag.clone()), ..Limits::default() });
    assert_eq!(reader.count("sea"), Err(SearchError::Cancelled));
    let cancelled = Some(SearchError::Cancelled);
    let by_n = Search::by_field(3, "n", Direction::Ascending);
    for search in [Search::newest(3), Search::best(3), Search::best(3).windows(), by_n] {
        assert_eq!(reader.search("sea", search.clone()).err(), cancelled, "{search:?}");
    }
    let terms = [Facet::Terms { field: "n".into(), top: 3 }];
    assert_eq!(reader.aggregate("sea", &terms).err(), cancelled);
    assert_eq!(reader.count_up_to("sea", 3).err(), cancelled);
    assert_eq!(reader.explain("sea", &Search::best(3), "0").err(), cancelled);
    flag.store(false, Relaxed);
    assert_eq!(reader.count("word*"), Ok(3000));
}

/// The first look of an evaluation is not its last: of queries that take long, one that has a part of that is ended.
#[test]
fn a_query_is_ended_midway() {
    let index =
        tiny(1, 64 << 20).segment_bytes(4 << 20).field("n", FieldKind::Integer).open().unwrap();
    for n in 0..4000 {
        let words: String =
            (0..60).map(|at| ["sea ", "sky ", "sun "][(n * at / 7 + at) % 3]).collect();
        index.add(&format!("{words} word{n}")).unwrap();
    }
    let mut reader = index.reader().unwrap();
    let ask = |reader: &mut Reader, query: &str, search: &Search| {
        let start = Instant::now();
        let answer = reader.search(query, search.clone()).map(drop);
        (start.elapsed(), answer.err())
    };
    let all =
        [Search::newest(10_000), Search::best(10), Search::by_field(10, "n", Direction::Ascending)];
    for _ in 0..2 {
        for query in ["\"sea sky sea\"~40", "+\"sun sea sky\"~40 sea", "w*~2 \"sea sea sky w\"*"] {
            for search in all.iter().flat_map(|search| [search.clone(), search.clone().windows()]) {
                reader.limits(Limits::default());
                let times = [(); 3].map(|()| ask(&mut reader, query, &search));
                assert!(times.iter().all(|(_, error)| error.is_none()), "{query} {search:?}");
                let least = times.iter().map(|(time, _)| *time).min().unwrap();
                // The machine may be quicker now.
                let is_ended = (2..8).any(|halvings| {
                    let timeout = Some(least / (1 << halvings));
                    reader.limits(Limits { timeout, ..Limits::default() });
                    let (_, error) = ask(&mut reader, query, &search);
                    error == Some(SearchError::TimedOut)
                });
                assert!(is_ended, "{query} {search:?} takes {least:?}");
            }
        }
        index.flush().unwrap();
        index.settle();
    }
    reader.limits(Limits { timeout: Some(Duration::MAX), ..Limits::default() });
    assert_eq!(reader.count("word7"), Ok(1));
}

/// Threads have 2 MiB of stack, and parsers and evaluators go down a tree.
#[test]
fn no_text_takes_the_stack() {
    let index = tiny(1, 8 << 20).open().unwrap();
    for n in 0..200 {
        index.add(&format!("sea sky word{n}")).unwrap();
    }
    let closed = format!("sea{}", ")".repeat(5000));
    let between = "sea) sky) ".repeat(1000);
    let deep =
        format!("{}sea{}", "(sky AND (sea OR +word1 ".repeat(16), ")) OR (sky sky)".repeat(16));
    let signs = "+".repeat(1 << 20);
    let operators = "OR ".repeat(300_000);
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| {
            let mut reader = index.reader().unwrap();
            for (text, expected) in
                [(&closed, 200), (&between, 200), (&deep, 200), (&signs, 0), (&operators, 0)]
            {
                for search in
                    [Search::newest(1000), Search::best(1000), Search::best(1000).windows()]
                {
                    let hits = reader.search(Lenient(text), search).unwrap();
                    assert_eq!(hits.len(), expected, "{}", &text[..40]);
                    assert!(hits.warnings().len() <= 64);
                }
            }
            assert_eq!(reader.count(&deep), Ok(200));
        });
        asked.join().unwrap();
    });
    let long = "a ".repeat(1 << 20);
    let mut reader = index.reader().unwrap();
    let refused = reader.count(&long).unwrap_err().to_string();
    assert_eq!(refused, "column 1: the query is too large: a text of more than 1048576 bytes");
    let hits = reader.search(Lenient(&long), Search::newest(1)).unwrap();
    assert_eq!((hits.len(), hits.warnings().len()), (0, 1));
}

/// However many terms begin so, and whichever of a document's follows the others.
#[test]
fn phrase_prefixes_take_all_that_begin_so() {
    let index = tiny(1, 8 << 20).open().unwrap();
    for n in 0..300 {
        index.add(&format!("sea word{n} sky")).unwrap();
        index.add(&format!("word{n} sea other{n}")).unwrap();
        index.add(&format!("word{n} sea words")).unwrap();
        index.add(&format!("sea sea, but no word{n}")).unwrap();
    }
    for _ in 0..2 {
        let mut reader = index.reader().unwrap();
        for (query, expected) in [
            ("\"sea word\"*", 600),
            ("\"sea w\"* -words", 300),
            ("\"sea word1\"*", 111),
            ("\"sea sea\"*", 300),
            ("\"sea s\"*", 300),
            ("\"sea * s\"*", 300),
            ("\"sea * word\"*", 0),
            ("\"but no word29\"*", 11),
            ("\"word7 sea o\"* \"word8 sea o\"*", 2),
            ("\"nothing w\"*", 0),
        ] {
            assert_eq!(reader.count(query), Ok(expected), "{query}");
            let best = Search::best(1000).exhaustive();
            assert_eq!(reader.search(query, best).unwrap().len() as u64, expected, "{query}");
        }
        drop(reader);
        index.flush().unwrap();
        index.settle();
    }
}

/// A phrase that repeats a word needs it as often, both as an AND, up to eight words, and by windows.
#[test]
fn phrases_may_repeat_words() {
    let index = tiny(1, 8 << 20).open().unwrap();
    for again in ["to be or not to be or to be", "to be or not to be or not to be"] {
        for text in [again, "not to be or to be", "or not to be to be or to be not"] {
            index.add(text).unwrap();
        }
        index.flush().unwrap();
    }
    index.add("or to be or not to be or to be or").unwrap();
    let mut reader = index.reader().unwrap();
    for (phrase, expected) in [
        ("\"to be or not to be or to\"", ["6", "0"].as_slice()),
        ("\"to be or not to be or to be\"", &["6", "0"]),
        ("\"to be or not to be or not to be\"", &["3"]),
        ("\"not to be or to be\"", &["6", "4", "1", "0"]),
        ("\"to be or to be or not to be\"", &[]),
    ] {
        assert_eq!(keys(&index, phrase), expected, "{phrase}");
        let mut best = reader.search(phrase, Search::best(10)).unwrap().keys().unwrap();
        best.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(best, expected, "{phrase}");
    }
}

#[test]
fn patterns_find_a_term_the_instant_it_is_there() {
    let index = tiny(1, 2 << 20).open().unwrap();
    for number in 0..100 {
        let key = format!("k{number}");
        index.put(&key, &format!("term{number}new and term{number}withmorebytesthanakey")).unwrap();
        for pattern in ["n*", "w*", "withmore*", "?ew"] {
            assert_eq!(
                keys(&index, &format!("term{number}{pattern}")),
                [key.as_str()],
                "{pattern}"
            );
        }
    }
}

/// Regular expressions, beside all terms tested one by one, in a fresh segment and in others.
#[test]
fn expressions_find_what_the_naive_scan_does() {
    let options = tiny(1, 8 << 20).field("by", FieldKind::Keyword);
    let index = options.field("stems", FieldKind::Text(Analyzer::English)).open().unwrap();
    let names = |n: usize| (format!("h{n}eron"), format!("Bo Li/{}", n % 20), "grey herons");
    for n in 0..600 {
        let (text, by, stems) = names(n);
        index.add(Document::new().text(&text).field("by", &by).field("stems", stems)).unwrap();
    }
    for _ in 0..2 {
        let mut reader = index.reader().unwrap();
        for (field, expression) in [
            ("text", "h[1-3]+eron"),
            ("text", "h(1|2.)\\d?er(on|ring)"),
            ("text", ".*7.*"),
            ("text", "h5?eron"),
            ("text", "H10?0?ERON"),
            ("text", "eron"),
            ("by", "Bo Li/1?[37]"),
            ("by", "bo .*"),
            ("by", "B.*0"),
            ("stems", "(grey|heron)s?"),
            ("stems", "herons"),
        ] {
            let typed =
                Clause::Regex(Word { field: field.to_owned(), text: expression.to_owned() });
            let case = if field == "by" { "" } else { "(?i)" };
            let whole = regex::Regex::new(&format!("{case}^(?:{expression})$")).unwrap();
            let is_match = |n: &usize| match (names(*n), field) {
                ((text, ..), "text") => whole.is_match(&text),
                ((_, by, _), "by") => whole.is_match(&by),
                _ => ["grey", "heron"].into_iter().any(|stem| whole.is_match(stem)),
            };
            let expected = (0..600).filter(is_match).count();
            let query = format!("{typed:#}");
            assert_eq!(reader.count(&query), Ok(expected as u64), "{query}");
            let query = Query::in_schema(&typed, &index.schema()).unwrap();
            assert_eq!(reader.count(&query), Ok(expected as u64), "{typed}");
            let best = reader.search(&format!("({typed:#})^2"), Search::best(1000)).unwrap();
            assert_eq!(best.len(), expected, "the best of {typed}");
            assert!(best.iter().all(|hit| hit.score() == Some(2.0)), "scores of {typed}");
        }
        // Without a field's name, in all fields of text.
        for (expression, expected) in [("/h5?eron/", 600), ("/h1?2eron/", 2), ("/grey/", 600)] {
            assert_eq!(reader.count(expression), Ok(expected), "{expression}");
        }
        reader.limits(Limits { expansions: 99, ..Limits::default() });
        assert_eq!(reader.count("/h\\d\\deron/"), Ok(90));
        assert_eq!(reader.count("/h.*eron/"), Err(SearchError::TooManyTerms { max: 99 }));
        let plan = reader.plan("/h1?eron/", &Search::best(1)).unwrap().to_string();
        assert!(plan.contains("/h1?eron/"), "{plan}");
        drop(reader);
        index.flush().unwrap();
        index.settle();
    }
}

#[test]
fn phrases_need_positions() {
    let index = tiny(1, 8 << 20).positions(false).open().unwrap();
    index.add("by e-mail").unwrap();
    // Nobody asked for a phrase.
    assert_eq!(index.reader().unwrap().count("E-Mail"), Ok(1));
    assert_eq!(index.reader().unwrap().count("e-post"), Ok(0));
    index.add("grey heron").unwrap();
    let mut reader = index.reader().unwrap();
    assert_eq!(reader.count("\"grey heron\""), Err(SearchError::NoPositions));
    assert_eq!(reader.count("\"grey her\"*"), Err(SearchError::NoPositions));
    assert_eq!(reader.count("\"her\"*"), Ok(1));
    assert_eq!(reader.count("grey AND heron"), Ok(1));
    assert_eq!(reader.search("heron", Search::best(1)).unwrap().len(), 1);
}
