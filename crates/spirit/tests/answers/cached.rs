//! Answers with the result cache are those without it, whatever happened between two questions: documents that came,
//! were replaced or deleted, segments that were flushed, engraved, merged, rewritten or dropped.

use std::fmt::Debug;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use proptest::prelude::*;
use spirit::cache::{Allocator, Cache, Matching, Outcome, Policy};
use spirit::facets::{Aggregate, Facet};
use spirit::search::{Direction, Limits, Total};
use spirit::{Analyzer, Builder, Document, FieldKind, Index, OnFull, Reader, Search};

use crate::support::directory::Directory;

const POLICIES: [Policy; 5] =
    [Policy::Lru, Policy::Dlirs, Policy::Random, Policy::S3Fifo, Policy::TinyLfu];

const QUERIES: [&str; 12] = [
    "+a +(b c)",
    "a*",
    "+a +b +c",
    "+b +a",
    "+e -(a b)",
    "(a b c d)~2",
    "+a +b",
    "a b",
    "a -b",
    "\"a b\"",
    "*",
    "d e f",
];

/// Questions whose entries may answer each other with partial matching.
const OF_TERMS: [&str; 8] = ["a b", "a", "b c", "b", "c a", "c", "+a +b", "a a"];
const MATCHINGS: [Matching; 2] = [Matching::Isomorphic, Matching::Partial1];

/// A cache that keeps each answer at once.
fn keeping_all(policy: Policy, entries: u32) -> Cache {
    let allocator = if entries.is_multiple_of(2) { Allocator::Tlsf } else { Allocator::FirstFit };
    let cache = Cache::new(1 << 20).entries(entries).policy(policy).allocator(allocator);
    cache.cost_min(Duration::ZERO)
}

fn small() -> Builder {
    fielded(Index::builder().dram_bytes(4 << 20).segment_bytes(64 << 10))
}

fn fielded(builder: Builder) -> Builder {
    let builder = builder.analyzer(Analyzer::Simple).field("tag", FieldKind::Keyword);
    builder.field("n", FieldKind::Integer).field("f", FieldKind::Float)
}

#[derive(Clone, Debug)]
enum Step {
    /// Adds some documents without keys.
    Add(Vec<u16>),
    /// Adds or replaces.
    Put(u8, u16),
    Delete(u8),
    Flush,
    Ask(usize, usize),
    /// Asks for terms, the newest first.
    AskForTerms(usize, usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => prop::collection::vec(any::<u16>(), 1..60).prop_map(Step::Add),
        3 => (0u8..40, any::<u16>()).prop_map(|(key, words)| Step::Put(key, words)),
        1 => (0u8..40).prop_map(Step::Delete),
        2 => Just(Step::Flush),
        6 => (0usize..7, prop::sample::select(vec![1, 3, 5, 20, 1000]))
            .prop_map(|(query, k)| Step::Ask(query, k)),
        6 => (0..OF_TERMS.len(), prop::sample::select(vec![2, 20, 300]))
            .prop_map(|(query, k)| Step::AskForTerms(query, k)),
    ];
    prop::collection::vec(step, 1..120)
}

/// Words of a document: a letter for each bit that is set.
fn text(words: u16) -> String {
    let letters = ["a", "b", "c", "d", "e", "f", "ab", "ac"];
    let twice = (0..16).filter(|bit| words >> bit & 1 == 1).map(|bit| letters[bit % 8]);
    twice.collect::<Vec<_>>().join(" ")
}

/// A document with values in three fields.
fn document(text: &str, words: u16) -> Document<'_> {
    let tag = ["red", "green", "blue", "a long tag of more than eight bytes"][words as usize % 4];
    let document = Document::new().text(text).field("tag", tag).field("n", i64::from(words) % 50);
    let document = document.field("f", f64::from(words) / 7.0);
    if words.is_multiple_of(5) { document } else { document.field("n", -7) }
}

fn facets() -> Vec<Facet> {
    let field = |name: &str| name.to_owned();
    let tags = || Facet::Terms { field: field("tag"), top: 3 };
    let distinct = |name| Facet::Cardinality { field: field(name) };
    let stats = |name| Facet::Stats { field: field(name) };
    let steps = || Facet::Histogram { field: field("n"), interval: 10.0 };
    vec![
        tags(),
        Facet::Terms { field: field("n"), top: 5 },
        steps(),
        Facet::Ranges { field: field("f"), ranges: vec![(None, Some(10.0)), (Some(10.0), None)] },
        Facet::Filters { queries: vec!["a".into(), "tag:red n:>3".into()] },
        stats("n"),
        stats("f"),
        distinct("tag"),
        distinct("f"),
        tags()
            .then(stats("f"))
            .then(distinct("tag"))
            .then(steps().with_missing().then(distinct("n"))),
        steps().with_empty().then(tags().then(distinct("tag"))),
        Facet::Percentiles { field: field("n"), at: vec![0.0, 50.0, 100.0] },
    ]
}

/// All answers to a query.
/// Keys and scores of the best, and the number of matches.
type Best = (Vec<(String, u32)>, Option<Total>);

#[derive(Debug)]
struct Answers {
    count: u64,
    keys: Vec<String>,
    /// The best with places and without.
    best: [Best; 2],
    /// The first by a number, and by a keyword and a number.
    first: [Vec<String>; 2],
    /// Numbers of matches up to some limits.
    up_to: [Option<u64>; 4],
    facets: Vec<Aggregate>,
}

impl PartialEq for Answers {
    fn eq(&self, other: &Answers) -> bool {
        // Percentiles come last. They depend on the order of documents, within their accuracy.
        let near = |a: &Aggregate, b: &Aggregate| match (a, b) {
            (Aggregate::Percentiles(a), Aggregate::Percentiles(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a.1 - b.1).abs() <= 2.0)
            }
            _ => a == b,
        };
        let all = self.facets.iter().zip(&other.facets).all(|(a, b)| near(a, b));
        let same = self.count == other.count && self.keys == other.keys;
        let same = same && (&self.first, self.up_to) == (&other.first, other.up_to);
        same && self.best == other.best && all
    }
}

/// A reader with the cache, and one without.
struct Readers {
    cached: Reader,
    plain: Reader,
}

impl Readers {
    fn of(index: &Index) -> Readers {
        let mut plain = index.reader().unwrap();
        plain.limits(Limits { cache: false, ..Limits::default() });
        Readers { cached: index.reader().unwrap(), plain }
    }

    /// Asks with the cache, and without before and after. The last two differ if the pipeline dropped something
    /// meanwhile.
    fn agree<T: PartialEq + Debug>(&mut self, what: &str, mut ask: impl FnMut(&mut Reader) -> T) {
        let mut agrees = |readers: &mut Readers| {
            let before = ask(&mut readers.plain);
            let found = ask(&mut readers.cached);
            let after = ask(&mut readers.plain);
            assert!(before != after || found == after, "{what}: {found:?}, not {after:?}");
            before == after
        };
        assert!((0..100).any(|_| agrees(self)), "the index never comes to rest");
    }

    fn check(&mut self, query: &str, k: usize) {
        self.agree(&format!("{query}, {k}"), |reader| answers(reader, query, k));
    }

    fn check_newest(&mut self, query: &str, k: usize) {
        self.agree(&format!("{query}, newest {k}"), |reader| {
            let hits = reader.search(query, Search::newest(k).total(u64::MAX)).unwrap();
            assert!(!hits.is_approximate());
            (hits.total(), hits.keys().unwrap())
        });
    }
}

/// Returns the number of matches if it is exact.
fn exact(total: Total, up_to: u64) -> Option<u64> {
    assert_eq!(total.is_exact(), total.count() <= up_to);
    total.is_exact().then(|| total.count())
}

fn answers(reader: &mut Reader, query: &str, k: usize) -> Answers {
    let count = reader.count(query).unwrap();
    let hits = reader.search(query, Search::newest(k).total(20)).unwrap();
    let (keys, of_newest) = (hits.keys().unwrap(), exact(hits.total().unwrap(), 20));
    drop(hits);
    let best = Search::best(k.min(30)).total(1_000_000);
    let scored = |hit: spirit::Hit<'_>| (hit.key().unwrap(), hit.score().unwrap().to_bits());
    let best = [best.clone().proximity(), best].map(|best| {
        let hits = reader.search(query, best).unwrap();
        (hits.iter().map(scored).collect(), hits.total())
    });
    let by_number = Search::by_field(k, "n", Direction::Descending).total(7);
    let by_two =
        Search::by_field(k, "tag", Direction::Ascending).then_by("f", Direction::Ascending);
    let first = [by_number, by_two];
    let mut of_sorted = None;
    let first = first.map(|order| {
        let hits = reader.search(query, order).unwrap();
        of_sorted = of_sorted.or(hits.total().and_then(|total| exact(total, 7)));
        hits.keys().unwrap()
    });
    let [few, all] =
        [3, 1 << 40].map(|up_to| exact(reader.count_up_to(query, up_to).unwrap(), up_to));
    let up_to = [of_newest, of_sorted, few, all];
    let facets = reader.aggregate(query, &facets()).unwrap();
    Answers { count, keys, best, first, up_to, facets }
}

/// Takes all steps but questions.
fn make(index: &Index, steps: &[Step]) {
    for step in steps {
        match step {
            Step::Add(all) => all.iter().for_each(|words| {
                index.add(document(&text(*words), *words)).unwrap();
            }),
            Step::Put(key, words) => {
                index.put(&format!("k{key}"), document(&text(*words), *words)).unwrap();
            }
            Step::Delete(key) => {
                index.delete(&format!("k{key}")).unwrap();
            }
            Step::Flush => index.flush().unwrap(),
            Step::Ask(..) | Step::AskForTerms(..) => {}
        }
    }
}

fn run(index: &Index, steps: &[Step]) {
    let mut readers = Readers::of(index);
    for step in steps {
        match step {
            Step::Ask(query, k) => readers.check(QUERIES[*query], *k),
            Step::AskForTerms(query, k) => readers.check_newest(OF_TERMS[*query], *k),
            other => make(index, std::slice::from_ref(other)),
        }
    }
    for query in OF_TERMS {
        readers.check_newest(query, 20);
    }
    for query in QUERIES {
        readers.check(query, 10);
        readers.check(query, 10);
    }
    let stats = index.stats().unwrap().cache.unwrap();
    assert!(stats.filled > 0 && (stats.found > 0 || stats.entries_max < 8), "{stats:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn in_memory(
        steps in steps(),
        policy in 0usize..5,
        entries in 1u32..200,
        executors in 1usize..3,
        matching in 0usize..2,
    ) {
        let cache = keeping_all(POLICIES[policy], entries).matching(MATCHINGS[matching]);
        let index = small().executors(executors).dram_bytes(8 << 20).cache(cache).open().unwrap();
        run(&index, &steps);
    }

    #[test]
    fn in_a_directory(
        steps in steps(),
        policy in 0usize..5,
        entries in 1u32..200,
        in_file: bool,
        matching in 0usize..2,
    ) {
        let directory = Directory::new();
        let cache = keeping_all(POLICIES[policy], entries).matching(MATCHINGS[matching]);
        let cache = if in_file { cache.in_second_tier() } else { cache };
        let open = || small().directory(directory.path()).cache(cache.clone()).open().unwrap();
        run(&open(), &steps);
        run(&open(), &steps);
    }
}

/// Parts of questions.
const CLAUSES: [&str; 13] = [
    "(\"a b\" (+b +c) e*)",
    "a*",
    "\"a b\"",
    "\"a b\"~3",
    "(a b c)",
    "n:[3 TO 20]",
    "(+a +(b c))",
    "(a -b)",
    "((a b c d)~2)",
    "\"a * b\"",
    "\"a a\"*",
    "tag:[a TO h]",
    "f:IN [1 2 3]",
];

/// A question with two clauses that come again, and one that does not.
fn moving(form: usize, [one, other]: [usize; 2], number: u64) -> String {
    let [one, other] = [one, other].map(|clause| CLAUSES[clause % CLAUSES.len()]);
    let new = format!("f:<{number}.5");
    match form {
        0 => format!("+{one} +{new}"),
        1 => format!("+{one} -{other} +{new}"),
        2 => format!("+{new} +{other} {one}"),
        3 => format!("+a +{new} +{one} +{other}"),
        4 => format!("{one} {other} {new}"),
        5 => format!("({one} {other} {new})~2"),
        _ => format!("+a -{one} -{other} -{new}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Questions that differ each time have no entries, but their clauses have.
    #[test]
    fn clauses(
        steps in steps(),
        asked in prop::collection::vec((0usize..7, any::<[u8; 2]>()), 20..40),
        policy in 0usize..5,
        entries in 30u32..400,
        executors in 1usize..3,
    ) {
        // A question is timed first: it is worth an entry when it comes for the third time.
        let cache = keeping_all(POLICIES[policy], entries).cost_min(Duration::from_nanos(1));
        let builder = small().executors(executors).dram_bytes(8 << 20);
        let index = builder.cache(cache).open().unwrap();
        let mut readers = Readers::of(&index);
        for (number, (form, clauses)) in (0..).zip(&asked) {
            let from = steps.len() * number / asked.len();
            let to = steps.len() * (number + 1) / asked.len();
            let steps: Vec<Step> =
                steps[from..to].iter().filter(|step| !matches!(step, Step::Ask(..))).cloned().collect();
            make(&index, &steps);
            // A clause comes again with others.
            let [one, other] = clauses.map(|clause| usize::from(clause) % 3 + number / 8);
            readers.check(&moving(*form, [one, other], number as u64), 10);
        }
    }
}

#[test]
fn the_clauses_of_questions_that_move_are_found() {
    let cache = keeping_all(Policy::Lru, 100).cost_min(Duration::from_nanos(1));
    let index = small().cache(cache).open().unwrap();
    for number in 0..900u16 {
        index.add(document(&text(number | 1), number)).unwrap();
        if number % 300 == 299 {
            index.flush().unwrap();
        }
    }
    let mut readers = Readers::of(&index);
    let mut ask = |number: u32| {
        // Bitmaps of clauses with the same term are made one behind the other.
        let query = format!("+(b c) +(c d) +f:>{}.5", 60 - 20 * number);
        readers.check(&query, 10);
        let query = format!("{query} -f:>1{number}.5");
        readers.cached.count(&*query).unwrap();
        let found = index.stats().unwrap().cache.unwrap().found;
        (readers.cached.cache_outcome(), found)
    };
    let outcomes: Vec<_> = (0..4).map(&mut ask).collect();
    assert_eq!(outcomes[3].0, Outcome::Clauses, "{outcomes:?}");
    assert!(outcomes[3].1 >= outcomes[2].1 + 6, "two clauses in three segments: {outcomes:?}");
}

/// Scores are those without a cache also where a question makes the bitmap of a clause itself.
#[test]
fn scores_of_clauses_whose_bitmaps_are_made() {
    let cache = keeping_all(Policy::Lru, 100).cost_min(Duration::from_nanos(1));
    let directory = Directory::new();
    let index = small().directory(directory.path()).packed(true).cache(cache).open().unwrap();
    for number in 0..900u16 {
        index.add(document(&text((number % 37) | number), number)).unwrap();
    }
    index.flush().unwrap();
    for clause in ["\"a b\"", "\"b d\"~3", "(+b +c)", "(b c d)", "\"c a\""] {
        let mut readers = Readers::of(&index);
        for number in 0..4 {
            let query = format!("a {clause} d -f:>{}.5", 80 + number);
            readers.agree(&query, |reader| {
                let hits = reader.search(&*query, Search::best(20)).unwrap();
                let scored = |hit: spirit::Hit<'_>| (hit.key().unwrap(), hit.score().unwrap());
                hits.iter().map(scored).collect::<Vec<_>>()
            });
        }
    }
}

/// A bitmap is read instead of the terms that a pattern matches.
#[test]
fn a_pattern_that_is_known_is_not_expanded() {
    let cache = keeping_all(Policy::Lru, 100).cost_min(Duration::from_nanos(1));
    let index = small().cache(cache).open().unwrap();
    for number in 0..100 {
        index.add(document(&format!("a{number} b"), number)).unwrap();
    }
    index.flush().unwrap();
    let limits = Limits { expansions: 3, ..Limits::default() };
    let mut readers = [(); 2].map(|()| index.reader().unwrap());
    readers[1].limits(limits);
    let mut ask = |reader: usize, number: u32| {
        let found = readers[reader].count(&*format!("+a* +n:<{number}")).map_err(|_| ());
        (found, readers[reader].cache_outcome() == Outcome::Clauses)
    };
    assert_eq!(ask(1, 100).0, Err(()), "a hundred terms are too many");
    assert_eq!([101, 102, 103].map(|number| ask(0, number).0), [Ok(100); 3]);
    assert_eq!(ask(1, 104), (Ok(100), true));
}

#[test]
fn a_list_that_lost_a_match_is_made_again() {
    let index = small().cache(keeping_all(Policy::Lru, 16)).open().unwrap();
    for number in 0..10 {
        index.put(&format!("k{number}"), "a b c").unwrap();
    }
    index.flush().unwrap();
    let mut reader = index.reader().unwrap();
    let mut newest = || reader.search("+a +(b c)", Search::newest(5)).unwrap().keys().unwrap();
    assert_eq!([newest(), newest()], [["k9", "k8", "k7", "k6", "k5"]; 2]);
    assert!(index.delete("k7").unwrap());
    assert_eq!(newest(), ["k9", "k8", "k6", "k5", "k4"]);
    index.put("k9", "a c").unwrap();
    assert_eq!(newest(), ["k9", "k8", "k6", "k5", "k4"]);
    let stats = index.stats().unwrap().cache.unwrap();
    assert_eq!((stats.filled, stats.missed), (2, 1), "{stats:?}");
}

/// A list may have been kept with fewer matches than are wanted, beside those of a fresh segment.
#[test]
fn a_list_that_is_too_short_without_the_fresh_ones_is_made_again() {
    let index = small().cache(keeping_all(Policy::Lru, 16)).open().unwrap();
    let put = |key: String| index.put(&key, "a b").map(drop).unwrap();
    let mut reader = index.reader().unwrap();
    let mut newest = || {
        let hits = reader.search("+a +(b c)", Search::newest(5)).unwrap();
        hits.keys().unwrap().join(" ")
    };
    (0..10).for_each(|number| put(format!("k{number}")));
    index.flush().unwrap();
    assert_eq!([newest(), newest()], ["k9 k8 k7 k6 k5", "k9 k8 k7 k6 k5"]);
    assert!(index.delete("k9").unwrap() && index.delete("k8").unwrap());
    index.add("other").unwrap();
    index.flush().unwrap();
    (0..3).for_each(|number| put(format!("f{number}")));
    assert_eq!(newest(), "f2 f1 f0 k7 k6");
    (0..3).for_each(|number| assert!(index.delete(&format!("f{number}")).unwrap()));
    assert_eq!([newest(), newest()], ["k7 k6 k5 k4 k3", "k7 k6 k5 k4 k3"]);
}

/// Readers get the caches in turn, each one for all of its questions.
#[test]
fn each_of_two_readers_has_a_cache_of_its_own() {
    let index = small().cache(keeping_all(Policy::Lru, 16).caches(2)).open().unwrap();
    index.add("a b").unwrap();
    let mut ask = |reader: &mut Reader| {
        let hits = reader.search("+a +(b c)", Search::newest(5).total(9)).unwrap();
        assert_eq!((hits.len(), hits.total()), (1, Some(Total::Exact(1))));
        drop(hits);
        reader.cache_outcome()
    };
    let mut readers = [(); 3].map(|()| index.reader().unwrap());
    let outcomes = readers.each_mut().map(&mut ask);
    assert_eq!(outcomes, [Outcome::Missed, Outcome::Missed, Outcome::Hit]);
}

#[test]
fn a_list_in_order_that_lost_a_match_is_made_again() {
    let index = small().cache(keeping_all(Policy::Lru, 16)).open().unwrap();
    let put = |number: i64| {
        index.put(&format!("k{number}"), Document::new().text("a").field("n", number)).unwrap();
    };
    [10, 9, 8, 7].into_iter().for_each(put);
    index.flush().unwrap();
    let mut reader = index.reader().unwrap();
    let mut first = || {
        let search = Search::by_field(3, "n", Direction::Descending);
        let keys = reader.search("a", search).unwrap().keys().unwrap();
        (keys.join(" "), reader.cache_outcome())
    };
    first();
    assert_eq!(first(), ("k10 k9 k8".into(), Outcome::Hit));
    assert!(index.delete("k10").unwrap());
    put(1);
    index.flush().unwrap();
    assert_eq!(
        first(),
        ("k9 k8 k7".into(), Outcome::Missed),
        "the 1 comes after one that was not kept"
    );
    put(11);
    index.flush().unwrap();
    assert_eq!(first(), ("k11 k9 k8".into(), Outcome::Joined));
    assert!(index.delete("k7").unwrap());
    put(12);
    assert_eq!(first(), ("k12 k11 k9".into(), Outcome::Hit));
}

/// A number without any order.
fn mixed(number: u32) -> u32 {
    let number = number.wrapping_mul(0x9E37_79B9);
    let number = (number ^ number >> 15).wrapping_mul(0x85EB_CA77);
    number ^ number >> 13
}

#[test]
fn segments_from_entries_are_counted() {
    let index = small().cache(keeping_all(Policy::Lru, 10)).open().unwrap();
    let mut reader = index.reader().unwrap();
    let mut asked = |segments: usize, ask: &dyn Fn(&mut Reader)| {
        for _ in 0..segments {
            index.add("a b c").unwrap();
            index.flush().unwrap();
        }
        ask(&mut reader);
        let stats = index.stats().unwrap();
        (stats.cached_segments, stats.evaluated_segments)
    };
    let newest =
        |reader: &mut Reader| assert!(reader.search("+a +b +c", Search::newest(9)).is_ok());
    let count = |reader: &mut Reader| assert!(reader.count("+a +b +c").is_ok());
    assert_eq!(asked(3, &newest), (0, 0), "there was no entry");
    assert_eq!(asked(0, &newest), (3, 0));
    assert_eq!(asked(2, &newest), (6, 2));
    assert_eq!(asked(0, &count), (6, 2), "there was no entry");
    assert_eq!(asked(1, &count), (11, 3));
}

/// A small heap of which much is dropped or rewritten.
fn stream(on_full: OnFull, keys: Option<u32>) {
    for (policy, matching) in POLICIES.into_iter().zip(MATCHINGS.into_iter().cycle()) {
        let cache = keeping_all(policy, 600).matching(matching);
        let builder = Index::builder().dram_bytes(2 << 20).segment_bytes(64 << 10);
        let index = fielded(builder).on_full(on_full).cache(cache).open().unwrap();
        let mut readers = Readers::of(&index);
        for number in 0..30_000u32 {
            let words = (number.wrapping_mul(2_654_435_761) >> 13) as u16;
            let text = text(words);
            let document = document(&text, words);
            match keys {
                Some(keys) => {
                    // Some documents stay for long.
                    let key = mixed(number) % keys;
                    index.put(&format!("k{key}"), document).map(drop).unwrap()
                }
                None => index.add(document).map(drop).unwrap(),
            }
            if number % 301 == 0 {
                let query = QUERIES[number as usize / 301 % QUERIES.len()];
                readers.check(query, [3, 25, 800][number as usize % 3]);
            }
            // Between two of these, some of the matches stay.
            if number % 97 == 0 {
                readers.check("+a -(b c)", 25);
                let at = number as usize / 97;
                readers.check_newest(OF_TERMS[at % OF_TERMS.len()], [25, 800][at / 40 % 2]);
            }
        }
        let stats = index.stats().unwrap();
        let cache = stats.cache.unwrap();
        assert!(cache.found > 20, "{policy:?}: {cache:?}");
        assert_eq!(cache.found_by_alias > 10, matching == Matching::Partial1, "{cache:?}");
        match keys {
            Some(_) => {
                assert!(stats.rewritten_segments > 3, "{} rewrites", stats.rewritten_segments)
            }
            None => assert!(stats.dropped_segments > 3, "{} drops", stats.dropped_segments),
        }
    }
}

#[test]
fn while_the_oldest_segments_are_dropped() {
    stream(OnFull::DropOldest, None);
}

#[test]
fn while_segments_are_rewritten() {
    stream(OnFull::Wait, Some(150));
}

/// Each key has one document at each moment, so a count of all is the number of keys, and no list has a key twice.
#[test]
fn threads_that_ask_beside_updates() {
    const KEYS: usize = 200;
    let cache = keeping_all(Policy::Lru, 16).caches(1).matching(Matching::Partial1);
    let builder = Index::builder().dram_bytes(2 << 20).segment_bytes(64 << 10);
    let builder = builder.analyzer(Analyzer::Simple).on_full(OnFull::Wait);
    let index = builder.cache(cache).open().unwrap();
    let put = |number: usize| {
        index.put(&format!("k{}", number % KEYS), &*format!("a b v{}", number % 3)).unwrap();
    };
    (0..KEYS).for_each(put);
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut reader = index.reader().unwrap();
                while !ended.load(Relaxed) {
                    assert_eq!(reader.count("+a +b").unwrap(), KEYS as u64);
                    for query in ["+b +a", "a v1", "a", "b"] {
                        let hits = reader.search(query, Search::newest(1000)).unwrap();
                        let mut keys = hits.keys().unwrap();
                        keys.sort_unstable();
                        keys.dedup();
                        assert_eq!(keys.len(), KEYS, "a key is missing, or one is there twice");
                    }
                }
            });
        }
        (0..60_000).for_each(put);
        ended.store(true, Relaxed);
    });
    let stats = index.stats().unwrap();
    assert!(stats.rewritten_segments > 3);
    assert!(stats.cache.unwrap().found > 100);
}

/// A part of facets changes, goes, or is joined by others, while the sum of all parts is kept.
#[test]
fn the_sum_of_facets_is_that_of_the_parts_there_are() {
    let age = Duration::from_millis(600);
    let index = small().cache(keeping_all(Policy::Lru, 100)).retain(age).open().unwrap();
    let mut readers = Readers::of(&index);
    for _ in 0..3 {
        for segment in 0..6 {
            for number in 0..20 {
                index.put(&format!("{segment} {number}"), document("a b", number)).unwrap();
            }
            index.flush().unwrap();
            if segment == 3 {
                // Segments before are too old soon, those behind are not.
                std::thread::sleep(age / 2);
            }
        }
        for number in 0..16 {
            readers.check("a*", 5);
            if number < 3 {
                index.delete(&format!("5 {number}")).unwrap();
            }
            readers.check("a*", 5);
            std::thread::sleep(age / 20);
        }
    }
}
