//! Queries drawn from a corpus by document frequency, seeded.
//!
//! | workload | query | terms that occur in |
//! |---|---|---|
//! | L, M, H | one term | 10 to 100 documents; 0.1 to 1 %; 2 to 20 % of the documents |
//! | LL, MM, HH | two different terms, both wanted | the same |
//!
//! Terms of a class are equally likely, whatever their frequency, and may be drawn again.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use spirit::Query;

use crate::Fallible;
use crate::corpus::{Corpus, tokenizer};
use crate::random::Random;

/// Queries of a workload.
const QUERIES: usize = 1000;

/// The workloads, by frequency of their terms and number of them.
pub(crate) const NAMES: [&str; 6] = ["L", "M", "H", "LL", "MM", "HH"];

/// Queries of one kind.
pub(crate) struct Workload {
    /// One of [`NAMES`].
    pub(crate) name: &'static str,
    /// The terms of each query.
    pub(crate) terms: Vec<Vec<String>>,
    /// The same as the engine takes them.
    pub(crate) queries: Vec<Query>,
}

/// Draws the six workloads. One whose class has too few terms, as in tiny corpora, is left out.
pub(crate) fn draw(corpus: &Corpus, seed: u64) -> Fallible<Vec<Workload>> {
    let frequencies = document_frequencies(corpus);
    let mut workloads = Vec::new();
    for name in NAMES {
        let range = class(name, corpus.len());
        let mut terms: Vec<&str> = frequencies
            .iter()
            .filter(|(_, df)| range.contains(&(**df as u64)))
            .map(|(term, _)| term.as_str())
            .collect();
        terms.sort_unstable();
        if terms.len() < name.len() {
            eprintln!(
                "workload {name} left out: too few terms of its frequency in {}",
                corpus.name
            );
            continue;
        }
        workloads.push(Workload::new(name, &terms, &mut Random::new(seed, name))?);
    }
    Ok(workloads)
}

/// The document frequencies of a workload's terms.
fn class(name: &str, documents: usize) -> RangeInclusive<u64> {
    let share = |thousandths: u64| (documents as u64 * thousandths).div_ceil(1000).max(1);
    match &name[..1] {
        "L" => 10..=100,
        "M" => share(1)..=documents as u64 / 100,
        _ => share(20)..=documents as u64 / 5,
    }
}

fn document_frequencies(corpus: &Corpus) -> HashMap<String, u32> {
    struct Entry {
        documents: u32,
        last: usize,
    }
    let mut entries: HashMap<String, Entry> = HashMap::new();
    let mut tokenizer = tokenizer();
    for (number, text) in corpus.iter().enumerate() {
        // Too long a document has no tokens, as in the engine.
        let _ = tokenizer.for_each(text, |token| {
            let Some(entry) = entries.get_mut(token.text()) else {
                entries.insert(token.text().to_owned(), Entry { documents: 1, last: number });
                return;
            };
            entry.documents += u32::from(entry.last != number);
            entry.last = number;
        });
    }
    entries.into_iter().map(|(term, entry)| (term, entry.documents)).collect()
}

impl Workload {
    fn new(name: &'static str, class: &[&str], random: &mut Random) -> Fallible<Workload> {
        let mut terms = Vec::with_capacity(QUERIES);
        for _ in 0..QUERIES {
            terms.push(draw_different(class, name.len(), random));
        }
        let query = |terms: &Vec<String>| {
            let words: Vec<&str> = terms.iter().map(String::as_str).collect();
            Query::all_of(&words).map_err(|error| format!("{words:?}: {error}"))
        };
        let queries = terms.iter().map(query).collect::<Result<_, _>>()?;
        Ok(Workload { name, terms, queries })
    }

    /// The query's line in the peers' query file, under `name`.
    pub(crate) fn line(&self, query: usize, name: &str) -> String {
        let terms = &self.terms[query];
        let kind = if terms.len() == 1 { "term" } else { "and" };
        format!("{name} {kind} {}\n", terms.join(" "))
    }
}

fn draw_different(class: &[&str], count: usize, random: &mut Random) -> Vec<String> {
    let mut drawn: Vec<String> = Vec::with_capacity(count);
    while drawn.len() < count {
        let term = class[random.below(class.len())];
        if drawn.iter().all(|other| other != term) {
            drawn.push(term.to_owned());
        }
    }
    drawn
}

/// The query file of the peers: every query under its workload's name.
pub(crate) fn query_file(workloads: &[Workload]) -> String {
    let lines = |w: &Workload| (0..w.terms.len()).map(|q| w.line(q, w.name)).collect::<String>();
    workloads.iter().map(lines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(text: &str, term: &str) -> bool {
        text.split(' ').any(|word| word == term)
    }

    #[test]
    fn terms_have_the_frequency_of_their_class() {
        let corpus = Corpus::generate(3, Some(5000));
        let workloads = draw(&corpus, 42).unwrap();
        assert_eq!(workloads.iter().map(|w| w.name).collect::<Vec<_>>(), NAMES);
        for workload in &workloads {
            assert_eq!((workload.terms.len(), workload.queries.len()), (QUERIES, QUERIES));
            for terms in workload.terms.iter().step_by(100) {
                assert_eq!(terms.len(), workload.name.len());
                assert!(terms.len() == 1 || terms[0] != terms[1]);
                for term in terms {
                    let df = corpus.iter().filter(|text| has(text, term)).count() as u64;
                    assert!(
                        class(workload.name, 5000).contains(&df),
                        "{} {term} {df}",
                        workload.name
                    );
                }
            }
        }
    }

    #[test]
    fn the_classes_are_shares_of_the_corpus() {
        assert_eq!(class("LL", 1_000_000), 10..=100);
        assert_eq!(class("M", 1_000_000), 1000..=10_000);
        assert_eq!(class("HH", 1_000_000), 20_000..=200_000);
    }

    #[test]
    fn the_same_seed_draws_the_same_queries() {
        let corpus = Corpus::generate(3, Some(3000));
        let [a, b, c] = [42, 42, 43].map(|seed| query_file(&draw(&corpus, seed).unwrap()));
        assert_eq!(a, b);
        assert_ne!(a, c);
        assert!(a.lines().all(|line| line.split(' ').count() >= 3));
    }

    #[test]
    fn a_class_without_terms_is_left_out() {
        let corpus = Corpus::generate(3, Some(20));
        assert!(draw(&corpus, 42).unwrap().iter().all(|w| !w.terms.is_empty()));
    }
}
