//! An index file of each format version there was: one of this version opens and answers as it did when it was made; another
//! is refused by name. Before version 1.0 nothing more is promised; see `docs/format.md`.
//!
//! With `SPIRIT_WRITE_FIXTURE=1` the file of this version is made anew: after a change of the format, which has a new number.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use spirit::backup::Backup;
use spirit::lab::{PointerUpdate, Postings};
use spirit::{Document, Index, OnFull, OpenError, Search, WriteError};
use spirit_index::backup::BACKUP_VERSION;
use spirit_index::form::root::FORMAT_VERSION;

use crate::damage::forger::Forger;
use crate::damage::image::Image;
use crate::damage::sample;
use crate::support::directory::Directory;

/// The files of a version: one with raw lists, one with packed ones. They have the same answers.
const FILES: [(Postings, &str); 2] =
    [(Postings::Raw, "heap.zst"), (Postings::Packed, "heap_packed.zst")];

/// What is asked when a fixture is made; what was found is kept beside it.
const QUERIES: [&str; 18] = [
    "*",
    "all",
    "dense",
    "m3",
    "m1 AND averyveryverylongword3",
    "m2 OR unique2x17 OR unique1x20",
    "+dense -m5",
    "unique0x596",
    "unique1x5",
    "unique2x649",
    "\"m2 unique1x9\"",
    "\"dense all\"",
    "logged",
    "averyveryverylongword3",
    "key:k30",
    "key:a_key_that_does_not_fit_in_a_row_31",
    "key:1000032",
    "key:1",
];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// Segments that are merged and, if they are raw, one that the dictionary has no room for, dense lists, keys of every kind, deletions and
/// replacements in segments and in the log.
fn write(fixture: &Path, (postings, name): (Postings, &str)) {
    let directory = Directory::new();
    let options = sample::options(&directory).on_full(OnFull::Refuse).postings(postings);
    let options = options.pointer_update(PointerUpdate::Eager).merge_after(2);
    let index = options.nvm_bytes(768 << 10).log_bytes(128 << 10).open().unwrap();
    for (segment, documents) in [600, 350, 650].into_iter().enumerate() {
        for number in 0..documents {
            // The first segment is not full of words, so that it has rows enough for bitmaps.
            let unique = if segment == 0 { number / 4 * 4 } else { number };
            let words = format!("all m{} unique{segment}x{unique}", number % 7);
            match number % 3 {
                0 => {
                    let key = sample::key(number / 3);
                    let document = Document::new().key(&key).text(&words).field("n", number as i64);
                    index.add(&document).unwrap();
                }
                1 => index
                    .add(&format!("{words} averyveryverylongword{}", number % 13))
                    .map(drop)
                    .unwrap(),
                _ => index.add(&format!("{words} dense {words}")).map(drop).unwrap(),
            }
        }
        for number in [3, 4, 5] {
            index.delete(&sample::key(number + segment)).unwrap();
            index.delete(&(number * 11 + segment).to_string()).unwrap();
        }
        let flushed = index.flush();
        assert!(matches!(flushed, Ok(()) | Err(WriteError::HeapFull)), "{flushed:?}");
    }
    for number in 0..20 {
        let (key, text) = (sample::key(number * 3), format!("logged m{}", number % 7));
        let document = Document::new().key(&key).text(&text).field("title", "Logged, too");
        index.add(document.field("late", number % 2 == 0)).unwrap();
        index.delete(&sample::key(number * 5 + 1)).unwrap();
    }
    let answers: String = QUERIES.iter().map(|query| answer(&index, query) + "\n").collect();
    let segments = || index.stats().unwrap().segments;
    let has = |state: &str| segments().iter().any(|segment| segment.state == state);
    let are_of_both = || has("merged") && (has("committed") || has("engraved"));
    let since = Instant::now();
    // Two at a time are merged, when the stage has nothing else to do.
    while postings == Postings::Raw && !are_of_both() {
        assert!(since.elapsed() < Duration::from_secs(10), "{:?}", segments());
    }
    let segments = segments();
    index.close().unwrap();
    assert!(segments.iter().any(|segment| segment.rows >= 512), "one has bitmaps: {segments:?}");
    let bytes = fs::read(directory.path().join("heap")).unwrap();
    fs::create_dir_all(fixture).unwrap();
    fs::write(fixture.join(name), zstd::encode_all(&bytes[..], 19).unwrap()).unwrap();
    let kept = fixture.join("answers.tsv");
    match postings {
        Postings::Raw => fs::write(kept, answers).unwrap(),
        Postings::Packed => assert_eq!(answers, fs::read_to_string(kept).unwrap()),
    }
}

/// A query, its count, its hits, newest first, and a checksum of their texts and fields.
fn answer(index: &Index, query: &str) -> String {
    let mut reader = index.reader().unwrap();
    let count = reader.count(query).unwrap();
    let hits = reader.search(query, Search::newest(40)).unwrap();
    let keys = hits.keys().unwrap();
    let keys = if keys.is_empty() { "-".to_owned() } else { keys.join(" ") };
    let documents = (0..hits.len())
        .map(|hit| format!("{:?}", hits.get(hit).unwrap().stored().cloned().unwrap()));
    let documents = crc32c::crc32c(documents.collect::<String>().as_bytes());
    format!("{query}\t{count}\t{keys}\t{documents:08x}")
}

fn unpacked(fixture: &Path, name: &str) -> Directory {
    let directory = Directory::new();
    let bytes = zstd::decode_all(&fs::read(fixture.join(name)).unwrap()[..]).unwrap();
    fs::write(directory.path().join("heap"), bytes).unwrap();
    directory
}

fn opens_and_answers(directory: &Directory, fixture: &Path) {
    let report = Index::check(directory.path()).unwrap();
    assert!(report.is_sound() && report.closed, "{report}");
    assert!(report.segments >= 3 && report.log_operations >= 40, "{report}");
    assert!(report.text_bytes > 40_000, "{report}");
    let answers = fs::read_to_string(fixture.join("answers.tsv")).unwrap();
    assert!(answers.lines().count() >= QUERIES.len());
    for _ in 0..2 {
        let index = sample::options(directory).open().unwrap();
        for expected in answers.lines() {
            let query = expected.split('\t').next().unwrap();
            assert_eq!(answer(&index, query), expected);
        }
        index.put("later", "one more").unwrap();
        assert!(index.delete("later").unwrap());
        index.close().unwrap();
    }
    let report = Index::check(directory.path()).unwrap();
    assert!(report.is_sound(), "{report}");
}

fn is_refused(version: u32, directory: &Directory) {
    let error = sample::options(directory).open().map(|_| ()).unwrap_err();
    let (found, ours) = (format!("version {version}"), format!("version {FORMAT_VERSION}"));
    assert!(matches!(error, OpenError::Root { .. }));
    let text = error.to_string();
    assert!(text.contains(&found) && text.contains(&ours), "{text}");
    assert_eq!(Index::check(directory.path()).unwrap_err().to_string(), text);
}

#[test]
fn files_of_this_version_open_and_others_are_refused() {
    if std::env::var_os("SPIRIT_WRITE_FIXTURE").is_some() {
        let fixture = fixtures().join(format!("format_{FORMAT_VERSION}"));
        FILES.into_iter().for_each(|file| write(&fixture, file));
    }
    for version in 1..=FORMAT_VERSION {
        let fixture = fixtures().join(format!("format_{version}"));
        if version == FORMAT_VERSION {
            for (_, name) in FILES {
                opens_and_answers(&unpacked(&fixture, name), &fixture);
            }
        } else {
            is_refused(version, &unpacked(&fixture, "heap.zst"));
        }
    }
}

/// A backup of the file of this version, one that was made when the format of backups was, is restored to the same answers; and so
/// is one that is made now.
#[test]
fn backups_of_this_version_are_restored_and_others_are_refused() {
    let fixture = fixtures().join(format!("format_{FORMAT_VERSION}"));
    let directory = unpacked(&fixture, "heap.zst");
    let backup = directory.path().join("backup");
    Backup::at(&backup).make(directory.path()).unwrap();
    let kept = |version: u32| fixtures().join(format!("backup_{version}.zst"));
    if std::env::var_os("SPIRIT_WRITE_FIXTURE").is_some() {
        let bytes = fs::read(&backup).unwrap();
        fs::write(kept(BACKUP_VERSION), zstd::encode_all(&bytes[..], 19).unwrap()).unwrap();
    }
    let bytes_of = |version| zstd::decode_all(&fs::read(kept(version)).unwrap()[..]).unwrap();
    let mut bytes = bytes_of(BACKUP_VERSION);
    let made = directory.path().join("made");
    fs::write(&made, &bytes).unwrap();
    for backup in [&backup, &made] {
        let restored = Directory::new();
        Backup::at(backup).restore(restored.path()).unwrap();
        opens_and_answers(&restored, &fixture);
    }
    bytes[8..12].copy_from_slice(&(BACKUP_VERSION + 1).to_le_bytes());
    let others = (1..BACKUP_VERSION).map(|version| (version, bytes_of(version)));
    for (version, bytes) in others.chain([(BACKUP_VERSION + 1, bytes.clone())]) {
        fs::write(&made, bytes).unwrap();
        let text = Backup::at(&made).verify().unwrap_err().to_string();
        let said = [BACKUP_VERSION, version].map(|version| format!("version {version}"));
        assert!(said.iter().all(|version| text.contains(version)), "{text}");
    }
    bytes[..8].reverse();
    fs::write(&made, &bytes).unwrap();
    assert!(Backup::at(&made).verify().unwrap_err().to_string().contains("another byte order"));
}

#[test]
fn a_newer_file_and_one_of_another_byte_order_are_refused() {
    let directory = sample::small();
    let mut image = Image::of(&directory);
    for version in [0, FORMAT_VERSION + 1, u32::MAX] {
        let mut forger = Forger { bytes: &mut image.bytes };
        for slot in [0, 4096] {
            forger.set(slot + 8, u64::from(version) | 0x0102_0304 << 32);
        }
        forger.roots();
        fs::write(directory.path().join("heap"), &image.bytes).unwrap();
        is_refused(version, &directory);
    }
    // Every word the other way round.
    for slot in [0, 4096] {
        image.bytes[slot..slot + 512].chunks_mut(8).for_each(<[u8]>::reverse);
    }
    fs::write(directory.path().join("heap"), &image.bytes).unwrap();
    let error = sample::options(&directory).open().map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("another byte order"), "{error}");
}
