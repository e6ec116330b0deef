//! Documents that the log only refers to: a start reads them again, or says which it cannot.

use std::io::{Error, ErrorKind};

use spirit::{Analyzer, Builder, Document, Index, OpenError, WriteError};

use crate::support::directory::Directory;

const DOCUMENTS: usize = 200;

fn options(directory: &Directory, executors: usize) -> Builder {
    let each = executors as u64;
    Index::builder()
        .directory(directory.path())
        .executors(executors)
        .dram_bytes(each * (16 << 20))
        .nvm_bytes(each * (64 << 20))
        .segment_bytes(1 << 20)
        .analyzer(Analyzer::Simple)
}

/// The text at a place, which is its number.
fn text(place: &[u8]) -> std::io::Result<String> {
    let number = std::str::from_utf8(place).ok().and_then(|place| place.parse::<usize>().ok());
    let number = number.filter(|number| *number < DOCUMENTS).ok_or(ErrorKind::NotFound)?;
    Ok(format!("all own{number} {}", "long ".repeat(100)))
}

fn fill(index: &Index) {
    for number in 0..DOCUMENTS {
        let place = number.to_string();
        let key = (number % 2 == 0).then(|| format!("k{number}"));
        let text = text(place.as_bytes()).unwrap();
        let document = Document::from((key.as_deref(), &*text)).place(place.as_bytes());
        assert_eq!(index.add(document), Ok(number as u64));
    }
}

fn check(index: &Index) {
    let mut reader = index.reader().unwrap();
    assert_eq!(reader.count("all").unwrap(), DOCUMENTS as u64);
    for number in 0..DOCUMENTS {
        assert_eq!(reader.count(&format!("own{number}")).unwrap(), 1);
    }
    assert_eq!(reader.count("key:k8").unwrap(), 1);
}

fn log_bytes(index: &Index) -> u64 {
    let partitions = index.stats().unwrap().partitions;
    partitions.iter().filter(|part| part.name == "nvm log").map(|part| part.used).sum()
}

#[test]
fn a_start_reads_again_what_the_log_refers_to() {
    for executors in [1, 3] {
        let directory = Directory::new();
        let index = options(&directory, executors).open().unwrap();
        fill(&index);
        check(&index);
        assert!(log_bytes(&index) < DOCUMENTS as u64 * 140, "{}", log_bytes(&index));
        let killed = directory.killed();
        check(&options(&killed, executors).source(text).open().unwrap());
    }
}

fn failure(opened: Result<Index, OpenError>) -> String {
    let error = opened.map(drop).unwrap_err();
    assert!(matches!(error, OpenError::Recovery(WriteError::Source { .. })), "{error}");
    error.to_string()
}

#[test]
fn what_cannot_be_read_again_is_named_and_nothing_is_lost() {
    let directory = Directory::new();
    let index = options(&directory, 1).open().unwrap();
    fill(&index);
    let killed = directory.killed();
    drop(index);
    let open = || options(&killed, 1);
    let said = failure(open().open());
    assert!(said.contains("\"0\"") && said.contains("without a source"), "{said}");
    let gone = |place: &[u8]| match place {
        b"17" => Err(Error::other("the tape is torn")),
        place => text(place),
    };
    let said = failure(open().source(gone).open());
    assert!(said.contains("\"17\"") && said.contains("the tape is torn"), "{said}");
    let other = |place: &[u8]| text(if place == b"17" { b"18" } else { place });
    let said = failure(open().source(other).open());
    assert!(said.contains("\"17\"") && said.contains("another text"), "{said}");
    check(&open().source(text).open().unwrap());
}

#[test]
fn what_is_in_the_second_tier_is_not_read_again() {
    let directory = Directory::new();
    let index = options(&directory, 1).open().unwrap();
    fill(&index);
    index.flush().unwrap();
    let killed = directory.killed();
    check(&options(&killed, 1).open().unwrap());
}

#[test]
fn a_reference_that_is_too_long_leaves_nothing() {
    let directory = Directory::new();
    let index = options(&directory, 1).open().unwrap();
    let refused = index.add(Document::from((None, "all")).place(&[b'x'; 65]));
    assert_eq!(refused, Err(WriteError::ReferenceTooLong { bytes: 65 }));
    assert_eq!(index.add(Document::from((None, "all")).place(&[b'x'; 64])), Ok(0));
    assert_eq!(index.accepted(), 1);
}
