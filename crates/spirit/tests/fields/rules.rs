//! What holds of schemas and fields, one by one.

use spirit::lab::StoredValue;
use spirit::schema::FieldError;
use spirit::{Builder, Document, FieldKind, Index, OpenError, Search, WriteError};
use spirit_index::ground::{PARTS_START, ROOT_BYTES};

use crate::support::directory::Directory;
use crate::support::following::{follow, wait_until};

fn small(directory: &Directory) -> Builder {
    Index::builder()
        .directory(directory.path())
        .dram_bytes(4 << 20)
        .segment_bytes(64 << 10)
        .nvm_bytes(4 << 20)
        .log_bytes(128 << 10)
        .document_bytes_max(4 << 10)
        .store(true)
}

#[test]
fn a_strict_index_stays_strict() {
    let directory = Directory::new();
    let index = small(&directory).field("views", FieldKind::Integer).strict(true).open().unwrap();
    let known = Document::new().text("red").field("views", 3);
    index.add(&known).unwrap();
    let unknown = Document::new().text("red").field("views", 3).field("likes", 3);
    let refused =
        WriteError::Field(FieldError::Unknown { field: "likes".into(), value: "3".into() });
    assert_eq!(index.add(&unknown), Err(refused.clone()));
    index.close().unwrap();
    let index = small(&directory).open().unwrap();
    assert_eq!(index.add(&unknown), Err(refused));
    index.close().unwrap();
    // Anyone who opens it may add to the fields; those that are there stay what they are.
    let both =
        small(&directory).field("likes", FieldKind::Float).field("views", FieldKind::Keyword);
    let index = both.open().unwrap();
    index.add(&unknown).unwrap();
    let kinds = |name: &str| index.schema().by_name(name).unwrap().kind;
    assert_eq!((kinds("views"), kinds("likes")), (FieldKind::Integer, FieldKind::Float));
    assert_eq!(index.reader().unwrap().count("red").unwrap(), 2);
}

#[test]
fn what_is_too_long_or_too_much_is_refused_and_leaves_nothing() {
    let directory = Directory::new();
    let index = small(&directory).field("k", FieldKind::Keyword).open().unwrap();
    let long = "x".repeat(300);
    let refused = index.add(Document::new().field("k", &long));
    let too_long = FieldError::KeywordTooLong { field: "k".into(), bytes: 300 };
    assert_eq!(refused, Err(WriteError::Field(too_long)));
    let text = "w ".repeat(1 << 10);
    let document = Document::new().text(&text).field("title", &text).field("n", 1);
    let refused = index.add(&document);
    assert!(
        matches!(refused, Err(WriteError::DocumentTooLong { bytes_max: 4096, .. })),
        "{refused:?}"
    );
    let names = index.add(Document::new().field("a\tb", 1));
    assert!(matches!(names, Err(WriteError::Field(FieldError::Name { .. }))));
    assert_eq!((index.accepted(), index.reader().unwrap().count("*").unwrap()), (0, 0));
    assert_eq!(index.add(Document::new().field("k", &long[..255])), Ok(0));
}

/// Fields that join while a process reads are known to it when it sees documents that have them.
#[test]
fn who_only_reads_learns_of_new_fields() {
    let directory = Directory::new();
    let writer = small(&directory).open().unwrap();
    let follower = follow(directory.path());
    let mut reader = follower.reader().unwrap();
    for number in 0..20i64 {
        let name = format!("field{number}");
        let document = Document::new().text("red").field(&name, number).field("tag", "a tag");
        writer.add(&document).unwrap();
        writer.flush().unwrap();
        wait_until(|| reader.count("red").unwrap() == number as u64 + 1);
        let found = reader
            .search("red", Search::newest(1))
            .unwrap()
            .get(0)
            .unwrap()
            .stored()
            .cloned()
            .unwrap();
        assert_eq!(found.text, "red");
        let tag = ("tag".to_owned(), StoredValue::Text("a tag".into()));
        assert_eq!(found.fields, [(name, StoredValue::Integer(number)), tag]);
        assert_eq!(follower.schema().fields(), writer.schema().fields());
    }
}

/// A torn list does not count, and the next start mends it. One that the root knows of is not missing for that.
#[test]
fn a_torn_list_of_fields_is_mended_and_a_damaged_one_is_refused() {
    let directory = Directory::new();
    let index = small(&directory).open().unwrap();
    for name in ["a", "b", "c"] {
        index.add(Document::new().text("red").field(name, 1)).unwrap();
    }
    index.close().unwrap();
    let heap = directory.path().join("heap");
    let flip = |slot: u64| {
        use std::os::unix::fs::FileExt;
        let file = std::fs::File::options().read(true).write(true).open(&heap).unwrap();
        let (mut byte, at) = ([0], ROOT_BYTES + slot * (PARTS_START - ROOT_BYTES) / 2);
        file.read_exact_at(&mut byte, at).unwrap();
        file.write_all_at(&[byte[0] ^ 1], at).unwrap();
    };
    // Three lists were written, the last one to the second slot.
    flip(1);
    assert!(matches!(small(&directory).open(), Err(OpenError::Root { .. })));
    assert!(!Index::check(directory.path()).unwrap().is_sound());
    flip(1);
    flip(0);
    assert!(!Index::check(directory.path()).unwrap().is_sound());
    let index = small(&directory).open().unwrap();
    assert_eq!(index.schema().fields().len(), 4);
    index.close().unwrap();
    let report = Index::check(directory.path()).unwrap();
    assert!(report.is_sound(), "{report}");
}
