//! Checks columns, whose shape is right. Values belong to documents and are between the least and
//! the highest of the column. Keywords match the document vectors.

use std::ops::Range;

use crate::check::rows::{Rows, Vectors, digest};
use crate::check::seen::Segment;
use crate::check::{Checked, Part};
use crate::column::{Column, Columns};
use crate::form::node::Nodes;
use crate::form::packed_terms;
use crate::ground::posting::{FREQUENCY_MAX, rank_of};
use crate::ground::section::Kind;
use crate::ground::term::FieldId;
use crate::ground::values::ValueKind;
use crate::terms::packed_terms::PackedTerms;
use crate::terms::term_order::TermOrder;

pub(super) fn check(part: &Part<'_>, segment: &Segment, vectors: &Vectors, checked: &mut Checked) {
    let section = segment.sections.get(Kind::Columns);
    if section.bytes == 0 {
        return;
    }
    let packed = packed_terms::of_sections(part.region, segment.id, &segment.sections);
    let terms = packed.map(Terms::Packed).unwrap_or_else(|| Terms::Listed {
        order: segment.term_order(part),
        nodes: Nodes::of(part.region, &segment.sections),
        vectors,
    });
    let look = Look { rows: Rows::of(part, segment), terms };
    // A writer may meanwhile reuse their place for another segment.
    let columns = Columns::at(part.region, section.start);
    if columns.rows() != look.rows.len() {
        return checked.note("columns", section.start, "their number of rows is not the segment's");
    }
    for column in columns.iter() {
        if let Err(why) = look.at(&column) {
            checked.note("column", section.start, why);
        }
        checked.columns.insert((column.field(), column.kind()), section.start);
    }
}

/// The data that columns are compared with.
struct Look<'a> {
    rows: Rows<'a>,
    terms: Terms<'a>,
}

/// The terms of keywords.
enum Terms<'a> {
    Listed { order: TermOrder<'a>, nodes: Nodes<'a>, vectors: &'a Vectors },
    Packed(PackedTerms<'a>),
}

impl Terms<'_> {
    /// Returns the places of a field's terms.
    fn of_field(&self, field: FieldId) -> Range<usize> {
        match self {
            Terms::Listed { order, .. } => order.of_field(field),
            Terms::Packed(terms) => terms.of_field(field),
        }
    }

    /// True if the documents of the term at `place` add up to `sum`, or there are no document
    /// vectors.
    fn agree(&self, place: usize, sum: u64) -> bool {
        let Terms::Listed { order, nodes, vectors } = self else { return true };
        let number = order.number(place) as usize;
        // The check of the order of terms reports a term without a node.
        number >= nodes.len() || vectors.agree(nodes.get(number).ordinal, sum)
    }
}

type Verdict = Result<(), &'static str>;

impl Look<'_> {
    fn at(&self, column: &Column<'_>) -> Verdict {
        if !column.is_tight() {
            return Err("its form or width is not the one that its values need");
        }
        if !column.ends_with_its_rows() {
            return Err("it has values for rows that do not exist");
        }
        let counted = self.rows_of(column)?;
        if counted != [column.rows_with(), column.values()] {
            return Err("its values or rows are not as many as its entry says");
        }
        match column.kind() {
            ValueKind::Keyword => self.terms(column),
            kind => ends(column, kind),
        }
    }

    /// Checks the order of the values and the rows that they belong to. Returns the numbers of rows
    /// and values.
    fn rows_of(&self, column: &Column<'_>) -> Result<[u64; 2], &'static str> {
        let (mut rows, mut values) = (0, 0);
        let mut before: Option<(u32, u64)> = None;
        for (rank, value) in column.iter() {
            let local = rank_of(rank);
            if local >= self.rows.len() || !self.rows.is_document(local) {
                return Err("one of its rows is not a document's");
            }
            if before > Some((rank, value)) {
                return Err("its rows, or the values of one, do not ascend");
            }
            if !(column.min()..=column.max()).contains(&value) {
                return Err("one of its values is below its least or above its highest");
            }
            rows += u64::from(before.is_none_or(|(other, _)| other != rank));
            values += 1;
            before = Some((rank, value));
        }
        Ok([rows, values])
    }

    /// Checks that the terms of a column of keywords are those of its field, in the documents that
    /// contain them.
    fn terms(&self, column: &Column<'_>) -> Verdict {
        let Range { start, end } = self.terms.of_field(column.field());
        if start == end || (column.min(), column.max()) != (start as u64, end as u64 - 1) {
            return Err("its least and highest values are not its field's first and last term");
        }
        let mut sums = vec![0u64; end - start];
        let mut values = column.iter().peekable();
        while let Some((rank, value)) = values.next() {
            let mut frequency = 1;
            while values.next_if_eq(&(rank, value)).is_some() {
                frequency += 1;
            }
            let sum = sums.get_mut((value as usize).wrapping_sub(start));
            let sum = sum.ok_or("one of its values is a term of another field")?;
            *sum = sum.wrapping_add(digest(rank_of(rank), FREQUENCY_MAX.min(frequency)));
        }
        if !(start..).zip(sums).all(|(place, sum)| self.terms.agree(place, sum)) {
            return Err("its keywords differ from the document vectors");
        }
        Ok(())
    }
}

/// Checks that the least and the highest value occur. For lengths, checks their sum and the
/// highest.
fn ends(column: &Column<'_>, kind: ValueKind) -> Verdict {
    let has = |wanted| column.iter().any(|(_, value)| value == wanted);
    if kind == ValueKind::Text {
        let tokens: u64 = column.iter().map(|(_, length)| length).sum();
        let is_right = tokens == column.statistics().tokens && has(column.max()) && !has(0);
        return if is_right { Ok(()) } else { Err("its lengths differ from its summary") };
    }
    if !has(column.min()) || !has(column.max()) {
        return Err("its least or highest value does not occur");
    }
    let is_boolean = kind == ValueKind::Boolean;
    if is_boolean && column.max() > 1 { Err("one of its values is not a boolean") } else { Ok(()) }
}
