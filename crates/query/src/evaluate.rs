//! Evaluation: a query over one executor's snapshot, segment by segment from the newest, until the collector
//! has enough.
//!
//! Three shapes have ways of their own, because they are what people ask most: one term, an AND of terms, and
//! the rest, a tree of cursors that leapfrog. Everything works in memory that the reader reserved.

use std::sync::atomic::AtomicU32;

use spirit_index::dictionary::Entry;
use spirit_index::keys;
use spirit_index::posting::{local, rank, rank_of};
use spirit_index::snapshot::{Segment, Snapshot};
use spirit_kernel::{Algorithm, Level};
use spirit_mem::prefetch;

use crate::collect::Collector;
use crate::leaf::{Context, END, Leaf, SCRATCH_WORDS};
use crate::plan::{Plan, TERMS_INLINE};
use crate::query::{Kind, NodeId, Occur, Query};

/// Words of matches that a kernel hands over at once.
const OUT: usize = 128;
/// Segments whose lists are prefetched at once, at most.
const AHEAD: usize = 8;

/// Snapshots in which a key is looked for before it is not there.
const KEY_LOOKS: usize = 3;

/// Memory that a reader reserves for its queries.
pub struct Scratch {
    leaves: Vec<Leaf>,
    /// Of each inner node of a tree: one past the match it last found in the segment at hand.
    reached: Vec<u32>,
    words: Box<[AtomicU32]>,
    out: [u32; OUT],
}

impl Scratch {
    /// Memory for queries of at most `clauses_max` clauses.
    pub fn new(clauses_max: usize) -> Scratch {
        Scratch {
            leaves: vec![Leaf::default(); clauses_max],
            reached: vec![0; Query::nodes_max(clauses_max)],
            words: (0..clauses_max * SCRATCH_WORDS).map(|_| AtomicU32::new(0)).collect(),
            out: [0; OUT],
        }
    }

    /// Clauses it is good for.
    pub fn clauses_max(&self) -> usize {
        self.leaves.len()
    }

    /// Bytes it takes.
    pub fn bytes(&self) -> usize {
        self.words.len() * 4 + self.leaves.len() * size_of::<Leaf>()
    }
}

/// How a query is to be evaluated.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    /// The intersection algorithm; `None`: the planner's choice.
    pub algorithm: Option<Algorithm>,
    /// Only documents with a lower sequence number (a cursor); `None`: all.
    pub before: Option<u64>,
}

/// One evaluation.
pub(crate) struct Evaluation<'a, C> {
    pub(crate) snapshot: Snapshot<'a>,
    pub(crate) query: &'a Query,
    pub(crate) settings: Settings,
    pub(crate) level: Level,
    pub(crate) scratch: &'a mut Scratch,
    pub(crate) collector: C,
}

/// A segment at hand.
struct Place<'a> {
    segment: Segment<'a>,
    context: Context<'a>,
    /// Ranks below it are not to be seen: newer than the watermark, or than the cursor.
    first: u32,
    has_dead: bool,
    /// Everything from rank `first` on is the whole segment.
    whole: bool,
}

impl<'a, C: Collector> Evaluation<'a, C> {
    /// Runs until the collector is done or all segments are.
    pub(crate) fn run(&mut self) {
        match Plan::of(self.query) {
            Plan::Nothing => {}
            Plan::Key(term) => self.key(term),
            Plan::Term(term) => self.term(term as usize),
            Plan::All(terms, count) => self.all(&terms[..count]),
            Plan::Tree { bounded } => self.tree(bounded),
        }
    }

    fn done(&self) -> bool {
        self.collector.wanted() == 0
    }

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
        let extent = fresh.then(|| segment.extent());
        let context =
            Context { region: self.snapshot.memory().region(), level: self.level, extent };
        let whole = limit == rows && !fresh;
        Some(Place { segment, context, first, has_dead: segment.has_dead(), whole })
    }

    /// Finds a term's entries; they are visited from the newest.
    fn look_up(&mut self, term: usize) {
        let found = &self.query.terms[term];
        let entries = self.snapshot.entries(self.query.lookup(found), found.hash);
        self.scratch.leaves[term] = Leaf::new(entries);
    }

    fn open_fresh(&mut self, place: &Place<'_>, term: usize) {
        let found = &self.query.terms[term];
        let words = &self.scratch.words[term * SCRATCH_WORDS..][..SCRATCH_WORDS];
        let extent = place.context.extent.as_ref().expect("a fresh segment");
        self.scratch.leaves[term].open_fresh(extent, self.query.lookup(found), found.hash, words);
    }

    #[inline]
    fn entry(&self, term: usize, index: usize) -> Entry {
        self.scratch.leaves[term].entries.get(self.snapshot.memory().region(), index)
    }

    #[inline]
    fn seek(&mut self, place: &Place<'_>, term: usize, target: u32) -> u32 {
        let words = &self.scratch.words[term * SCRATCH_WORDS..][..SCRATCH_WORDS];
        self.scratch.leaves[term].seek(&place.context, words, target)
    }

    fn refill(&mut self, place: &Place<'_>, term: usize) -> bool {
        let words = &self.scratch.words[term * SCRATCH_WORDS..][..SCRATCH_WORDS];
        self.scratch.leaves[term].refill(&place.context, words)
    }

    /// Hands a row over unless it is dead.
    #[inline]
    fn offer(&mut self, place: &Place<'_>, row: u32) {
        if !(place.has_dead && place.segment.is_dead(row)) {
            self.collector.take(&place.segment, row);
        }
    }

    // One term.

    fn term(&mut self, term: usize) {
        self.look_up(term);
        for segment in self.snapshot.fresh() {
            let Some(place) = self.place(segment, true) else { continue };
            self.open_fresh(&place, term);
            self.list(&place, term);
            if self.done() {
                return;
            }
        }
        if C::COUNTS && self.settings.before.is_none() && !self.snapshot.memory().has_dead() {
            let leaf = &self.scratch.leaves[term];
            return self
                .collector
                .skip(leaf.entries.postings(self.snapshot.memory().region()) as u64);
        }
        for index in (0..self.scratch.leaves[term].left).rev() {
            let entry = self.entry(term, index);
            if self.snapshot.skips(entry.segment) {
                continue;
            }
            let segment = self.snapshot.of(entry.segment);
            let Some(place) = self.place(segment, false) else { continue };
            self.scratch.leaves[term].open_entry(&segment, index, entry);
            self.list(&place, term);
            if self.done() {
                return;
            }
        }
    }

    /// All of a list in one segment.
    fn list(&mut self, place: &Place<'_>, term: usize) {
        if C::COUNTS && !place.has_dead && place.whole {
            return self.collector.skip(self.scratch.leaves[term].postings as u64);
        }
        if self.seek(place, term, place.first) == END {
            return;
        }
        loop {
            if C::COUNTS && !place.has_dead {
                let words = &self.scratch.words[term * SCRATCH_WORDS..][..SCRATCH_WORDS];
                let left = self.scratch.leaves[term].run(&place.context, words).len();
                self.collector.skip(left as u64);
            } else if self.offer_run(place, term) {
                return;
            }
            if !self.refill(place, term) {
                return;
            }
        }
    }

    /// Offers what is left of the current run; says whether the collector is done.
    fn offer_run(&mut self, place: &Place<'_>, term: usize) -> bool {
        let mut at = 0;
        loop {
            let words = &self.scratch.words[term * SCRATCH_WORDS..][..SCRATCH_WORDS];
            let run = self.scratch.leaves[term].run(&place.context, words);
            let Some(word) = run.get(at) else { return false };
            let row = local(word.load(std::sync::atomic::Ordering::Relaxed));
            at += 1;
            self.offer(place, row);
            if self.done() {
                return true;
            }
        }
    }

    // An AND of terms.

    fn all(&mut self, terms: &[u32]) {
        for term in terms {
            self.snapshot.prefetch(self.query.terms[*term as usize].hash);
        }
        for term in terms {
            self.look_up(*term as usize);
        }
        for segment in self.snapshot.fresh() {
            let Some(place) = self.place(segment, true) else { continue };
            for term in terms {
                self.open_fresh(&place, *term as usize);
            }
            self.intersect(&place, terms);
            if self.done() {
                return;
            }
        }
        self.all_registered(terms);
    }

    /// Visits the segments in which all terms have entries, a few ahead of the evaluation: with many segments
    /// the time goes into waiting for the first line of each list, so those are asked for early. How far ahead
    /// grows from 2 on, so that a query that stops early asks for little.
    fn all_registered(&mut self, terms: &[u32]) {
        let mut ahead = 2;
        loop {
            let mut found = [[(0, Entry::NONE); TERMS_INLINE]; AHEAD];
            let mut count = 0;
            while count < ahead && self.align(terms, &mut found[count]) {
                for (_, entry) in &found[count][..terms.len()] {
                    self.prefetch_list(*entry);
                }
                count += 1;
            }
            for entries in &found[..count] {
                let segment = self.snapshot.of(entries[0].1.segment);
                let Some(place) = self.place(segment, false) else { continue };
                for (term, (index, entry)) in terms.iter().zip(entries) {
                    self.scratch.leaves[*term as usize].open_entry(&segment, *index, *entry);
                }
                self.intersect(&place, terms);
                if self.done() {
                    return;
                }
            }
            if count < ahead {
                return;
            }
            ahead = (ahead * 2).min(AHEAD);
        }
    }

    fn prefetch_list(&self, entry: Entry) {
        if entry.postings > 1 {
            let region = self.snapshot.memory().region();
            let list = self.snapshot.of(entry.segment).flushed().list(entry);
            let words = region.view(list);
            prefetch(&words[0]);
            if words.len() > 16 {
                prefetch(&words[16]);
            }
        }
    }

    /// Goes back to the newest segment not yet visited in which all terms have entries.
    fn align(&mut self, terms: &[u32], found: &mut [(usize, Entry); TERMS_INLINE]) -> bool {
        let region = self.snapshot.memory().region();
        let mut target = None;
        let mut agreed = 0;
        let mut i = 0;
        while agreed < terms.len() {
            let leaf = &mut self.scratch.leaves[terms[i] as usize];
            let segment = loop {
                let Some(index) = leaf.left.checked_sub(1) else { return false };
                let segment = leaf.entries.segment(region, index);
                if target.is_none_or(|t| segment <= t) && !self.snapshot.skips(segment) {
                    break segment;
                }
                leaf.left = index;
            };
            agreed = if target == Some(segment) { agreed + 1 } else { 1 };
            target = Some(segment);
            i = (i + 1) % terms.len();
        }
        for (term, place) in terms.iter().zip(found) {
            let leaf = &mut self.scratch.leaves[*term as usize];
            leaf.left -= 1;
            *place = (leaf.left, leaf.entries.get(region, leaf.left));
        }
        true
    }

    /// The intersection of the lists that are open in a segment.
    fn intersect(&mut self, place: &Place<'_>, terms: &[u32]) {
        let mut order = [0; TERMS_INLINE];
        let order = &mut order[..terms.len()];
        order.copy_from_slice(terms);
        order.sort_unstable_by_key(|t| self.scratch.leaves[*t as usize].postings);
        let (a, b, others) = (order[0] as usize, order[1] as usize, &order[2..]);
        if self.scratch.leaves[a].postings == 0 {
            return;
        }
        let exact = !place.has_dead && others.is_empty();
        if self.settings.algorithm.is_none() {
            let (bits_a, bits_b) = (self.scratch.leaves[a].bits, self.scratch.leaves[b].bits);
            if let (Some(x), Some(y)) = (bits_a, bits_b) {
                return self.intersect_bitmaps(place, x, y, others, exact);
            }
            if let Some(bits) = bits_b {
                return self.probe(place, a, bits, others, exact);
            }
        }
        if self.seek(place, a, place.first) == END || self.seek(place, b, place.first) == END {
            return;
        }
        self.intersect_runs(place, a, b, others, exact);
    }

    fn intersect_runs(
        &mut self,
        place: &Place<'_>,
        a: usize,
        b: usize,
        others: &[u32],
        exact: bool,
    ) {
        let algorithm = self.settings.algorithm.unwrap_or(Algorithm::Simd);
        loop {
            let wanted = self.batch(exact);
            let Scratch { leaves, words, out, .. } = &mut *self.scratch;
            let (words_a, words_b) = (&words[a * SCRATCH_WORDS..], &words[b * SCRATCH_WORDS..]);
            let run_a = leaves[a].run(&place.context, &words_a[..SCRATCH_WORDS]);
            let run_b = leaves[b].run(&place.context, &words_b[..SCRATCH_WORDS]);
            let counted = C::COUNTS && exact;
            let progress = if counted {
                spirit_kernel::intersect_count(self.level, algorithm, run_a, run_b)
            } else {
                spirit_kernel::intersect_into(
                    self.level,
                    algorithm,
                    run_a,
                    run_b,
                    &mut out[..wanted],
                )
            };
            let ended_a = progress.left == run_a.len();
            let ended_b = progress.right == run_b.len();
            leaves[a].advance(progress.left);
            leaves[b].advance(progress.right);
            if counted {
                self.collector.skip(progress.found as u64);
            } else {
                self.offer_found(place, progress.found, others);
                if self.done() {
                    return;
                }
            }
            if (ended_a && !self.refill(place, a)) || (ended_b && !self.refill(place, b)) {
                return;
            }
        }
    }

    /// How many matches to ask a kernel for: no more than are wanted, if all that it finds will count.
    fn batch(&self, exact: bool) -> usize {
        if exact {
            self.collector.wanted().min(OUT)
        } else {
            OUT.min(self.collector.wanted().max(16))
        }
    }

    /// Offers the kernel's first `found` matches, if the other terms have them too.
    fn offer_found(&mut self, place: &Place<'_>, found: usize, others: &[u32]) {
        for i in 0..found {
            let rank = rank(self.scratch.out[i]);
            if others.iter().all(|term| self.seek(place, *term as usize, rank) == rank) {
                self.offer(place, rank_of(rank));
                if self.done() {
                    return;
                }
            }
        }
    }

    fn intersect_bitmaps(
        &mut self,
        place: &Place<'_>,
        x: spirit_mem::Span<std::sync::atomic::AtomicU64>,
        y: spirit_mem::Span<std::sync::atomic::AtomicU64>,
        others: &[u32],
        exact: bool,
    ) {
        let region = self.snapshot.memory().region();
        let (x, y) = (region.view(x), region.view(y));
        if C::COUNTS && exact && place.whole {
            return self.collector.skip(spirit_kernel::and_count(self.level, x, y));
        }
        let base = place.segment.flushed().base_rank();
        let bits = x.len().min(y.len()) * 64;
        let mut from = (place.first - base) as usize;
        while from < bits && !self.done() {
            let wanted = self.batch(exact);
            let out = &mut self.scratch.out[..wanted];
            let (found, next) = spirit_kernel::and_into(self.level, x, y, base, from, out);
            from = next;
            self.offer_found(place, found, others);
        }
    }

    fn probe(
        &mut self,
        place: &Place<'_>,
        a: usize,
        bits: spirit_mem::Span<std::sync::atomic::AtomicU64>,
        others: &[u32],
        exact: bool,
    ) {
        let bits = self.snapshot.memory().region().view(bits);
        let base = place.segment.flushed().base_rank();
        if self.seek(place, a, place.first) == END {
            return;
        }
        loop {
            let wanted = self.batch(exact);
            let Scratch { leaves, words, out, .. } = &mut *self.scratch;
            let words = &words[a * SCRATCH_WORDS..][..SCRATCH_WORDS];
            let run = leaves[a].run(&place.context, words);
            if C::COUNTS && exact {
                let found = spirit_kernel::probe_count(self.level, run, bits, base);
                return self.collector.skip(found);
            }
            let progress =
                spirit_kernel::probe_into(self.level, run, bits, base, &mut out[..wanted]);
            let ended = progress.left == run.len();
            leaves[a].advance(progress.left);
            self.offer_found(place, progress.found, others);
            if ended || self.done() {
                return;
            }
        }
    }

    // The document with a key.

    fn key(&mut self, term: u32) {
        let Some((segment, local)) = self.find_key_again(term) else { return };
        let place = self.place(segment, false);
        if place.is_some_and(|p| rank_of(local) >= p.first) && !segment.is_dead(local) {
            self.collector.take(&segment, local);
        }
    }

    // Any tree.

    fn tree(&mut self, bounded: bool) {
        for term in 0..self.query.terms.len() {
            self.look_up(term);
        }
        for segment in self.snapshot.fresh() {
            let Some(place) = self.place(segment, true) else { continue };
            for term in 0..self.query.terms.len() {
                self.open_fresh(&place, term);
            }
            self.walk(&place);
            if self.done() {
                return;
            }
        }
        let window = self.snapshot.window();
        let mut end = window.end;
        while !self.done() {
            let next = if bounded { self.newest_entry() } else { end.checked_sub(1) };
            let Some(position) = next.filter(|p| *p >= window.oldest) else { return };
            end = position;
            let Some(segment) = self.snapshot.segment(position) else { return };
            self.open_at(&segment);
            if let Some(place) = self.place(segment, false) {
                self.walk(&place);
            }
        }
    }

    /// The newest position at which a term has an entry that was not visited.
    fn newest_entry(&self) -> Option<u32> {
        let region = self.snapshot.memory().region();
        let leaves = &self.scratch.leaves[..self.query.terms.len()];
        leaves
            .iter()
            .filter_map(|leaf| {
                (0..leaf.left)
                    .rev()
                    .map(|i| leaf.entries.segment(region, i))
                    .find(|segment| !self.snapshot.skips(*segment))
            })
            .map(|segment| segment.position())
            .max()
    }

    /// Opens the lists of all terms that have an entry for a segment.
    fn open_at(&mut self, segment: &Segment<'_>) {
        let region = self.snapshot.memory().region();
        let id = segment.id();
        for leaf in &mut self.scratch.leaves[..self.query.terms.len()] {
            leaf.close();
            while let Some(index) = leaf.left.checked_sub(1) {
                let entry = leaf.entries.get(region, index);
                if entry.segment.position() < id.position() {
                    break;
                }
                leaf.left = index;
                if entry.segment == id {
                    leaf.open_entry(segment, index, entry);
                }
            }
        }
    }

    /// Offers every row of a segment that the tree matches.
    fn walk(&mut self, place: &Place<'_>) {
        self.scratch.reached[..self.query.nodes.len()].fill(0);
        let mut rank = self.next(place, self.query.root, place.first);
        while rank != END {
            self.offer(place, rank_of(rank));
            if self.done() {
                return;
            }
            rank = self.next(place, self.query.root, rank + 1);
        }
    }

    /// The first rank at or after `target` that a node matches, or [`END`].
    ///
    /// Depth is bounded by the parser. Each call's `target` is at least the one before it, for every node.
    fn next(&mut self, place: &Place<'_>, node: NodeId, target: u32) -> u32 {
        match self.query.nodes[node as usize].kind {
            Kind::Nothing => END,
            Kind::Everything => target.min(END),
            Kind::Term(term) => self.seek(place, term as usize, target),
            Kind::Key(term) => self.next_key(place, term, target),
            Kind::Clauses => self.next_clauses(place, node, target),
        }
    }

    /// The same for an inner node. What it found last holds for every target up to there, and must be kept: its
    /// leaves have gone on to it, so a clause that excludes could not be asked again about ranks before it.
    fn next_clauses(&mut self, place: &Place<'_>, node: NodeId, target: u32) -> u32 {
        let reached = self.scratch.reached[node as usize];
        if target < reached {
            return reached - 1;
        }
        let found = self.find_clauses(place, node, target);
        self.scratch.reached[node as usize] = found + 1;
        found
    }

    fn next_key(&mut self, place: &Place<'_>, term: u32, target: u32) -> u32 {
        match self.find_key(term) {
            Some((segment, local))
                if segment.id() == place.segment.id() && rank_of(local) >= target =>
            {
                rank_of(local)
            }
            _ => END,
        }
    }

    /// A key that is replaced without end may lose the version that an old snapshot sees (the key table keeps
    /// replaced rows for readers, but not any number of them), so a miss is looked at again, later.
    fn find_key_again(&mut self, term: u32) -> Option<(Segment<'a>, u32)> {
        for _ in 0..KEY_LOOKS {
            let found = self.find_key(term);
            if found.is_some() {
                return found;
            }
            self.snapshot = Snapshot::take(self.snapshot.memory());
        }
        None
    }

    fn find_key(&self, term: u32) -> Option<(Segment<'a>, u32)> {
        let memory = self.snapshot.memory();
        let key = self.query.bytes_of(&self.query.terms[term as usize]);
        let table = keys::Keys::new(memory.geometry());
        let row = table
            .find(&self.snapshot, memory, key, keys::hash(key))
            .or_else(|| keys::as_number(key).and_then(|n| keys::find_automatic(&self.snapshot, n)));
        row.and_then(|row| self.snapshot.locate(row))
    }

    fn find_clauses(&mut self, place: &Place<'_>, node: NodeId, target: u32) -> u32 {
        let query = self.query;
        let has = |occur| query.children(node).any(|c| query.counts(c, occur));
        let (must, should) = (has(Occur::Must), has(Occur::Should));
        if !must && !should && !has(Occur::Not) {
            return END;
        }
        let mut target = target;
        loop {
            let candidate = if must {
                self.next_of_all(place, node, target)
            } else if should {
                self.next_of_any(place, node, target)
            } else {
                target.min(END)
            };
            if candidate >= END || !self.excluded(place, node, candidate) {
                return candidate.min(END);
            }
            target = candidate + 1;
        }
    }

    /// Leapfrog: each clause raises the target until all agree. Terminates, since the target only grows.
    fn next_of_all(&mut self, place: &Place<'_>, node: NodeId, target: u32) -> u32 {
        let query = self.query;
        let mut target = target;
        loop {
            let start = target;
            for child in query.children(node).filter(|c| query.counts(*c, Occur::Must)) {
                target = self.next(place, child, target);
                if target == END {
                    return END;
                }
            }
            if target == start {
                return target;
            }
        }
    }

    fn next_of_any(&mut self, place: &Place<'_>, node: NodeId, target: u32) -> u32 {
        let query = self.query;
        let mut nearest = END;
        for child in query.children(node).filter(|c| query.counts(*c, Occur::Should)) {
            nearest = nearest.min(self.next(place, child, target));
            if nearest == target {
                break;
            }
        }
        nearest
    }

    fn excluded(&mut self, place: &Place<'_>, node: NodeId, rank: u32) -> bool {
        let query = self.query;
        query
            .children(node)
            .filter(|c| query.counts(*c, Occur::Not))
            .any(|child| self.next(place, child, rank) == rank)
    }
}
