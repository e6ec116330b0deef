//! Any tree of clauses, evaluated [window by window](super::window).
//!
//! A node adds its matches to a row of bits, or keeps or clears bits that other nodes left. A
//! required clause is evaluated only for the candidates that remain, one by one if there are at
//! most [`LEFT_MAX`]. Between windows, the tree returns the earliest rank of its next match, so
//! ranks without matches cost nothing.

use spirit_index::ground::rank_of;
use spirit_index::snapshot::Segment;
use spirit_kernel as kernel;

use super::leapfrog::leapfrogs;
use super::window::{Bits, Counts, WORDS, Window, is_empty, ones};
use super::{Evaluation, Place};
use crate::collect::{Collector, Limit};
use crate::kept_clauses::ClauseStore;
use crate::leaf::END;
use crate::plan::Groups;
use crate::query::{Kind, NodeId, Occur};
use crate::tuning::{LEFT_MAX, MERGED_MAX};

/// True if the lists of an OR are merged when this many matches are wanted.
pub(super) fn merges(wanted: usize) -> bool {
    wanted <= MERGED_MAX
}

/// The shape of a tree, if it can be counted at once or merged.
#[derive(Clone, Copy)]
pub(super) enum Shape<'t> {
    /// Any of some terms.
    Any(&'t [u32]),
    /// One term of each group, and no term outside the groups.
    Groups(&'t [u32], &'t Groups),
    /// Any other tree.
    Other,
}

impl<C: Collector> Evaluation<'_, C> {
    /// Offers the documents that the tree matches.
    pub(super) fn tree(&mut self, bounded: bool, shape: Shape<'_>) {
        for term in 0..self.query.terms.len() {
            self.look_up(term);
        }
        self.each_fresh(|part, place| match part.at_once(place, shape) {
            Some(count) => part.collector.skip(count),
            None => part.walk(place, shape),
        });
        self.tree_registered(bounded, shape);
    }

    /// Like [`tree`](Self::tree), in the registered segments of this part.
    pub(super) fn tree_registered(&mut self, bounded: bool, shape: Shape<'_>) {
        self.each_registered(bounded, |part, place| match part.at_once(place, shape) {
            Some(count) => part.collector.skip(count),
            None => part.walk(place, shape),
        });
    }

    /// Counts the matches of a segment, if only their number is wanted and the shape allows it
    /// without walking the tree.
    fn at_once(&mut self, place: &Place<'_>, shape: Shape<'_>) -> Option<u64> {
        if !self.collector.counts() || place.has_dead || !self.meter.step() {
            return None;
        }
        match shape {
            Shape::Any([a, b]) if place.is_fresh() => {
                let ([of_a, of_b], shared) = self.count_fresh(place, [*a, *b])?;
                Some((of_a + of_b).saturating_sub(shared))
            }
            Shape::Groups([a, b], groups) if place.is_fresh() && groups.all() != 3 => {
                let (each, shared) = self.count_fresh(place, [*a, *b])?;
                let sought = groups.all().trailing_zeros() as usize;
                Some(each[sought].saturating_sub(shared))
            }
            Shape::Any(terms) if place.whole => self.count_any(place, terms),
            Shape::Groups(terms, groups) if place.whole => self.count_groups(place, terms, groups),
            _ => None,
        }
    }

    /// Offers all documents of a segment that the tree matches.
    fn walk(&mut self, place: &Place<'_>, shape: Shape<'_>) {
        if let Shape::Any(terms) = shape
            && !self.collector.counts()
            && merges(self.collector.wanted())
        {
            return self.merge(place, terms);
        }
        let mut first = place.first;
        if let Shape::Groups(terms, groups) = shape
            && !self.collector.counts()
            && merges(self.collector.wanted())
            && leapfrogs(groups)
        {
            let Some(rank) = self.leapfrog(place, terms, groups) else { return };
            first = rank;
        }
        // A leapfrog has moved the lists.
        let store = self.settings.clauses.filter(|_| matches!(shape, Shape::Other));
        self.each_window_from(place, first, store, |this, window, bits| {
            this.offer_window(place, window, bits);
        });
    }

    fn offer_window(&mut self, place: &Place<'_>, window: Window, bits: &[u64]) {
        if self.collector.counts() && !place.has_dead {
            return self.collector.skip(kernel::count_bits(self.settings.level, bits));
        }
        for bit in ones(bits) {
            self.offer(place, rank_of(window.rank(bit)));
            if self.done() {
                return;
            }
        }
    }
}

impl<'a, C: Limit> Evaluation<'a, C> {
    /// Visits the fresh segments, with the lists of all terms open.
    pub(super) fn each_fresh(&mut self, visit: impl Fn(&mut Self, &Place<'a>)) {
        for segment in self.snapshot.fresh() {
            let Some(place) = self.place(segment, true) else { continue };
            for term in 0..self.query.terms.len() {
                self.open_fresh(&place, term);
            }
            visit(self, &place);
            if self.done() {
                return;
            }
        }
    }

    /// Like [`each_fresh`](Self::each_fresh), for the registered segments of this part. If the
    /// query is bounded, only segments in which a term has an entry are visited.
    pub(super) fn each_registered(&mut self, bounded: bool, visit: impl Fn(&mut Self, &Place<'a>)) {
        let spirit_index::memory::Window { oldest, mut end } = self.part;
        // Invariant: segments from `end` on were visited. Terminates: `end` falls in each round.
        while !self.done() {
            let next = if bounded { self.newest_entry() } else { end.checked_sub(1) };
            let Some(position) = next.filter(|p| *p >= oldest) else { return };
            end = position;
            let Some(segment) = self.snapshot.segment(position) else { return };
            self.open_at(&segment);
            if let Some(place) = self.place(segment, false) {
                visit(self, &place);
            }
        }
    }

    /// Evaluates the tree in a segment. Calls `take` with each window and the bits of its matches.
    pub(super) fn each_window(
        &mut self,
        place: &Place<'_>,
        take: impl Fn(&mut Self, Window, &mut [u64]),
    ) {
        self.each_window_from(place, place.first, self.settings.clauses, take);
    }

    /// Like [`each_window`](Self::each_window), from the rank `first` on, with the bitmaps of a
    /// store. Lists are as they were opened.
    fn each_window_from(
        &mut self,
        place: &Place<'_>,
        first: u32,
        store: Option<&dyn ClauseStore>,
        take: impl Fn(&mut Self, Window, &mut [u64]),
    ) {
        self.scratch.patterns.forget();
        self.scratch.kept.forget();
        if let Some(store) = store.filter(|_| !place.is_fresh())
            && !self.recall_clauses(place, store, first)
        {
            return;
        }
        let root = self.query.root;
        let mut rank = self.earliest(place, root, first);
        let mut window = Window::first(place.base, rank);
        // Invariant: all matches before `rank` were taken. Terminates: windows do not overlap, so
        // `rank` grows.
        while rank < place.end && !self.done() && self.meter.step() {
            let mut bits = [0; WORDS];
            let bits = &mut bits[..window.words()];
            self.add(place, root, window, bits);
            window.keep_ranks(bits, first..place.end);
            take(self, window, bits);
            rank = self.earliest(place, root, window.end());
            window = window.next(place.base, rank);
        }
    }
}

impl<C: Limit> Evaluation<'_, C> {
    /// Returns the newest position at which a term has an unvisited entry.
    pub(super) fn newest_entry(&self) -> Option<u32> {
        let lists = self.lists();
        let leaves = &self.scratch.leaves[..self.query.terms.len()];
        leaves
            .iter()
            .filter_map(|leaf| {
                (0..leaf.left)
                    .rev()
                    .map(|i| leaf.entries(lists).segment(i))
                    .find(|segment| !self.snapshot.skips(*segment))
            })
            .map(|segment| segment.position())
            .max()
    }

    /// Opens the lists of all terms that have an entry for a segment.
    pub(super) fn open_at(&mut self, segment: &Segment<'_>) {
        let lists = self.lists();
        let leaves = &mut self.scratch.leaves[..self.query.terms.len()];
        leaves.iter_mut().for_each(|leaf| leaf.open_at(lists, segment));
    }

    /// Returns a lower bound on the next rank from `target` on that the node matches; [`END`] if it
    /// matches no more.
    ///
    /// The parser bounds the depth. Targets ascend.
    pub(super) fn earliest(&mut self, place: &Place<'_>, node: NodeId, target: u32) -> u32 {
        if let Some(next) = self.scratch.kept.next(place, node, target) {
            return next;
        }
        match self.query.nodes[node as usize].kind {
            Kind::Nothing | Kind::Blank => END,
            Kind::Everything => target.min(END),
            Kind::Term(term) => self.seek(place, term as usize, target),
            Kind::Key(term) => self.next_key(place, term, target),
            Kind::Phrase { .. } => self.earliest_of_all(place, node, target),
            Kind::Pattern(pattern) | Kind::PhrasePrefix(pattern) => {
                self.next_of_pattern(place, node, pattern, target)
            }
            Kind::Range(range) => self.next_of_range(place, range, target),
            Kind::Clauses { .. } if self.has(node, Occur::Must) => {
                self.earliest_of_all(place, node, target)
            }
            Kind::Clauses { .. } if self.has(node, Occur::Should) => {
                self.earliest_of_any(place, node, target)
            }
            Kind::Clauses { .. } if self.has(node, Occur::Not) => target.min(END),
            Kind::Clauses { .. } => END,
        }
    }

    /// Moves all required clauses on, each to the position of the one before. Returns the last
    /// position, after one round.
    pub(super) fn earliest_of_all(&mut self, place: &Place<'_>, node: NodeId, target: u32) -> u32 {
        let query = self.query;
        let must = query.children(node).filter(|c| query.counts(*c, Occur::Must));
        let mut target = target;
        for child in must {
            target = self.earliest(place, child, target);
            if target == END {
                break;
            }
        }
        target
    }

    fn earliest_of_any(&mut self, place: &Place<'_>, node: NodeId, target: u32) -> u32 {
        let query = self.query;
        let mut nearest = END;
        for child in query.children(node).filter(|c| query.counts(*c, Occur::Should)) {
            nearest = nearest.min(self.earliest(place, child, target));
            if nearest == target {
                break;
            }
        }
        nearest
    }

    pub(super) fn has(&self, node: NodeId, occur: Occur) -> bool {
        self.query.children(node).any(|child| self.query.counts(child, occur))
    }

    /// Sets the bits of a window's documents that a node matches.
    pub(super) fn add(
        &mut self,
        place: &Place<'_>,
        node: NodeId,
        window: Window,
        bits: &mut [u64],
    ) {
        if let Some(own) = self.scratch.kept.window(place, node, window) {
            return kernel::or_window(self.settings.level, bits, own);
        }
        match self.query.nodes[node as usize].kind {
            Kind::Nothing | Kind::Blank => {}
            Kind::Everything => window.fill(bits),
            Kind::Term(term) => self.add_term(place, term as usize, window, bits),
            Kind::Range(range) => self.add_range(place, range, window, bits),
            Kind::Key(_)
            | Kind::Phrase { .. }
            | Kind::Clauses { .. }
            | Kind::Pattern(_)
            | Kind::PhrasePrefix(_) => {
                let mut own: Bits = [0; WORDS];
                let own = &mut own[..bits.len()];
                self.find(place, node, window, own);
                kernel::or_window(self.settings.level, bits, own);
            }
        }
    }

    /// Like [`add`](Self::add), for an optional clause. If matches are scored, the clause's matches
    /// are kept for its score.
    fn add_optional(&mut self, place: &Place<'_>, node: NodeId, window: Window, bits: &mut [u64]) {
        if !C::SCORES || self.query.is_plain_term(node) {
            return self.add(place, node, window, bits);
        }
        let mut own: Bits = [0; WORDS];
        let own = &mut own[..bits.len()];
        self.add(place, node, window, own);
        kernel::or_window(self.settings.level, bits, own);
        self.scratch.windows[node as usize][..own.len()].copy_from_slice(own);
    }

    fn add_term(&mut self, place: &Place<'_>, term: usize, window: Window, bits: &mut [u64]) {
        let words = super::words_of(&self.scratch.words, term);
        let base = place.base;
        self.scratch.leaves[term].add_to(&place.context, words, base, window.start, bits);
    }

    /// Keeps the bits of documents that a node matches.
    pub(super) fn keep(
        &mut self,
        place: &Place<'_>,
        node: NodeId,
        window: Window,
        bits: &mut [u64],
    ) {
        if let Some(own) = self.scratch.kept.window(place, node, window) {
            return kernel::and_window(self.settings.level, bits, own);
        }
        match self.query.nodes[node as usize].kind {
            Kind::Everything => {}
            Kind::Term(term) if self.is_few(bits) => {
                self.look_at(place, term as usize, window, bits, true);
            }
            Kind::Range(range) if place.is_fresh() || self.is_few(bits) => {
                self.look_at_range(place, range, window, bits, true);
            }
            Kind::Phrase { .. } => self.keep_phrase(place, node, None, window, bits),
            _ => {
                let mut own: Bits = [0; WORDS];
                let own = &mut own[..bits.len()];
                self.add(place, node, window, own);
                kernel::and_window(self.settings.level, bits, own);
            }
        }
    }

    /// Clears the bits of documents that a node matches.
    fn clear(&mut self, place: &Place<'_>, node: NodeId, window: Window, bits: &mut [u64]) {
        if let Some(own) = self.scratch.kept.window(place, node, window) {
            return kernel::and_not_window(self.settings.level, bits, own);
        }
        match self.query.nodes[node as usize].kind {
            Kind::Term(term) if self.is_few(bits) => {
                self.look_at(place, term as usize, window, bits, false);
            }
            Kind::Range(range) if place.is_fresh() || self.is_few(bits) => {
                self.look_at_range(place, range, window, bits, false);
            }
            _ => {
                let mut own: Bits = [0; WORDS];
                let own = &mut own[..bits.len()];
                self.add(place, node, window, own);
                kernel::and_not_window(self.settings.level, bits, own);
            }
        }
    }

    fn is_few(&self, bits: &[u64]) -> bool {
        kernel::count_bits(self.settings.level, bits) <= LEFT_MAX
    }

    /// Keeps the bits of documents that contain a term, or that do not, as `wanted` says.
    fn look_at(
        &mut self,
        place: &Place<'_>,
        term: usize,
        window: Window,
        bits: &mut [u64],
        wanted: bool,
    ) {
        for (number, word) in bits.iter_mut().enumerate() {
            for bit in super::window::Ones(*word) {
                let rank = window.rank(number * 64 + bit);
                if (self.seek(place, term, rank) == rank) != wanted {
                    *word &= !(1 << bit);
                }
            }
        }
    }

    /// Finds the matches of a node, in a window without bits.
    fn find(&mut self, place: &Place<'_>, node: NodeId, window: Window, bits: &mut [u64]) {
        let query = self.query;
        match query.nodes[node as usize].kind {
            Kind::Phrase { .. } => self.find_phrase(place, node, window, bits),
            Kind::Clauses { minimum } => {
                self.find_positive(place, node, minimum, window, bits);
                for child in query.children(node).filter(|c| query.counts(*c, Occur::Not)) {
                    if is_empty(bits) {
                        return;
                    }
                    self.clear(place, child, window, bits);
                }
            }
            Kind::Key(term) => {
                let rank = self.next_key(place, term, window.start);
                if rank < window.end().min(END) {
                    let bit = (rank - window.start) as usize;
                    bits[bit / 64] |= 1 << (bit % 64);
                }
            }
            Kind::Pattern(pattern) | Kind::PhrasePrefix(pattern) => {
                self.add_pattern(place, node, pattern, window, bits);
            }
            Kind::Nothing | Kind::Blank | Kind::Everything | Kind::Term(_) | Kind::Range(_) => {
                self.add(place, node, window, bits);
            }
        }
    }

    /// Finds the documents in which a phrase occurs, or a phrase prefix without its last word.
    pub(super) fn find_phrase(
        &mut self,
        place: &Place<'_>,
        node: NodeId,
        window: Window,
        bits: &mut [u64],
    ) {
        let Some(rarest) = self.cheapest(place, node) else { return };
        self.add(place, rarest, window, bits);
        self.keep_phrase(place, node, Some(rarest), window, bits);
    }

    /// Finds the matches of the required and optional clauses, before exclusions.
    fn find_positive(
        &mut self,
        place: &Place<'_>,
        node: NodeId,
        minimum: u32,
        window: Window,
        bits: &mut [u64],
    ) {
        let query = self.query;
        let Some(first) = self.cheapest(place, node) else {
            // With exclusions alone, all other documents match.
            let should = self.has(node, Occur::Should);
            if should {
                return self.find_optional(place, node, minimum.max(1), window, bits);
            }
            if minimum == 0 && self.has(node, Occur::Not) {
                window.fill(bits);
            }
            return;
        };
        self.add(place, first, window, bits);
        // Invariant: all required clauses before match the documents left.
        for child in query.children(node).filter(|c| query.counts(*c, Occur::Must)) {
            if is_empty(bits) {
                return;
            }
            if child != first {
                self.keep(place, child, window, bits);
            }
        }
        if minimum > 0 && !is_empty(bits) {
            let mut optional: Bits = [0; WORDS];
            let optional = &mut optional[..bits.len()];
            self.find_optional(place, node, minimum, window, optional);
            kernel::and_window(self.settings.level, bits, optional);
        }
    }

    /// Finds the documents that at least `minimum` of the optional clauses match.
    fn find_optional(
        &mut self,
        place: &Place<'_>,
        node: NodeId,
        minimum: u32,
        window: Window,
        bits: &mut [u64],
    ) {
        let query = self.query;
        if minimum == 1 {
            let should = query.children(node).filter(|c| query.counts(*c, Occur::Should));
            return should.for_each(|child| self.add_optional(place, child, window, bits));
        }
        self.find_at_least(place, node, minimum, window, bits);
    }

    /// Like [`find_optional`](Self::find_optional), for a minimum above one. Out of line: its
    /// counters would grow the stack frame of every recursive call.
    #[inline(never)]
    fn find_at_least(
        &mut self,
        place: &Place<'_>,
        node: NodeId,
        minimum: u32,
        window: Window,
        bits: &mut [u64],
    ) {
        let query = self.query;
        let should = || query.children(node).filter(|c| query.counts(*c, Occur::Should));
        let mut counts = Counts::of(should().count());
        for child in should() {
            let mut own: Bits = [0; WORDS];
            let own = &mut own[..bits.len()];
            self.add_optional(place, child, window, own);
            counts.add(own);
        }
        window.fill(bits);
        counts.keep_at_least(minimum, bits);
    }
}
