//! Explains a document's score. Each clause of the query is evaluated for this one document.
//!
//! Evaluation in a window around the document shows if a node matches. Its score is computed from
//! the posting that a look-up finds. Nothing here is fast: all lists are opened anew for each
//! question.

use std::sync::atomic::Ordering::Relaxed;

use spirit_index::form::{FindOlder, OlderEntries};
use spirit_index::ground::ValueKind;
use spirit_index::ground::{FREQUENCY_MAX, frequency, rank_of};
use spirit_index::memory::Window as Part;
use spirit_index::snapshot::Segment;
use spirit_kernel::Frequencies;
use spirit_schema::Schema;

use super::key::find_document;
use super::phrase::{Room, Wanted};
use super::window::{WORDS, Window};
use super::{Evaluation, Place, Scratch, words_of};
use crate::collect::Limit;
use crate::explanation::{Explanation, Frequency, Worth};
use crate::fade::Fading;
use crate::proximity::Proximity;
use crate::query::{Kind, NONE, NodeId, Occur};
use crate::rank::{Counts, Parameters, Weight, Weights, boosted, score};

/// The parameters of an explanation.
#[derive(Clone, Copy)]
pub(crate) struct Explained<'e> {
    pub(crate) schema: &'e Schema,
    pub(crate) weights: &'e Weights,
    pub(crate) counts: &'e Counts,
    pub(crate) parameters: Parameters,
    pub(crate) fading: Option<Fading>,
    pub(crate) proximity: Option<&'e Proximity>,
}

impl Limit for Explained<'_> {
    fn wanted(&self) -> usize {
        usize::MAX
    }
}

impl Evaluation<'_, Explained<'_>> {
    /// Explains the score of the document with a key; `None` if the snapshot has no such document.
    pub(crate) fn explain(&mut self, key: &[u8]) -> Option<Explanation> {
        let (segment, local) = find_document(self.snapshot, key)?;
        let is_fresh = segment.id().position() >= self.snapshot.window().end;
        let place = self.place(segment, is_fresh)?;
        if segment.is_dead(local) || self.query.root == NONE {
            return None;
        }
        if !is_fresh {
            self.find_lists(&segment);
        }
        self.scratch.patterns.forget();
        let rank = rank_of(local);
        let explained = self.explain_node(&place, self.query.root, rank, 1.0);
        let explained = match self.collector.proximity {
            Some(proximity) if explained.matches => {
                self.explain_places(&place, rank, explained, proximity)
            }
            _ => explained,
        };
        Some(match self.collector.fading {
            Some(fading) if explained.matches => {
                let newest = place.last_value(fading.field, ValueKind::Time, rank);
                explained.faded(fading, newest)
            }
            _ => explained,
        })
    }

    fn explain_node(
        &mut self,
        place: &Place<'_>,
        id: NodeId,
        rank: u32,
        boost: f32,
    ) -> Explanation {
        let query = self.query;
        let node = &query.nodes[id as usize];
        let boost = boosted(boost, node.boost);
        let clauses = match node.kind {
            Kind::Clauses { .. } => {
                let children = query.children(id);
                children.map(|child| self.explain_node(place, child, rank, boost)).collect()
            }
            _ => Vec::new(),
        };
        let matches = self.matches(place, id, rank);
        let mut explained = Explanation {
            clause: query.written(id, self.collector.schema),
            occur: node.occur,
            matches,
            value: 0.0,
            worth: Worth::Nothing,
            clauses,
        };
        let is_part = id != query.root;
        if matches && !(is_part && node.occur == Occur::Not) {
            (explained.value, explained.worth) = self.worth(place, id, rank, boost);
        }
        if matches!(explained.worth, Worth::Sum | Worth::Best(_)) {
            let mut sum = 0.0;
            explained.add_to(&mut sum);
            explained.value = sum;
        }
        explained
    }

    /// Wraps an explanation in one with the places and the closeness of the terms.
    fn explain_places(
        &mut self,
        place: &Place<'_>,
        rank: u32,
        explained: Explanation,
        proximity: &Proximity,
    ) -> Explanation {
        let (query, Explained { schema, weights, .. }) = (self.query, self.collector);
        let read = self.read_places(place, rank, weights, proximity);
        let worth = read.worth();
        let written = |term: u32| {
            let is_it = |node: &NodeId| query.term_of(*node) == Some(term);
            let node = (0..query.nodes.len() as NodeId).find(is_it);
            node.map_or_else(String::new, |node| query.written(node, schema))
        };
        let mut parts = Vec::new();
        query.placed(weights, &mut |term| {
            if let Some((first, worth)) = read.of_term(term) {
                parts.push(Explanation::part(written(term), worth, Worth::Place { first }));
            }
            0.0
        });
        for (pair, distance, worth) in read.pairs() {
            let clause = pair.terms.map(written).join(" ");
            parts.push(Explanation::part(clause, worth, Worth::Closeness { distance }));
        }
        explained.placed(worth, parts)
    }

    /// Returns the score of a node that matches, and its reason. The score is 0 for clauses that
    /// are added up.
    fn worth(&mut self, place: &Place<'_>, id: NodeId, rank: u32, boost: f32) -> (f32, Worth) {
        let query = self.query;
        let (bm25, frequency) = match (self.collector.weights.of(id), query.nodes[id as usize].kind)
        {
            (Weight::Constant(value), _) => return (value, Worth::Constant),
            (Weight::Sum, _) => return (0.0, Worth::Sum),
            (Weight::Best(tie), _) => return (0.0, Worth::Best(tie)),
            (Weight::Frequency(bm25), Kind::Term(term)) => {
                (bm25, self.frequency_at(place, term as usize, rank) as f32)
            }
            (Weight::Frequency(bm25), _) => {
                self.open_all(place);
                let has_terms = self.open_phrase(place, id);
                let Scratch { words, occurrences, phrase, .. } = &mut *self.scratch;
                let mut room = Room { place, words, occurrences };
                let mut occurs = || phrase.occurs(&mut room, rank, Wanted::Frequency);
                (bm25, if has_terms { occurs() } else { 0.0 })
            }
        };
        let length = place.segment.length_of(query.field_of(id), rank_of(rank));
        let value = score(bm25, frequency, length);
        (value, Worth::Frequency(self.explain_frequency(id, boost, frequency, length)))
    }

    fn explain_frequency(&self, id: NodeId, boost: f32, frequency: f32, length: u32) -> Frequency {
        let Explained { counts, parameters, .. } = self.collector;
        let of_node = self.query.term_of(id).into_iter();
        let terms = of_node.chain(self.query.children(id).filter_map(|c| self.query.term_of(c)));
        let terms: Vec<u32> = terms.collect();
        let field = self.query.field_of(id);
        Frequency {
            idf: terms.iter().map(|term| counts.idf(field, *term)).sum(),
            documents: counts.of_field(field).documents,
            with_terms: terms.iter().map(|term| counts.with_term[*term as usize]).collect(),
            boost,
            frequency,
            length,
            average: counts.average(field),
            parameters,
        }
    }

    /// True if a node matches the document at a rank.
    fn matches(&mut self, place: &Place<'_>, id: NodeId, rank: u32) -> bool {
        self.open_all(place);
        let window = Window::first(place.base, rank);
        let mut bits = [0; WORDS];
        let bits = &mut bits[..window.words()];
        self.add(place, id, window, bits);
        let bit = (rank - window.start) as usize;
        bits[bit / 64] >> (bit % 64) & 1 == 1
    }

    /// Returns the frequency of a term in the document at a rank.
    fn frequency_at(&mut self, place: &Place<'_>, term: usize, rank: u32) -> u32 {
        self.open_all(place);
        if self.seek(place, term, rank) != rank {
            return 0;
        }
        let words = words_of(&self.scratch.words, term);
        let word = self.scratch.leaves[term].run(&place.context, words)[0].load(Relaxed);
        match frequency(word) {
            FREQUENCY_MAX => place.frequency(term as u32, rank),
            said => said,
        }
    }

    /// Finds the lists of all terms in a registered segment, for [`open_all`](Self::open_all) to
    /// open again and again.
    fn find_lists(&mut self, segment: &Segment<'_>) {
        let position = segment.id().position();
        let terms = self.query.terms.len();
        if position >= self.snapshot.covered().oldest {
            (0..terms).for_each(|term| self.look_up(term));
        } else if let Some(older) = OlderEntries::new(self.snapshot.memory()) {
            self.part = Part { oldest: position, end: position + 1 };
            for (term, found) in self.query.terms.iter().enumerate() {
                self.scratch.leaves[term].older = older.find(self.query.lookup(found), found.hash);
                self.lend(&older, term, term..term + 1);
            }
        }
        self.open_at(segment);
        let (lists, found) = self.scratch.leaves.split_at_mut(terms);
        found[..terms].copy_from_slice(lists);
    }

    /// Opens the lists of all terms, from their beginnings.
    fn open_all(&mut self, place: &Place<'_>) {
        let terms = self.query.terms.len();
        if place.context.extent.is_some() {
            return (0..terms).for_each(|term| self.open_fresh(place, term));
        }
        let (lists, found) = self.scratch.leaves.split_at_mut(terms);
        lists.copy_from_slice(&found[..terms]);
    }
}
