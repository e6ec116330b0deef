//! Queries drawn from a corpus by document frequency, seeded.
//!
//! | workload | query | terms that occur in |
//! |---|---|---|
//! | L, M, H | one term | 10 to 100 documents; 0.1 to 1 %; 2 to 20 % of the documents |
//! | LL, MM, HH | two different terms, both wanted | the same |
//!
//! Terms of a class are equally likely, whatever their frequency, and may be drawn again. The classes of a
//! [query set](crate::query_sets) are workloads too, as far as our engine has their queries.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use spirit::Query;
use spirit_peer_protocol::{Named, Query as Tree, Unsupported};

use crate::Fallible;
use crate::corpus::{Corpus, tokenizer};
use crate::query_sets::QuerySet;
use crate::{form, language};
use spirit_door::sim::Random;

/// Queries of a workload.
const QUERIES: usize = 1000;

/// The workloads, by frequency of their terms and number of them.
pub(crate) const NAMES: [&str; 6] = ["L", "M", "H", "LL", "MM", "HH"];

/// Queries of one kind.
pub(crate) struct Workload {
    /// One of [`NAMES`], or the class of a query set.
    pub(crate) name: String,
    /// The queries as the peers take them.
    trees: Vec<Tree>,
    /// The same as our engine takes them.
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
        workloads.push(Workload::drawn(name, &terms, QUERIES, &mut Random::named(seed, name))?);
    }
    Ok(workloads)
}

/// Terms of a corpus that the paper's classes are of: the most frequent ones.
const TOP_TERMS: usize = 50_000;

/// Draws the first paper's six workloads, `queries` of each: of the top terms, those in at least a tenth as many documents as the
/// most frequent one (H), in at least a hundredth (M), and the rest (L).
pub(crate) fn of_top_terms(corpus: &Corpus, seed: u64, queries: usize) -> Fallible<Vec<Workload>> {
    let mut terms: Vec<(String, u32)> = document_frequencies(corpus).into_iter().collect();
    terms.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    terms.truncate(TOP_TERMS);
    let most = terms.first().map_or(0, |(_, df)| *df);
    let between = |least: u32, below: u32| {
        let all = terms.iter().filter(|(_, df)| (least..below).contains(df));
        all.map(|(term, _)| term.as_str()).collect::<Vec<_>>()
    };
    let (high, medium) = (most.div_ceil(10), most.div_ceil(100));
    let classes = [between(0, medium), between(medium, high), between(high, u32::MAX)];
    println!("top terms: {} L, {} M, {} H", classes[0].len(), classes[1].len(), classes[2].len());
    let workload = |(number, name): (usize, &'static str)| {
        let class = &classes[number % classes.len()];
        if class.len() < name.len() {
            return Err(format!("the corpus has too few terms for the workload {name}").into());
        }
        Workload::drawn(name, class, queries, &mut Random::named(seed, name))
    };
    NAMES.into_iter().enumerate().map(workload).collect()
}

/// The document frequencies of a workload's terms.
pub(crate) fn class(name: &str, documents: usize) -> RangeInclusive<u64> {
    let share = |thousandths: u64| (documents as u64 * thousandths).div_ceil(1000).max(1);
    match &name[..1] {
        "L" => 10..=100,
        "M" => share(1)..=documents as u64 / 100,
        _ => share(20)..=documents as u64 / 5,
    }
}

pub(crate) fn document_frequencies(corpus: &Corpus) -> HashMap<String, u32> {
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
    fn drawn(
        name: &'static str,
        class: &[&str],
        queries: usize,
        random: &mut Random,
    ) -> Fallible<Workload> {
        let mut query = || {
            let mut terms = draw_different(class, name.len(), random);
            if terms.len() == 1 { terms.remove(0) } else { Tree::all_of(terms) }
        };
        Ok(Workload::of(name, (0..queries).map(|_| query()).collect())?)
    }

    /// These queries, all of which we have.
    fn of(name: &str, trees: Vec<Tree>) -> Result<Workload, Unsupported> {
        let queries = trees.iter().map(form::query).collect::<Result<_, _>>()?;
        Ok(Workload { name: name.to_owned(), trees, queries })
    }

    /// A query as one would type it.
    pub(crate) fn text(&self, query: usize) -> String {
        language::shown(&self.trees[query])
    }

    /// The query's line in the peers' query file, under `name`.
    pub(crate) fn line(&self, query: usize, name: &str) -> String {
        Named { name: name.to_owned(), query: self.trees[query].clone() }.line()
    }
}

/// The classes of a query set: of each those queries that we have. Classes of which we have none are left out.
pub(crate) fn of_set(set: &QuerySet) -> Vec<Workload> {
    let classes = set.queries.chunk_by(|a, b| a.name == b.name);
    let workload = |class: &[Named]| {
        let had = class.iter().map(|named| &named.query).filter(|tree| form::query(tree).is_ok());
        Workload::of(&class[0].name, had.cloned().collect()).expect("we have all that is left")
    };
    classes.map(workload).filter(|workload| !workload.queries.is_empty()).collect()
}

fn draw_different(class: &[&str], count: usize, random: &mut Random) -> Vec<Tree> {
    let mut drawn = Vec::with_capacity(count);
    while drawn.len() < count {
        let term = Tree::term(class[random.index(class.len())]);
        if !drawn.contains(&term) {
            drawn.push(term);
        }
    }
    drawn
}

/// The query file of the peers: every query under its workload's name.
pub(crate) fn query_file(workloads: &[Workload]) -> String {
    let lines = |w: &Workload| (0..w.trees.len()).map(|q| w.line(q, &w.name)).collect::<String>();
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
        assert_eq!(workloads.iter().map(|w| w.name.as_str()).collect::<Vec<_>>(), NAMES);
        for workload in &workloads {
            assert_eq!((workload.trees.len(), workload.queries.len()), (QUERIES, QUERIES));
            for query in (0..QUERIES).step_by(100) {
                let (name, text) = (&workload.name, workload.text(query));
                let terms: Vec<&str> = text.split(' ').map(|term| term.trim_matches('+')).collect();
                assert_eq!(terms.len(), name.len());
                assert!(terms.len() == 1 || terms[0] != terms[1]);
                for term in terms {
                    let df = corpus.iter().filter(|text| has(text, term)).count() as u64;
                    assert!(class(name, 5000).contains(&df), "{name} {term} {df}");
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
        assert_eq!(a.lines().count(), NAMES.len() * QUERIES);
        assert!(a.starts_with("{\"name\":\"L\",\"query\":{\"term\":"), "{}", &a[..60]);
    }

    #[test]
    fn a_set_is_asked_for_as_far_as_we_have_it() {
        let named = |name: &str, query| Named { name: name.to_owned(), query };
        // Far deeper than queries may be.
        let deep = |tree: Tree, _| Tree::any_of(vec![tree]);
        let nowhere = (0..100).fold(Tree::term("x"), deep);
        let queries = vec![
            named("some", Tree::term("a")),
            named("some", nowhere.clone()),
            named("none", nowhere),
        ];
        let workloads = of_set(&QuerySet { queries, ..QuerySet::default() });
        assert_eq!(workloads.len(), 1);
        assert_eq!((workloads[0].name.as_str(), workloads[0].text(0)), ("some", "a".to_owned()));
    }

    #[test]
    fn a_class_without_terms_is_left_out() {
        let corpus = Corpus::generate(3, Some(20));
        assert!(draw(&corpus, 42).unwrap().iter().all(|w| !w.queries.is_empty()));
    }
}
