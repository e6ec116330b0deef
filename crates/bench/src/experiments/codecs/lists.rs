//! The posting lists of a class's terms, as numbers of documents.

use std::collections::HashMap;

use crate::corpus::{Corpus, tokenizer};
use crate::workloads::Workload;

/// Pairs of a class. Bitmaps of all its lists are in memory at once.
const PAIRS: usize = 200;

/// Lists, and the pairs that are asked for.
pub(super) struct Lists {
    pub(super) all: Vec<Vec<u32>>,
    /// Two lists each, the shorter one first.
    pub(super) pairs: Vec<(usize, usize)>,
    /// The documents of the corpus.
    pub(super) end: u32,
}

impl Lists {
    /// Those of the first queries of a class, which are of two terms.
    pub(super) fn of(corpus: &Corpus, workload: &Workload) -> Lists {
        let count = PAIRS.min(workload.queries.len());
        let texts: Vec<String> = (0..count).map(|query| workload.text(query)).collect();
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut pairs = Vec::new();
        for text in &texts {
            let mut pair = text.split(' ').map(|term| {
                let next = places.len();
                *places.entry(term.trim_start_matches('+')).or_insert(next)
            });
            if let (Some(one), Some(other)) = (pair.next(), pair.next()) {
                pairs.push((one, other));
            }
        }
        let all = documents(corpus, &places);
        for pair in &mut pairs {
            if all[pair.0].len() > all[pair.1].len() {
                *pair = (pair.1, pair.0);
            }
        }
        Lists { all, pairs, end: corpus.len() as u32 }
    }

    /// Counts what the lists of a pair have in common.
    pub(super) fn count(&self, pair: usize) -> usize {
        let (one, other) = self.pairs[pair];
        let other = &self.all[other];
        self.all[one].iter().filter(|number| other.binary_search(number).is_ok()).count()
    }
}

/// The documents of each term, ascending.
fn documents(corpus: &Corpus, places: &HashMap<&str, usize>) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new(); places.len()];
    let mut tokenizer = tokenizer();
    for (number, text) in (0..).zip(corpus.iter()) {
        // Too long a document has no tokens, as in the engine.
        let _ = tokenizer.for_each(text, |token| {
            let Some(place) = places.get(token.text()) else { return };
            if all[*place].last() != Some(&number) {
                all[*place].push(number);
            }
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads;

    #[test]
    fn lists_have_the_documents_of_their_terms() {
        let corpus = Corpus::of("x", ["a b a", "c", "b d", "a d"]).unwrap();
        let places = HashMap::from([("a", 0), ("b", 1), ("x", 2)]);
        assert_eq!(documents(&corpus, &places), [vec![0, 3], vec![0, 2], vec![]]);
    }

    #[test]
    fn the_shorter_list_of_a_pair_is_first() {
        let corpus = Corpus::generate(3, Some(2000));
        let workloads = workloads::draw(&corpus, 42).unwrap();
        let lists = Lists::of(&corpus, &workloads[5]);
        assert_eq!((lists.pairs.len(), lists.end), (PAIRS, 2000));
        let lens = |pair: &(usize, usize)| (lists.all[pair.0].len(), lists.all[pair.1].len());
        assert!(lists.pairs.iter().map(lens).all(|(one, other)| 0 < one && one <= other));
    }
}
