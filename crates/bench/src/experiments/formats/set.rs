//! The queries: single terms, and ANDs of two terms.

use spirit::Query;
use spirit_peer_protocol::{Clauses, Named, Query as Tree};

use crate::Fallible;
use crate::bench::Bench;
use crate::corpus::Corpus;
use crate::query_sets::{ARCHIVE, QuerySet, drawn, luceneutil};
use crate::{form, language};

/// Queries of each class that sets are taken from.
const PER_CLASS: usize = 500;

/// Queries of one kind.
pub(super) struct Set {
    pub(super) name: &'static str,
    pub(super) queries: Vec<Query>,
    /// The same as one would type them.
    pub(super) texts: Vec<String>,
    /// The same as the peers take them.
    trees: Vec<Tree>,
}

impl Set {
    /// Both, the single terms first.
    pub(super) fn both(bench: &Bench, corpus: &Corpus) -> Fallible<[Set; 2]> {
        let published = bench.data_with(ARCHIVE).filter(|_| corpus.name == "articles");
        let all = match published {
            Some(data) => luceneutil::load(&data, PER_CLASS, bench.seed)?,
            None => drawn::draw(corpus, PER_CLASS, bench.seed),
        };
        Ok([Set::of(&all, "single term", is_term)?, Set::of(&all, "2-term AND", is_and_of_two)?])
    }

    fn of(all: &QuerySet, name: &'static str, is_one: fn(&Tree) -> bool) -> Fallible<Set> {
        let trees = all.queries.iter().map(|named| &named.query).filter(|tree| is_one(tree));
        let (mut queries, mut texts) = (Vec::new(), Vec::new());
        for tree in trees.clone() {
            queries.push(form::query(tree)?);
            texts.push(language::shown(tree));
        }
        if queries.is_empty() {
            return Err(format!("{name}: the corpus has too few terms to draw queries from").into());
        }
        Ok(Set { name, queries, texts, trees: trees.cloned().collect() })
    }

    /// All of them under the set's name.
    pub(super) fn named(&self) -> impl Iterator<Item = Named> {
        self.trees.iter().map(|tree| Named { name: self.name.to_owned(), query: tree.clone() })
    }
}

fn is_term(tree: &Tree) -> bool {
    matches!(tree, Tree::Term { .. })
}

fn is_and_of_two(tree: &Tree) -> bool {
    match tree {
        Tree::Bool(Clauses { must, should, not, .. }) => {
            must.len() == 2 && must.iter().all(is_term) && should.is_empty() && not.is_empty()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_of_one_shape() {
        let corpus = Corpus::generate(3, Some(2000));
        let all = drawn::draw(&corpus, 20, 42);
        let and = Set::of(&all, "and", is_and_of_two).unwrap();
        assert!(and.texts.len() > 20 && and.texts.len() == and.queries.len());
        assert!(and.texts.iter().all(|text| text.split(' ').all(|word| word.starts_with('+'))));
        let term = Set::of(&all, "term", is_term).unwrap();
        assert!(!term.texts.is_empty() && term.texts.iter().all(|text| !text.contains(' ')));
        assert!(Set::of(&QuerySet::default(), "none", is_term).is_err());
    }
}
