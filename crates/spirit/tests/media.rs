//! Structures in other media than memory: each lies where it was said, and every query answers alike.

mod support;

use std::path::{Path, PathBuf};

use spirit::lab::Media;
use spirit::{Analyzer, Builder, Index, OnFull, Search};

use support::Chance;
use support::directory::Directory;

const WORDS: [&str; 6] = ["a", "b", "c", "dd", "ee", "fff"];
const DOCUMENTS: usize = 6000;
const QUERIES: [&str; 6] = ["*", "a", "b c", "+dd +ee", "\"a b\"", "fff -a"];

fn options(directory: &Directory, media: Media) -> Builder {
    Index::builder()
        .directory(directory.path())
        .executors(2)
        .dram_bytes(16 << 20)
        .nvm_bytes(64 << 20)
        .segment_bytes(64 << 10)
        .analyzer(Analyzer::Simple)
        .store(true)
        .on_full(OnFull::Refuse)
        .media(media)
}

fn texts() -> Vec<(Option<String>, String)> {
    let chance = &mut Chance::new(7);
    let text = |chance: &mut Chance| {
        let words = (0..1 + chance.below(9)).map(|_| WORDS[chance.below(6) as usize]);
        words.collect::<Vec<_>>().join(" ")
    };
    let key =
        |chance: &mut Chance| (chance.below(3) == 0).then(|| format!("k{}", chance.below(900)));
    (0..DOCUMENTS).map(|_| (key(chance), text(chance))).collect()
}

/// Adds documents as a stream, and as a load. Returns what queries find.
fn answers(index: &Index) -> Vec<Vec<(u64, String)>> {
    let texts = texts();
    let (stream, load) = texts.split_at(DOCUMENTS / 2);
    let given = |(key, text): &'static (Option<String>, String)| (key.as_deref(), text.as_str());
    let leak = |part: &[(Option<String>, String)]| -> &'static [(Option<String>, String)] {
        Box::leak(part.to_vec().into_boxed_slice())
    };
    index.add_all(leak(stream).iter().map(given)).unwrap();
    let mut bulk = index.bulk().unwrap();
    bulk.add_all(leak(load).iter().map(given)).unwrap();
    bulk.finish().unwrap();
    found(index)
}

fn found(index: &Index) -> Vec<Vec<(u64, String)>> {
    let mut reader = index.reader().unwrap();
    let mut ask = |query: &&str| {
        let hits = reader.search(*query, Search::newest(10_000)).unwrap();
        let one = |hit: spirit::Hit<'_>| (hit.sequence().unwrap(), hit.key().unwrap().to_owned());
        hits.iter().map(one).collect()
    };
    QUERIES.iter().map(&mut ask).collect()
}

/// Bytes of this process's mappings of files in a directory that have no name.
fn mapped(directory: &Path) -> u64 {
    let directory = directory.canonicalize().unwrap();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let bytes = |line: &str| {
        let (range, rest) = line.split_once(' ')?;
        let path = rest.split_once('/').map(|(_, path)| format!("/{path}"))?;
        let is_piece = path.starts_with(directory.to_str()?) && path.ends_with("(deleted)");
        let (start, end) = range.split_once('-')?;
        let address = |text| u64::from_str_radix(text, 16).ok();
        is_piece.then(|| Some(address(end)? - address(start)?)).flatten()
    };
    maps.lines().filter_map(bytes).sum()
}

/// Bytes that this process has given to system calls that write.
fn written() -> u64 {
    let io = std::fs::read_to_string("/proc/self/io").unwrap();
    let line = io.lines().find_map(|line| line.strip_prefix("wchar: ")).unwrap();
    line.parse().unwrap()
}

/// Alone in its process, whose mappings and writes are looked at.
#[test]
fn each_structure_lies_where_it_was_said() {
    let plain = Directory::new();
    let index = options(&plain, Media::default()).open().unwrap();
    let before = written();
    let expected = answers(&index);
    assert!(written() - before < 1 << 20, "stores to a mapping are no writes");
    assert!(expected.iter().all(|found| !found.is_empty()));
    drop(index);
    // In each way that a structure may lie, and all of them together.
    for case in 0..16u32 {
        let places = [Directory::new(), Directory::new(), Directory::new()];
        let place = |at: usize| -> Option<PathBuf> {
            (case >> at & 1 == 1).then(|| places[at].path().to_owned())
        };
        let writes_file = case >> 3 == 1;
        let media =
            || Media { table: place(0), partial: place(1), dictionary: place(2), writes_file };
        let directory = Directory::new();
        let index = options(&directory, media()).open().unwrap();
        let sizes = [0, 1, 2].map(|at| mapped(places[at].path()));
        for (at, size) in sizes.iter().enumerate() {
            let expected = case >> at & 1 == 1;
            assert_eq!(*size > 100 << 10, expected, "case {case}, structure {at}: {size} bytes");
        }
        let before = written();
        assert_eq!(answers(&index), expected, "case {case}");
        let bytes = written() - before;
        assert_eq!(bytes > 200 << 10, writes_file, "case {case}: {bytes} bytes were written");
        index.close().unwrap();
        // What was written is what was stored.
        let index = options(&directory, Media::default()).open().unwrap();
        assert_eq!(found(&index), expected, "case {case}, started again");
        index.close().unwrap();
        let report = Index::check(directory.path()).unwrap();
        assert!(report.findings.is_empty(), "case {case}: {:?}", report.findings);
    }
    let nowhere = Media { table: Some("/proc".into()), ..Media::default() };
    let refused = options(&Directory::new(), nowhere).open().unwrap_err().to_string();
    assert!(refused.starts_with("/proc: cannot take"), "{refused}");
}
