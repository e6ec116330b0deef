//! Which terms segments have, in order, and in how many documents they are, beside what the documents' texts say: in every state of
//! a segment and for any snapshot, while documents come and go.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use spirit::lab::Level;
use spirit::lab::{DictionaryTier, Postings};
use spirit::{Builder, Index, OnFull};
use spirit_index::form::TextScratch;
use spirit_index::ground::local;
use spirit_index::ground::{FieldId, TERM_BYTES_MAX, Term};
use spirit_index::lists::{PACKED_BLOCK, PackedList};
use spirit_index::memory::Memory;
use spirit_index::snapshot::{OrderedTerm, Segment, Snapshot};

use crate::support::directory::Directory;
use crate::support::stream::{step, terms_of, text};
use crate::support::{Chance, join, size_of_run, tiny};

const TEXT: FieldId = FieldId(0);

/// The rows that have each term, newest first.
type Rows = BTreeMap<Vec<u8>, Vec<u32>>;

/// What the texts of a segment's rows say.
fn naive(segment: &Segment<'_>, scratch: &mut TextScratch) -> Rows {
    let mut rows = Rows::new();
    for local in (0..segment.rows()).rev() {
        let mut text = Vec::new();
        segment.write_text(local, scratch, &mut text).unwrap();
        let mut terms: Vec<_> = terms_of(&text).map(<[u8]>::to_vec).collect();
        terms.sort_unstable();
        terms.dedup();
        terms.into_iter().for_each(|term| rows.entry(term).or_default().push(local));
    }
    rows
}

/// The rows of a packed list.
fn unpacked(memory: &Memory, list: PackedList) -> Vec<u32> {
    let (mut rows, mut block) = (Vec::new(), [0; PACKED_BLOCK]);
    for number in 0..list.blocks() {
        let count = list.unpack(memory.region(), Level::detect(), number, &mut block).count;
        rows.extend(block[..count].iter().map(|word| local(*word)));
    }
    rows
}

/// The terms of a registered segment from `from` on, with the rows in their lists.
fn ordered(memory: &Memory, segment: &Segment<'_>, from: &[u8]) -> Vec<(Vec<u8>, Vec<u32>)> {
    let (mut terms, mut out) = (segment.terms_from(TEXT, from), [0; TERM_BYTES_MAX]);
    let next = || {
        let OrderedTerm { field, len, entry, .. } = terms.next_term(&mut out)?;
        assert_eq!((field, entry.segment), (TEXT, segment.id()));
        let rows = match (entry.postings, segment.packed(entry)) {
            (1, _) => vec![local(entry.payload)],
            (_, Some(packed)) => unpacked(memory, packed),
            _ => {
                let list = memory.region().view(segment.flushed().list(entry));
                list.iter().map(|word| local(word.load(Relaxed))).collect()
            }
        };
        Some((out[..len].to_vec(), rows))
    };
    std::iter::from_fn(next).collect()
}

/// Compares the terms of a registered segment with what its texts say, from any term on.
fn check_order(memory: &Memory, segment: &Segment<'_>, naive: &Rows) {
    let all: Vec<_> = naive.iter().map(|(term, rows)| (term.clone(), rows.clone())).collect();
    assert_eq!(ordered(memory, segment, b""), all, "{:?}", segment.id());
    let some = naive.keys().step_by(1 + naive.len() / 5).cloned();
    let others = [&b"a"[..], b"averyve", b"averyveryverylongword2", b"w1", b"w1\0", b"w9999", b"z"];
    for from in some.chain(others.map(<[u8]>::to_vec)) {
        let expected = &all[all.partition_point(|(term, _)| *term < from)..];
        let found = ordered(memory, segment, &from);
        assert_eq!(found, expected, "from {} on", String::from_utf8_lossy(&from));
    }
    let next_field = segment.terms_from(FieldId(1), b"").next_term(&mut [0; TERM_BYTES_MAX]);
    assert_eq!(next_field, None);
}

/// The terms of a fresh segment are among those that its writer has entered.
fn check_fresh(segment: &Segment<'_>, naive: &Rows) {
    let (extent, mut out) = (segment.extent(), [0; TERM_BYTES_MAX]);
    let written = |ordinal| {
        let (field, len) = extent.write_term(ordinal, &mut out);
        assert_eq!(field, TEXT);
        out[..len].to_vec()
    };
    let found: BTreeSet<Vec<u8>> = segment.fresh_ordinals().map(written).collect();
    assert!(naive.keys().all(|term| found.contains(term)));
}

/// Looks at everything that a snapshot sees; says how many of its segments the DRAM dictionary does not cover.
fn check_snapshot(memory: &Memory) -> u32 {
    let pin = memory.pins().acquire().unwrap();
    memory.pins().pin(&pin);
    let snapshot = Snapshot::take(memory);
    let (mut all, mut scratch) = (BTreeMap::new(), TextScratch::default());
    let mut add = |rows: Rows| {
        rows.into_iter()
            .for_each(|(term, rows)| *all.entry(term).or_default() += rows.len() as u64);
    };
    for segment in snapshot.fresh() {
        let rows = naive(&segment, &mut scratch);
        check_fresh(&segment, &rows);
        add(rows);
    }
    for segment in snapshot.registered() {
        let rows = naive(&segment, &mut scratch);
        check_order(memory, &segment, &rows);
        add(rows);
    }
    all.insert(b"nowhere".to_vec(), 0);
    for (bytes, frequency) in &all {
        let term = Term::new(TEXT, bytes).unwrap();
        let found = snapshot.document_frequency(term, term.key.hash());
        assert_eq!(found, *frequency, "{}", String::from_utf8_lossy(bytes));
    }
    memory.pins().unpin(&pin);
    memory.pins().release(pin);
    snapshot.covered().oldest - snapshot.window().oldest
}

fn check(index: &Index) -> u32 {
    index.memories().map(check_snapshot).sum()
}

fn steps() -> u64 {
    size_of_run("SPIRIT_STEPS", 1500)
}

fn run(index: &Index, chance: &mut Chance) {
    for number in 0..steps() {
        step(index, chance);
        if number % 100 == 0 {
            check(index);
        }
    }
    index.settle();
    check(index);
}

#[test]
fn terms_are_those_of_the_texts_in_dram() {
    run(&tiny(2, 3 << 20).store(true).open().unwrap(), &mut Chance::new(1));
}

#[test]
fn what_is_rewritten_keeps_its_terms() {
    let index = tiny(1, 2 << 20).store(true).on_full(OnFull::Wait).open().unwrap();
    let chance = &mut Chance::new(2);
    for number in 0..6 * steps() {
        index.put(&format!("k{}", chance.below(80)), &text(chance)).unwrap();
        if number % 200 == 0 {
            check(&index);
        }
    }
    assert!(index.stats().unwrap().rewritten_segments > 0);
    check(&index);
}

fn in_second_tier(directory: &Directory, merge_after: usize) -> Builder {
    let options = tiny(1, 3 << 20).store(true).directory(directory.path());
    let options = options.nvm_bytes(4 << 20).log_bytes(256 << 10).document_bytes_max(64 << 10);
    options.merge_after(merge_after)
}

/// Merged or found by their own tables, in the DRAM dictionary or where they lie.
#[test]
fn terms_are_those_of_the_texts_in_the_second_tier() {
    let mut uncovered = 0;
    for (merge_after, dictionary, postings) in [
        (1, DictionaryTier::Dram, Postings::Raw),
        (3, DictionaryTier::Nvm, Postings::Raw),
        (16, DictionaryTier::Dram, Postings::Raw),
        (2, DictionaryTier::Dram, Postings::Packed),
        (3, DictionaryTier::Nvm, Postings::Packed),
    ] {
        let mut directory = Directory::new();
        let chance = &mut Chance::new(3 + merge_after as u64);
        for _ in 0..3 {
            let options = in_second_tier(&directory, merge_after).dictionary(dictionary);
            let index = options.postings(postings).open().unwrap();
            uncovered += check(&index);
            run(&index, chance);
            uncovered += check(&index);
            directory = directory.killed();
        }
    }
    assert!(uncovered > 0, "all was in DRAM");
}

#[test]
fn snapshots_have_their_terms_while_segments_move() {
    [Postings::Raw, Postings::Packed].into_iter().for_each(look_while_segments_move);
}

fn look_while_segments_move(postings: Postings) {
    let directory = Directory::new();
    let index = in_second_tier(&directory, 2).postings(postings).open().unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let look = || {
            while !done.load(Relaxed) {
                check(&index);
            }
        };
        let reader = scope.spawn(look);
        let chance = &mut Chance::new(9);
        for _ in 0..2 * steps() {
            step(&index, chance);
        }
        done.store(true, Relaxed);
        join([reader]);
    });
}
