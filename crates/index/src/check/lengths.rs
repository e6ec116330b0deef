//! The lengths that a term's documents are scored by: those of the text, or those of the term's
//! field of text.

use crate::check::Part;
use crate::check::seen::Segment;
use crate::column::Columns;
use crate::form::node::Nodes;
use crate::ground::section::Kind;
use crate::ground::term::FieldId;
use crate::ground::values::ValueKind;
use crate::rows::lengths::LengthArray;
use crate::terms::term_order::Beginning;

/// Stands for no array.
const NONE: u8 = u8::MAX;

/// The lengths of a segment's documents.
pub(super) struct Lengths<'a> {
    /// The lengths of the text, then those of each field of text that any document has, newest row
    /// first.
    arrays: Vec<LengthArray<'a>>,
    /// The field of each array.
    fields: Vec<FieldId>,
    /// The number of an array, by ordinal. Packed terms have no ordinals.
    of_terms: Vec<u8>,
}

impl<'a> Lengths<'a> {
    /// Returns the lengths of a segment, with `text` as the first array.
    pub(super) fn of(part: &Part<'a>, segment: &Segment, text: LengthArray<'a>) -> Lengths<'a> {
        let section = segment.sections.get(Kind::Columns);
        let columns = (section.bytes > 0).then(|| Columns::at(part.region, section.start));
        // Anyone who may be changing the index may give their place to another segment meanwhile.
        let columns = columns.filter(|columns| columns.rows() as usize == text.len());
        let (mut arrays, mut fields) = (vec![text], vec![FieldId::TEXT]);
        if let Some(columns) = columns {
            let lengths = columns.iter().filter(|column| column.kind() == ValueKind::Text);
            for field in lengths.map(|column| column.field()) {
                fields.push(field);
                arrays.push(columns.lengths_of(field));
            }
        }
        let of_terms = vec![NONE; segment.entry.terms as usize];
        let mut lengths = Lengths { arrays, fields, of_terms };
        let (order, nodes) = (segment.term_order(part), Nodes::of(part.region, &segment.sections));
        for index in 0..order.len() {
            let (field, node) =
                (Beginning::of(order.prefix(index)).field, order.number(index) as usize);
            let ordinal = (node < nodes.len()).then(|| nodes.get(node).ordinal as usize);
            let number = lengths.of_field(field).map_or(NONE, |number| number as u8);
            if let Some(place) = ordinal.and_then(|ordinal| lengths.of_terms.get_mut(ordinal)) {
                *place = number;
            }
        }
        lengths
    }

    /// Returns the arrays, that of the text first.
    pub(super) fn arrays(&self) -> &[LengthArray<'a>] {
        &self.arrays
    }

    /// Returns the number of the array with a field's lengths, or `None` if its lengths do not
    /// matter.
    pub(super) fn of_field(&self, field: FieldId) -> Option<usize> {
        self.fields.iter().position(|known| *known == field)
    }

    /// Like [`of_field`](Self::of_field), but of a term's field.
    pub(super) fn number_of(&self, ordinal: u32) -> Option<usize> {
        let number = *self.of_terms.get(ordinal as usize)?;
        (number != NONE).then_some(number as usize)
    }

    /// Returns the lengths in an array, or ones if lengths do not matter.
    pub(super) fn array(&self, number: Option<usize>) -> LengthArray<'a> {
        let ones = || LengthArray::ones(self.arrays[0].len() as u32);
        number.map_or_else(ones, |number| self.arrays[number])
    }
}
