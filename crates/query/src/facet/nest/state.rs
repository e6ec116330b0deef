//! The tables of an answer: buckets with tables of their own, and summaries.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::super::digest::Digest;
use super::super::distinct::Distinct;
use super::super::gather::Stats;
use super::super::{number_of, room};
use super::node::{Node, Rule};

/// The room that a tree's tables take.
#[derive(Default)]
pub(super) struct Room {
    pub(super) bytes: usize,
    /// The buckets of all tables.
    pub(super) buckets: usize,
}

/// A table of the answer.
pub(super) enum State {
    Buckets(Buckets),
    Stats(Stats),
    Cardinality(Distinct),
    Percentiles(Digest),
}

/// Buckets by their numbers.
#[derive(Default)]
pub(super) struct Buckets {
    pub(super) of: HashMap<i64, Counted>,
    pub(super) missing: Option<Counted>,
}

/// Documents, and the tables of the facets within.
pub(super) struct Counted {
    pub(super) documents: u64,
    pub(super) within: Vec<State>,
}

impl Counted {
    /// Returns an empty bucket of a facet.
    pub(super) fn new(nodes: &[Node], of: usize) -> Counted {
        let within = nodes[of].within.iter().map(|place| State::new(&nodes[*place])).collect();
        Counted { documents: 0, within }
    }

    /// Counts the current document.
    fn take(&mut self, nodes: &[Node], of: usize, room: &mut Room) {
        self.documents += 1;
        for (state, place) in self.within.iter_mut().zip(&nodes[of].within) {
            state.take(nodes, *place, room);
        }
    }

    /// Returns the bytes of its tables, without what these allocate.
    fn bytes(&self) -> usize {
        match self.within.len() {
            0 => 0,
            tables => tables * size_of::<State>() + room::ALLOCATION,
        }
    }
}

impl State {
    /// Returns an empty table for a facet.
    pub(super) fn new(node: &Node) -> State {
        match node.rule {
            Rule::Terms { .. }
            | Rule::Histogram(_)
            | Rule::Dates(_)
            | Rule::Ranges(_)
            | Rule::Filters(_) => State::Buckets(Buckets::default()),
            Rule::Stats => State::Stats(Stats::default()),
            Rule::Cardinality => State::Cardinality(Distinct::default()),
            Rule::Percentiles(_) => State::Percentiles(Digest::default()),
        }
    }

    /// Adds the current document's values of the facet at `of`.
    pub(super) fn take(&mut self, nodes: &[Node], of: usize, room: &mut Room) {
        if let State::Buckets(buckets) = self {
            return buckets.take(nodes, of, room);
        }
        let Node { kind, values, .. } = &nodes[of];
        let before = self.bytes();
        match self {
            State::Buckets(_) => {}
            State::Stats(stats) => values.iter().for_each(|value| stats.add(*kind, *value)),
            State::Cardinality(distinct) => values.iter().for_each(|value| distinct.add(*value)),
            State::Percentiles(digest) => {
                let numbers = values.iter().map(|value| number_of(*kind, *value));
                numbers.filter(|number| number.is_finite()).for_each(|n| digest.add(n));
            }
        }
        room.bytes = (room.bytes + self.bytes()).saturating_sub(before);
    }

    /// Returns the bytes that a summary allocates.
    fn bytes(&self) -> usize {
        match self {
            State::Buckets(_) => 0,
            State::Stats(stats) => stats.bytes(),
            State::Cardinality(distinct) => distinct.bytes(),
            State::Percentiles(digest) => digest.bytes(),
        }
    }
}

impl Buckets {
    fn take(&mut self, nodes: &[Node], of: usize, room: &mut Room) {
        let node = &nodes[of];
        if node.buckets.is_empty() && node.missing {
            let missing = self.missing.get_or_insert_with(|| {
                let new = Counted::new(nodes, of);
                room.add(&new);
                new
            });
            missing.take(nodes, of, room);
        }
        for bucket in &node.buckets {
            let before = self.bytes();
            let counted = match self.of.entry(*bucket) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => {
                    let new = Counted::new(nodes, of);
                    room.add(&new);
                    entry.insert(new)
                }
            };
            counted.take(nodes, of, room);
            room.bytes += self.bytes() - before;
        }
    }

    /// Returns the bytes of the table.
    fn bytes(&self) -> usize {
        room::table(self.of.capacity(), size_of::<(i64, Counted)>())
    }
}

impl Room {
    /// Adds a new bucket.
    fn add(&mut self, bucket: &Counted) {
        self.bytes += bucket.bytes();
        self.buckets += 1;
    }
}
