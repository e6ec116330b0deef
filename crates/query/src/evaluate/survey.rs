//! The evaluators that a query would use: the planner's choice, and the lists found in each
//! segment.

use std::collections::{BTreeMap, BTreeSet};

use spirit_index::form::{FindOlder, OlderEntries};
use spirit_index::ground::SegmentId;
use spirit_index::memory::Window as Part;
use spirit_index::snapshot::Segment;
use spirit_index::terms::Entry;
use spirit_kernel::Algorithm;
use spirit_schema::Schema;

use super::leapfrog::leapfrogs;
use super::tree::merges;
use super::{Evaluation, Meeting};
use crate::collect::Limit;
use crate::plan::{Plan, RankedPlan, RankedWay};
use crate::query::{Kind, NONE, NodeId, Occur};
use crate::query_plan::{
    ClausePlan, Evaluator, ExecutorPlan, Expansion, FIRST_MAX, Lists, Meetings, PartPlan, Source,
};

/// The documents that are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The newest, this many.
    Newest(usize),
    /// The best.
    Best,
    /// The first by a field's values.
    ByField,
}

/// The parameters of a survey.
#[derive(Clone, Copy)]
pub(crate) struct Surveyed<'s> {
    pub(crate) schema: &'s Schema,
    pub(crate) wanted: Wanted,
}

impl Limit for Surveyed<'_> {
    fn wanted(&self) -> usize {
        usize::MAX
    }
}

/// A term's entries, by segment.
type Entries = BTreeMap<SegmentId, Entry>;

/// The lists and terms that segments of one form have for a query.
struct Found {
    /// For each term, its lists.
    lists: Vec<Lists>,
    /// For each pattern, its terms.
    expansions: Vec<Expansion>,
}

impl<'a> Evaluation<'a, Surveyed<'_>> {
    /// Returns the plan by which the query would be evaluated.
    pub(crate) fn survey(&mut self) -> ExecutorPlan {
        let snapshot = self.snapshot;
        let (fresh, registered): (Vec<_>, Vec<_>) =
            (snapshot.fresh().collect(), snapshot.registered().collect());
        let found =
            Found { lists: self.fresh_lists(&fresh), expansions: self.expansions(&fresh, true) };
        let fresh = self.part(&fresh, self.fresh_evaluator(fresh.len() as u64), &found);
        let entries: Vec<Entries> =
            (0..self.query.terms.len()).map(|term| self.entries_of(term)).collect();
        let found = Found {
            lists: entries.iter().map(|entries| self.lists_of(entries)).collect(),
            expansions: self.expansions(&registered, false),
        };
        let registered = self.part(&registered, self.registered_evaluator(&entries), &found);
        ExecutorPlan { fresh, registered }
    }

    fn part(&self, segments: &[Segment<'_>], evaluator: Evaluator, found: &Found) -> PartPlan {
        let covered = self.snapshot.covered().oldest;
        let older = segments.iter().filter(|segment| segment.id().position() < covered).count();
        let clause = self.clause_plan(self.query.root, found);
        PartPlan { segments: segments.len() as u64, older: older as u64, evaluator, clause }
    }

    fn fresh_evaluator(&self, segments: u64) -> Evaluator {
        match self.collector.wanted {
            Wanted::Newest(k) => {
                let lists = Meetings { lists: segments, ..self.no_meetings() };
                self.newest_evaluator(k, |_| lists.clone())
            }
            Wanted::Best => match RankedPlan::of(self.query, self.settings.windows).way {
                RankedWay::Nothing => Evaluator::Nothing,
                RankedWay::Term => Evaluator::List,
                RankedWay::Any => Evaluator::MaxScore,
                _ => Evaluator::Windows,
            },
            Wanted::ByField => self.field_evaluator(),
        }
    }

    fn registered_evaluator(&self, entries: &[Entries]) -> Evaluator {
        match self.collector.wanted {
            Wanted::Newest(k) => self.newest_evaluator(k, |terms| self.meetings(entries, terms)),
            Wanted::Best => match RankedPlan::of(self.query, self.settings.windows).way {
                RankedWay::Nothing => Evaluator::Nothing,
                RankedWay::Term => Evaluator::BlockMaxTerm,
                RankedWay::All => Evaluator::BlockMaxAll(self.algorithm()),
                RankedWay::Phrase(_) | RankedWay::AllWithPhrase(_) => {
                    Evaluator::BlockMaxPhrase(self.algorithm())
                }
                RankedWay::Required(_) => Evaluator::ListsInTurn,
                RankedWay::Any => Evaluator::MaxScore,
                RankedWay::Tree { .. } => Evaluator::Windows,
            },
            Wanted::ByField => self.field_evaluator(),
        }
    }

    /// Returns the evaluator for the newest documents. `meet` tells how lists are intersected.
    fn newest_evaluator(&self, k: usize, meet: impl Fn(&[u32]) -> Meetings) -> Evaluator {
        match Plan::of(self.query, self.settings.windows) {
            Plan::Nothing => Evaluator::Nothing,
            Plan::Key(_) => Evaluator::Key,
            Plan::Term(_) => Evaluator::List,
            Plan::All(terms, count) => Evaluator::Intersection(meet(&terms[..count])),
            Plan::Phrase(_, terms, count) => Evaluator::Phrase(meet(&terms[..count])),
            Plan::Any(..) if merges(k) => Evaluator::Merge,
            Plan::Groups(_, _, groups) if merges(k) && leapfrogs(&groups) => Evaluator::Leapfrog,
            Plan::Any(..) | Plan::Groups(..) | Plan::Tree { .. } => Evaluator::Windows,
        }
    }

    fn field_evaluator(&self) -> Evaluator {
        if self.query.root == NONE { Evaluator::Nothing } else { Evaluator::Windows }
    }

    fn algorithm(&self) -> Algorithm {
        self.settings.algorithm.unwrap_or(Algorithm::Simd)
    }

    fn no_meetings(&self) -> Meetings {
        Meetings { algorithm: self.algorithm(), lists: 0, probes: 0, bitmaps: 0, singles: 0 }
    }

    /// Counts the ways of intersecting the lists of `terms`, over the segments in which all of them
    /// have one.
    fn meetings(&self, entries: &[Entries], terms: &[u32]) -> Meetings {
        let mut meetings = self.no_meetings();
        let forced = self.settings.algorithm;
        for id in entries[terms[0] as usize].keys() {
            let all = terms.iter().map(|term| entries[*term as usize].get(id).copied());
            let Some(mut all) = all.collect::<Option<Vec<Entry>>>() else { continue };
            all.sort_by_key(|entry| entry.postings);
            let flushed = self.snapshot.of(*id).flushed();
            let bits = |number: usize| flushed.bitmap(all[number]);
            match Meeting::of(forced, bits(0), bits(1)) {
                _ if forced.is_none() && all[0].postings == 1 => meetings.singles += 1,
                Meeting::Lists => meetings.lists += 1,
                Meeting::Probe(_) => meetings.probes += 1,
                Meeting::Bitmaps(..) => meetings.bitmaps += 1,
            }
        }
        meetings
    }

    fn fresh_lists(&self, fresh: &[Segment<'_>]) -> Vec<Lists> {
        let of_term =
            |term| {
                let found = &self.query.terms[term];
                let frequency = |segment: &Segment<'_>| {
                    segment.fresh_frequency(self.query.lookup(found), found.hash)
                };
                let with = fresh.iter().map(frequency).filter(|frequency| *frequency > 0);
                with.fold(Lists::default(), |Lists { documents, lists, bitmaps }, frequency| {
                    Lists { documents: documents + u64::from(frequency), lists: lists + 1, bitmaps }
                })
            };
        (0..self.query.terms.len()).map(of_term).collect()
    }

    fn lists_of(&self, entries: &Entries) -> Lists {
        let dense = |(id, entry): &(&SegmentId, &Entry)| {
            self.snapshot.of(**id).flushed().bitmap(**entry).is_some()
        };
        Lists {
            documents: entries.values().map(|entry| u64::from(entry.postings)).sum(),
            lists: entries.len() as u64,
            bitmaps: entries.iter().filter(dense).count() as u64,
        }
    }

    /// Returns a term's entries in registered segments.
    fn entries_of(&self, term: usize) -> Entries {
        let (snapshot, found) = (self.snapshot, &self.query.terms[term]);
        let term = self.query.lookup(found);
        let covered = snapshot.covered();
        let region = snapshot.memory().region();
        let newer = snapshot.entries(term, found.hash).view(region).from(covered.oldest);
        let counts = newer.iter().filter(|entry| !snapshot.skips(entry.segment));
        let mut entries: Entries = counts.map(|entry| (entry.segment, entry)).collect();
        let part = Part { end: covered.oldest, ..snapshot.window() };
        if let Some(older) = OlderEntries::new(snapshot.memory()).filter(|_| part.oldest < part.end)
        {
            let mut at = older.find(term, found.hash);
            older.visit(&mut at, term, found.hash, part, |entry| {
                entries.insert(entry.segment, entry);
            });
        }
        entries
    }

    /// Returns the terms that each leaf matches in some segments, by the first of its patterns.
    fn expansions(&mut self, segments: &[Segment<'a>], fresh: bool) -> Vec<Expansion> {
        let patterns = 0..self.query.patterns.len() as u32;
        let of_pattern = |pattern| {
            let mut first = BTreeSet::new();
            let mut expansion = Expansion::default();
            for segment in segments {
                let Some(place) = self.place(*segment, fresh) else { continue };
                for pattern in self.query.patterns_of(pattern) {
                    self.each_expansion(&place, pattern, |term, documents| {
                        expansion.terms += 1;
                        expansion.documents += u64::from(documents);
                        first.insert(String::from_utf8_lossy(term).into_owned());
                        if first.len() > FIRST_MAX {
                            first.pop_last();
                        }
                    });
                }
            }
            expansion.first = first.into_iter().collect();
            expansion
        };
        patterns.map(of_pattern).collect()
    }

    fn clause_plan(&self, id: NodeId, found: &Found) -> ClausePlan {
        let (query, schema) = (self.query, self.collector.schema);
        if id == NONE {
            let clause = crate::Clause::Nothing.to_string();
            return ClausePlan {
                clause,
                occur: Occur::Must,
                source: Source::Clauses,
                clauses: Vec::new(),
            };
        }
        let node = &query.nodes[id as usize];
        let source = match node.kind {
            Kind::Term(term) => Source::Lists(found.lists[term as usize]),
            Kind::Pattern(pattern) | Kind::PhrasePrefix(pattern) => {
                Source::Expansion(found.expansions[pattern as usize].clone())
            }
            _ => Source::Clauses,
        };
        let clauses = query.children(id).map(|child| self.clause_plan(child, found)).collect();
        ClausePlan { clause: query.written(id, schema), occur: node.occur, source, clauses }
    }
}
