//! The columns of flushed segments, held to what their documents have.

use spirit::lab::FieldId;
use spirit::schema::Schema;
use spirit_index::ground::TERM_BYTES_MAX;
use spirit_index::ground::ValueKind;
use spirit_index::ground::rank_of;
use spirit_index::snapshot::Segment;
use spirit_oracle as oracle;

use crate::naive::values;

/// A value in a column: its field, its kind, and its bits, of keywords the bytes of their term.
type Had = (FieldId, ValueKind, Vec<u8>);

fn sorted(mut values: Vec<Had>) -> Vec<Had> {
    values.sort_by(|(field, _, a), (other, _, b)| (field, a).cmp(&(other, b)));
    values
}

/// The term at a place in the order of the segment's.
fn term_at(segment: &Segment<'_>, field: FieldId, place: u64) -> Vec<u8> {
    let mut bytes = [0; TERM_BYTES_MAX];
    let mut cursor = segment.terms_from(field, b"");
    cursor.go_to(place);
    let term = cursor.next_term(&mut bytes).unwrap();
    assert_eq!(term.field, field, "a keyword's term is its field's");
    bytes[..term.len].to_vec()
}

/// What the columns of a segment have of a row.
fn found(schema: &Schema, segment: &Segment<'_>, local: u32) -> Vec<Had> {
    let mut all = Vec::new();
    for stored in segment.columns() {
        let field = stored.field();
        let known = schema.get(field).map(|field| field.kind.value_kind());
        let kind = known.unwrap_or(ValueKind::Keyword);
        let column = segment.column(field, kind).expect("a column can be read as its field's kind");
        assert_eq!(column.kind(), kind);
        let of_row: Vec<u64> = column.of(rank_of(local)).collect();
        assert!(
            of_row.is_sorted() && of_row.iter().all(|v| (column.min()..=column.max()).contains(v))
        );
        all.extend(of_row.into_iter().map(|value| {
            let bytes = match kind {
                ValueKind::Keyword => term_at(segment, field, value),
                _ => kind.from_sortable(value).to_le_bytes().to_vec(),
            };
            (field, kind, bytes)
        }));
    }
    sorted(all)
}

/// What columns have of a document: of texts how long they are, and of equal numbers the same one.
fn expected(schema: &Schema, document: &oracle::Document) -> Vec<Had> {
    let as_columns_have_it = |(field, kind, bytes): Had| {
        let bytes = match kind {
            ValueKind::Keyword => bytes,
            _ => {
                let bits = u64::from_le_bytes(bytes.try_into().unwrap());
                kind.from_sortable(kind.sortable(bits)).to_le_bytes().to_vec()
            }
        };
        (field, kind, bytes)
    };
    let values = values(schema, document).into_iter();
    sorted(values.map(as_columns_have_it).collect())
}

/// Whether the columns of a segment that is flushed have what a document has.
pub(crate) fn check_row(
    schema: &Schema,
    segment: &Segment<'_>,
    local: u32,
    document: &oracle::Document,
) {
    assert_eq!(found(schema, segment, local), expected(schema, document), "{document:?}");
}
