//! The lengths of fields of text, what a snapshot counts of them and the block maxima of their terms, held to the documents that are
//! stored: every row's, the dead among them.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use spirit::lab::FieldId;
use spirit::schema::Schema;
use spirit::{FieldKind, Index};
use spirit_index::form::TextScratch;
use spirit_index::ground::{TERM_BYTES_MAX, Term};
use spirit_index::ground::{frequency, local};
use spirit_index::lists::{BLOCK_POSTINGS, Maxima};
use spirit_index::memory::Memory;
use spirit_index::rows::KeyKind;
use spirit_index::rows::{LENGTH_MAX, Statistics};
use spirit_index::snapshot::{Segment, Snapshot};
use spirit_schema::{FieldValue, encoded};
use spirit_text::{Analyzer, Tokenizer};

use super::pinned;

/// Looks at all segments of an index that keeps its documents; says how many lengths there are, and how many blocks with maxima.
pub(crate) fn check_field_lengths(index: &Index) -> [u64; 2] {
    assert!(index.settings().store, "documents are what lengths are held to");
    let schema = index.schema();
    let counts = index.memories().map(|memory| check_memory(memory, &schema));
    counts.fold([0, 0], |[lengths, blocks], [l, b]| [lengths + l, blocks + b])
}

fn check_memory(memory: &Memory, schema: &Schema) -> [u64; 2] {
    pinned(memory, |snapshot| check_snapshot(snapshot, schema))
}

fn check_snapshot(snapshot: &Snapshot<'_>, schema: &Schema) -> [u64; 2] {
    let mut sums: BTreeMap<FieldId, Statistics> = BTreeMap::new();
    for segment in snapshot.segments() {
        check_segment(&segment, schema, &mut sums);
    }
    let fields = schema.fields().iter().filter(|field| field.kind.is_text() && field.id.0 > 0);
    let mut blocks = 0;
    for field in fields {
        let expected = sums.get(&field.id).copied().unwrap_or_default();
        assert_eq!(snapshot.field_statistics(field.id), expected, "field {:?}", field.name);
        let registered = snapshot.registered();
        blocks += registered.map(|segment| check_maxima(&segment, field.id)).sum::<u64>();
    }
    [sums.values().map(|sum| sum.documents).sum(), blocks]
}

/// Compares the lengths of a segment's rows with their documents, and adds these to `sums`.
fn check_segment(segment: &Segment<'_>, schema: &Schema, sums: &mut BTreeMap<FieldId, Statistics>) {
    let (mut scratch, mut stored) = (TextScratch::default(), Vec::new());
    let mut of_fields = BTreeMap::new();
    for local in 0..segment.rows() {
        let row = segment.row_table().row(local);
        stored.clear();
        segment.write_text(local, &mut scratch, &mut stored).unwrap();
        let lived = row.key().kind() == KeyKind::None || row.has_lived(local);
        let expected = if lived { lengths_of(schema, &stored) } else { BTreeMap::new() };
        for (field, length) in expected {
            let place = format!("row {local} of {:?}", segment.id());
            assert_eq!(segment.length_of(field, local), length, "{field:?} in {place}");
            // One view for all rows, from chunk to chunk.
            let lengths = of_fields.entry(field).or_insert_with(|| segment.field_lengths(field));
            assert_eq!(lengths.get(local), length, "{field:?} in {place}");
            *sums.entry(field).or_default() += Statistics::of(length);
        }
    }
}

/// How many terms a stored document has of each field of text.
pub(crate) fn lengths_of(schema: &Schema, stored: &[u8]) -> BTreeMap<FieldId, u32> {
    let mut lengths = BTreeMap::new();
    for (field, value) in encoded::values(encoded::split(stored).1) {
        let (FieldValue::Text(text), Some(FieldKind::Text(analyzer))) =
            (value, schema.get(field).map(|field| field.kind))
        else {
            continue;
        };
        let length = terms_in(field, analyzer, text);
        if length > 0 {
            *lengths.entry(field).or_default() += length;
        }
    }
    lengths.values_mut().for_each(|length: &mut u32| *length = (*length).min(LENGTH_MAX.into()));
    lengths
}

fn terms_in(field: FieldId, analyzer: Analyzer, text: &str) -> u32 {
    let mut count = 0;
    let is_term = |bytes: &[u8]| Term::new(field, bytes).is_some();
    Tokenizer::new(analyzer, 1 << 20)
        .for_each(text, |token| count += u32::from(is_term(token.bytes())))
        .unwrap();
    count
}

/// Compares the block maxima of a field's terms with their postings; says how many blocks there are.
fn check_maxima(segment: &Segment<'_>, field: FieldId) -> u64 {
    let (mut bytes, mut blocks) = ([0; TERM_BYTES_MAX], 0);
    let (region, flushed) = (segment.memory().region(), segment.flushed());
    let mut terms = segment.terms_from(field, b"");
    while let Some(term) = terms.next_term(&mut bytes).filter(|term| term.field == field) {
        let Some(maxima) = flushed.maxima(term.entry) else { continue };
        let list = region.view(flushed.list(term.entry));
        let words = region.view(maxima);
        assert_eq!(words.len(), list.len().div_ceil(BLOCK_POSTINGS as usize));
        for (block, word) in list.chunks(BLOCK_POSTINGS as usize).zip(words) {
            assert_eq!(Maxima::from_word(word.load(Relaxed)), naive_maxima(segment, field, block));
            blocks += 1;
        }
    }
    blocks
}

fn naive_maxima(segment: &Segment<'_>, field: FieldId, block: &[AtomicU32]) -> Maxima {
    Maxima::of(block.iter().map(|word| {
        let word = word.load(Relaxed);
        (frequency(word) as u8, segment.length_of(field, local(word)) as u16)
    }))
}
