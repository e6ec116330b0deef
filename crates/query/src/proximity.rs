//! Scores by the places of terms and by their closeness, beside BM25.
//!
//! A term counts for more if it stands early in a document, and so do two terms that stand close to
//! each other. A document scores
//!
//! ```text
//!                     bm25(t)                  min(weight(t), weight(u))
//! bm25 + PLACE · Σ ───────────── + CLOSENESS · Σ ─────────────────────────
//!                t  1 + place(t)              tu       distance(t, u)
//!                       ─────────
//!                       PLACE_HALF
//! ```
//!
//! The first sum is of [placed terms](Query::placed). It is added up as the scores are: of the best
//! of several clauses, the best part counts. The second sum is of pairs of different placed terms
//! that follow each other in the query, those of each field for themselves. So it grows with the
//! number of terms, not with its square.
//!
//! Each part has a bound that needs no position: `PLACE` times the BM25 score, and the weights of
//! all pairs. So BM25's upper bounds skip documents here too.

use spirit_index::ground::FieldId;
use spirit_index::ground::TEXT_FIELDS_MAX;
use spirit_kernel::Bm25;

use crate::query::{Kind, NONE, NodeId, Occur, Query};
use crate::rank::{Best, Weight, Weights};

/// The part of a term's BM25 score that is added if the term begins the document.
const PLACE: f32 = 0.5;
/// The place, in positions, from which half of that part is added.
const PLACE_HALF: f32 = 100.0;
/// The part of a pair's lower weight that is added if its terms are neighbours.
const CLOSENESS: f32 = 1.0;

/// The factor for bounds. Sums of as many terms as a query may have come out higher or lower by a
/// lesser part.
const MORE: f64 = 1.0 + 5e-4;

/// The terms of a query whose places count, and the pairs whose closeness counts.
#[derive(Debug, Default)]
pub(crate) struct Proximity {
    /// The different terms, each as its first number among the query's terms.
    terms: Vec<u32>,
    /// For each of the query's terms, its index in `terms`; [`NONE`] if its place does not count.
    numbers: Vec<u32>,
    pairs: Vec<Pair>,
    /// The last placed term so far of each field.
    last: Vec<(FieldId, u32)>,
    /// The most that all pairs add.
    pairs_most: f32,
    /// True if some of the terms are in a group of which the best counts.
    has_best: bool,
}

/// Two terms of one field that follow each other in the query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    /// Their numbers among the query's terms.
    pub(crate) terms: [u32; 2],
    /// Their indices among the different terms.
    pub(crate) numbers: [usize; 2],
    /// The lower of their weights.
    weight: f32,
}

impl Proximity {
    /// Reserves room for queries of this many clauses.
    pub(crate) fn with_capacity(clauses: usize) -> Proximity {
        Proximity {
            terms: Vec::with_capacity(clauses),
            numbers: Vec::with_capacity(clauses),
            pairs: Vec::with_capacity(clauses),
            last: Vec::with_capacity(TEXT_FIELDS_MAX as usize + 1),
            pairs_most: 0.0,
            has_best: false,
        }
    }

    /// Makes places and closeness count for nothing.
    pub(crate) fn clear(&mut self) {
        self.terms.clear();
        self.numbers.clear();
        self.pairs.clear();
        self.last.clear();
        self.pairs_most = 0.0;
        self.has_best = false;
    }

    /// Finds the terms and pairs of a query with these weights.
    pub(crate) fn fill(&mut self, query: &Query, weights: &Weights) {
        self.clear();
        self.numbers.resize(query.terms.len(), NONE);
        query.placed(weights, &mut |term| {
            self.push(query, weights, term);
            0.0
        });
        let most = self.pairs.iter().map(|pair| pair.worth(1));
        self.pairs_most = most.sum();
        self.has_best = query.nodes.iter().any(|node| node.tie.is_some());
    }

    fn push(&mut self, query: &Query, weights: &Weights, term: u32) {
        let known = self.terms.iter().position(|known| query.are_equal(*known, term));
        let number = known.unwrap_or(self.terms.len());
        if known.is_none() {
            self.terms.push(term);
        }
        self.numbers[term as usize] = number as u32;
        let field = query.terms[term as usize].field();
        let Some((_, last)) = self.last.iter_mut().find(|(of, _)| *of == field) else {
            return self.last.push((field, term));
        };
        let terms = [std::mem::replace(last, term), term];
        let numbers = terms.map(|term| self.numbers[term as usize] as usize);
        if numbers[0] != numbers[1] {
            let [one, other] = terms.map(|term| weights.of_term(term as usize).weight);
            self.pairs.push(Pair { terms, numbers, weight: one.min(other) });
        }
    }

    /// Returns itself, if the place of any term counts.
    pub(crate) fn asked(&self) -> Option<&Proximity> {
        (!self.terms.is_empty()).then_some(self)
    }

    /// Returns the different terms.
    pub(crate) fn terms(&self) -> &[u32] {
        &self.terms
    }

    /// Returns the index of a term among the different ones, if its place counts.
    pub(crate) fn number_of(&self, term: u32) -> Option<usize> {
        self.numbers
            .get(term as usize)
            .filter(|number| **number != NONE)
            .map(|number| *number as usize)
    }

    /// Returns the pairs, in the query's order.
    pub(crate) fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// Returns the BM25 score that a document must beat to score above `threshold`.
    pub(crate) fn needed(&self, threshold: f32) -> f32 {
        let left = f64::from(threshold) / MORE - f64::from(self.pairs_most);
        // -1 lets all pass. So does what is no number: the difference of two infinite ones.
        ((left / (MORE * (1.0 + f64::from(PLACE)))) as f32).max(-1.0)
    }

    /// Returns the field of the terms if an upper bound is known by its length: they are all of it,
    /// and each adds its whole score.
    pub(crate) fn field(&self) -> Option<FieldId> {
        match self.last[..] {
            [(field, _)] if !self.has_best => Some(field),
            _ => None,
        }
    }

    /// Returns an upper bound on the score of a document with this BM25 score, whose field has this
    /// length. `weights` are those of the query.
    ///
    /// A term with weight `w` has at least the score `w / (1 + c0 + c1 · length)`. The lower weight of
    /// a pair is at most half the sum of both, and a term is in two pairs at most.
    pub(crate) fn bound(&self, weights: &Weights, score: f32, length: u32) -> f32 {
        let Bm25 { c0, c1, .. } = weights.of_term(self.terms[0] as usize);
        let share = if self.pairs.len() == 1 { 0.5 } else { 1.0 };
        let of_pairs = share * (1.0 + c0 + c1 * length as f32);
        score * (1.0 + PLACE + of_pairs) * MORE as f32
    }
}

impl Pair {
    /// Returns what the pair adds to a score if its terms are this many positions apart.
    pub(crate) fn worth(&self, distance: u32) -> f32 {
        CLOSENESS * self.weight / distance.max(1) as f32
    }
}

/// Returns what a term with this BM25 score adds if it stands first at `place`.
pub(crate) fn worth_of_place(bm25: f32, place: u32) -> f32 {
    PLACE * bm25 / (1.0 + place as f32 / PLACE_HALF)
}

impl Query {
    /// Adds up `worth` of each placed term, as scores are added up.
    ///
    /// A term is *placed* if it is scored by BM25 and adds to the score of each document that
    /// contains it. So it is the query, one of its clauses, or in a group of these that no other
    /// clause keeps from matching.
    pub(crate) fn placed(&self, weights: &Weights, worth: &mut impl FnMut(u32) -> f32) -> f32 {
        if self.root == NONE { 0.0 } else { self.placed_in(self.root, true, weights, worth) }
    }

    /// Like [`placed`](Self::placed), below a node. `matches` says that the node surely matches.
    fn placed_in(
        &self,
        node: NodeId,
        matches: bool,
        weights: &Weights,
        worth: &mut impl FnMut(u32) -> f32,
    ) -> f32 {
        if !matches && !self.matches_with_any(node) {
            return 0.0;
        }
        let mut of_child = |child: NodeId| {
            let matches = matches && self.counts(child, Occur::Must);
            self.placed_in(child, matches, weights, worth)
        };
        match (weights.of(node), self.nodes[node as usize].kind) {
            (Weight::Frequency(_), Kind::Term(term)) => worth(term),
            (Weight::Sum, _) => self.scored(node).map(of_child).sum(),
            (Weight::Best(tie), _) => {
                let mut best = Best::default();
                self.scored(node).for_each(|child| best.add(of_child(child)));
                best.with(tie)
            }
            _ => 0.0,
        }
    }

    /// True if a document matches a node as soon as it matches any of its clauses.
    fn matches_with_any(&self, node: NodeId) -> bool {
        match self.nodes[node as usize].kind {
            Kind::Clauses { minimum: 0 | 1 } => {
                let keeps = |child: NodeId| {
                    self.counts(child, Occur::Must) || self.counts(child, Occur::Not)
                };
                !self.children(node).any(keeps)
            }
            Kind::Clauses { .. } => false,
            _ => true,
        }
    }
}
