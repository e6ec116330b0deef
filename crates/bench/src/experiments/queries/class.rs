//! A class of queries: whether the bars are for it, and how many times as long the peers take.

use super::FORMS;
use spirit_peer_protocol::{Clauses, Query as Tree};

use crate::peers::System;

/// Sets that the bars are for.
const PUBLISHED: [&str; 2] = ["game", "luceneutil"];

/// A peer in one of its ways: how many times our P50 its own is, of each form of our index, or why it has none.
pub(super) type Ratio = (System, String, Result<[f64; FORMS.len()], String>);

/// What was measured of a class.
pub(super) struct Class {
    pub(super) set: &'static str,
    pub(super) name: String,
    /// Whether all its queries are of terms in the plainest ways.
    pub(super) is_plain: bool,
    /// Whether an engine answers one of its queries otherwise than we do.
    pub(super) differs: bool,
    pub(super) ratios: Vec<Ratio>,
}

impl Class {
    pub(super) fn has_bar(&self) -> bool {
        self.is_plain && PUBLISHED.contains(&self.set)
    }

    pub(super) fn label(&self) -> String {
        format!("{} {}", self.set, self.name)
    }

    /// A peer's fastest way against a form of ours. An answer that is not the same is as good as none.
    pub(super) fn ratio(&self, form: usize, system: System, modes: &[&str]) -> Result<f64, String> {
        if self.differs {
            return Err(format!("{}: answers differ", self.label()));
        }
        let ways = self.ratios.iter();
        let mut ratios = ways
            .filter(|(peer, mode, _)| *peer == system && modes.contains(&mode.as_str()))
            .map(|(.., ratios)| ratios.clone().map(|ratios| ratios[form]));
        let first = ratios.next().ok_or("not asked for")??;
        ratios.try_fold(first, |least, ratio| Ok(least.min(ratio?)))
    }
}

/// Whether a query is a term, some terms of which all or any are wanted, or a phrase.
pub(super) fn is_plain(query: &Tree) -> bool {
    let are_terms = |trees: &[Tree]| trees.iter().all(|tree| matches!(tree, Tree::Term { .. }));
    match query {
        Tree::Term { .. } | Tree::Phrase { slop: 0, .. } => true,
        Tree::Bool(Clauses { must, should, not, minimum_should_match: None }) => {
            not.is_empty()
                && (must.is_empty() || should.is_empty())
                && are_terms(must)
                && are_terms(should)
        }
        _ => false,
    }
}

pub(in crate::experiments) fn geometric_mean(ratios: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = ratios.fold((0.0, 0), |(sum, count), ratio| (sum + ratio.ln(), count + 1));
    (sum / f64::from(count)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_ands_ors_and_phrases_are_plain() {
        let [a, b] = ["a", "b"].map(Tree::term);
        let both = vec![a.clone(), b.clone()];
        let plain = [
            a.clone(),
            Tree::phrase(&["a", "b"], 0),
            Tree::all_of(both.clone()),
            Tree::any_of(both.clone()),
        ];
        assert!(plain.iter().all(is_plain));
        let without = Clauses { must: vec![a], not: vec![b], ..Clauses::default() };
        let two = Clauses { should: both, minimum_should_match: Some(2), ..Clauses::default() };
        let others = [
            Tree::Bool(without),
            Tree::Bool(two),
            Tree::prefix("a"),
            Tree::phrase(&["a", "b"], 1),
            Tree::any_of(vec![Tree::phrase(&["a", "b"], 0)]),
        ];
        assert!(!others.iter().any(is_plain));
    }

    #[test]
    fn a_bar_is_against_the_fastest_way_and_equal_answers() {
        let ratios = vec![
            (System::Tantivy, "slow".to_owned(), Ok([9.0, 8.0])),
            (System::Tantivy, "fast".to_owned(), Ok([3.0, 4.0])),
            (System::Lucene, "slow".to_owned(), Err("broken".to_owned())),
        ];
        let name = "Term".to_owned();
        let mut class = Class { set: "game", name, is_plain: true, differs: false, ratios };
        assert_eq!(class.ratio(0, System::Tantivy, &["slow", "fast"]), Ok(3.0));
        assert_eq!(class.ratio(1, System::Tantivy, &["slow"]), Ok(8.0));
        assert!(class.ratio(0, System::Lucene, &["slow"]).is_err());
        assert!(class.has_bar());
        class.differs = true;
        assert!(class.ratio(0, System::Tantivy, &["slow"]).is_err());
    }

    #[test]
    fn the_mean_of_ratios_is_geometric() {
        assert!((geometric_mean([2.0, 8.0].into_iter()) - 4.0).abs() < 1e-12);
    }
}
