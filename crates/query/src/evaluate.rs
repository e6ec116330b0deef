//! Evaluation: a query over one executor's snapshot, segment by segment, until the collector has
//! enough.
//!
//! Registered segments are visited newest first. Fresh segments come before them. For the [best of
//! one term or an OR](rank) they come last.
//!
//! The most frequent shapes of queries have evaluators of their own: [one term](term), [a
//! key](key), and an [AND of terms or a phrase](all). Any other query is a [`tree`]. It is
//! evaluated [window by window](window). The newest few of an OR are [merged](merge), and those of
//! some other trees [`leapfrog`]. The best matches have [evaluators of their own](rank),
//! and so has an [order by a field](sort). All evaluators work in memory that the reader reserved.

mod aggregate;
mod ahead;
mod alignment;
mod all;
mod at_once;
mod estimate;
mod expansion;
mod explain;
mod frequency;
mod kept;
mod key;
mod keyed;
mod leapfrog;
mod merge;
mod older;
mod pattern;
mod phrase;
mod places;
mod range;
mod rank;
mod sort;
mod survey;
mod term;
mod tree;
pub(crate) mod window;
mod words;

use std::sync::atomic::{AtomicU16, AtomicU32};

use spirit_index::form::{EntryWords, FindOlder};
use spirit_index::ground::FieldId;
use spirit_index::ground::SegmentId;
use spirit_index::ground::ValueKind;
use spirit_index::ground::rank_of;
use spirit_index::memory::Window;
use spirit_index::snapshot::{Segment, Snapshot};
use spirit_kernel::{Algorithm, Level};
use spirit_mem::Zeroed;

use crate::collect::{Collector, Limit};
use crate::kept_clauses::ClauseStore;
use crate::leaf::{Context, END, Leaf, Lists, SCRATCH_WORDS};
use crate::limits::{Limits, Meter};
use crate::plan::Plan;
use crate::proximity::Proximity;
use crate::query::Query;
use crate::rank::{Counts, Ranking, Weights};
use crate::slop::{OCCURRENCES_MAX, Occurrence};
use ahead::Ahead;
use all::{Meeting, Sought};
pub(crate) use explain::Explained;
use kept::KeptBits;
pub use key::snapshot_for;
pub(crate) use older::EntryCopies;
use pattern::PatternBits;
use places::Places;
pub(crate) use rank::Ranked;
pub(crate) use survey::Surveyed;
pub use survey::Wanted;
use tree::Shape;

/// Postings that a kernel hands over at once, at most.
const OUT: usize = 128;
/// Memory that a reader reserves for its queries.
pub struct Scratch {
    clauses_max: usize,
    /// Three leaves for each term of the largest query so far: one finds matches, another scores
    /// them, and the third is as it was opened. The room suffices for the largest query. Its pages are not touched before they are
    /// needed.
    leaves: Vec<Leaf>,
    /// Scratch memory of the leaves, to which lists are copied. After it comes that of a phrase
    /// prefix's last word.
    words: Zeroed<AtomicU32>,
    patterns: PatternBits,
    kept: KeptBits,
    /// The places of a phrase's terms in the current document.
    occurrences: Vec<Occurrence>,
    /// The phrase in the current segment.
    phrase: phrase::Phrase,
    /// The candidates of an AND or a phrase that are verified together.
    candidate_check: rank::CandidateCheck,
    /// The frequencies of several terms in the documents of a fresh segment's window.
    tally: rank::Tally,
    /// The scores of a window's documents.
    scores: Box<[f32]>,
    /// Likewise of one clause.
    clause_scores: Box<[f32]>,
    /// Rooms for the best of several clauses that no node uses.
    bests: Vec<rank::BestRoom>,
    /// The text's lengths in a window's documents, if their segment has no array of them.
    lengths: Box<[AtomicU16]>,
    /// Like `lengths`, for a field other than the text.
    field_lengths: Box<[AtomicU16]>,
    noted: rank::Noted,
    /// For each node, the documents of the current window that it matches.
    windows: Vec<window::Bits>,
    pub(crate) weights: Weights,
    pub(crate) proximity: Proximity,
    /// The places of the query's terms in the current document.
    pub(crate) places: Places,
    out: [u32; OUT],
    ahead: Ahead,
    pub(crate) lent: EntryCopies,
}

impl Scratch {
    /// Reserves memory for queries of at most `clauses_max` clauses, over segments of at most
    /// `rows_max` rows.
    pub fn new(clauses_max: usize, rows_max: u32) -> Scratch {
        Scratch {
            clauses_max,
            leaves: Vec::with_capacity(2 * clauses_max),
            words: Zeroed::new((2 * clauses_max + 1) * SCRATCH_WORDS),
            patterns: PatternBits::new(rows_max),
            kept: KeptBits::new(rows_max),
            occurrences: Vec::with_capacity(OCCURRENCES_MAX),
            phrase: phrase::Phrase::with_capacity(),
            candidate_check: rank::CandidateCheck::with_room(),
            tally: rank::Tally::with_room(),
            scores: vec![0.0; window::RANKS as usize].into_boxed_slice(),
            clause_scores: vec![0.0; window::RANKS as usize].into_boxed_slice(),
            bests: vec![rank::BestRoom::new()],
            lengths: (0..window::RANKS).map(|_| AtomicU16::new(0)).collect(),
            field_lengths: (0..window::RANKS).map(|_| AtomicU16::new(0)).collect(),
            noted: rank::Noted::NOTHING,
            windows: Vec::with_capacity(Query::nodes_max(clauses_max)),
            weights: Weights::with_capacity(clauses_max),
            proximity: Proximity::with_capacity(clauses_max),
            places: Places::with_capacity(clauses_max),
            out: [0; OUT],
            ahead: Ahead::default(),
            lent: EntryCopies::new(),
        }
    }

    /// Returns the number of clauses that a query may have at most.
    pub fn clauses_max(&self) -> usize {
        self.clauses_max
    }

    /// Makes room for the leaves and windows of `query`.
    pub(crate) fn prepare(&mut self, query: &Query) {
        if self.leaves.len() < 2 * query.terms.len() {
            self.leaves.resize(2 * query.terms.len(), Leaf::default());
        }
        if self.windows.len() < query.nodes.len() {
            self.windows.resize(query.nodes.len(), [0; window::WORDS]);
        }
    }

    /// Computes the weights of `query`, before its best matches are searched for.
    pub fn weigh(&mut self, query: &Query, counts: &Counts, ranking: Ranking) {
        self.weights.fill(query, counts, ranking.parameters);
        self.proximity.clear();
        if ranking.proximity {
            self.proximity.fill(query, &self.weights);
        }
    }

    /// Returns an upper bound on every score of `query`, by its weights.
    pub(crate) fn highest_score(&self, query: &Query) -> f32 {
        if self.weights.are_of(query) { self.weights.highest(query) } else { 0.0 }
    }

    /// Returns the memory for a field's lengths.
    fn lengths(&self, field: FieldId) -> &[AtomicU16] {
        if field == FieldId::TEXT { &self.lengths } else { &self.field_lengths }
    }
}

/// The settings of an evaluation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings<'q> {
    /// The vector unit to use.
    pub level: Level,
    /// The intersection algorithm; `None` leaves it to the planner.
    pub algorithm: Option<Algorithm>,
    /// True to evaluate window by window, for queries of any shape.
    pub windows: bool,
    /// The cursor. Only documents with a lower sequence number match; `None` lets all match.
    pub before: Option<u64>,
    /// Only rows of the executor with this number or a higher one match. Above 0, queries of any
    /// shape are evaluated window by window. For counts and facets.
    pub from_row: u64,
    /// The limits of the query's cost.
    pub limits: Limits<'q>,
    /// The store of clauses' bitmaps, made for this query.
    pub clauses: Option<&'q dyn ClauseStore>,
}

impl Settings<'_> {
    /// True if the query is evaluated window by window, whatever its shape.
    fn by_windows(&self) -> bool {
        self.windows || self.from_row > 0
    }
}

/// One evaluation.
pub(crate) struct Evaluation<'a, C> {
    pub(crate) snapshot: &'a Snapshot<'a>,
    pub(crate) query: &'a Query,
    pub(crate) settings: Settings<'a>,
    pub(crate) scratch: &'a mut Scratch,
    /// Copies of entries of segments that the DRAM dictionary does not cover.
    pub(crate) lent: &'a [EntryWords],
    /// The registered segments of this part.
    pub(crate) part: Window,
    pub(crate) meter: Meter<'a>,
    pub(crate) collector: C,
}

/// Returns the scratch memory of a leaf.
#[inline(always)]
fn words_of(words: &[AtomicU32], leaf: usize) -> &[AtomicU32] {
    &words[leaf * SCRATCH_WORDS..][..SCRATCH_WORDS]
}

/// The current segment.
struct Place<'a> {
    query: &'a Query,
    segment: Segment<'a>,
    context: Context<'a>,
    /// The rank of the newest row. Bitmaps begin with it.
    base: u32,
    /// The first visible rank. Documents of lower ranks are newer than the cursor.
    first: u32,
    /// One past the last rank that counts.
    end: u32,
    /// True if some of its documents are dead.
    has_dead: bool,
    /// True if all rows of the registered segment are visible.
    whole: bool,
}

impl Place<'_> {
    /// True if the segment is being filled, or is not registered yet.
    #[inline]
    fn is_fresh(&self) -> bool {
        self.context.extent.is_some()
    }

    /// Returns the number of words of a bitmap of its rows.
    fn words(&self) -> usize {
        (END - self.base).div_ceil(64) as usize
    }

    /// Returns the first rank from `target` on whose bit is set in a bitmap of its rows, or [`END`].
    fn next_one(&self, bits: &[u64], target: u32) -> u32 {
        let from = target.saturating_sub(self.base) as usize;
        window::ones_from(bits, from).next().map_or(END, |bit| self.base + bit as u32)
    }

    /// Returns the greatest value of a row in a field, in sortable form.
    fn last_value(&self, field: FieldId, kind: ValueKind, rank: u32) -> Option<u64> {
        if !self.is_fresh() {
            return self.segment.column(field, kind)?.of(rank).next_back();
        }
        let values = self.segment.values(rank_of(rank));
        values.filter_map(|value| value.read_as(field, kind)).max()
    }
}

impl<'a, C: Collector> Evaluation<'a, C> {
    /// Evaluates until the collector or all segments are done. `older` finds entries that the DRAM
    /// dictionary does not cover.
    pub(crate) fn run<O: FindOlder>(&mut self, older: impl FnOnce() -> Option<O>) {
        match Plan::of(self.query, self.settings.by_windows()) {
            Plan::Nothing => {}
            Plan::Key(term) => self.key(term),
            Plan::Term(term) => {
                self.term(term as usize);
                self.step_back(older, [term].into_iter(), |part| part.registered(term as usize));
            }
            Plan::All(terms, count) => {
                self.all_of(Sought { terms: &terms[..count], phrase: None }, older);
            }
            Plan::Phrase(phrase, terms, count) => {
                self.all_of(Sought { terms: &terms[..count], phrase: Some(phrase) }, older);
            }
            Plan::Any(terms, count) => self.tree_of(true, Shape::Any(&terms[..count]), older),
            Plan::Groups(terms, count, groups) => {
                self.tree_of(true, Shape::Groups(&terms[..count], &groups), older);
            }
            Plan::Tree { bounded } => self.tree_of(bounded, Shape::Other, older),
        }
    }
}

impl<C: Collector> Evaluation<'_, C> {
    fn all_of<O: FindOlder>(&mut self, sought: Sought<'_>, older: impl FnOnce() -> Option<O>) {
        self.all(sought);
        let terms = sought.terms.iter().copied();
        self.step_back(older, terms, |part| part.all_registered(sought));
    }

    /// Evaluates a tree.
    fn tree_of<O: FindOlder>(
        &mut self,
        bounded: bool,
        shape: Shape<'_>,
        older: impl FnOnce() -> Option<O>,
    ) {
        self.tree(bounded, shape);
        let terms = 0..self.query.terms.len() as u32;
        self.step_back(older, terms, |part| part.tree_registered(bounded, shape));
    }
}

impl<C: Limit> Evaluation<'_, C> {
    fn done(&self) -> bool {
        self.collector.wanted() == 0 || self.meter.has_stopped()
    }
}

impl<'a, C> Evaluation<'a, C> {
    /// Returns the visible part of a segment, if any.
    fn place(&self, segment: Segment<'a>, fresh: bool) -> Option<Place<'a>> {
        let rows = segment.rows();
        let limit = match self.settings.before {
            None => rows,
            Some(before) => {
                let from_base = before.saturating_sub(segment.base_sequence());
                segment.row_table().before(rows, from_base)
            }
        };
        let first = rank_of(limit.checked_sub(1)?);
        let base = rank_of(rows - 1);
        let extent = fresh.then(|| segment.extent());
        let context = Context { lists: self.lists(), level: self.settings.level, extent };
        let whole = limit == rows && !fresh;
        let has_dead = segment.has_dead();
        let end = match self.settings.from_row {
            0 => END,
            from_row => END - segment.rows_before(from_row),
        };
        Some(Place { query: self.query, segment, context, base, first, end, has_dead, whole })
    }

    /// Returns the memory from which entries are read.
    #[inline(always)]
    fn lists(&self) -> Lists<'a> {
        Lists { region: self.snapshot.memory().region(), lent: self.lent }
    }

    /// Finds a term's entries in the DRAM dictionary. They are visited from the newest.
    fn look_up(&mut self, term: usize) {
        let found = &self.query.terms[term];
        let entries = self.snapshot.entries(self.query.lookup(found), found.hash);
        self.scratch.leaves[term] = Leaf::new(entries);
    }

    fn open_fresh(&mut self, place: &Place<'_>, term: usize) {
        let found = &self.query.terms[term];
        let words = words_of(&self.scratch.words, term);
        let extent = place.context.extent.as_ref().expect("a fresh segment has an extent");
        self.scratch.leaves[term].open_fresh(extent, self.query.lookup(found), found.hash, words);
    }

    #[inline]
    fn seek(&mut self, place: &Place<'_>, term: usize, target: u32) -> u32 {
        let words = words_of(&self.scratch.words, term);
        self.scratch.leaves[term].seek(&place.context, words, target)
    }

    fn refill(&mut self, place: &Place<'_>, term: usize) -> bool {
        let words = words_of(&self.scratch.words, term);
        self.scratch.leaves[term].refill(&place.context, words)
    }
}

impl<C: Collector> Evaluation<'_, C> {
    /// Hands a row over unless it is dead.
    #[inline]
    fn offer(&mut self, place: &Place<'_>, row: u32) {
        if !(place.has_dead && place.segment.is_dead(row)) {
            self.collector.take(place.segment.id(), row);
        }
    }

    /// Like [`offer`](Self::offer), for a row of a registered segment. It needs no place: all rows
    /// are visible.
    #[inline]
    fn offer_registered(&mut self, id: SegmentId, row: u32) {
        let dead = self.snapshot.memory().has_dead() && {
            let segment = self.snapshot.of(id);
            segment.has_dead() && segment.is_dead(row)
        };
        if !dead {
            self.collector.take(id, row);
        }
    }
}
