//! The inversion of a segment's document vectors: each term's positions in its documents, newest
//! document first.
//!
//! It makes two passes over the vectors, some rows at a time. The first counts each term's
//! positions. The second puts each position in its place. Inversion takes four bytes a token and a
//! term, beyond the cap, while the segment's lists are packed.

use crate::ground::posting::{FREQUENCY_MAX, frequency, local};
use crate::lists::packed::writer::PositionsOf;
use crate::rows::vector::Entry;
use crate::rows::{KeyKind, RowWords};
use crate::snapshot::Segment;

/// Number of rows of one step.
const ROWS: u32 = 4096;

/// The positions of a segment's terms, complete or being gathered.
#[derive(Debug)]
pub(crate) struct Inversion {
    /// By ordinal: the number of positions in the first pass. In the second: the place of the next
    /// position, and at its end the end of the positions.
    ends: Vec<u32>,
    positions: Vec<u32>,
    /// Number of rows that this pass has done. The next field is true in the second pass.
    done: u32,
    is_counted: bool,
}

impl Inversion {
    /// Makes the inversion of a segment of this many terms.
    pub(crate) fn new(terms: u32) -> Inversion {
        let ends = vec![0; terms as usize];
        Inversion { ends, positions: Vec::new(), done: 0, is_counted: false }
    }

    /// Reads some rows. Returns true if all positions are in place.
    pub(crate) fn advance(&mut self, segment: &Segment<'_>) -> bool {
        let rows = segment.rows();
        let end = rows.min(self.done + ROWS);
        for row in self.done..end {
            // Lists begin with the newest document.
            self.row(segment, rows - 1 - row);
        }
        self.done = end;
        if end == rows && !self.is_counted {
            self.make_room();
            (self.done, self.is_counted) = (0, true);
            return rows == 0;
        }
        end == rows
    }

    fn row(&mut self, segment: &Segment<'_>, local: u32) {
        let row = segment.vector_row(local);
        let mut position = 0;
        for entry in entries(segment, row) {
            if let Entry::Term(ordinal) = entry {
                let end = &mut self.ends[ordinal as usize];
                if self.is_counted {
                    self.positions[*end as usize] = position;
                }
                *end += 1;
            }
            position += entry.positions();
        }
    }

    fn make_room(&mut self) {
        let mut next = 0;
        for end in &mut self.ends {
            let count = std::mem::replace(end, next);
            next += count;
        }
        self.positions = vec![0; next as usize];
    }

    /// Returns the positions of a term.
    pub(crate) fn of<'i>(&'i self, segment: &'i Segment<'i>, ordinal: u32) -> TermPositions<'i> {
        let ordinal = ordinal as usize;
        let first = ordinal.checked_sub(1).map_or(0, |before| self.ends[before]);
        let positions = &self.positions[first as usize..self.ends[ordinal] as usize];
        TermPositions { segment, ordinal: ordinal as u32, positions, unknown: Vec::new() }
    }
}

fn entries<'a>(segment: &Segment<'a>, row: RowWords<'a>) -> impl Iterator<Item = Entry> + use<'a> {
    let is_document = row.key().kind() != KeyKind::None;
    segment.vectors().entries(row.vector(), if is_document { row.tokens() } else { 0 })
}

/// The positions of a term, posting by posting.
pub(crate) struct TermPositions<'i> {
    segment: &'i Segment<'i>,
    ordinal: u32,
    /// The positions of the postings that are left.
    positions: &'i [u32],
    /// The positions of a posting without a document. They are arbitrary, since no reader asks for
    /// them.
    unknown: Vec<u32>,
}

impl PositionsOf for TermPositions<'_> {
    fn next(&mut self, posting: u32) -> &[u32] {
        let row = self.segment.vector_row(local(posting));
        let count = match frequency(posting) {
            _ if row.key().kind() == KeyKind::None => {
                self.unknown = (0..frequency(posting)).collect();
                return &self.unknown;
            }
            FREQUENCY_MAX => {
                let ours = |entry: &Entry| *entry == Entry::Term(self.ordinal);
                entries(self.segment, row).filter(ours).count()
            }
            count => count as usize,
        };
        let (these, left) = self.positions.split_at(count);
        self.positions = left;
        these
    }
}
