//! Terms that a document has so often that postings cannot say it: scores are those of the true frequencies, whatever the way of
//! evaluation, and no bound is below them.

use std::collections::{BTreeMap, HashMap};

use spirit::lab::Counts;
use spirit::lab::Level;
use spirit::lab::Parameters;
use spirit::{Analyzer, Builder, Clause, Index, Query, Search};
use spirit_oracle::{Collection, Oracle, terms_of};

use crate::support::tiny;

/// How often the documents have the word; most of them so seldom that only a true bound keeps the others from being passed over.
fn times(number: usize) -> usize {
    match number % 211 {
        17 => 254,
        40 => 255,
        41 => 256,
        90 => 300,
        150 => 900 + number % 7,
        _ => number % 3 + 1,
    }
}

fn texts() -> Vec<String> {
    let text = |number: usize| {
        let other = ["sky", "reed", "sky reed"][number % 3];
        format!("{}{other} {}", "sea ".repeat(times(number)), "and ".repeat(number % 600))
    };
    (0..1200).map(text).collect()
}

/// One query of each way of evaluation.
fn queries() -> [Clause; 5] {
    let [sea, sky, reed] = ["sea", "sky", "reed"].map(Clause::term);
    [
        sea.clone(),
        Clause::all([sea.clone(), sky.clone()]),
        Clause::all([sea.clone(), sky.clone(), reed.clone()]),
        Clause::any([sea.clone(), sky.clone(), reed.clone()]),
        Clause::all([Clause::any([sea, sky]), Clause::Everything]),
    ]
}

fn best(index: &Index, asked: &Clause, search: Search) -> (BTreeMap<String, f32>, Counts) {
    let mut reader = index.reader().unwrap();
    let query = Query::new_of(asked).unwrap();
    let hits = reader.search(&query, search).unwrap();
    let scored =
        hits.keys().unwrap().into_iter().zip(hits.iter().filter_map(|hit| hit.score())).collect();
    (scored, hits.counts().unwrap().clone())
}

fn check(index: &Index, oracle: &Oracle) {
    for asked in queries() {
        let (all, counts) = best(index, &asked, Search::best(10_000).exhaustive());
        let terms = terms_of(&asked, &|_| true).into_iter();
        let collection = Collection {
            fields: HashMap::from([(
                "text".to_owned(),
                (counts.statistics.documents, counts.statistics.tokens),
            )]),
            with_term: terms.zip(counts.with_term.iter().copied()).collect(),
            parameters: Parameters::default(),
            frequency_max: usize::MAX,
        };
        assert_eq!(all.len(), oracle.matches(&asked).count(), "{asked}");
        for document in oracle.matches(&asked) {
            let (score, exact) = (all[&document.key], collection.score(&asked, document).unwrap());
            let near = (f64::from(score) - exact).abs() <= 1e-5 * exact;
            assert!(near, "{} scores {score}, not {exact}, by {asked}", document.key);
        }
        for k in [1, 5, 40] {
            let (first, _) = best(index, &asked, Search::best(k));
            assert_eq!(first.len(), k);
            let lowest = first.values().copied().fold(f32::MAX, f32::min);
            let above = all.values().filter(|score| **score > lowest).count();
            assert!(above < k && first.iter().all(|(key, score)| all[key] == *score), "{asked}");
        }
    }
}

fn open(level: Level) -> Builder {
    tiny(1, 32 << 20).segment_bytes(1 << 20).analyzer(Analyzer::Simple).vectors(level)
}

#[test]
fn scores_are_those_of_true_frequencies() {
    for level in [Level::Portable, Level::Avx2, Level::Avx512] {
        let (index, mut oracle) = (open(level).open().unwrap(), Oracle::default());
        for text in texts() {
            index.add(&text).unwrap();
            oracle.add(None, &text);
        }
        check(&index, &oracle);
        index.flush().unwrap();
        index.settle();
        check(&index, &oracle);
    }
}

/// Without positions nobody can count them.
#[test]
fn without_positions_frequencies_end_at_255() {
    let index = open(Level::Avx512).positions(false).open().unwrap();
    for text in texts() {
        index.add(&text).unwrap();
    }
    let (all, _) = best(&index, &Clause::term("sea"), Search::best(10_000));
    assert_eq!(all.len(), 1200);
    let flat = Search::best(10_000).bm25(1.2, 0.0);
    let (all, _) = best(&index, &Clause::term("sea"), flat);
    assert_eq!(all["40"], all["150"]);
    assert!(all["17"] < all["40"]);
}
