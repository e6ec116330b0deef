//! Partial matching in the result cache: which entries answer which questions, that partial I is exact, and that partial II
//! says what is approximate and finds nothing that does not match.

use std::collections::HashMap;
use std::time::Duration;

use proptest::prelude::*;
use spirit::cache::{Bypass, Cache, CacheStats, Matching, Outcome};
use spirit::search::{Limits, Total};
use spirit::{Analyzer, Builder, Index, Reader, Search};

fn caching(cache: Cache) -> Builder {
    let builder = Index::builder().dram_bytes(8 << 20).segment_bytes(64 << 10);
    builder.analyzer(Analyzer::Simple).cache(cache)
}

/// An index whose cache keeps each answer at once.
fn index(matching: Matching) -> Index {
    let cache = Cache::new(512 << 10).entries(64).cost_min(Duration::ZERO).matching(matching);
    caching(cache).open().unwrap()
}

fn put_all(index: &Index, texts: &[(&str, &str)]) {
    for (key, text) in texts {
        index.put(key, *text).unwrap();
    }
}

/// What a question found.
#[derive(Debug, PartialEq)]
struct Found {
    keys: Vec<String>,
    outcome: Outcome,
}

fn newest(reader: &mut Reader, query: &str, k: usize) -> Found {
    let keys = reader.search(query, Search::newest(k)).unwrap().keys().unwrap();
    Found { keys, outcome: reader.cache_outcome() }
}

fn found<const N: usize>(outcome: Outcome, keys: [&str; N]) -> Found {
    Found { keys: keys.map(str::to_owned).to_vec(), outcome }
}

fn stats(index: &Index) -> CacheStats {
    index.stats().unwrap().cache.unwrap()
}

#[test]
fn a_term_is_answered_from_the_entry_of_an_or() {
    let index = index(Matching::Partial1);
    put_all(&index, &[("1", "a"), ("2", "b c"), ("3", "a b"), ("4", "c"), ("5", "b")]);
    index.flush().unwrap();
    let mut reader = index.reader().unwrap();
    assert_eq!(newest(&mut reader, "a b", 9), found(Outcome::Missed, ["5", "3", "2", "1"]));
    assert_eq!(newest(&mut reader, "b", 9), found(Outcome::Hit, ["5", "3", "2"]));
    assert_eq!(newest(&mut reader, "a", 9), found(Outcome::Hit, ["3", "1"]));
    assert_eq!(newest(&mut reader, "b a", 9), found(Outcome::Hit, ["5", "3", "2", "1"]));
    let kept = stats(&index);
    assert_eq!((kept.entries, kept.filled), (1, 1), "three questions have one entry");
    assert_eq!((kept.found, kept.found_by_alias, kept.missed), (3, 2, 1), "{kept:?}");
    // Another term, another number, an AND: they have no entry yet.
    assert_eq!(newest(&mut reader, "c", 9), found(Outcome::Missed, ["4", "2"]));
    assert_eq!(newest(&mut reader, "a", 8), found(Outcome::Missed, ["3", "1"]));
    assert_eq!(newest(&mut reader, "+a +b", 9), found(Outcome::Missed, ["3"]));
    assert_eq!(newest(&mut reader, "b c", 9), found(Outcome::Missed, ["5", "4", "3", "2"]));
    // New segments are joined. The term gets an entry of its own then.
    put_all(&index, &[("6", "b"), ("7", "a"), ("2", "d")]);
    index.flush().unwrap();
    put_all(&index, &[("8", "a d")]);
    assert_eq!(newest(&mut reader, "a", 9), found(Outcome::Joined, ["8", "7", "3", "1"]));
    assert_eq!(newest(&mut reader, "a", 9), found(Outcome::Hit, ["8", "7", "3", "1"]));
    assert_eq!(newest(&mut reader, "b", 9), found(Outcome::Joined, ["6", "5", "3"]));
    let joined = found(Outcome::Joined, ["8", "7", "6", "5", "3", "1"]);
    assert_eq!(newest(&mut reader, "a b", 9), joined);
}

#[test]
fn a_term_is_right_where_the_list_of_the_or_is_cut() {
    let index = index(Matching::Partial1);
    let texts = ["a", "a", "a", "a", "a", "b", "b", "b", "b", "b"];
    for (number, text) in texts.iter().enumerate() {
        index.put(&format!("k{number}"), *text).unwrap();
    }
    index.flush().unwrap();
    let mut reader = index.reader().unwrap();
    assert_eq!(newest(&mut reader, "a b", 3), found(Outcome::Missed, ["k9", "k8", "k7"]));
    // The newest three of the OR have none of them.
    assert_eq!(newest(&mut reader, "a", 3), found(Outcome::Hit, ["k4", "k3", "k2"]));
    // The list of each term is cut. One that lost a match is made again.
    assert!(index.delete("k3").unwrap());
    assert_eq!(newest(&mut reader, "b", 3), found(Outcome::Hit, ["k9", "k8", "k7"]));
    assert_eq!(newest(&mut reader, "a", 3), found(Outcome::Missed, ["k4", "k2", "k1"]));
    assert_eq!(newest(&mut reader, "a", 3), found(Outcome::Hit, ["k4", "k2", "k1"]));
    assert_eq!(stats(&index).entries, 2);
    // The OR's own list of this term too, and the other one stays.
    assert!(index.delete("k9").unwrap() && index.delete("k7").unwrap());
    assert_eq!(newest(&mut reader, "a b", 3), found(Outcome::Missed, ["k8", "k6", "k5"]));
    assert_eq!(newest(&mut reader, "b", 3), found(Outcome::Hit, ["k8", "k6", "k5"]));
    for key in ["k8", "k6", "k5"] {
        assert!(index.delete(key).unwrap());
    }
    assert_eq!(newest(&mut reader, "a b", 3), found(Outcome::Missed, ["k4", "k2", "k1"]));
    assert_eq!(newest(&mut reader, "b", 3), found(Outcome::Hit, []), "the list is whole by now");
}

#[test]
fn simple_questions_bypass_the_cache_unless_all_are_kept() {
    let always = Cache::new(512 << 10).cost_min(Duration::ZERO);
    let ask = |cache: Cache, k| {
        let index = caching(cache).open().unwrap();
        index.add("a").unwrap();
        index.flush().unwrap();
        newest(&mut index.reader().unwrap(), "a", k).outcome
    };
    let bypassed = Outcome::Bypassed(Bypass::Newest);
    assert_eq!([100, 101].map(|k| ask(always.clone(), k)), [bypassed, Outcome::Missed]);
    let partial = always.matching(Matching::Partial1);
    assert_eq!([1, 100, 101].map(|k| ask(partial.clone(), k)), [Outcome::Missed; 3]);
    let costly = partial.cost_min(Duration::from_micros(4));
    let new = Outcome::Bypassed(Bypass::New);
    assert_eq!([1, 100, 101].map(|k| ask(costly.clone(), k)), [bypassed, bypassed, new]);
}

#[test]
fn approximate_answers_say_so() {
    let index = index(Matching::Partial2);
    put_all(&index, &[("1", "a"), ("2", "b"), ("3", "a b"), ("4", "c"), ("5", "b")]);
    index.flush().unwrap();
    let mut reader = index.reader().unwrap();
    // An AND answers for a term of it.
    assert_eq!(newest(&mut reader, "+a +b", 9), found(Outcome::Missed, ["3"]));
    assert_eq!(newest(&mut reader, "a", 9), found(Outcome::Approximate, ["3"]));
    let hits = reader.search("a", Search::newest(9).total(100)).unwrap();
    assert!(hits.is_approximate());
    assert_eq!((hits.len(), hits.total()), (1, Some(Total::Exact(2))), "they are counted");
    drop(hits);
    // The same question without the cache is exact, and says so.
    reader.limits(Limits { cache: false, ..Limits::default() });
    let hits = reader.search("a", Search::newest(9)).unwrap();
    assert!(!hits.is_approximate() && hits.len() == 2);
    drop(hits);
    assert_eq!(reader.cache_outcome(), Outcome::Off);
    reader.limits(Limits::default());
    // A term answers for an OR with it, and so does another OR.
    assert_eq!(newest(&mut reader, "c", 9), found(Outcome::Missed, ["4"]));
    assert_eq!(newest(&mut reader, "c b", 9), found(Outcome::Approximate, ["4"]));
    assert_eq!(newest(&mut reader, "b d", 9), found(Outcome::Missed, ["5", "3", "2"]));
    assert_eq!(newest(&mut reader, "b a", 9), found(Outcome::Approximate, ["5", "3", "2"]));
    // Partial I goes on: an OR's entry has all matches of a term. ANDs are answered by their own.
    assert_eq!(newest(&mut reader, "b", 9), found(Outcome::Hit, ["5", "3", "2"]));
    assert_eq!(newest(&mut reader, "+b +c", 9), found(Outcome::Missed, []));
    // What came since is found; what died is not. Without a match there is no approximate answer.
    put_all(&index, &[("6", "a"), ("3", "d")]);
    index.flush().unwrap();
    put_all(&index, &[("7", "a")]);
    assert_eq!(newest(&mut reader, "a", 9), found(Outcome::Missed, ["7", "6", "1"]));
    assert_eq!(newest(&mut reader, "b a", 9), found(Outcome::Approximate, ["7", "6", "1"]));
}

const QUERIES: [&str; 7] = ["a b", "a", "b c", "b", "c a", "+a +b", "+b +c"];

#[derive(Clone, Debug)]
enum Step {
    Put(u8, u8),
    Delete(u8),
    Flush,
    Ask(usize, usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0u8..60, any::<u8>()).prop_map(|(key, words)| Step::Put(key, words)),
        1 => (0u8..60).prop_map(Step::Delete),
        2 => Just(Step::Flush),
        6 => (0..QUERIES.len(), prop::sample::select(vec![3, 200]))
            .prop_map(|(query, k)| Step::Ask(query, k)),
    ];
    prop::collection::vec(step, 1..150)
}

fn text(words: u8) -> String {
    let letters = ["a", "b", "c", "d"].into_iter().enumerate();
    let has = letters.filter(|(bit, _)| words >> bit & 1 == 1);
    has.map(|(_, letter)| letter).collect::<Vec<_>>().join(" ")
}

/// The places of keys among all matches, the newest first.
type Places = HashMap<String, usize>;

/// Asks with the cache. An answer that is not marked is the exact one. Each hit of any other matches, and comes in its place.
/// True if it is marked.
fn check(cached: &mut Reader, plain: &mut Reader, query: &str, k: usize) -> bool {
    let all = newest(plain, query, 1000).keys;
    let hits = cached.search(query, Search::newest(k).total(1000)).unwrap();
    let (keys, is_approximate, total) = (hits.keys().unwrap(), hits.is_approximate(), hits.total());
    drop(hits);
    assert_eq!(is_approximate, cached.cache_outcome() == Outcome::Approximate);
    assert_eq!(total, Some(Total::Exact(all.len() as u64)), "{query}, {k}");
    if !is_approximate {
        assert_eq!(keys, all[..k.min(all.len())], "{query}, {k}");
        return false;
    }
    let places: Places = all.into_iter().zip(0..).collect();
    let of_hits: Vec<Option<&usize>> = keys.iter().map(|key| places.get(key)).collect();
    assert!(of_hits.iter().all(Option::is_some), "{query}, {k}: {keys:?}, not of {places:?}");
    assert!(of_hits.is_sorted_by(|a, b| a < b), "{query}, {k}: newest first, and each once");
    assert!(!keys.is_empty() && keys.len() <= k);
    true
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn approximate_hits_match(steps in steps(), executors in 1usize..3) {
        let cache = Cache::new(256 << 10).entries(9).cost_min(Duration::ZERO);
        let index = caching(cache.matching(Matching::Partial2)).executors(executors).open().unwrap();
        let [mut cached, mut plain] = [(); 2].map(|()| index.reader().unwrap());
        plain.limits(Limits { cache: false, ..Limits::default() });
        let mut asked = Vec::new();
        for step in steps {
            match step {
                Step::Put(key, words) => {
                    index.put(&format!("k{key}"), &*text(words)).unwrap();
                }
                Step::Delete(key) => drop(index.delete(&format!("k{key}")).unwrap()),
                Step::Flush => index.flush().unwrap(),
                Step::Ask(query, k) => asked.push(check(&mut cached, &mut plain, QUERIES[query], k)),
            }
        }
        let approximate = asked.iter().filter(|is| **is).count();
        let by_alias = index.stats().unwrap().cache.unwrap().found_by_alias;
        prop_assert!(by_alias >= approximate as u64);
    }
}
