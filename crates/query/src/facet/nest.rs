//! Facets within facets: a tree of buckets, filled document by document.
//!
//! A [node](node::Node) is one facet of the question. It has the current document's values, and the
//! buckets that they lie in. A [state](state::State) is one table of the answer. There is one for
//! each bucket of the facet outside of it. Keywords are numbered when a segment first has them, so
//! that buckets of all segments have numbers alike.

mod finish;
mod node;
mod state;

use spirit_index::column::Column;
use spirit_index::ground::{ValueKind, rank_of};
use spirit_index::snapshot::Segment;
use spirit_schema::Schema;

use super::marks::Marks;
use super::state::{Words, write_bytes};
use super::{Aggregate, BUCKETS_MAX, Facet, FacetError};
use crate::evaluate::window::{Window, ones};
use crate::limits::{Meter, Stop};
use node::Node;
use state::{Joining, Room, State};

/// Buckets that count a document, for one step of a query's meter.
const VISITS_A_STEP: usize = 128;

/// A facet with all facets within it.
pub(super) struct Nest {
    /// The facets. The first is the outermost; others stand behind the one that they are within.
    nodes: Vec<Node>,
    root: State,
    room: Room,
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
        let root = State::new(&nodes[0]);
        Ok(Nest { nodes, root, room: Room::default() })
    }

    /// True if it has too many buckets.
    pub(super) fn is_full(&self) -> bool {
        self.room.buckets > BUCKETS_MAX
    }

    /// Charges the steps that documents took.
    pub(super) fn charge(&mut self, meter: &mut Meter<'_>) {
        meter.steps(self.room.visits / VISITS_A_STEP);
        self.room.visits %= VISITS_A_STEP;
    }

    /// Sets the bytes that the buckets may take so that all is within `bytes_max`.
    fn limit(&mut self, bytes_max: usize) {
        let of_nodes = self.nodes.iter().map(Node::bytes).sum();
        self.room.bytes_max = bytes_max.saturating_sub(of_nodes);
    }

    /// Returns the bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.room.bytes + self.nodes.iter().map(Node::bytes).sum::<usize>()
    }

    /// Begins a segment, in which keywords have other numbers.
    pub(super) fn begin(&mut self) {
        self.nodes.iter_mut().for_each(|node| node.words.forget());
    }

    /// Adds a document of a fresh segment. Stops when it takes more than `bytes_max`.
    pub(super) fn add_fresh(
        &mut self,
        segment: &Segment<'_>,
        rank: u32,
        marks: &[Marks],
        bytes_max: usize,
    ) {
        let values = segment.values(rank_of(rank));
        for node in &mut self.nodes {
            let (field, kind) = (node.field, node.kind);
            for value in values.clone().filter_map(|value| value.read_as(field, kind)) {
                match kind {
                    ValueKind::Keyword => node.take_fresh_word(segment, value as u32),
                    _ => node.values.push(value),
                }
            }
            node.settle(marks, segment.id(), rank_of(rank));
        }
        self.limit(bytes_max);
        self.take_document();
    }

    /// Adds the documents of a registered segment's window whose bits are set. Stops when it takes
    /// more than `bytes_max`, has too many buckets, or when the meter does.
    pub(super) fn add_registered(
        &mut self,
        (segment, window, bits): (&Segment<'_>, Window, &[u64]),
        marks: &[Marks],
        bytes_max: usize,
        meter: &mut Meter<'_>,
    ) {
        let column = |node: &Node| match node.kind {
            // Filters have no field.
            ValueKind::Text => None,
            kind => segment.column(node.field, kind),
        };
        let columns: Vec<Option<Column<'_>>> = self.nodes.iter().map(column).collect();
        for bit in ones(bits) {
            let rank = window.rank(bit);
            for (node, column) in self.nodes.iter_mut().zip(&columns) {
                match (column, node.kind) {
                    (None, _) => {}
                    (Some(column), ValueKind::Keyword) => {
                        column.of(rank).for_each(|place| node.take_word(segment, place));
                    }
                    (Some(column), _) => node.values.extend(column.of(rank)),
                }
                node.settle(marks, segment.id(), rank_of(rank));
            }
            self.limit(bytes_max);
            self.take_document();
            self.charge(meter);
            if self.room.is_spent() || meter.has_stopped() {
                return;
            }
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
        let Nest { nodes, root, room } = self;
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

    /// Counts the document whose values the nodes have.
    fn take_document(&mut self) {
        let Nest { nodes, root, room } = self;
        root.take(nodes, 0, room);
        nodes.iter_mut().for_each(Node::clear);
    }

    /// Returns the answer. Fails if empty buckets make it too large.
    pub(super) fn finish(self, bytes_max: usize) -> Result<Aggregate, Stop> {
        let Nest { nodes, root, mut room } = self;
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
