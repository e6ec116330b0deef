//! Sets of queries by class, in the form that the peers take: published ones, and some drawn from a corpus.
//!
//! | set | from | classes |
//! |---|---|---|
//! | [`game`] | search-benchmark-game | its tags: intersections, unions, phrases |
//! | [`luceneutil`] | the tasks of Lucene's nightly benchmarks | theirs: `AndHighHigh`, `SloppyPhrase`, `Wildcard`, ... |
//! | [`drawn`] | the corpus itself, seeded | by document frequency, and by what a query is |
//! | [`columns`] | columns drawn for the corpus, seeded | ranges, keywords |
//!
//! Published words become terms as the analyzer cuts them. What cannot be said with what the peers have is dropped, and
//! counted.

mod classic;
pub(crate) mod columns;
pub(crate) mod drawn;
pub(crate) mod game;
pub(crate) mod luceneutil;

use std::collections::BTreeMap;

use spirit_peer_protocol::{Named, Query as Tree};

use crate::corpus::tokenizer;
use spirit_door::sim::Random;

/// The archive with the published sets.
pub(crate) const ARCHIVE: &str = "queries.tar.zst";

/// Queries with a class each, and what is not among them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct QuerySet {
    /// Queries of a class follow each other.
    pub(crate) queries: Vec<Named>,
    /// By class: queries that could not be said, and why the first could not.
    pub(crate) dropped: BTreeMap<String, (usize, String)>,
}

impl QuerySet {
    fn push(&mut self, name: &str, query: Result<Tree, String>) {
        match query {
            Ok(query) => self.queries.push(Named { name: name.to_owned(), query }),
            Err(reason) => self.dropped.entry(name.to_owned()).or_insert((0, reason)).0 += 1,
        }
    }

    /// Every query once, and of each class at most `most`, all equally likely by the seed.
    fn sampled(self, most: usize, seed: u64) -> QuerySet {
        let mut classes: Vec<(String, Vec<Named>)> = Vec::new();
        for named in self.queries {
            let class = match classes.iter_mut().position(|(name, _)| *name == named.name) {
                Some(at) => &mut classes[at].1,
                None => {
                    classes.push((named.name.clone(), Vec::new()));
                    &mut classes.last_mut().expect("just added").1
                }
            };
            if !class.contains(&named) {
                class.push(named);
            }
        }
        let sample =
            |(name, class): (String, _)| sample(class, most, &mut Random::named(seed, &name));
        QuerySet { queries: classes.into_iter().flat_map(sample).collect(), dropped: self.dropped }
    }

    /// The classes in their order, with how many queries each has.
    pub(crate) fn classes(&self) -> Vec<(&str, usize)> {
        let classes = self.queries.chunk_by(|a, b| a.name == b.name);
        classes.map(|class| (class[0].name.as_str(), class.len())).collect()
    }

    /// The peers' query file.
    pub(crate) fn lines(&self) -> String {
        self.queries.iter().map(Named::line).collect()
    }
}

/// At most `most` of them, in their order.
fn sample(mut all: Vec<Named>, most: usize, random: &mut Random) -> Vec<Named> {
    while all.len() > most {
        all.remove(random.index(all.len()));
    }
    all
}

/// The terms of a text.
fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    // Too long a text has no terms, as in the engine.
    let _ = tokenizer().for_each(text, |token| terms.push(token.text().to_owned()));
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_every_query_once_and_few_of_a_class() {
        let mut set = QuerySet::default();
        for word in ["a", "b", "a", "c", "d"] {
            set.push("many", Ok(Tree::term(word)));
            set.push("few", Ok(Tree::term("a")));
            set.push("none", Err(format!("no {word}")));
        }
        let whole = set.clone().sampled(100, 1);
        assert_eq!(whole.classes(), [("many", 4), ("few", 1)]);
        assert_eq!(whole.dropped["none"], (5, "no a".to_owned()));
        let some = set.clone().sampled(2, 1);
        assert_eq!(some.classes(), [("many", 2), ("few", 1)]);
        assert_eq!(some, set.clone().sampled(2, 1));
        assert!(some.queries.iter().all(|named| whole.queries.contains(named)));
        assert_eq!(some.lines().lines().count(), 3);
    }
}
