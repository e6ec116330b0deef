//! Measures of ranking, as the program trec_eval computes them: `map`, `P_10` and `ndcg_cut_10`.
//!
//! A document is relevant if its grade is above 0, and the grade is the gain. Documents that nobody judged are not
//! relevant. trec_eval orders by score and breaks ties by name, the greatest first, whatever the engine did; so do we.

use std::collections::HashMap;

/// How many documents P@10 and nDCG@10 look at.
const CUT: usize = 10;

/// What an engine found for one question: documents and their scores.
pub(crate) type Ranking<'a> = Vec<(&'a str, f32)>;

/// The three measures: of one question, or their means.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Measures {
    /// The mean, over all relevant documents, of the precision where each was found; 0 for those that were not.
    pub(crate) map: f64,
    pub(crate) p_10: f64,
    pub(crate) ndcg_10: f64,
}

impl Measures {
    /// Of one question; `None` if nothing is relevant to it, which then does not count.
    pub(crate) fn of(mut found: Ranking<'_>, relevance: &HashMap<String, i32>) -> Option<Measures> {
        let mut ideal: Vec<i32> = relevance.values().copied().filter(|grade| *grade > 0).collect();
        if ideal.is_empty() {
            return None;
        }
        ideal.sort_unstable_by(|a, b| b.cmp(a));
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| b.0.cmp(a.0)));
        let grade = |(name, _): &(&str, f32)| relevance.get(*name).copied().unwrap_or(0).max(0);
        let grades: Vec<i32> = found.iter().map(grade).collect();
        let relevant = |grades: &[i32]| grades.iter().filter(|grade| **grade > 0).count() as f64;
        Some(Measures {
            map: precisions(&grades).sum::<f64>() / ideal.len() as f64,
            p_10: relevant(&grades[..grades.len().min(CUT)]) / CUT as f64,
            ndcg_10: gain(&grades) / gain(&ideal),
        })
    }

    /// The means over questions, of which there must be one.
    pub(crate) fn mean(all: &[Measures]) -> Measures {
        let mean = |of: fn(&Measures) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
        Measures { map: mean(|m| m.map), p_10: mean(|m| m.p_10), ndcg_10: mean(|m| m.ndcg_10) }
    }
}

/// The share of relevant documents down to each relevant one.
fn precisions(grades: &[i32]) -> impl Iterator<Item = f64> {
    let ranks = (1..).zip(grades).filter(|(_, grade)| **grade > 0).map(|(rank, _)| rank);
    (1..).zip(ranks).map(|(found, rank): (u32, u32)| f64::from(found) / f64::from(rank))
}

/// Grades, each discounted by the logarithm of its rank and one.
fn gain(grades: &[i32]) -> f64 {
    let ranked = (1..).zip(grades).take(CUT);
    ranked.map(|(rank, grade): (u32, _)| f64::from(*grade) / f64::from(rank + 1).log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relevance(grades: &[(&str, i32)]) -> HashMap<String, i32> {
        grades.iter().map(|(name, grade)| ((*name).to_owned(), *grade)).collect()
    }

    #[test]
    fn the_measures_are_those_computed_by_hand() {
        // Ranks 1 and 3 of four found are relevant, d4 is not found; d9 was judged and is not.
        let grades = relevance(&[("d1", 2), ("d3", 1), ("d4", 3), ("d9", 0)]);
        let found = vec![("d1", 9.0), ("d9", 8.0), ("d3", 7.0), ("dx", 6.0)];
        let measures = Measures::of(found, &grades).unwrap();
        assert!((measures.map - (1.0 / 1.0 + 2.0 / 3.0) / 3.0).abs() < 1e-12);
        assert!((measures.p_10 - 0.2).abs() < 1e-12);
        let ideal = 3.0 + 2.0 / 3.0_f64.log2() + 1.0 / 2.0;
        assert!((measures.ndcg_10 - (2.0 + 0.5) / ideal).abs() < 1e-12);
    }

    #[test]
    fn ties_are_broken_by_name_the_greatest_first() {
        let grades = relevance(&[("b", 1)]);
        let map = |found| Measures::of(found, &grades).unwrap().map;
        assert_eq!(map(vec![("a", 1.0), ("b", 1.0)]), 1.0);
        assert_eq!(map(vec![("b", 1.0), ("c", 1.0)]), 0.5);
    }

    #[test]
    fn only_ten_count_for_the_measures_at_ten() {
        let names: Vec<String> = (0..12).map(|n| format!("d{n}")).collect();
        let grades = relevance(&[("d10", 1)]);
        let found =
            names.iter().enumerate().map(|(n, name)| (name.as_str(), -(n as f32))).collect();
        let measures = Measures::of(found, &grades).unwrap();
        assert_eq!((measures.p_10, measures.ndcg_10), (0.0, 0.0));
        assert!((measures.map - 1.0 / 11.0).abs() < 1e-12);
    }

    #[test]
    fn a_question_without_relevant_documents_does_not_count() {
        assert_eq!(Measures::of(vec![("a", 1.0)], &relevance(&[("a", 0)])), None);
        assert_eq!(Measures::of(Vec::new(), &relevance(&[("a", 1)])), Some(Measures::default()));
        let one = Measures { map: 1.0, p_10: 0.5, ndcg_10: 0.0 };
        let mean = Measures::mean(&[one, Measures::default()]);
        assert_eq!(mean, Measures { map: 0.5, p_10: 0.25, ndcg_10: 0.0 });
    }
}
