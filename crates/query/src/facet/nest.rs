//! Facets within facets: a tree of buckets, filled batch by batch.
//!
//! A [node](node::Node) is one facet of the question. It has the values of the documents of the batch,
//! some of a segment, and the buckets that they lie in. Documents of one bucket are brought
//! together before the facets within it take them, so that a table is looked at once for all of
//! them. A [state](state::State) is one table of the answer. There is one for
//! each bucket of the facet outside of it. Keywords are numbered when a segment first has them, so
//! that buckets of all segments have numbers alike.

mod bucket_sort;
mod finish;
mod lists;
mod node;
mod places;
mod state;

use spirit_index::column::Column;
use spirit_index::ground::{ValueKind, rank_of};
use spirit_index::snapshot::Segment;
use spirit_schema::Schema;

use super::keywords::keyword_places;
use super::marks::Marks;
use super::state::{Words, write_bytes};
use super::{Aggregate, BUCKETS_MAX, Facet, FacetError};
use crate::evaluate::window::{Ones, Window};
use crate::limits::{Meter, Stop};
use bucket_sort::{BucketSort, Lying};
use node::{Node, Rows};
use state::{Filling, Joining, Room, State};

/// A facet with all facets within it.
pub(super) struct Nest {
    /// The facets. The first is the outermost; others stand behind the one that they are within.
    nodes: Vec<Node>,
    root: State,
    room: Room,
    /// What the nodes' buckets are brought together in.
    lying: Vec<Vec<Lying>>,
    sort: BucketSort,
    /// The number of documents of the batch.
    documents: u32,
}

/// Documents of a window whose bits are set.
#[derive(Clone, Copy)]
pub(super) struct Found<'a, 'f> {
    pub(super) segment: &'f Segment<'a>,
    pub(super) window: Window,
    pub(super) bits: &'f [u64],
}

/// What documents are added with.
pub(super) struct Bounds<'b, 'm> {
    /// The matches of filters.
    pub(super) marks: &'b [Marks],
    /// The bytes that the tree may take.
    pub(super) bytes_max: usize,
    pub(super) meter: &'b mut Meter<'m>,
}

impl Nest {
    /// Returns an empty tree. Fails if a facet does not suit its field.
    /// `filters` counts the queries of filters so far.
    pub(super) fn new(
        facet: &Facet,
        schema: &Schema,
        filters: &mut usize,
    ) -> Result<Nest, FacetError> {
        let mut nodes = Vec::new();
        plant(facet, schema, filters, &mut nodes)?;
        let (root, lying) = (State::new(&nodes[0]), vec![Vec::new(); nodes.len()]);
        Ok(Nest {
            nodes,
            root,
            room: Room::default(),
            lying,
            sort: BucketSort::default(),
            documents: 0,
        })
    }

    /// True if it has too many buckets.
    pub(super) fn is_full(&self) -> bool {
        self.room.buckets > BUCKETS_MAX
    }

    /// Sets the bytes that the buckets may take so that all is within `bytes_max`.
    fn limit(&mut self, bytes_max: usize) {
        self.room.bytes_max = bytes_max.saturating_sub(self.bytes() - self.room.bytes);
    }

    /// Returns the bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        let of_lying: usize = self.lying.iter().map(Vec::capacity).sum();
        let of_nodes: usize = self.nodes.iter().map(Node::bytes).sum();
        self.room.bytes + of_nodes + of_lying * size_of::<Lying>() + self.sort.bytes()
    }

    /// Begins a segment, in which keywords have other places.
    pub(super) fn begin(&mut self, segment: &Segment<'_>, is_fresh: bool) {
        for node in &mut self.nodes {
            node.places.begin(keyword_places(segment, node.field, is_fresh));
        }
    }

    /// Adds the documents of a fresh segment's window whose bits are set. Stops at limits, like
    /// [`add_registered`](Self::add_registered).
    pub(super) fn add_fresh(&mut self, found: Found<'_, '_>, bounds: &mut Bounds<'_, '_>) {
        let segment = found.segment;
        self.add(found, bounds, |nodes, Rows { rank, bits, .. }| {
            for bit in Ones(bits) {
                let values = segment.values(rank_of(rank + bit as u32));
                for node in &mut *nodes {
                    let (field, kind) = (node.field, node.kind);
                    for value in values.clone().filter_map(|value| value.read_as(field, kind)) {
                        match kind {
                            ValueKind::Keyword => node.take_fresh_word(segment, value as u32),
                            _ => node.values.push(value),
                        }
                    }
                    node.end_document();
                }
            }
        });
    }

    /// Adds the documents of a registered segment's window whose bits are set. Stops when it takes
    /// more than its bytes, has too many buckets, or when the meter does. The last documents are
    /// counted when the segment ends.
    pub(super) fn add_registered(&mut self, found: Found<'_, '_>, bounds: &mut Bounds<'_, '_>) {
        let segment = found.segment;
        let column = |node: &Node| match node.kind {
            // Filters have no field.
            ValueKind::Text => None,
            kind => segment.column(node.field, kind),
        };
        let columns: Vec<Option<Column<'_>>> = self.nodes.iter().map(column).collect();
        self.add(found, bounds, |nodes, Rows { rank, bits, .. }| {
            for (node, column) in nodes.iter_mut().zip(&columns) {
                match column {
                    None => (0..bits.count_ones()).for_each(|_| node.end_document()),
                    Some(column) => column.each_row(rank, &[bits], |values| {
                        node.take_stored(segment, values);
                        node.end_document();
                    }),
                }
            }
        });
    }

    /// Adds documents, some at a time. `fill` gives the nodes the values of rows.
    fn add(
        &mut self,
        found: Found<'_, '_>,
        bounds: &mut Bounds<'_, '_>,
        fill: impl Fn(&mut [Node], Rows),
    ) {
        let Found { segment, window, bits } = found;
        for (number, bits) in bits.iter().enumerate().filter(|(_, bits)| **bits != 0) {
            let rank = window.rank(number * 64);
            let rows = Rows { segment: segment.id(), rank, bits: *bits };
            fill(&mut self.nodes, rows);
            self.nodes.iter_mut().for_each(|node| node.settle(bounds.marks, rows));
            self.documents += bits.count_ones();
            if self.nodes.iter().any(Node::is_full) {
                self.take_documents(bounds);
                if self.room.is_spent() || bounds.meter.has_stopped() {
                    return;
                }
            }
        }
    }

    /// Counts the documents of the batch, and forgets them.
    pub(super) fn take_documents(&mut self, bounds: &mut Bounds<'_, '_>) {
        self.limit(bounds.bytes_max);
        let Nest { nodes, root, room, lying, sort, documents } = self;
        let all: Vec<Lying> =
            (0..std::mem::take(documents)).map(|document| (0, document)).collect();
        if !all.is_empty() {
            root.take(&all, 0, &mut Filling { nodes, room, lying, sort, meter: bounds.meter });
            nodes.iter_mut().for_each(Node::clear);
        }
    }

    /// Writes what was gathered: the keywords of each facet, then the buckets.
    pub(super) fn write(&self, out: &mut Vec<u64>) {
        for node in self.nodes.iter().filter(|node| node.names_words()) {
            let names = node.words.names();
            out.push(names.len() as u64);
            names.into_iter().for_each(|name| write_bytes(name, out));
        }
        self.root.write(out);
    }

    /// Adds what was written. `None` if the words are of other facets.
    pub(super) fn join(&mut self, words: &mut Words<'_>) -> Option<()> {
        let Nest { nodes, root, room, .. } = self;
        let (mut numbers, mut word) = (Vec::with_capacity(nodes.len()), Vec::new());
        for node in nodes.iter_mut() {
            let mut of_node = Vec::new();
            if node.names_words() {
                for _ in 0..words.count()? {
                    words.bytes(&mut word)?;
                    of_node.push(node.words.number_of(&word));
                }
            }
            numbers.push(of_node);
        }
        root.join(words, &mut Joining { nodes, numbers: &numbers, room }, 0)
    }

    /// Returns the answer. Fails if empty buckets make it too large.
    pub(super) fn finish(self, bytes_max: usize) -> Result<Aggregate, Stop> {
        let Nest { nodes, root, mut room, .. } = self;
        room.bytes += nodes.iter().map(Node::bytes).sum::<usize>();
        room.bytes_max = bytes_max;
        let names: Vec<Vec<&[u8]>> = nodes.iter().map(|node| node.words.names()).collect();
        finish::Finish { nodes: &nodes, names: &names, room }.answer(root, 0)
    }
}

/// Adds the facet and those within it. Returns its place.
fn plant(
    facet: &Facet,
    schema: &Schema,
    filters: &mut usize,
    nodes: &mut Vec<Node>,
) -> Result<usize, FacetError> {
    let place = nodes.len();
    nodes.push(Node::new(facet, schema, filters)?);
    if let Facet::Refined(refined) = facet {
        for inner in &refined.within {
            let inner = plant(inner, schema, filters, nodes)?;
            nodes[place].within.push(inner);
        }
    }
    Ok(place)
}
