//! Evaluation: a query over one executor's snapshot, segment by segment from the newest, until the collector
//! has enough.
//!
//! Three shapes have ways of their own, because they are what people ask most: [one term](term), an
//! [AND of terms](all), and the rest, a [tree](tree), which is evaluated by [windows](window). Everything works in
//! memory that the reader reserved.

mod aggregate;
mod ahead;
mod alignment;
mod all;
mod at_once;
mod estimate;
mod explain;
mod frequency;
mod key;
mod leapfrog;
mod merge;
mod older;
mod pattern;
mod phrase;
mod range;
mod rank;
mod sort;
mod survey;
mod term;
mod tree;
pub(crate) mod window;
mod words;

use std::sync::atomic::{AtomicU16, AtomicU32};

use spirit_index::form::older::{EntryWords, FindOlder};
use spirit_index::ground::ids::SegmentId;
use spirit_index::ground::posting::rank_of;
use spirit_index::ground::term::FieldId;
use spirit_index::ground::values::ValueKind;
use spirit_index::memory::descriptor::Window;
use spirit_index::snapshot::{Segment, Snapshot};
use spirit_kernel::{Algorithm, Level};
use spirit_mem::Zeroed;

use crate::collect::{Collector, Limit};
use crate::leaf::{Context, Leaf, Lists, SCRATCH_WORDS};
use crate::limits::{Limits, Meter};
use crate::plan::Plan;
use crate::query::Query;
use crate::rank::{Counts, Ranking, Weights};
use crate::slop::Occurrence;
use ahead::Ahead;
use all::{Meeting, Sought};
pub(crate) use explain::Explained;
pub use key::snapshot_for;
pub(crate) use older::Lent;
use pattern::PatternBits;
pub(crate) use rank::Ranked;
pub(crate) use survey::Surveyed;
pub use survey::Wanted;
use tree::Shape;

/// Words of matches that a kernel hands over at once.
const OUT: usize = 128;
/// Occurrences of a phrase's terms in one document that are looked at.
const OCCURRENCES_MAX: usize = 1 << 16;
/// Memory that a reader reserves for its queries.
pub struct Scratch {
    clauses_max: usize,
    /// Two for each term of the largest query so far, one to find matches and one to score them; there is room for all, of
    /// which no page is touched before.
    leaves: Vec<Leaf>,
    /// What their lists are copied to, and behind all of them that of the last word of a phrase prefix.
    words: Zeroed<AtomicU32>,
    patterns: PatternBits,
    /// Where the terms of a phrase are in the current document.
    occurrences: Vec<Occurrence>,
    /// A phrase in the current segment.
    phrase: phrase::Phrase,
    /// Documents that have all terms.
    candidate_check: rank::CandidateCheck,
    /// What a fresh segment's documents have of several terms.
    tally: rank::Tally,
    /// The scores of a window's documents, and their lengths if their segment has no array of them.
    scores: Box<[f32]>,
    lengths: Box<[AtomicU16]>,
    /// The same of another field than the text.
    field_lengths: Box<[AtomicU16]>,
    /// By node: what it matches in the current window.
    windows: Vec<window::Bits>,
    pub(crate) weights: Weights,
    out: [u32; OUT],
    ahead: Ahead,
    pub(crate) lent: Lent,
}

impl Scratch {
    /// Memory for queries of at most `clauses_max` clauses, over segments of at most `rows_max` rows.
    pub fn new(clauses_max: usize, rows_max: u32) -> Scratch {
        Scratch {
            clauses_max,
            leaves: Vec::with_capacity(2 * clauses_max),
            words: Zeroed::new((2 * clauses_max + 1) * SCRATCH_WORDS),
            patterns: PatternBits::new(rows_max),
            occurrences: Vec::with_capacity(OCCURRENCES_MAX),
            phrase: phrase::Phrase::with_capacity(),
            candidate_check: rank::CandidateCheck::with_room(),
            tally: rank::Tally::with_room(),
            scores: vec![0.0; window::RANKS as usize].into_boxed_slice(),
            lengths: (0..window::RANKS).map(|_| AtomicU16::new(0)).collect(),
            field_lengths: (0..window::RANKS).map(|_| AtomicU16::new(0)).collect(),
            windows: Vec::with_capacity(Query::nodes_max(clauses_max)),
            weights: Weights::with_capacity(clauses_max),
            out: [0; OUT],
            ahead: Ahead::default(),
            lent: Lent::new(),
        }
    }

    /// Clauses it is good for.
    pub fn clauses_max(&self) -> usize {
        self.clauses_max
    }

    /// Prepares scratch memory for `query`.
    pub(crate) fn prepare(&mut self, query: &Query) {
        if self.leaves.len() < 2 * query.terms.len() {
            self.leaves.resize(2 * query.terms.len(), Leaf::default());
        }
        if self.windows.len() < query.nodes.len() {
            self.windows.resize(query.nodes.len(), [0; window::WORDS]);
        }
    }

    /// Makes ready for finding the best matches of `query`.
    pub fn weigh(&mut self, query: &Query, counts: &Counts, ranking: Ranking) {
        self.weights.fill(query, counts, ranking.parameters);
    }

    /// Where the lengths of a field are put.
    fn lengths(&self, field: FieldId) -> &[AtomicU16] {
        if field == FieldId::TEXT { &self.lengths } else { &self.field_lengths }
    }
}

/// How a query is to be evaluated.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings<'q> {
    /// The vector unit to use.
    pub level: Level,
    /// The intersection algorithm; `None`: the planner's choice.
    pub algorithm: Option<Algorithm>,
    /// Whether to go by windows, whatever the query's shape.
    pub windows: bool,
    /// Only documents with a lower sequence number (a cursor); `None`: all.
    pub before: Option<u64>,
    /// What the query may cost.
    pub limits: Limits<'q>,
}

/// One evaluation.
pub(crate) struct Evaluation<'a, C> {
    pub(crate) snapshot: Snapshot<'a>,
    pub(crate) query: &'a Query,
    pub(crate) settings: Settings<'a>,
    pub(crate) scratch: &'a mut Scratch,
    /// Where entries are copied of segments that the DRAM dictionary does not cover.
    pub(crate) lent: &'a [EntryWords],
    /// The registered segments of this part.
    pub(crate) part: Window,
    pub(crate) meter: Meter<'a>,
    pub(crate) collector: C,
}

/// The scratch memory of a leaf.
#[inline(always)]
fn words_of(words: &[AtomicU32], leaf: usize) -> &[AtomicU32] {
    &words[leaf * SCRATCH_WORDS..][..SCRATCH_WORDS]
}

/// The current segment.
struct Place<'a> {
    query: &'a Query,
    segment: Segment<'a>,
    context: Context<'a>,
    /// The rank of the newest row, which bitmaps begin with.
    base: u32,
    /// Ranks below it are not to be seen: newer than the cursor.
    first: u32,
    has_dead: bool,
    /// Everything from rank `first` on is the whole segment.
    whole: bool,
}

impl Place<'_> {
    /// Whether the segment is being filled, or is not registered yet.
    #[inline]
    fn is_fresh(&self) -> bool {
        self.context.extent.is_some()
    }

    /// The greatest value that a row has in a field, in sortable form.
    fn last_value(&self, field: FieldId, kind: ValueKind, rank: u32) -> Option<u64> {
        if !self.is_fresh() {
            return self.segment.column(field, kind)?.of(rank).next_back();
        }
        let values = self.segment.values(rank_of(rank));
        let of_field = values.filter(|value| (value.field, value.kind) == (field, kind));
        of_field.map(|value| kind.sortable(value.bits)).max()
    }
}

impl<'a, C: Collector> Evaluation<'a, C> {
    /// Runs until the collector is done or all segments are. `older` finds what the DRAM dictionary does not cover.
    pub(crate) fn run<O: FindOlder>(&mut self, older: impl FnOnce() -> Option<O>) {
        match Plan::of(self.query, self.settings.windows) {
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
    /// The part of a segment that is to be seen, if any.
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
        Some(Place { query: self.query, segment, context, base, first, has_dead, whole })
    }

    /// What entries are read in.
    #[inline(always)]
    fn lists(&self) -> Lists<'a> {
        Lists { region: self.snapshot.memory().region(), lent: self.lent }
    }

    /// Finds a term's entries in the DRAM dictionary; they are visited from the newest.
    fn look_up(&mut self, term: usize) {
        let found = &self.query.terms[term];
        let entries = self.snapshot.entries(self.query.lookup(found), found.hash);
        self.scratch.leaves[term] = Leaf::new(entries);
    }

    fn open_fresh(&mut self, place: &Place<'_>, term: usize) {
        let found = &self.query.terms[term];
        let words = words_of(&self.scratch.words, term);
        let extent = place.context.extent.as_ref().expect("a fresh segment");
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

    /// The same for a row of a segment that is not being filled, which needs no place: all of its rows are visible.
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
