//! Hostile and hopeless input: the engine answers with a typed error, or takes what can be taken, and goes on.
//! Nothing panics, nothing is half visible, nothing that was acknowledged is lost, and nothing hangs.
//!
//! A call that never comes back would hang the test run, so what may hang runs on a thread of its own that is
//! given `following::PATIENCE`: thousands of times what it needs, and a bound on hanging rather than on speed.

use spirit::query::{ParseError, Problem};
use spirit::{
    Analyzer, Builder, Index, OpenError, Operator, Query, Search, SearchError, WriteError,
};

use crate::support::{Chance, comes_back, tiny};

fn small() -> Index {
    tiny(1, 1 << 20).open().unwrap()
}

fn count(index: &Index, query: &str) -> u64 {
    index.reader().unwrap().count(query).unwrap()
}

/// More distinct words than an empty segment of the smallest size has room for.
fn too_many_words(n: usize) -> String {
    (0..2000).map(|i| format!("n{n}of{i} ")).collect()
}

/// Few distinct words that fit, and more positions than a segment has.
fn too_many_positions(n: usize) -> String {
    let own: String = (0..300).map(|i| format!("p{n}of{i} ")).collect();
    own + &"again ".repeat(30_000)
}

#[test]
fn a_document_that_is_too_long_is_refused_whole() {
    let index = tiny(1, 64 << 20).segment_bytes(4 << 20).open().unwrap();
    let text = "longtext ".repeat((10 << 20) / 9);
    let refused =
        WriteError::DocumentTooLong { bytes: text.len(), bytes_max: spirit::Document::BYTES_MAX };
    assert_eq!(index.add(&text), Err(refused.clone()));
    assert_eq!(index.put("k", &text), Err(refused));
    assert_eq!((count(&index, "*"), count(&index, "longtext"), index.accepted()), (0, 0, 0));
    index.add(&text[..spirit::Document::BYTES_MAX]).unwrap();
    assert_eq!(count(&index, "longtext"), 1);
}

#[test]
fn a_word_of_a_megabyte_is_skipped_and_the_others_are_found() {
    for analyzer in [Analyzer::Simple, Analyzer::Standard, Analyzer::Social] {
        let index = tiny(1, 4 << 20).analyzer(analyzer).open().unwrap();
        let long = "x".repeat((1 << 20) - 20);
        index.add(&format!("before {long} after")).unwrap();
        assert_eq!((count(&index, "before AND after"), count(&index, "*")), (1, 1), "{analyzer}");
        assert_eq!(index.stats().unwrap().skipped_tokens, 1, "{analyzer}");
        let mut reader = index.reader().unwrap();
        assert_eq!(reader.count(&long).unwrap_or(0), 0, "{analyzer}");
    }
}

#[test]
fn empty_documents_are_documents() {
    let index = small();
    for text in ["", " \n\t", "!?,."] {
        index.add(text).unwrap();
        index.put("k", text).unwrap();
    }
    assert_eq!((count(&index, "*"), count(&index, "key:k")), (4, 1));
}

/// Documents without a token take no vector space, so nothing backs it; the memory has been used before.
#[test]
fn empty_documents_go_anywhere_in_the_stream() {
    for positions in [true, false] {
        let index = tiny(1, 1 << 20).positions(positions).open().unwrap();
        let mut chance = Chance::new(7);
        for n in 0..100_000u64 {
            match chance.below(3) {
                0 => index.add("").map(drop).unwrap(),
                1 => index.put(&format!("k{}", n % 90), "").unwrap(),
                _ => index.add(&format!("a{} b{} c{n}", n % 100, n % 1000)).map(drop).unwrap(),
            }
        }
        assert_eq!(count(&index, "key:k5"), 1, "positions: {positions}");
    }
}

#[test]
fn keys_out_of_range_are_refused() {
    let index = small();
    assert_eq!(index.put("", "text"), Err(WriteError::Key { bytes: 0 }));
    assert_eq!(index.put(&"k".repeat(513), "text"), Err(WriteError::Key { bytes: 513 }));
    assert_eq!((count(&index, "text"), index.accepted()), (0, 0));
    index.put(&"k".repeat(512), "text").unwrap();
    assert_eq!(count(&index, &format!("key:{}", "k".repeat(512))), 1);
    assert_eq!(index.delete(""), Ok(false));
    assert_eq!(index.delete(&"k".repeat(5000)), Ok(false));
    assert_eq!(index.delete(&"k".repeat(512)), Ok(true));
}

/// Refused documents leave nothing behind, however many they are: no word, no key, no number, no term.
fn goes_on_after(too_large: fn(usize) -> String) {
    const ROUNDS: u64 = 15;
    let index = small();
    index.put("kept", "the version that stays").unwrap();
    for n in 0..ROUNDS as usize {
        for key in [None, Some("kept")] {
            let text = too_large(n);
            let result = match key {
                None => index.add(&text).map(drop),
                Some(key) => index.put(key, &text),
            };
            assert_eq!(result, Err(WriteError::DocumentTooLarge { segment_bytes: 64 << 10 }));
            let word = text.split(' ').next().unwrap();
            assert_eq!(count(&index, word), 0, "{word} of a document that was refused");
        }
        index.put("kept", "the version that stays").unwrap();
        index.add(&format!("small{n}")).unwrap();
        assert_eq!((count(&index, &format!("small{n}")), count(&index, "stays")), (1, 1));
    }
    for n in 0..50_000 {
        index.add(&format!("later{} after{}", n % 300, n % 40)).unwrap();
    }
    assert_eq!(index.accepted(), 50_001 + 2 * ROUNDS, "refused documents were counted as accepted");
}

#[test]
fn documents_with_too_many_words_do_no_harm() {
    comes_back(|| goes_on_after(too_many_words));
}

#[test]
fn documents_with_too_many_positions_do_no_harm() {
    comes_back(|| goes_on_after(too_many_positions));
}

/// What `add_all` says it added is there, and nothing else; the rest can be added afterwards.
#[test]
fn a_bad_document_among_many_stops_there() {
    let index = small();
    let bad = too_many_words(0);
    let good: Vec<String> = (0..100).map(|n| format!("good{n}")).collect();
    let texts = good[..50].iter().chain([&bad]).chain(&good[50..]);
    let error = index.add_all(texts.map(|text| (None, text.as_str()))).unwrap_err();
    let too_large = WriteError::DocumentTooLarge { segment_bytes: 64 << 10 };
    assert_eq!(error, WriteError::AfterSome { added: 50, error: too_large.into() });
    assert_eq!(count(&index, "*"), 50);
    assert_eq!(index.add_all(good[50..].iter().map(|text| (None, text.as_str()))), Ok(50));
    assert!(good.iter().all(|word| count(&index, word) == 1));
}

fn malformed(error: SearchError) -> ParseError {
    match error {
        SearchError::Parse(error) => error,
        other => panic!("not an error of the text: {other}"),
    }
}

#[test]
fn queries_out_of_bounds_are_refused() {
    let index = small();
    index.add("w0 w1 deep").unwrap();
    let mut reader = index.reader().unwrap();
    let many = |join: &str| (0..100_000).map(|n| format!("w{n}")).collect::<Vec<_>>().join(join);
    let nested = |n: usize| format!("{}deep{}", "(".repeat(n), ")".repeat(n));
    let negated = format!("{}deep{}", "NOT (".repeat(10_000), ")".repeat(10_000));
    let huge = "w ".repeat(8 << 20);
    for text in [many(" "), many(" OR "), many(" AND "), nested(10_000), negated, huge] {
        let error = malformed(reader.count(&text).unwrap_err());
        assert!(matches!(error.problem, Problem::TooLarge(_)), "{error}");
    }
    assert_eq!(reader.count(&nested(10)), Ok(1));
    let longest = (0..1000).map(|n| format!("w{n}")).collect::<Vec<_>>();
    assert_eq!(reader.count(&longest.join(" ")), Ok(1));
    let words: Vec<&str> = longest.iter().map(String::as_str).collect();
    assert_eq!(reader.count(Query::any_of(&words).unwrap()).unwrap(), 1);
    assert!(Query::all_of(&vec!["w"; 100_000]).is_err());
    assert_eq!(reader.count(Query::any_of(&[]).unwrap()).unwrap(), 0);
}

#[test]
fn unbalanced_and_broken_queries_are_errors_with_a_place() {
    let index = small();
    index.add("a b").unwrap();
    let mut reader = index.reader().unwrap();
    let broken = [
        "(",
        ")",
        "(a",
        "a)",
        "((a)",
        "a AND",
        "AND a",
        "a OR",
        "+",
        "-",
        "a AND OR b",
        "NOT",
        "()",
        "\"a",
    ];
    for text in broken {
        let error = malformed(reader.count(text).unwrap_err());
        assert!(error.offset <= text.len() && error.column >= 1, "{text}: {error:?}");
        assert!(!error.to_string().is_empty());
        assert_eq!(reader.count("a"), Ok(1), "after {text}");
    }
}

#[test]
fn random_bytes_are_a_query_or_an_error() {
    let index = small();
    for n in 0..2000 {
        index.add(&format!("a b{} c{n}", n % 7)).unwrap();
    }
    let mut reader = index.reader().unwrap();
    let mut chance = Chance::new(1);
    let pieces = [
        "a", "b1", " ", "(", ")", "+", "-", "*", "key:", "text:", "AND", "OR ", "NOT ", "\"", "é",
        "\u{0}",
    ];
    let mut parsed = 0;
    for round in 0..20_000 {
        reader.default_operator(if round % 2 == 0 { Operator::Or } else { Operator::And });
        let bytes: Vec<u8> = (0..chance.below(24)).map(|_| chance.next() as u8).collect();
        let mixed: String =
            (0..chance.below(16)).map(|_| pieces[chance.below(16) as usize]).collect();
        for text in [String::from_utf8_lossy(&bytes).as_ref(), &mixed] {
            let counted = reader.count(text);
            let found = reader.search(text, Search::newest(10_000)).map(|hits| hits.len() as u64);
            assert_eq!(counted, found, "{text:?}");
            parsed += u64::from(counted.is_ok());
        }
    }
    assert!(parsed > 5000, "only {parsed} were queries");
}

#[test]
fn a_search_for_no_hits_finds_none() {
    let index = small();
    index.add("a b").unwrap();
    let mut reader = index.reader().unwrap();
    for query in ["a", "a AND b", "a OR b", "*", "key:0", "-c"] {
        assert_eq!(reader.search(query, Search::newest(0)).unwrap().len(), 0, "{query}");
        assert_eq!(reader.search(query, Search::newest(usize::MAX)).unwrap().len(), 1, "{query}");
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    let open = |options: Builder| options.open().map(drop).unwrap_err();
    let setting = |error: OpenError| match error {
        OpenError::Setting { name, min, max, .. } if min < max => name,
        other => panic!("{other}"),
    };
    assert_eq!(setting(open(tiny(1, 1 << 20).executors(0))), "executors");
    assert_eq!(setting(open(tiny(1, 1 << 20).executors(65))), "executors");
    assert_eq!(setting(open(tiny(1, 1 << 20).readers_max(0))), "readers_max");
    assert_eq!(setting(open(tiny(1, 1 << 20).readers_max(usize::MAX))), "readers_max");
    assert_eq!(setting(open(tiny(1, 1 << 20).document_bytes_max(0))), "document_bytes_max");
    assert_eq!(
        setting(open(tiny(1, 1 << 20).document_bytes_max(usize::MAX))),
        "document_bytes_max"
    );
    for bytes in [0, 1, (64 << 10) - 1, (4 << 30) + 1, u64::MAX] {
        assert!(
            matches!(
                open(tiny(1, 1 << 30).segment_bytes(bytes)),
                OpenError::Setting { name: "segment_bytes", .. }
            ),
            "{bytes}"
        );
    }
    for bytes in [0, 1, (1 << 20) - 1, u64::MAX] {
        let refused = open(tiny(1, bytes));
        let is_of_dram = matches!(
            refused,
            OpenError::DramTooSmall { .. } | OpenError::TooLarge { name: "dram_bytes", .. }
        );
        assert!(is_of_dram, "{bytes}: {refused}");
    }
    assert!(tiny(1, 1 << 20).open().is_ok());
}

#[test]
fn one_reader_too_many_is_refused_until_one_goes() {
    let index = tiny(2, 1 << 20).readers_max(3).open().unwrap();
    index.add("found").unwrap();
    let mut readers: Vec<_> = (0..3).map(|_| index.reader().unwrap()).collect();
    let refused = SearchError::Readers { readers_max: 3 };
    assert_eq!(index.reader().map(drop).unwrap_err(), refused);
    // Statistics have a slot of their own.
    assert_eq!(index.stats().unwrap().documents, index.stats().unwrap().accepted);
    assert!(readers.iter_mut().all(|reader| reader.count("found") == Ok(1)));
    readers.pop();
    assert!(index.reader().is_ok());
}
