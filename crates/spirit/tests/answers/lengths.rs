//! Document lengths, the statistics of a collection and block maxima, beside what the documents' texts say: in every state of a segment, for
//! any snapshot, while documents come and go.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::thread;

use spirit::{Batch, Builder, Index, OnFull, WriteError};
use spirit_index::form::TextScratch;
use spirit_index::ground::{FieldId, Term};
use spirit_index::ground::{frequency, local};
use spirit_index::lists::{BLOCK_POSTINGS, Maxima};
use spirit_index::rows::KeyKind;
use spirit_index::rows::{LENGTH_MAX, Statistics};
use spirit_index::snapshot::{Segment, Snapshot};
use spirit_index::terms::Entry;

use crate::support::directory::Directory;
use crate::support::stream::{HOLE_BYTES, step, terms_of, text};
use crate::support::{Chance, join, pinned, size_of_run, tiny};

/// The length that a row's text says it has.
fn length_of(segment: &Segment<'_>, local: u32, scratch: &mut TextScratch) -> u32 {
    let row = segment.row_table().row(local);
    let given_up = row.key().kind() != KeyKind::None && !row.has_lived(local);
    let mut text = Vec::new();
    segment.write_text(local, scratch, &mut text).unwrap();
    if given_up { 0 } else { terms_of(&text).count() as u32 }
}

/// Compares a segment with its texts; returns what those say of it.
fn check_segment(segment: &Segment<'_>, scratch: &mut TextScratch) -> Statistics {
    let mut sum = Statistics::default();
    let rows = segment.rows();
    let mut lengths = segment.field_lengths(FieldId::TEXT);
    for local in 0..rows {
        let length = length_of(segment, local, scratch);
        assert_eq!(segment.length(local), length, "row {local} of {:?}", segment.id());
        assert_eq!(lengths.get(local), length.min(LENGTH_MAX as u32), "row {local}");
        if let Some(lengths) = segment.lengths() {
            let stored = lengths.get((segment.descriptor().rows() - 1) as usize - local as usize);
            assert_eq!(stored, Some(length.min(LENGTH_MAX as u32) as u16));
        }
        sum += Statistics::of(length);
    }
    assert_eq!(segment.statistics(rows), sum, "{:?}", segment.id());
    sum
}

/// Compares the block maxima of a term's lists with their postings; says how many blocks there are.
fn check_maxima(snapshot: &Snapshot<'_>, term: &str) -> usize {
    let region = snapshot.memory().region();
    let term = Term::new(FieldId(0), term.as_bytes()).unwrap();
    let entries = snapshot.entries(term, term.key.hash()).iter(region);
    let counts =
        |entry: &Entry| snapshot.window().holds(entry.segment) && !snapshot.skips(entry.segment);
    let mut blocks = 0;
    for entry in entries.filter(counts) {
        let segment = snapshot.of(entry.segment);
        let flushed = segment.flushed();
        let Some(maxima) = flushed.maxima(entry) else {
            assert!(entry.postings <= BLOCK_POSTINGS);
            continue;
        };
        let list = region.view(flushed.list(entry));
        let mut words = region.view(maxima).iter();
        for block in list.chunks(BLOCK_POSTINGS as usize) {
            let maxima = Maxima::from_word(words.next().unwrap().load(Relaxed));
            let posting = |word: &AtomicU32| {
                let word = word.load(Relaxed);
                (frequency(word), segment.length(local(word)).min(LENGTH_MAX as u32))
            };
            let alive = || block.iter().map(posting).filter(|(_, length)| *length > 0);
            assert_eq!(maxima.frequency() as u32, alive().map(|(f, _)| f).max().unwrap_or(0));
            let expected = Maxima::of(alive().map(|(f, length)| (f as u8, length as u16)));
            assert_eq!(maxima, expected);
            blocks += 1;
        }
        assert!(words.next().is_none());
    }
    blocks
}

/// What a snapshot sees.
#[derive(Clone, Copy, Default)]
struct Seen {
    fresh: usize,
    flushed: usize,
    blocks: usize,
}

/// Looks at everything that a snapshot sees.
fn check_snapshot(snapshot: &Snapshot<'_>) -> Seen {
    let mut scratch = TextScratch::default();
    let mut sum = Statistics::default();
    let mut segments = [0; 2];
    for segment in snapshot.segments() {
        segments[usize::from(segment.lengths().is_some())] += 1;
        sum += check_segment(&segment, &mut scratch);
    }
    assert_eq!(snapshot.statistics(), sum);
    let blocks: usize = ["all", "w1", "w2"].map(|term| check_maxima(snapshot, term)).iter().sum();
    Seen { fresh: segments[0], flushed: segments[1], blocks }
}

fn check(index: &Index) -> Vec<Seen> {
    index.memories().map(|memory| pinned(memory, check_snapshot)).collect()
}

fn steps() -> u64 {
    size_of_run("SPIRIT_STEPS", 1500)
}

/// Goes through random operations, and looks at everything after some of them.
fn run(options: Builder, seed: u64) -> Index {
    let index = options.store(true).open().unwrap();
    let chance = &mut Chance::new(seed);
    for number in 0..steps() {
        step(&index, chance);
        if number % 50 == 0 {
            check(&index);
        }
    }
    index.settle();
    assert!(check(&index).iter().all(|seen| seen.blocks > 0));
    index
}

#[test]
fn lengths_are_those_of_the_texts_in_dram() {
    for (seed, positions) in [(1, true), (2, false)] {
        drop(run(tiny(2, 3 << 20).positions(positions), seed));
    }
}

/// Updates leave mostly dead segments behind, which are rewritten where nothing may be dropped.
#[test]
fn what_is_rewritten_keeps_its_lengths() {
    for (seed, positions) in [(3, true), (4, false)] {
        let options = tiny(1, 2 << 20).positions(positions).store(true).on_full(OnFull::Wait);
        let index = options.open().unwrap();
        let chance = &mut Chance::new(seed);
        for number in 0..6 * steps() {
            index.put(&format!("k{}", chance.below(80)), &text(chance)).unwrap();
            if number % 200 == 0 {
                check(&index);
            }
        }
        assert!(index.stats().unwrap().rewritten_segments > 0);
        assert!(check(&index)[0].blocks > 0);
    }
}

#[test]
fn lengths_are_those_of_the_texts_in_the_second_tier() {
    for (seed, positions) in [(5, true), (6, false)] {
        let directory = Directory::new();
        let options = || {
            let options = tiny(1, 3 << 20).positions(positions).directory(directory.path());
            let options = options.nvm_bytes(3 << 20).log_bytes(256 << 10);
            options.document_bytes_max(64 << 10).merge_after(2)
        };
        run(options(), seed).close().unwrap();
        let report = Index::check(directory.path()).unwrap();
        assert!(report.is_sound() && report.segments > 4, "{report}");
        let index = run(options(), seed + 10);
        check(&index);
    }
}

/// Documents longer than an array can say: the vectors have their lengths, or the rows.
#[test]
fn long_documents_have_exact_lengths() {
    for (kept, positions) in [(65_534, true), (65_535, true), (70_000, true), (70_000, false)] {
        let options = tiny(1, 48 << 20).segment_bytes(1 << 20).positions(positions);
        let index = options.store(true).open().unwrap();
        let mut text = "a ".repeat(kept);
        text.push_str(&"x".repeat(HOLE_BYTES));
        index.add(&text).unwrap();
        index.add("two words").unwrap();
        check(&index);
        index.flush().unwrap();
        index.settle();
        check(&index);
        let memory = index.memories().next().unwrap();
        let expected = Statistics { documents: 2, tokens: kept as u64 + 2 };
        assert_eq!(Snapshot::take(memory).statistics(), expected);
    }
}

/// Rows that are given up since a key of their group finds no place count nothing.
#[test]
fn rows_that_were_given_up_count_nothing() {
    let directory = Directory::new();
    let options = tiny(1, 8 << 20).directory(directory.path()).nvm_bytes(16 << 20);
    let options = options.log_bytes(1 << 20).document_bytes_max(4 << 10).store(true);
    let index = options.open().unwrap();
    let memory = index.memories().next().unwrap();
    let (mut given_up, crowd) = (0, crate::support::crowd());
    for group in 0..40u64 {
        let text = format!("all group{group}");
        let documents = (0..300).map(|_| (None, text.as_str()));
        index.write(Batch::from_iter(documents).offset(&group.to_le_bytes())).unwrap();
        check(&index);
        if group % 10 == 3 {
            let keyed = crowd.iter().map(|key| (Some(key.as_str()), text.as_str()));
            let refused = index.write(Batch::from_iter(keyed)).unwrap_err();
            assert_eq!(refused, WriteError::KeysFull);
            // Later they may go with their segments.
            given_up += crate::support::rows_given_up(memory);
            check(&index);
        }
    }
    assert!(given_up > 0, "rows of refused groups");
    let expected = Statistics { documents: 40 * 300, tokens: 40 * 300 * 2 };
    assert_eq!(Snapshot::take(memory).statistics(), expected);
    index.close().unwrap();
    let report = Index::check(directory.path()).unwrap();
    assert!(report.is_sound(), "{report}");
}

/// Whatever a snapshot sees adds up, while documents are added, flushed, engraved and dropped beside it.
#[test]
fn snapshots_add_up_while_segments_move() {
    let directory = Directory::new();
    let options = tiny(1, 3 << 20).directory(directory.path()).nvm_bytes(3 << 20);
    let options = options.log_bytes(256 << 10).document_bytes_max(64 << 10).merge_after(2);
    let index = options.store(true).open().unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let look = || {
            let mut seen = Seen::default();
            while !done.load(Relaxed) {
                let Seen { fresh, flushed, blocks } = check(&index)[0];
                seen.fresh += fresh;
                seen.flushed += flushed;
                seen.blocks += blocks;
            }
            seen
        };
        let reader = scope.spawn(look);
        let chance = &mut Chance::new(7);
        for _ in 0..4 * steps() {
            step(&index, chance);
        }
        done.store(true, Relaxed);
        for seen in join([reader]) {
            assert!(seen.fresh > 0 && seen.flushed > 0 && seen.blocks > 0);
        }
    });
}
