//! BM25: scores for the terms of a document (Robertson and Zaragoza, 2009).
//!
//! A document of length `len`, in which a term occurs `f` times, scores
//!
//! ```text
//!            f
//! idf · ───────────────────────────────,   idf = ln(1 + (N − n + ½) / (n + ½))
//!        f + k1 · (1 − b + b · len / avg)
//! ```
//!
//! Here `n` of the `N` documents with the term's field contain the term, `len` is the field's
//! length, and `avg` its mean length. Like Lucene's formula it lacks the factor `k1 + 1`, which is
//! equal for all. Lengths are exact; Lucene and tantivy round them to a byte. `N`, `n` and `avg`
//! count the documents of the whole index that the query sees. A deleted document leaves them when
//! its segment is rewritten or dropped.

pub(crate) mod inverses;
mod longest;

use spirit_index::ground::FREQUENCY_MAX;
use spirit_index::ground::FieldId;
use spirit_index::lists::{Maxima, Pair};
use spirit_index::rows::Statistics;
use spirit_index::snapshot::Snapshot;
use spirit_kernel::Bm25;

use crate::fade::Fading;
use crate::query::{Kind, NONE, NodeId, Query};
use inverses::Inverses;
pub(crate) use longest::{longest, longest_below};

/// Text fields besides the text that an index may have.
const FIELDS: usize = spirit_index::ground::TEXT_FIELDS_MAX as usize;

/// The parameters of BM25.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// How much further occurrences add, from 0, where only the first counts. Default 1.2.
    pub k1: f32,
    /// How much length matters, from 0, not at all, to 1. Default 0.75.
    pub b: f32,
}

impl Parameters {
    /// True if every score by these parameters is a number.
    pub fn are_sound(self) -> bool {
        (0.0..=f32::MAX).contains(&self.k1) && (0.0..=1.0).contains(&self.b)
    }
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters { k1: 1.2, b: 0.75 }
    }
}

/// The settings for finding the best matches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranking {
    /// The parameters of BM25.
    pub parameters: Parameters,
    /// True if blocks of postings may be skipped whose upper bound does not beat the threshold.
    pub skips: bool,
    /// The fading of scores with age, if they fade.
    pub fading: Option<Fading>,
    /// True if the places of terms and their closeness count too.
    pub proximity: bool,
}

/// The counts that scores are computed from: the size of each field, and the number of documents
/// with each of a query's terms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of documents that have a text, and of its tokens.
    pub statistics: Statistics,
    /// The statistics of the other fields in which the query has terms, in the query's order.
    pub fields: Vec<(FieldId, Statistics)>,
    /// The number of documents with each term, in the order of the query's terms.
    pub with_term: Vec<u64>,
}

impl Counts {
    /// Reserves room for queries of this many terms.
    pub fn with_capacity(terms: usize) -> Counts {
        Counts {
            statistics: Statistics::default(),
            fields: Vec::with_capacity(FIELDS),
            with_term: Vec::with_capacity(terms),
        }
    }

    /// Resets all counts, for `query`.
    pub fn begin(&mut self, query: &Query) {
        self.statistics = Statistics::default();
        self.fields.clear();
        if query.root != NONE {
            query.each_field(query.root, &mut |field| {
                if self.place_of(field).is_none() && field != FieldId::TEXT {
                    self.fields.push((field, Statistics::default()));
                }
            });
        }
        self.with_term.clear();
        self.with_term.resize(query.terms.len(), 0);
    }

    fn place_of(&self, field: FieldId) -> Option<usize> {
        self.fields.iter().position(|(known, _)| *known == field)
    }

    /// Adds the counts of a snapshot.
    pub fn add(&mut self, snapshot: &Snapshot<'_>, query: &Query) {
        self.statistics += snapshot.statistics();
        for (field, statistics) in &mut self.fields {
            *statistics += snapshot.field_statistics(*field);
        }
        for (count, term) in self.with_term.iter_mut().zip(&query.terms) {
            if !term.is_key() {
                *count += snapshot.document_frequency(query.lookup(term), term.hash);
            }
        }
    }

    /// True if the counts may be those of `query`: they are for as many terms, in its fields.
    pub fn are_of(&self, query: &Query) -> bool {
        let mut are_known = self.with_term.len() == query.terms.len();
        if query.root != NONE {
            query.each_field(query.root, &mut |field| {
                are_known &= field == FieldId::TEXT || self.place_of(field).is_some();
            });
        }
        are_known
    }

    /// Returns the number of documents that have a field of text, and of its tokens.
    pub fn of_field(&self, field: FieldId) -> Statistics {
        self.place_of(field).map_or(self.statistics, |place| self.fields[place].1)
    }

    /// Returns the mean number of tokens of a field, over the documents that have it.
    pub(crate) fn average(&self, field: FieldId) -> f64 {
        let Statistics { documents, tokens } = self.of_field(field);
        tokens as f64 / documents.max(1) as f64
    }

    /// Returns the inverse document frequency of a term of a field.
    pub(crate) fn idf(&self, field: FieldId, term: u32) -> f64 {
        let with_term = self.with_term[term as usize] as f64;
        // Abandoned documents contain the term, but do not count.
        let without = (self.of_field(field).documents as f64 - with_term).max(0.0);
        ((without + 0.5) / (with_term + 0.5)).ln_1p()
    }
}

/// The weights of a query's nodes.
#[derive(Debug, Default)]
pub(crate) struct Weights {
    /// For each node: the parameters of BM25 for a leaf that is scored by frequency, or a constant.
    nodes: Vec<Weight>,
    /// The tables for blocks' upper bounds.
    pub(crate) inverses: Inverses,
    /// For each term, the parameters of its node. For a whole value only the weight, which is its
    /// score everywhere. Zero if its node is scored otherwise.
    terms: Vec<Bm25>,
}

/// The way in which a node adds to the scores of its matches.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Weight {
    /// By BM25.
    Frequency(Bm25),
    /// A constant for each match.
    Constant(f32),
    /// The sum of its clauses' scores.
    Sum,
    /// The best of its clauses' scores, and this factor times the others.
    Best(f32),
}

/// The best of some scores, with a part of the others.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Best {
    highest: f32,
    sum: f32,
}

impl Best {
    pub(crate) fn add(&mut self, score: f32) {
        self.highest = self.highest.max(score);
        self.sum += score;
    }

    /// Returns the highest score and `tie` times the others.
    pub(crate) fn with(self, tie: f32) -> f32 {
        self.highest + tie * (self.sum - self.highest)
    }
}

/// The sum of a document's scores, added term by term in the order of the query, so that a document
/// has one score in all evaluators. Of the terms of one clause only the best score counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TermSum {
    /// The sum of the clauses before.
    before: f32,
    clause: Option<u32>,
    best: f32,
}

impl TermSum {
    /// Adds the score of a term of the clause that begins with term `clause`.
    pub(crate) fn add(&mut self, clause: u32, score: f32) {
        if self.clause == Some(clause) {
            self.best = self.best.max(score);
        } else {
            *self = TermSum { before: self.total(), clause: Some(clause), best: score };
        }
    }

    pub(crate) fn total(self) -> f32 {
        self.before + self.best
    }
}

impl Weights {
    /// Reserves room for queries of this many clauses.
    pub(crate) fn with_capacity(clauses: usize) -> Weights {
        let nodes = Vec::with_capacity(Query::nodes_max(clauses));
        let inverses = Inverses::with_capacity(FIELDS + 1);
        Weights { nodes, inverses, terms: Vec::with_capacity(clauses) }
    }

    /// Computes the weights of a query.
    pub(crate) fn fill(&mut self, query: &Query, counts: &Counts, parameters: Parameters) {
        self.nodes.clear();
        self.nodes.resize(query.nodes.len(), Weight::Constant(0.0));
        self.terms.clear();
        self.terms.resize(query.terms.len(), Bm25::NOTHING);
        if query.root != NONE {
            self.fill_from(query, query.root, 1.0, &Norm { counts, parameters });
        }
    }

    fn fill_from(&mut self, query: &Query, id: NodeId, boost: f32, norm: &Norm<'_>) {
        let node = &query.nodes[id as usize];
        let boost = boosted(boost, node.boost);
        let field = query.field_of(id);
        let idf = |term| norm.counts.idf(field, term);
        self.nodes[id as usize] = match node.kind {
            _ if node.constant => Weight::Constant(boost),
            Kind::Nothing | Kind::Blank => Weight::Constant(0.0),
            Kind::Everything
            | Kind::Key(_)
            | Kind::Pattern(_)
            | Kind::PhrasePrefix(_)
            | Kind::Range(_) => Weight::Constant(boost),
            Kind::Term(term) if !query.terms[term as usize].is_word => {
                self.terms[term as usize] = Bm25 { weight: boost, term, ..Bm25::NOTHING };
                Weight::Constant(boost)
            }
            Kind::Term(term) => {
                let bm25 = Bm25 { term, ..norm.of(field, boost, idf(term)) };
                self.inverses.prepare(field, bm25);
                self.terms[term as usize] = bm25;
                Weight::Frequency(bm25)
            }
            // A phrase is scored like a term whose IDF is the sum of its terms' IDFs.
            Kind::Phrase { .. } => {
                let terms = query.children(id).filter_map(|child| query.term_of(child));
                let bm25 = norm.of(field, boost, terms.map(idf).sum());
                self.inverses.prepare(field, bm25);
                Weight::Frequency(bm25)
            }
            Kind::Clauses { .. } => {
                for child in query.children(id) {
                    self.fill_from(query, child, boost, norm);
                }
                node.tie.map_or(Weight::Sum, Weight::Best)
            }
        };
    }

    /// True if the weights may be those of `query`.
    pub(crate) fn are_of(&self, query: &Query) -> bool {
        self.nodes.len() == query.nodes.len() && self.terms.len() == query.terms.len()
    }

    /// Returns the BM25 parameters of a term.
    pub(crate) fn of_term(&self, term: usize) -> Bm25 {
        self.terms[term]
    }

    /// Returns an upper bound on every score of a query.
    pub(crate) fn highest(&self, query: &Query) -> f32 {
        let mut highest = 0.0;
        if query.root != NONE {
            self.add_highest(query, query.root, &mut highest);
        }
        highest
    }

    /// Adds up in the order in which scores are summed. In another order rounding might make the
    /// bound lower than a score.
    fn add_highest(&self, query: &Query, node: NodeId, sum: &mut f32) {
        match self.of(node) {
            Weight::Frequency(bm25) => *sum += bm25.weight,
            Weight::Constant(score) => *sum += score,
            Weight::Sum => query.scored(node).for_each(|child| self.add_highest(query, child, sum)),
            Weight::Best(tie) => {
                let mut best = Best::default();
                for child in query.scored(node) {
                    let mut highest = 0.0;
                    self.add_highest(query, child, &mut highest);
                    best.add(highest);
                }
                *sum += best.with(tie);
            }
        }
    }

    /// Returns the weight of a node.
    pub(crate) fn of(&self, node: NodeId) -> Weight {
        self.nodes[node as usize]
    }
}

/// The factor for sums of bounds. Numbers that are added up in another order may come out a little
/// higher.
pub(crate) const MORE: f32 = 1.0 + 1e-5;

/// The part of the formula that all terms of a field share.
struct Norm<'c> {
    counts: &'c Counts,
    parameters: Parameters,
}

impl Norm<'_> {
    fn of(&self, field: FieldId, boost: f32, idf: f64) -> Bm25 {
        let average = self.counts.average(field);
        let (k1, b) = (f64::from(self.parameters.k1), f64::from(self.parameters.b));
        let c1 = if average > 0.0 { k1 * b / average } else { 0.0 };
        let weight = ((f64::from(boost) * idf) as f32).min(f32::MAX);
        Bm25 { weight, c0: (k1 * (1.0 - b)) as f32, c1: c1 as f32, ..Bm25::NOTHING }
    }
}

/// Multiplies two boosts. Limits the product to the greatest number, since zero times infinity is
/// not a number.
pub(crate) fn boosted(boost: f32, by: f32) -> f32 {
    (boost * by).min(f32::MAX)
}

/// Returns the score of `frequency` occurrences in a document of this length.
pub(crate) fn score(bm25: Bm25, frequency: f32, length: u32) -> f32 {
    bm25.weight * (frequency / (frequency + bm25.c0 + bm25.c1 * length as f32))
}

/// The factor for bounds that rounding may make too low: a score may exceed another one by
/// rounding, by less than one in a million.
const ROUNDED: f32 = 1.0 + 1e-6;

/// Returns an upper bound on the scores of a block's postings, by its maxima. It may equal the
/// highest score.
#[inline]
pub(crate) fn bound(bm25: Bm25, maxima: u64) -> f32 {
    bounds(bm25, &Maxima::from_word(maxima).pairs()).into_iter().fold(0.0, f32::max)
}

/// Returns for each pair an upper bound on the scores of postings that are neither more frequent
/// nor denser. Has no branch, so pairs are computed side by side.
#[inline(always)]
fn bounds(bm25: Bm25, pairs: &[Pair; 4]) -> [f32; 4] {
    let frequencies = pairs.map(|pair| f32::from(pair.frequency));
    let lengths = pairs.map(|pair| pair.shortest() as f32);
    std::array::from_fn(|number| {
        let frequency = frequencies[number];
        let below = frequency + bm25.c0 + bm25.c1 * lengths[number];
        let score = bm25.weight * (frequency / below);
        // The score of a less frequent posting is lower by at least this part: c0 divided by both.
        let is_apart = bm25.c0 >= (ROUNDED - 1.0) * frequency * below;
        let bound = if is_apart { score } else { (score * ROUNDED).min(bm25.weight) };
        // A saturated frequency may be any higher one. No frequency scores more than the weight.
        let bound = if frequency == FREQUENCY_MAX as f32 { bm25.weight } else { bound };
        if frequency == 0.0 { 0.0 } else { bound }
    })
}

/// The relative error that rounding may make in the difference of a weight and a score.
pub(crate) const SLACK: f32 = 1e-5;

/// Returns the least frequency with which a posting of a block with these maxima may score above
/// `needed`. Returns a number above every frequency if no posting can.
pub(crate) fn least_frequency(bm25: Bm25, maxima: Maxima, needed: f32) -> u32 {
    if needed <= 0.0 || u32::from(maxima.frequency()) == FREQUENCY_MAX {
        return 1;
    }
    // The highest density bounds the document's length from below. So the denominator is at least
    // the frequency, this part of it, and c0.
    let per_token = |pair: Pair| pair.shortest() as f32 / f32::from(pair.frequency);
    let pairs = maxima.pairs().into_iter().filter(|pair| pair.frequency > 0);
    let part = bm25.c1 * pairs.map(per_token).fold(f32::INFINITY, f32::min);
    let left = bm25.weight / needed * (1.0 + SLACK) - 1.0 + SLACK - part * (1.0 - SLACK);
    let least = bm25.c0 / left * (1.0 - SLACK);
    if left > 0.0 { (least.ceil() as u32).clamp(1, FREQUENCY_MAX + 1) } else { FREQUENCY_MAX + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn below_one(digits: std::ops::Range<f32>) -> impl Strategy<Value = f32> {
        digits.prop_map(|n| 10.0f32.powf(-n))
    }

    /// The added parts of the denominator: numbers of all magnitudes, zero, and those with the
    /// greatest rounding errors.
    fn any_shares() -> impl Strategy<Value = (f32, f32)> {
        let any = || prop_oneof![Just(0.0f32), 0.0f32..2.0, below_one(0.0..9.0)];
        prop_oneof![(any(), any()), (below_one(5.0..8.0), Just(0.0f32))]
    }

    /// Returns the maxima of a block of these postings.
    fn maxima_of(postings: &[(u32, u16)]) -> u64 {
        let saturated =
            |(frequency, length): &(u32, u16)| ((*frequency).min(FREQUENCY_MAX) as u8, *length);
        Maxima::of(postings.iter().map(saturated)).word()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// No posting scores above its block's bound, not by one bit, and the bound is at most the
        /// weight.
        #[test]
        fn a_bound_is_never_below_a_score(
            weight in 0.0f32..20.0,
            (c0, c1) in any_shares(),
            postings in prop_oneof![Just(9u32), Just(30), Just(255), Just(70_000)].prop_flat_map(|end| {
                prop::collection::vec((1..end, prop_oneof![1u16..40, 1u16..]), 1..24)
            }),
        ) {
            let bm25 = Bm25 { weight, c0, c1, term: 0 };
            let bound = bound(bm25, maxima_of(&postings));
            prop_assert!(bound <= weight);
            for (frequency, length) in postings {
                let score = score(bm25, frequency as f32, u32::from(length));
                prop_assert!(score <= bound, "{frequency} in {length}: {score} above {bound}");
            }
        }

        /// Every posting that scores above a number has at least the least frequency for it.
        #[test]
        fn what_is_less_frequent_scores_less(
            weight in 0.0f32..20.0,
            (c0, c1) in any_shares(),
            postings in prop::collection::vec((1u32..30, prop_oneof![1u16..40, 1u16..]), 1..24),
            share in 0.0f32..1.0,
        ) {
            let bm25 = Bm25 { weight, c0, c1, term: 0 };
            let word = maxima_of(&postings);
            let of = |(frequency, length): (u32, u16)| score(bm25, frequency as f32, u32::from(length));
            let best = postings.iter().map(|posting| of(*posting)).fold(0.0, f32::max);
            for needed in [best * share, best.next_down(), bound(bm25, word).next_down()] {
                let least = least_frequency(bm25, Maxima::from_word(word), needed);
                for posting in postings.iter().filter(|posting| of(**posting) > needed) {
                    prop_assert!(posting.0 >= least, "{posting:?}, at least {least}");
                }
            }
        }

        /// Where only a word's rarity counts, all of its documents score equally, and each block's
        /// bound is that score.
        #[test]
        fn without_k1_all_are_equal(weight in 0.0f32..20.0, frequency in 1u32..70_000, length in 1u16..) {
            let bm25 = Bm25 { weight, ..Bm25::NOTHING };
            prop_assert_eq!(score(bm25, frequency as f32, u32::from(length)), weight);
            prop_assert_eq!(bound(bm25, maxima_of(&[(frequency, length)])), weight);
        }
    }
}
