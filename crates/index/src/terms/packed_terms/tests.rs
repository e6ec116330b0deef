//! Packed terms are held to a sorted map, and to what is left of them when a bit is wrong.

use std::collections::BTreeMap;

use proptest::prelude::*;
use spirit_mem::Residency;

use crate::terms::entries::{ALONE, PACKED};
use crate::terms::packed_terms::writer::PackedTermsWriter;
use crate::terms::packed_terms::*;

const SEGMENT: SegmentId = SegmentId(6);
/// Where they lie in their region.
const AT: u64 = 64;

type Terms = BTreeMap<(FieldId, Vec<u8>), Entry>;

/// Terms of few letters, so that they have much in common; some are long.
fn terms() -> impl Strategy<Value = Terms> {
    let short = prop::collection::vec(0u8..4, 1..9);
    let long = (prop::collection::vec(0u8..3, 1..4), 8usize..80)
        .prop_map(|(bytes, times)| bytes.repeat(times))
        .prop_map(|mut bytes| {
            bytes.truncate(TERM_BYTES_MAX);
            bytes
        });
    let bytes = prop_oneof![9 => short, 1 => long];
    let key = (
        prop_oneof![
            3 => Just(0u16),
            1 => 0u16..3,
            1 => prop::sample::select(vec![239, 240, FieldId::MAX.0]),
        ]
        .prop_map(FieldId),
        bytes,
    );
    prop::collection::btree_map(key, (0u32..3, 0u32..1 << 20).prop_map(entry), 0..300)
}

fn entry((kind, number): (u32, u32)) -> Entry {
    let posting = crate::ground::posting::posting(number);
    let (postings, payload, alone) = match kind {
        0 => (1, posting, ALONE | (number % 700)),
        1 => (1, posting + 2, ALONE | number),
        _ => (2 + number % 300, PACKED | number, 0),
    };
    Entry { segment: SEGMENT, postings, payload, total: 0, alone }
}

fn written(terms: &Terms) -> Vec<u8> {
    let (mut writer, mut out) = (PackedTermsWriter::default(), vec![0; 8]);
    for ((field, bytes), entry) in terms {
        writer.add(*field, bytes, *entry, &mut out);
    }
    let head = writer.finish(&mut out);
    out[..8].copy_from_slice(&head.to_le_bytes());
    let bytes = terms.keys().map(|(_, bytes)| bytes.len() as u64).sum();
    assert!(out.len() as u64 <= PackedTermsWriter::bytes_max(terms.len() as u64, bytes));
    out
}

fn region(bytes: &[u8]) -> Region {
    let region = Region::reserve(AT + bytes.len() as u64, Residency::OnTouch).unwrap();
    let place = region.view(Span::<AtomicU8>::new(AT, bytes.len() as u64));
    place.iter().zip(bytes).for_each(|(to, byte)| to.store(*byte, Relaxed));
    region
}

proptest! {
    /// They answer as a sorted map does.
    #[test]
    fn terms_are_found_where_they_are(
        terms in terms(),
        others in prop::collection::vec((0u16..3, prop::collection::vec(0u8..4, 0..9)), 0..40),
        word: prop::sample::Index,
    ) {
        let bytes = written(&terms);
        let region = region(&bytes);
        let packed = PackedTerms::at(&region, AT, SEGMENT).unwrap();
        prop_assert_eq!((packed.len(), packed.bytes()), (terms.len(), bytes.len() as u64));
        prop_assert!(packed.are_sound());

        let others = others.into_iter().map(|(field, bytes)| (FieldId(field), bytes));
        for key in terms.keys().cloned().chain(others) {
            let place = terms.range(..key.clone()).count();
            prop_assert_eq!(packed.find(key.0, &key.1), terms.get(&key).copied());
            prop_assert_eq!(packed.lower_bound(key.0, &key.1), place);
        }
        for field in [0, 1, 2, 254, 255].map(FieldId) {
            let before = terms.keys().filter(|(other, _)| *other < field).count();
            let of_field = terms.keys().filter(|(other, _)| *other == field).count();
            prop_assert_eq!(packed.of_field(field), before..before + of_field);
        }

        let all: Vec<_> = terms.iter().collect();
        let from = word.index(terms.len() + 1);
        let mut cursor = packed.cursor(from);
        for (place, ((field, bytes), entry)) in all.iter().enumerate().skip(from) {
            prop_assert_eq!(cursor.place(), place);
            prop_assert_eq!(cursor.term(), Some((*field, &bytes[..], **entry)));
            cursor.advance();
        }
        prop_assert_eq!((cursor.place(), cursor.term()), (terms.len(), None));
    }

    /// Terms with the same first bytes are passed as one.
    #[test]
    fn prefixes_are_passed(terms in terms(), from: prop::sample::Index, bytes in 0u32..8) {
        let region = region(&written(&terms));
        let packed = PackedTerms::at(&region, AT, SEGMENT).unwrap();
        let all: Vec<u64> = terms.keys().map(|(field, bytes)| prefix(*field, bytes)).collect();
        prop_assume!(!all.is_empty());
        let from = from.index(all.len());
        let last = all[from] | u64::MAX.checked_shr(8 * (1 + bytes)).unwrap_or(0);
        let mut cursor = packed.cursor(from);
        cursor.pass(last);
        let expected = from + all[from..].iter().take_while(|word| **word <= last).count();
        prop_assert_eq!(cursor.place(), expected);
    }
}

/// Whatever bit is wrong: no term is found with another list than its own, none that was not there, and the check sees it.
#[test]
fn no_wrong_bit_leads_astray() {
    let of = |i: u32| {
        ((FieldId((i / 40) as u16), format!("t{}", i * i % 97).into_bytes()), entry((i % 3, i)))
    };
    let terms: Terms = (0..70).map(of).collect();
    let bytes = written(&terms);
    let region = region(&bytes);
    let place = region.view(Span::<AtomicU8>::new(AT, bytes.len() as u64));
    for bit in 0..bytes.len() * 8 {
        place[bit / 8].fetch_xor(1 << (bit % 8), Relaxed);
        let Some(packed) = PackedTerms::at(&region, AT, SEGMENT) else {
            place[bit / 8].fetch_xor(1 << (bit % 8), Relaxed);
            continue;
        };
        let is_whole = packed.bytes() == bytes.len() as u64 && packed.len() == terms.len();
        assert!(!is_whole || !packed.are_sound(), "bit {bit}");
        for (key, entry) in &terms {
            let found = packed.find(key.0, &key.1);
            assert!(found.is_none_or(|found| found == *entry), "bit {bit}, {key:?}");
        }
        assert!(packed.find(FieldId(0), b"other").is_none(), "bit {bit}");
        let mut cursor = packed.cursor(0);
        while let Some((field, bytes, entry)) = cursor.term() {
            assert_eq!(terms.get(&(field, bytes.to_vec())), Some(&entry), "bit {bit}");
            cursor.advance();
        }
        place[bit / 8].fetch_xor(1 << (bit % 8), Relaxed);
    }
}

#[test]
fn a_segment_without_terms_has_none() {
    let region = region(&written(&Terms::new()));
    let packed = PackedTerms::at(&region, AT, SEGMENT).unwrap();
    assert_eq!((packed.len(), packed.bytes()), (0, 8));
    assert!(packed.are_sound() && packed.find(FieldId(0), b"a").is_none());
    assert_eq!(packed.lower_bound(FieldId(3), b"a"), 0);
}
