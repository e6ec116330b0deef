//! The tables of an answer: buckets with tables of their own, and summaries.

use std::collections::hash_map::Entry;

use foldhash::HashMap;

use super::super::digest::Digest;
use super::super::distinct::Distinct;
use super::super::gather::Stats;
use super::super::state::Words;
use super::super::{BUCKETS_MAX, number_of, room};
use super::bucket_sort::{BucketSort, Lying};
use super::node::{Node, Rule};
use crate::limits::Meter;

/// Documents that a bucket counts, for one step of a query's meter.
const VISITS_A_STEP: usize = 128;

/// The room that a tree's tables take.
#[derive(Default)]
pub(super) struct Room {
    pub(super) bytes: usize,
    /// The bytes that they may take.
    pub(super) bytes_max: usize,
    /// The buckets of all tables.
    pub(super) buckets: usize,
}

/// What tables are filled with.
pub(super) struct Filling<'f, 'm> {
    /// The facets, with the values of the documents of the batch.
    pub(super) nodes: &'f [Node],
    pub(super) room: &'f mut Room,
    /// For each facet, a list that is empty unless the facet is being filled.
    pub(super) lying: &'f mut [Vec<Lying>],
    pub(super) sort: &'f mut BucketSort,
    pub(super) meter: &'f mut Meter<'m>,
}

impl Filling<'_, '_> {
    /// Charges the steps of documents that a bucket counts. Returns true if a limit is passed.
    fn is_spent(&mut self, documents: usize) -> bool {
        !self.meter.steps(documents.div_ceil(VISITS_A_STEP)) || self.room.is_spent()
    }
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

/// What written tables are joined with.
pub(super) struct Joining<'j> {
    pub(super) nodes: &'j [Node],
    /// For each node, the numbers that keywords have here, by the number that was written.
    pub(super) numbers: &'j [Vec<u64>],
    pub(super) room: &'j mut Room,
}

impl Joining<'_> {
    /// Returns the bucket that was written as this one.
    fn bucket(&self, of: usize, written: u64) -> Option<i64> {
        match self.nodes[of].names_words() {
            true => self.numbers[of].get(written as usize).map(|number| number.cast_signed()),
            false => Some(written.cast_signed()),
        }
    }
}

impl Counted {
    fn write(&self, out: &mut Vec<u64>) {
        out.push(self.documents);
        self.within.iter().for_each(|state| state.write(out));
    }

    fn join(&mut self, words: &mut Words<'_>, with: &mut Joining<'_>, of: usize) -> Option<()> {
        self.documents += words.next()?;
        let nodes = with.nodes;
        let mut states = self.within.iter_mut().zip(&nodes[of].within);
        states.try_for_each(|(state, place)| state.join(words, with, *place))
    }

    /// Returns an empty bucket of a facet.
    pub(super) fn new(nodes: &[Node], of: usize) -> Counted {
        let within = nodes[of].within.iter().map(|place| State::new(&nodes[*place])).collect();
        Counted { documents: 0, within }
    }

    /// Counts documents, each once.
    fn take(&mut self, documents: &[Lying], of: usize, with: &mut Filling<'_, '_>) {
        self.documents += documents.len() as u64;
        let nodes = with.nodes;
        for (state, place) in self.within.iter_mut().zip(&nodes[of].within) {
            state.take(documents, *place, with);
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
    pub(super) fn write(&self, out: &mut Vec<u64>) {
        match self {
            State::Buckets(buckets) => buckets.write(out),
            State::Stats(stats) => stats.write(out),
            State::Cardinality(distinct) => distinct.write(out),
            State::Percentiles(digest) => digest.write(out),
        }
    }

    /// Adds what was written of the node at `of`.
    pub(super) fn join(
        &mut self,
        words: &mut Words<'_>,
        with: &mut Joining<'_>,
        of: usize,
    ) -> Option<()> {
        let before = self.bytes();
        match self {
            State::Buckets(buckets) => return buckets.join(words, with, of),
            State::Stats(stats) => stats.join(words)?,
            State::Cardinality(distinct) => distinct.join(words)?,
            State::Percentiles(digest) => digest.join(words)?,
        }
        with.room.bytes = (with.room.bytes + self.bytes()).saturating_sub(before);
        Some(())
    }

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

    /// Adds the values of documents of the batch, for the facet at `of`.
    pub(super) fn take(&mut self, documents: &[Lying], of: usize, with: &mut Filling<'_, '_>) {
        if let State::Buckets(buckets) = self {
            return buckets.take(documents, of, with);
        }
        let Node { kind, values, .. } = &with.nodes[of];
        let values = documents.iter().flat_map(|(_, document)| values.of(*document)).copied();
        let before = self.bytes();
        match self {
            State::Buckets(_) => {}
            State::Stats(stats) => values.for_each(|value| stats.add(*kind, value)),
            State::Cardinality(distinct) => values.for_each(|value| distinct.add(value)),
            State::Percentiles(digest) => {
                let numbers = values.map(|value| number_of(*kind, value));
                numbers.filter(|number| number.is_finite()).for_each(|n| digest.add(n));
            }
        }
        with.room.bytes = (with.room.bytes + self.bytes()).saturating_sub(before);
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
    fn write(&self, out: &mut Vec<u64>) {
        out.push(self.of.len() as u64);
        for (bucket, counted) in &self.of {
            out.push(bucket.cast_unsigned());
            counted.write(out);
        }
        out.push(u64::from(self.missing.is_some()));
        self.missing.iter().for_each(|missing| missing.write(out));
    }

    fn join(&mut self, words: &mut Words<'_>, with: &mut Joining<'_>, of: usize) -> Option<()> {
        let nodes = with.nodes;
        let count = words.count()?;
        if self.of.is_empty() {
            self.of.reserve(count);
            with.room.bytes += self.bytes();
        }
        for _ in 0..count {
            let bucket = with.bucket(of, words.next()?)?;
            let before = self.bytes();
            let counted = self.of.entry(bucket).or_insert_with(|| {
                let new = Counted::new(nodes, of);
                with.room.add(&new);
                new
            });
            counted.join(words, with, of)?;
            with.room.bytes += self.bytes() - before;
        }
        if words.next()? == 0 {
            return Some(());
        }
        let missing = self.missing.get_or_insert_with(|| {
            let new = Counted::new(nodes, of);
            with.room.add(&new);
            new
        });
        missing.join(words, with, of)
    }

    fn take(&mut self, documents: &[Lying], of: usize, with: &mut Filling<'_, '_>) {
        let nodes = with.nodes;
        let mut lying = std::mem::take(&mut with.lying[of]);
        for (_, document) in documents {
            let buckets = nodes[of].buckets.of(*document);
            lying.extend(buckets.iter().map(|bucket| (*bucket, *document)));
        }
        with.sort.group(&mut lying);
        for same in lying.chunk_by(|(one, _), (other, _)| one == other) {
            // A document with many values is in many buckets of each of them.
            if with.is_spent(same.len()) {
                break;
            }
            let before = self.bytes();
            let counted = match self.of.entry(same[0].0) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => {
                    let new = Counted::new(nodes, of);
                    with.room.add(&new);
                    entry.insert(new)
                }
            };
            counted.take(same, of, with);
            with.room.bytes += self.bytes() - before;
        }
        lying.clear();
        if nodes[of].missing {
            let is_missing = |(_, document): &&Lying| nodes[of].buckets.of(*document).is_empty();
            lying.extend(documents.iter().filter(is_missing));
            self.take_missing(&lying, of, with);
            lying.clear();
        }
        with.lying[of] = lying;
    }

    fn take_missing(&mut self, documents: &[Lying], of: usize, with: &mut Filling<'_, '_>) {
        if documents.is_empty() || with.is_spent(documents.len()) {
            return;
        }
        let missing = self.missing.get_or_insert_with(|| {
            let new = Counted::new(with.nodes, of);
            with.room.add(&new);
            new
        });
        missing.take(documents, of, with);
    }

    /// Returns the bytes of the table.
    fn bytes(&self) -> usize {
        room::table(self.of.capacity(), size_of::<(i64, Counted)>())
    }
}

impl Room {
    /// True if the limit of buckets or that of bytes is passed.
    pub(super) fn is_spent(&self) -> bool {
        self.buckets > BUCKETS_MAX || self.bytes > self.bytes_max
    }

    /// Adds a new bucket.
    fn add(&mut self, bucket: &Counted) {
        self.bytes += bucket.bytes();
        self.buckets += 1;
    }
}
