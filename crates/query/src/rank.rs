//! BM25: what a term's occurrence in a document is worth (Robertson and Zaragoza, 2009).
//!
//! A document of length `len`, in which a term occurs `f` times, scores
//!
//! ```text
//!            f
//! idf · ───────────────────────────────,   idf = ln(1 + (N − n + ½) / (n + ½))
//!        f + k1 · (1 − b + b · len / avg)
//! ```
//!
//! where `n` of the `N` documents that have the term's field have the term, `len` is how long that field is, and `avg` its mean length: as Lucene has it, so without the factor `k1 + 1`, which is the
//! same for all. Lengths are exact; Lucene and tantivy round them to a byte. `N`, `n` and `avg` are those of what the query
//! sees of the whole index; a document that was deleted leaves them when its segment is rewritten or dropped.

pub(crate) mod inverses;
mod longest;

use spirit_index::ground::posting::FREQUENCY_MAX;
use spirit_index::ground::term::FieldId;
use spirit_index::lists::maxima::{Maxima, Pair};
use spirit_index::rows::lengths::Statistics;
use spirit_index::snapshot::Snapshot;
use spirit_kernel::Bm25;

use crate::fade::Fading;
use crate::query::{Kind, NONE, NodeId, Query};
use inverses::Inverses;
pub(crate) use longest::{longest, longest_below};

/// Fields of text, but for the text itself, that an index may have.
const FIELDS: usize = 15;

/// How fast further occurrences lose in worth, and how much long documents do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// From 0, where occurrences do not count but the first. 1.2 unless set otherwise.
    pub k1: f32,
    /// From 0, where length does not matter, to 1. 0.75 unless set otherwise.
    pub b: f32,
}

impl Parameters {
    /// Whether every score by them is a number.
    pub fn are_sound(self) -> bool {
        (0.0..=f32::MAX).contains(&self.k1) && (0.0..=1.0).contains(&self.b)
    }
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters { k1: 1.2, b: 0.75 }
    }
}

/// How the best matches are found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranking {
    /// The ranking function's.
    pub parameters: Parameters,
    /// Whether blocks of postings may be passed over whose bounds say that they hold none of the best.
    pub skips: bool,
    /// How scores fade with age, if they do.
    pub fading: Option<Fading>,
}

/// What scores are computed from: how large the index is, field by field, and how many documents have each of a query's terms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Documents that have a text, and its tokens.
    pub statistics: Statistics,
    /// The same of the other fields that the query has terms of, in the order in which it names them.
    pub fields: Vec<(FieldId, Statistics)>,
    /// Documents with each term, in the order of the query's terms.
    pub with_term: Vec<u64>,
}

impl Counts {
    /// With room for queries of this many terms.
    pub fn with_capacity(terms: usize) -> Counts {
        Counts {
            statistics: Statistics::default(),
            fields: Vec::with_capacity(FIELDS),
            with_term: Vec::with_capacity(terms),
        }
    }

    /// Nothing counted yet, for `query`.
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

    /// Adds what a snapshot sees.
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

    /// Whether they may be of `query`: they are of as many terms, in the same fields.
    pub fn are_of(&self, query: &Query) -> bool {
        let mut are_known = self.with_term.len() == query.terms.len();
        if query.root != NONE {
            query.each_field(query.root, &mut |field| {
                are_known &= field == FieldId::TEXT || self.place_of(field).is_some();
            });
        }
        are_known
    }

    /// Documents that have a field of text, and its tokens.
    pub fn of_field(&self, field: FieldId) -> Statistics {
        self.place_of(field).map_or(self.statistics, |place| self.fields[place].1)
    }

    /// How many tokens documents that have a field have of it on average.
    pub(crate) fn average(&self, field: FieldId) -> f64 {
        let Statistics { documents, tokens } = self.of_field(field);
        tokens as f64 / documents.max(1) as f64
    }

    /// How rare a term of a field is.
    pub(crate) fn idf(&self, field: FieldId, term: u32) -> f64 {
        let with_term = self.with_term[term as usize] as f64;
        // Documents that were given up have the term, and do not count.
        let without = (self.of_field(field).documents as f64 - with_term).max(0.0);
        ((without + 0.5) / (with_term + 0.5)).ln_1p()
    }
}

/// What each node of a query adds to a score.
#[derive(Debug, Default)]
pub(crate) struct Weights {
    /// By node: of a leaf that is scored by frequency, the weight and the norm; of others, what they add for a match.
    nodes: Vec<Weight>,
    /// What blocks' bounds are computed with.
    pub(crate) inverses: Inverses,
    /// By term: the same of its node. Of a whole value the weight, which it scores wherever it is; nothing if its node is scored otherwise.
    terms: Vec<Bm25>,
}

/// What a node adds to the scores of its matches.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Weight {
    /// What BM25 gives.
    Frequency(Bm25),
    /// The same for each.
    Constant(f32),
    /// What its clauses add.
    Sum,
}

impl Weights {
    /// With room for queries of this many clauses.
    pub(crate) fn with_capacity(clauses: usize) -> Weights {
        let nodes = Vec::with_capacity(Query::nodes_max(clauses));
        let inverses = Inverses::with_capacity(FIELDS + 1);
        Weights { nodes, inverses, terms: Vec::with_capacity(clauses) }
    }

    /// Computes those of a query.
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
            // As if its terms were one that is as rare as all of them together.
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
                Weight::Sum
            }
        };
    }

    /// Whether they may be those of `query`.
    pub(crate) fn are_of(&self, query: &Query) -> bool {
        self.nodes.len() == query.nodes.len() && self.terms.len() == query.terms.len()
    }

    /// What a term adds by its frequency.
    pub(crate) fn of_term(&self, term: usize) -> Bm25 {
        self.terms[term]
    }

    /// Above every score by such a query.
    pub(crate) fn highest(&self, query: &Query) -> f32 {
        let mut highest = 0.0;
        if query.root != NONE {
            self.add_highest(query, query.root, &mut highest);
        }
        highest
    }

    /// Adds up in the order in which scores are, or what is rounded might make it lower than one.
    fn add_highest(&self, query: &Query, node: NodeId, sum: &mut f32) {
        match self.of(node) {
            Weight::Frequency(bm25) => *sum += bm25.weight,
            Weight::Constant(score) => *sum += score,
            Weight::Sum => query.scored(node).for_each(|child| self.add_highest(query, child, sum)),
        }
    }

    /// What a node adds.
    pub(crate) fn of(&self, node: NodeId) -> Weight {
        self.nodes[node as usize]
    }
}

/// What sums of bounds are multiplied by: numbers that are added up in another order may come out a little higher.
pub(crate) const MORE: f32 = 1.0 + 1e-5;

/// What is the same for all terms of a field.
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

/// A boost of what is boosted already: as high as numbers are at most, since nothing times what has no end is no number.
pub(crate) fn boosted(boost: f32, by: f32) -> f32 {
    (boost * by).min(f32::MAX)
}

/// The score of `frequency` occurrences in a document of this length; for what is no posting.
pub(crate) fn score(bm25: Bm25, frequency: f32, length: u32) -> f32 {
    bm25.weight * (frequency / (frequency + bm25.c0 + bm25.c1 * length as f32))
}

/// Below that, more than rounding can make a score exceed another that is higher by less than one in a million.
const ROUNDED: f32 = 1.0 + 1e-6;

/// Above the scores of a block's postings, by its maxima, or equal to the highest.
#[inline]
pub(crate) fn bound(bm25: Bm25, maxima: u64) -> f32 {
    bounds(bm25, &Maxima::from_word(maxima).pairs()).into_iter().fold(0.0, f32::max)
}

/// For each pair, what is above the scores of all postings that are neither more frequent nor denser. Without a branch, so that pairs are computed side by
/// side.
#[inline(always)]
fn bounds(bm25: Bm25, pairs: &[Pair; 4]) -> [f32; 4] {
    let frequencies = pairs.map(|pair| f32::from(pair.frequency));
    let lengths = pairs.map(|pair| pair.shortest() as f32);
    std::array::from_fn(|number| {
        let frequency = frequencies[number];
        let below = frequency + bm25.c0 + bm25.c1 * lengths[number];
        let score = bm25.weight * (frequency / below);
        // A less frequent posting is below by this part of its score at least, which is c0 divided by both.
        let is_apart = bm25.c0 >= (ROUNDED - 1.0) * frequency * below;
        let bound = if is_apart { score } else { (score * ROUNDED).min(bm25.weight) };
        // The highest may be any that is as high: no frequency is worth more than the weight.
        let bound = if frequency == FREQUENCY_MAX as f32 { bm25.weight } else { bound };
        if frequency == 0.0 { 0.0 } else { bound }
    })
}

/// What is rounded may be so much of what is left of a weight.
pub(crate) const SLACK: f32 = 1e-5;

/// No posting of a block with these maxima scores above `needed` that is less frequent; above every frequency if none does.
pub(crate) fn least_frequency(bm25: Bm25, maxima: Maxima, needed: f32) -> u32 {
    if needed <= 0.0 || u32::from(maxima.frequency()) == FREQUENCY_MAX {
        return 1;
    }
    // The document is at least as long as by the highest density: beside the frequency there is below the line this part of it, and c0.
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

    /// What is added below the line: numbers of all magnitudes, none, and such as rounding makes most of.
    fn any_shares() -> impl Strategy<Value = (f32, f32)> {
        let any = || prop_oneof![Just(0.0f32), 0.0f32..2.0, below_one(0.0..9.0)];
        prop_oneof![(any(), any()), (below_one(5.0..8.0), Just(0.0f32))]
    }

    /// What a block of these postings says of them.
    fn maxima_of(postings: &[(u32, u16)]) -> u64 {
        let saturated =
            |(frequency, length): &(u32, u16)| ((*frequency).min(FREQUENCY_MAX) as u8, *length);
        Maxima::of(postings.iter().map(saturated)).word()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// No posting scores above its block's bound, by not one bit, and none above the weight.
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

        /// Whatever scores above a number is as frequent as that takes.
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

        /// Where only a word's rarity counts, all of its documents score the same, and so does every block at best.
        #[test]
        fn without_k1_all_are_equal(weight in 0.0f32..20.0, frequency in 1u32..70_000, length in 1u16..) {
            let bm25 = Bm25 { weight, ..Bm25::NOTHING };
            prop_assert_eq!(score(bm25, frequency as f32, u32::from(length)), weight);
            prop_assert_eq!(bound(bm25, maxima_of(&[(frequency, length)])), weight);
        }
    }
}
