//! How many segments queries are moved off when DRAM runs short.

use std::time::Duration;

use spirit::{Analyzer, Index, Mode, Search};

use crate::support::directory::Directory;

/// Segments that may be moved for one that comes in.
const MOVED_MAX: usize = 4;

/// Segments in all, and those that are read in the second tier.
fn segments(index: &Index) -> (usize, usize) {
    let states: Vec<String> =
        index.stats().unwrap().segments.into_iter().map(|segment| segment.state).collect();
    let moved = states.iter().filter(|state| matches!(&***state, "committed" | "merged"));
    (states.len(), moved.count())
}

/// Adds documents until there are enough segments.
fn fill(index: &Index, is_enough: impl Fn(usize, usize) -> bool) {
    let mut batch = 0;
    while let (all, moved) = segments(index)
        && !is_enough(all, moved)
    {
        let texts: Vec<String> = (0..50).map(|i| format!("all w{batch} w{i} x{}", i % 7)).collect();
        index.add_all(texts.iter().map(|text| (None, text.as_str()))).unwrap();
        batch += 1;
    }
}

#[test]
fn a_reader_that_stays_lets_no_more_segments_leave_dram_than_the_next_ones_need() {
    let directory = Directory::new();
    let options = Index::builder().directory(directory.path()).mode(Mode::Crash);
    let options = options.dram_bytes(8 << 20).nvm_bytes(64 << 20).segment_bytes(64 << 10);
    let index = options.analyzer(Analyzer::Simple).open().unwrap();
    fill(&index, |_, moved| moved > 0);
    index.settle();
    let (before, moved_before) = segments(&index);
    assert!(before > 4 * MOVED_MAX, "{before}");
    let mut reader = index.reader().unwrap();
    let hits = reader.search("all", Search::newest(10)).unwrap();
    fill(&index, |all, moved| all > before && moved > moved_before);
    // What is behind ingest goes on for as long as it finds something to do.
    std::thread::sleep(Duration::from_millis(100));
    let moved = segments(&index).1 - moved_before;
    assert!(moved <= MOVED_MAX, "{moved} of {before} segments have left DRAM");
    assert!(hits.iter().all(|hit| hit.key().is_ok()));
}
