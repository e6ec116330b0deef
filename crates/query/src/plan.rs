//! The planner: chooses the evaluator of a query.

use crate::query::{Kind, NONE, NodeId, Occur, Query};

/// Terms of an AND that kernels intersect, at most. Longer ANDs are evaluated as trees.
pub(crate) const TERMS_INLINE: usize = 8;

/// The choice of an evaluator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Nothing matches.
    Nothing,
    /// The document with a key.
    Key(u32),
    /// One term's list.
    Term(u32),
    /// An AND of this many terms.
    All([u32; TERMS_INLINE], usize),
    /// A phrase, possibly with other terms: an AND of this many terms, and a check of the phrase's
    /// positions.
    Phrase(NodeId, [u32; TERMS_INLINE], usize),
    /// An OR of this many terms.
    Any([u32; TERMS_INLINE], usize),
    /// This many terms: one of each group, and no term outside the groups.
    Groups([u32; TERMS_INLINE], usize, Groups),
    /// A tree, by windows. If it is bounded, all matches contain one of its terms.
    Tree { bounded: bool },
}

impl Plan {
    /// Chooses the plan for a query. `windows` forces evaluation by windows, which suits every
    /// shape.
    pub(crate) fn of(query: &Query, windows: bool) -> Plan {
        if query.root == NONE {
            return Plan::Nothing;
        }
        if windows {
            return Plan::Tree { bounded: query.is_bounded(query.root) };
        }
        match query.nodes[query.root as usize].kind {
            Kind::Nothing | Kind::Blank => Plan::Nothing,
            Kind::Key(term) => Plan::Key(term),
            Kind::Term(term) => Plan::Term(term),
            Kind::Everything => Plan::Tree { bounded: false },
            Kind::Clauses { minimum: 0 | 1 } => Plan::of_clauses(query),
            Kind::Clauses { .. } => Plan::Tree { bounded: query.is_bounded(query.root) },
            Kind::Phrase { .. } => match query.terms_of_phrase(query.root) {
                Some((terms, count)) => Plan::Phrase(query.root, terms, count),
                None => Plan::Tree { bounded: true },
            },
            Kind::PhrasePrefix(_) => Plan::Tree { bounded: true },
            Kind::Pattern(_) | Kind::Range(_) => Plan::Tree { bounded: false },
        }
    }

    fn of_clauses(query: &Query) -> Plan {
        Plan::of_groups(query)
            .or_else(|| Plan::of_phrase_and_terms(query))
            .unwrap_or(Plan::Tree { bounded: query.is_bounded(query.root) })
    }

    /// Returns the plan for a phrase and terms, all of which must match. The phrase is checked in
    /// the documents that contain all terms.
    fn of_phrase_and_terms(query: &Query) -> Option<Plan> {
        let (mut gathered, mut phrase) = (Terms::default(), None);
        let plain = query.nodes[query.root as usize].kind == Kind::CLAUSES;
        for child in query.children(query.root) {
            let node = &query.nodes[child as usize];
            match (node.occur, node.kind) {
                (_, Kind::Blank) | (Occur::Should, _) => {}
                (Occur::Must, Kind::Term(term)) => _ = gathered.push(term)?,
                (Occur::Must, Kind::Phrase { .. }) if phrase.is_none() => {
                    phrase = Some(child);
                    gathered.push_phrase(query, child)?;
                }
                _ => return None,
            }
        }
        let (count, mut terms) = (gathered.count, [0; TERMS_INLINE]);
        terms.get_mut(..count)?.copy_from_slice(gathered.as_slice());
        phrase.filter(|_| plain).map(|phrase| Plan::Phrase(phrase, terms, count))
    }

    /// Returns `None` if the clauses are not groups of terms, or have too many.
    fn of_groups(query: &Query) -> Option<Plan> {
        let (mut gathered, mut groups) = (Terms::default(), Groups::default());
        let plain = query.nodes[query.root as usize].kind == Kind::CLAUSES;
        let must = query.children(query.root).any(|child| query.counts(child, Occur::Must));
        let mut any = 0;
        for child in query.children(query.root) {
            // Invariant: `groups` and `any` have the terms of the clauses before.
            let node = &query.nodes[child as usize];
            match node.kind {
                Kind::Blank => {}
                // Beside a required clause, an optional one only adds to the score.
                _ if plain && must && node.occur == Occur::Should => {}
                Kind::Term(term) => {
                    let bit = gathered.push(term)?;
                    match node.occur {
                        Occur::Must => groups.push(bit)?,
                        Occur::Should => any |= bit,
                        Occur::Not => {}
                    }
                }
                _ if node.occur == Occur::Must => groups.push(gathered.push_any(query, child)?)?,
                _ => return None,
            }
        }
        // With a minimum, required and optional clauses are no groups: the minimum counts the
        // optional ones.
        (plain || !must).then_some(())?;
        if any != 0 {
            groups.push(any)?;
        }
        let (count, mut terms) = (gathered.count, [0; TERMS_INLINE]);
        terms.get_mut(..count)?.copy_from_slice(gathered.as_slice());
        match (groups.as_slice(), groups.terms() as usize == count) {
            ([], true) => Some(Plan::Nothing),
            ([], false) => None,
            (_, true) if count == 1 => Some(Plan::Term(terms[0])),
            (_, true) if groups.are_single() => Some(Plan::All(terms, count)),
            ([_], true) => Some(Plan::Any(terms, count)),
            _ => Some(Plan::Groups(terms, count, groups)),
        }
    }
}

/// Groups of terms. A document must contain a term of each group. A group has the bits of its terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Groups {
    groups: [TermBits; TERMS_INLINE],
    count: usize,
}

impl Groups {
    /// Returns `None` if there is no room.
    pub(crate) fn push(&mut self, terms: TermBits) -> Option<()> {
        *self.groups.get_mut(self.count)? = terms;
        self.count += 1;
        Some(())
    }

    /// Returns the groups, each as the bits of its terms.
    pub(crate) fn as_slice(&self) -> &[TermBits] {
        &self.groups[..self.count]
    }

    /// Returns the bits of all terms in groups.
    pub(crate) fn all(&self) -> TermBits {
        self.as_slice().iter().fold(0, |all, group| all | group)
    }

    /// Counts the terms in groups.
    fn terms(&self) -> u32 {
        self.all().count_ones()
    }

    /// True if each group has one term.
    fn are_single(&self) -> bool {
        self.as_slice().iter().all(|group| group.count_ones() == 1)
    }
}

/// Terms of a query that has a ranked evaluator other than a tree, at most.
pub(crate) const RANKED_INLINE: usize = 64;

/// A bit for each term of a query, or for each of its lists: the lowest for the first.
pub(crate) type TermBits = u64;

const _: () = assert!(RANKED_INLINE == TermBits::BITS as usize);

/// The plan for a query by relevance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RankedPlan {
    pub(crate) way: RankedWay,
    /// For all ways but a tree: first the terms that are searched for, then those that a match must
    /// not contain.
    terms: [u32; RANKED_INLINE],
    sought: usize,
    count: usize,
    /// The bit of a term sought is set if the term shares a clause with the one before. Of such terms only the best score counts.
    joined: TermBits,
}

/// The choice of a ranked evaluator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RankedWay {
    /// Nothing matches.
    Nothing,
    /// One term.
    Term,
    /// All of several terms.
    All,
    /// A phrase of several terms.
    Phrase(NodeId),
    /// All of several terms, some of which make a phrase.
    AllWithPhrase(Among),
    /// Any of several terms.
    Any,
    /// Several terms, of which some groups are required.
    Required(Groups),
    /// Any other query. If it is bounded, all matches contain one of its terms.
    Tree { bounded: bool },
}

/// A phrase among required terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Among {
    pub(crate) phrase: NodeId,
    /// The index of its first term among all terms, in the order of the clauses.
    pub(crate) first: usize,
    /// One past the index of its last term.
    pub(crate) end: usize,
}

impl RankedPlan {
    /// Chooses the plan for a query. `windows` forces evaluation by windows.
    pub(crate) fn of(query: &Query, windows: bool) -> RankedPlan {
        let Some(root) = query.nodes.get(query.root as usize) else {
            return RankedPlan::without_terms(RankedWay::Nothing);
        };
        let bounded = || RankedWay::Tree { bounded: query.is_bounded(query.root) };
        let tree = || RankedPlan::without_terms(bounded());
        match root.kind {
            _ if root.constant || windows => tree(),
            Kind::Nothing | Kind::Blank => RankedPlan::without_terms(RankedWay::Nothing),
            Kind::Term(term) => RankedPlan::new(RankedWay::Term, &[term], &[]).unwrap_or_else(tree),
            Kind::Phrase { .. } => RankedPlan::of_phrase(query, query.root).unwrap_or_else(tree),
            Kind::Clauses { minimum: 0 | 1 } => match root.tie {
                None => RankedPlan::of_clauses(query, root.kind).unwrap_or_else(tree),
                Some(_) => RankedPlan::of_best(query).unwrap_or_else(tree),
            },
            _ => tree(),
        }
    }

    fn without_terms(way: RankedWay) -> RankedPlan {
        RankedPlan { way, terms: [0; RANKED_INLINE], sought: 0, count: 0, joined: 0 }
    }

    /// Returns `None` if there are too many terms.
    fn new(way: RankedWay, sought: &[u32], excluded: &[u32]) -> Option<RankedPlan> {
        let mut plan = RankedPlan::without_terms(way);
        (plan.sought, plan.count) = (sought.len(), sought.len() + excluded.len());
        let (of_sought, rest) = plan.terms.split_at_mut_checked(sought.len())?;
        of_sought.copy_from_slice(sought);
        rest.get_mut(..excluded.len())?.copy_from_slice(excluded);
        Some(plan)
    }

    fn of_phrase(query: &Query, phrase: NodeId) -> Option<RankedPlan> {
        let (terms, count) = query.terms_of_phrase(phrase)?;
        RankedPlan::new(RankedWay::Phrase(phrase), &terms[..count], &[])
    }

    /// Returns the plan for the best of several terms.
    fn of_best(query: &Query) -> Option<RankedPlan> {
        let mut sought = Terms::default();
        sought.push_group(query, query.root)?;
        let way = if sought.count == 1 { RankedWay::Term } else { RankedWay::Any };
        RankedPlan::of_terms(way, &sought, &Terms::default())
    }

    /// Like [`new`](Self::new), with the clauses that terms share.
    fn of_terms(way: RankedWay, sought: &Terms, excluded: &Terms) -> Option<RankedPlan> {
        let plan = RankedPlan::new(way, sought.as_slice(), excluded.as_slice())?;
        Some(RankedPlan { joined: sought.joined, ..plan })
    }

    /// Returns the plan for clauses that need no tree: an AND or OR of terms, or a phrase, alone or
    /// with required terms. Clauses of an OR may be groups of terms. Other terms may be excluded.
    fn of_clauses(query: &Query, kind: Kind) -> Option<RankedPlan> {
        if let Some(plan) = RankedPlan::of_required(query, kind) {
            return Some(plan);
        }
        let (mut sought, mut excluded) = (Terms::default(), Terms::default());
        let (mut phrase, mut occur) = (None::<Among>, None);
        for child in query.children(query.root) {
            let node = &query.nodes[child as usize];
            match node.kind {
                Kind::Blank => continue,
                Kind::Term(term) if node.occur == Occur::Not => _ = excluded.push(term)?,
                _ if node.constant || *occur.get_or_insert(node.occur) != node.occur => {
                    return None;
                }
                Kind::Term(term) => _ = sought.push(term)?,
                Kind::Phrase { .. } if node.occur != Occur::Not && phrase.is_none() => {
                    let first = sought.count;
                    sought.push_phrase(query, child)?;
                    phrase = Some(Among { phrase: child, first, end: sought.count });
                }
                _ if node.occur == Occur::Should => _ = sought.push_group(query, child)?,
                _ => return None,
            }
        }
        let is_must = occur? == Occur::Must;
        // With a minimum, required and optional clauses stay a tree: the minimum counts the
        // optional ones.
        let plain = !is_must || kind == Kind::CLAUSES;
        let way = match (phrase, sought.count) {
            _ if !plain => return None,
            (Some(Among { phrase, first, end }), terms) if end - first == terms => {
                RankedWay::Phrase(phrase)
            }
            (Some(among), ..=TERMS_INLINE) if is_must => RankedWay::AllWithPhrase(among),
            (None, 1) => RankedWay::Term,
            (None, 2..) if !is_must => RankedWay::Any,
            (None, 2..=TERMS_INLINE) => RankedWay::All,
            _ => return None,
        };
        RankedPlan::of_terms(way, &sought, &excluded)
    }

    /// Returns the plan for required terms, or groups of them, and optional ones.
    fn of_required(query: &Query, kind: Kind) -> Option<RankedPlan> {
        let (mut sought, mut excluded) = (Terms::default(), Terms::default());
        let mut groups = Groups::default();
        for child in query.children(query.root) {
            let node = &query.nodes[child as usize];
            match node.kind {
                Kind::Blank => {}
                Kind::Term(term) if node.occur == Occur::Not => _ = excluded.push(term)?,
                Kind::Term(term) if !node.constant => {
                    let bit = sought.push(term)?;
                    if node.occur == Occur::Must {
                        groups.push(bit)?;
                    }
                }
                _ if node.occur == Occur::Must => groups.push(sought.push_group(query, child)?)?,
                _ => return None,
            }
        }
        let is_all = groups.are_single() && groups.terms() as usize == sought.count;
        let has_group = !groups.as_slice().is_empty();
        (kind == Kind::CLAUSES && has_group && !is_all).then_some(())?;
        let is_or = groups.count == 1 && groups.terms() as usize == sought.count;
        let way = if is_or { RankedWay::Any } else { RankedWay::Required(groups) };
        RankedPlan::of_terms(way, &sought, &excluded)
    }

    /// True if lists of fresh segments are read as a whole, not by windows.
    pub(crate) fn goes_by_lists_when_fresh(&self) -> bool {
        matches!(self.way, RankedWay::Term | RankedWay::Any)
    }

    /// Returns the terms that are searched for.
    pub(crate) fn sought(&self) -> &[u32] {
        &self.terms[..self.sought]
    }

    /// Returns the first term of the clause that a term sought belongs to.
    pub(crate) fn clause_of(&self, term: u32) -> u32 {
        if self.joined == 0 {
            return term;
        }
        let number = self.sought().iter().position(|sought| *sought == term).unwrap_or(0);
        let is_first = |number: &usize| self.joined >> number & 1 == 0;
        (0..=number).rev().find(is_first).map_or(term, |first| self.terms[first])
    }

    /// Returns the terms that a match must not contain. They are checked only for candidates that
    /// beat the threshold.
    pub(crate) fn excluded(&self) -> &[u32] {
        &self.terms[self.sought..self.count]
    }

    /// Returns the terms searched for and the excluded ones.
    pub(crate) fn terms(&self) -> &[u32] {
        &self.terms[..self.count]
    }
}

/// A list of terms under construction.
struct Terms {
    terms: [u32; RANKED_INLINE],
    count: usize,
    /// The terms that share a clause with the one before, of which only the best score counts.
    joined: TermBits,
}

impl Default for Terms {
    fn default() -> Terms {
        Terms { terms: [0; RANKED_INLINE], count: 0, joined: 0 }
    }
}

impl Terms {
    /// Appends a term and returns its bit; `None` if there is no room.
    fn push(&mut self, term: u32) -> Option<TermBits> {
        *self.terms.get_mut(self.count)? = term;
        self.count += 1;
        Some(1 << (self.count - 1))
    }

    /// Appends the terms of a phrase; `None` if they are too many for the evaluators of an AND.
    fn push_phrase(&mut self, query: &Query, phrase: NodeId) -> Option<()> {
        let (terms, count) = query.terms_of_phrase(phrase)?;
        terms[..count].iter().try_for_each(|term| self.push(*term).map(|_| ()))
    }

    /// Appends the terms of a node that is a plain OR of terms, and returns their bits.
    fn push_any(&mut self, query: &Query, node: NodeId) -> Option<TermBits> {
        let Kind::Clauses { minimum: 0 | 1 } = query.nodes[node as usize].kind else { return None };
        let mut bits = 0;
        for child in query.children(node) {
            let child = &query.nodes[child as usize];
            match child.kind {
                Kind::Blank => {}
                Kind::Term(term) if child.occur == Occur::Should && !child.constant => {
                    bits |= self.push(term)?;
                }
                _ => return None,
            }
        }
        let is_scored = !query.nodes[node as usize].constant;
        (bits != 0 && is_scored).then_some(bits)
    }

    /// Appends the terms of a node that is an OR of terms, or the best of them without a part of the
    /// others. Returns their bits.
    fn push_group(&mut self, query: &Query, node: NodeId) -> Option<TermBits> {
        let bits = self.push_any(query, node)?;
        match query.nodes[node as usize].tie {
            None => {}
            Some(0.0) => self.joined |= bits & (bits - 1),
            Some(_) => return None,
        }
        Some(bits)
    }

    fn as_slice(&self) -> &[u32] {
        &self.terms[..self.count]
    }
}

impl Query {
    /// Returns the terms of a phrase, if they are at least two and at most [`TERMS_INLINE`]. A
    /// repeated word is a term each time, since the phrase's positions are read from the lists of
    /// all its terms.
    fn terms_of_phrase(&self, phrase: NodeId) -> Option<([u32; TERMS_INLINE], usize)> {
        let (mut terms, mut count) = ([0; TERMS_INLINE], 0);
        for term in self.children(phrase).filter_map(|child| self.term_of(child)) {
            *terms.get_mut(count)? = term;
            count += 1;
        }
        (count > 1).then_some((terms, count))
    }

    /// True if a child takes part as `occur`. Words without terms (stop words) take no part.
    pub(crate) fn counts(&self, child: NodeId, occur: Occur) -> bool {
        let node = &self.nodes[child as usize];
        node.occur == occur && node.kind != Kind::Blank
    }

    /// True if every match contains one of the query's terms.
    pub(crate) fn is_bounded(&self, node: NodeId) -> bool {
        match self.nodes[node as usize].kind {
            Kind::Nothing | Kind::Blank | Kind::Term(_) => true,
            Kind::Phrase { .. } | Kind::PhrasePrefix(_) => true,
            Kind::Everything | Kind::Key(_) | Kind::Pattern(_) | Kind::Range(_) => false,
            Kind::Clauses { .. } => {
                let clauses = |occur| self.children(node).filter(move |c| self.counts(*c, occur));
                if clauses(Occur::Must).next().is_some() {
                    clauses(Occur::Must).any(|c| self.is_bounded(c))
                } else if clauses(Occur::Should).next().is_some() {
                    clauses(Occur::Should).all(|c| self.is_bounded(c))
                } else {
                    clauses(Occur::Not).next().is_none()
                }
            }
        }
    }
}
