//! Documents of values and little else, in the least heaps that open: there is always room for a segment and its columns.

use spirit::{Builder, Document, Index, OnFull, OpenError, WriteError};

use crate::support::columns::check_columns;
use crate::support::directory::Directory;
use crate::support::{Chance, comes_back, size_of_run, tiny};

/// How many values a document has, and in how many fields these are.
const SHAPES: [(u64, u64); 6] = [(1, 1), (1, 250), (3, 250), (16, 16), (100, 1), (1500, 250)];

/// What is added of each shape: this many documents without values, or values.
fn documents() -> u64 {
    size_of_run("SPIRIT_DOCUMENTS", 60_000)
}

fn add(index: &Index, (values, fields): (u64, u64), n: u64) -> Result<(), WriteError> {
    let mut chance = Chance::new(n);
    let key = format!("k{n:x}");
    let names: Vec<String> = (0..values).map(|_| format!("n{}", chance.below(fields))).collect();
    let document = Document::new().key(&key);
    let values = names.iter().map(|name| (name, chance.next() as i64));
    let document = values.fold(document, |document, (name, value)| document.field(name, value));
    index.add(&document).map(drop)
}

/// The least heaps for such an index.
fn least(options: &dyn Fn(u64, u64) -> Builder, directory: &Directory) -> (u64, u64) {
    let nvm_bytes = match options(1, 1).directory(directory.path()).open() {
        Err(OpenError::NvmTooSmall { nvm_bytes_min, .. }) => nvm_bytes_min,
        other => panic!("{:?}", other.err()),
    };
    match options(1, nvm_bytes).directory(directory.path()).open() {
        Err(OpenError::DramTooSmall { dram_bytes_min, .. }) => (dram_bytes_min, nvm_bytes),
        other => panic!("{:?}", other.err()),
    }
}

fn never_fails(shape: (u64, u64), store: bool, on_disk: bool) {
    let options = move |dram_bytes, nvm_bytes| {
        let options = tiny(1, dram_bytes).nvm_bytes(nvm_bytes).log_bytes(128 << 10).store(store);
        options.document_bytes_max(32 << 10).on_full(OnFull::DropOldest)
    };
    let directory = Directory::new();
    let (dram_bytes, nvm_bytes) = least(&options, &directory);
    let options = options(dram_bytes, nvm_bytes);
    let index = if on_disk { options.directory(directory.path()) } else { options }.open().unwrap();
    let count = documents() * 2 / (1 + shape.0);
    for n in 0..count {
        add(&index, shape, n).unwrap_or_else(|error| panic!("{shape:?} {n}: {error}"));
        if store && n % (count / 20) == 0 {
            check_columns(&index).unwrap();
        }
    }
    index.flush().unwrap();
    assert!(index.stats().unwrap().dropped_segments > 0, "{shape:?}");
    assert!(index.reader().unwrap().count("*").unwrap() > 0, "{shape:?}");
}

#[test]
fn the_least_heaps_take_documents_of_nothing_but_values() {
    for shape in SHAPES {
        for (store, on_disk) in [(false, false), (true, false), (false, true), (true, true)] {
            comes_back(move || never_fails(shape, store, on_disk));
        }
    }
}
