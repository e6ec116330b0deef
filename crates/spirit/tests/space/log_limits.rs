//! The log at its limits, where nothing may be dropped: a document that was logged and then refused, with the cut before the
//! record that says so; and the largest document in the smallest log, wherever the log is at.

use std::fs;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use spirit::lab::EngravePolicy;
use spirit::{Analyzer, Batch, Builder, Index, Mode, OnFull, OpenError, Reader, WriteError};
use spirit_index::ground::{NvmLayout, NvmSettings, PARTS_START, Parts};

use crate::support::comes_back;
use crate::support::directory::Directory;

const REFUSING: [OnFull; 2] = [OnFull::Refuse, OnFull::Wait];

const SEGMENT_BYTES: u64 = 64 << 10;
const NVM_BYTES: u64 = 16 << 20;
/// So large that the key table is full before.
const LOG_BYTES: u64 = 4 << 20;
/// Documents that are put together.
const TOGETHER: u64 = 30;

fn options(directory: &Directory, on_full: OnFull) -> Builder {
    Index::builder()
        .directory(directory.path())
        .segment_bytes(SEGMENT_BYTES)
        .nvm_bytes(NVM_BYTES)
        .analyzer(Analyzer::Simple)
        .on_full(on_full)
}

/// Bytes of a record without operations.
const HEADER: usize = 48;

/// Makes the log what it was before its newest cancellation was written; says whether there was one. The log is in its first lap.
fn cut_before_the_cancellation(directory: &Directory) -> bool {
    let Some(at) = newest_cancellation(directory) else { return false };
    let file = fs::File::options().write(true).open(directory.path().join("heap")).unwrap();
    file.write_all_at(&vec![0; (log().end - at) as usize], at).unwrap();
    true
}

/// Where in the file the log lies.
fn log() -> Range<u64> {
    let settings = NvmSettings { bytes: NVM_BYTES, log_bytes: LOG_BYTES, parts: Parts::default() };
    let (start, bytes) = NvmLayout::new(settings, SEGMENT_BYTES).log;
    PARTS_START + start..PARTS_START + start + bytes
}

/// Where in the file the newest cancellation of the log lies, if there is one.
fn newest_cancellation(directory: &Directory) -> Option<u64> {
    let mut bytes = vec![0; LOG_BYTES as usize];
    let file = fs::File::open(directory.path().join("heap")).unwrap();
    file.read_exact_at(&mut bytes, log().start).unwrap();
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let is_cancellation =
        |at: &usize| word(*at) as u32 == 6 && word(*at) >> 32 != 0 && word(at + 16) >> 32 == 3;
    let places = (0..bytes.len() - HEADER).step_by(8);
    let newest = places.filter(is_cancellation).max_by_key(|at| word(at + 8));
    newest.map(|at| log().start + at as u64)
}

/// It kept the next start from starting.
#[test]
fn what_found_no_place_for_its_key_is_whole_or_absent_after_a_cut() {
    comes_back(|| REFUSING.into_iter().for_each(tried_again_and_cut));
}

/// A start finds a document whose first try was cancelled in the log, and the operations behind it.
#[test]
fn what_was_tried_again_and_what_came_after_it_is_there() {
    comes_back(|| REFUSING.into_iter().for_each(tried_again_and_more));
}

/// Segments are engraved when room is short, so keys find no place in the table before that.
fn open_small(directory: &Directory, on_full: OnFull) -> Index {
    let options = options(directory, on_full).dram_bytes(2 << 20).log_bytes(LOG_BYTES);
    let options = options.engrave(EngravePolicy::Lazy).document_bytes_max(4 << 10);
    options.open().unwrap()
}

/// Puts documents under keys until some have found no place for theirs at first; how many were put before those.
fn put_until_tried_again(index: &Index, directory: &Directory) -> u64 {
    let put = |first: &u64| {
        let keys: Vec<String> = (*first..first + TOGETHER).map(|n| format!("k{n:x}")).collect();
        index.add_all(keys.iter().map(|key| (Some(&**key), "all"))).unwrap();
        newest_cancellation(directory).is_some()
    };
    (0..).step_by(TOGETHER as usize).find(put).expect("the table has no room for all numbers")
}

fn tried_again_and_more(on_full: OnFull) {
    let directory = Directory::new();
    let index = open_small(&directory, on_full);
    let taken = put_until_tried_again(&index, &directory) + TOGETHER;
    assert!(index.delete("k0").unwrap());
    index.put("k1", "again").unwrap();
    index.add("more").unwrap();
    index.settle();
    let killed = directory.killed();
    drop(index);
    for _ in 0..2 {
        let index = open_small(&killed, on_full);
        let mut reader = index.reader().unwrap();
        let count = |reader: &mut Reader, query: &str| reader.count(query).unwrap();
        for number in taken - TOGETHER..taken {
            assert_eq!(count(&mut reader, &format!("key:k{number:x}")), 1);
        }
        assert_eq!(count(&mut reader, "all"), taken - 2);
        assert_eq!(["again", "more", "key:k0"].map(|query| count(&mut reader, query)), [1, 1, 0]);
        assert_eq!(index.accepted(), taken + 2);
    }
}

/// Where the oldest goes for it, a document that found no place for its key is logged anew, under the number that it had.
#[test]
fn what_found_a_place_at_the_second_try_is_there_after_a_kill() {
    comes_back(|| {
        let directory = Directory::new();
        let index = open_small(&directory, OnFull::DropOldest);
        let mut put = 0;
        while index.stats().unwrap().dropped_segments == 0 {
            index.put(&format!("k{put:x}"), "all").unwrap();
            put += 1;
        }
        index.add("more").unwrap();
        index.settle();
        let held = index.reader().unwrap().count("all").unwrap();
        let killed = directory.killed();
        drop(index);
        // The rows of the first tries are among the others.
        let checked = Index::check(directory.path()).unwrap();
        assert!(checked.is_sound(), "{checked}");
        let index = open_small(&killed, OnFull::DropOldest);
        let mut reader = index.reader().unwrap();
        let last = format!("key:k{:x}", put - 1);
        let found = ["all", "more", &last].map(|query| reader.count(query).unwrap());
        assert_eq!((found, index.accepted()), ([held, 1, 1], put + 1));
    });
}

/// The rows of a first try have the numbers of those of the second. Whether a search for a number comes
/// upon the former depends on how many rows lie between numbered ones.
#[test]
fn what_was_tried_twice_is_found_by_its_number() {
    comes_back(|| (24..32).for_each(tried_twice));
}

fn tried_twice(keyed: usize) {
    let directory = Directory::new();
    let index = open_small(&directory, OnFull::Refuse);
    let (mut key, mut more) = (0, 0);
    while more < 20 {
        // Who finds no place for its key is tried again, and with it what is behind it.
        let keys: Vec<String> = (key..key + keyed).map(|key| format!("k{key:x}")).collect();
        let keyed_documents = keys.iter().map(|key| (Some(&**key), "all"));
        index.add_all(keyed_documents.chain([(None, "all numbered")])).unwrap();
        key += keyed;
        more += u32::from(newest_cancellation(&directory).is_some());
    }
    index.flush().unwrap();
    let numbered = index.reader().unwrap().count("numbered").unwrap();
    let deleted = (0..index.accepted()).filter(|n| index.delete(&n.to_string()).unwrap());
    assert_eq!(deleted.count() as u64, numbered, "{keyed}");
    assert_eq!(index.reader().unwrap().count("numbered").unwrap(), 0);
}

fn tried_again_and_cut(on_full: OnFull) {
    let directory = Directory::new();
    let open = |directory: &Directory| open_small(directory, on_full);
    let index = open(&directory);
    let before = put_until_tried_again(&index, &directory);
    index.settle();
    let cut = directory.killed();
    drop(index);
    assert!(cut_before_the_cancellation(&cut));
    for _ in 0..3 {
        let index = open(&cut);
        // They were not acknowledged then: so each is there whole, or not at all, and so are those behind it.
        let mut reader = index.reader().unwrap();
        let more = index.accepted() - before;
        assert!(more <= TOGETHER, "{more}");
        assert_eq!(reader.count("all").unwrap(), before + more);
        for number in 0..TOGETHER {
            let found = reader.count(&format!("key:k{:x}", before + number)).unwrap();
            assert_eq!(found, u64::from(number < more));
        }
    }
}

const LOG: u64 = 16 << 10;

/// In the middle of the ring it fitted neither before the ring's end nor behind its beginning, and waited for ever.
#[test]
fn the_largest_document_goes_into_the_smallest_log_wherever_that_is_at() {
    comes_back(|| {
        for on_full in REFUSING {
            for mode in [Mode::Crash, Mode::Graceful] {
                largest(mode, on_full);
            }
        }
    });
}

/// The most that a log of this size lets a document have.
fn bytes_max(mode: Mode, on_full: OnFull) -> usize {
    let directory = Directory::new();
    let options = options(&directory, on_full).mode(mode).dram_bytes(4 << 20).log_bytes(LOG);
    match options.document_bytes_max(1 << 20).open() {
        Err(OpenError::Setting { max, .. }) => max as usize,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("a document of any size"),
    }
}

fn largest(mode: Mode, on_full: OnFull) {
    let most = bytes_max(mode, on_full);
    assert!(most > 6000 && most < LOG as usize / 2);
    let mut directory = Directory::new();
    let open = |directory: &Directory| {
        let options = options(directory, on_full).mode(mode).dram_bytes(4 << 20).log_bytes(LOG);
        options.document_bytes_max(most).open().unwrap()
    };
    let mut index = open(&directory);
    let padded = |bytes: usize, n: u64| {
        let word = format!("all n{n}");
        format!("{word}{}", " ".repeat(bytes.saturating_sub(word.len())))
    };
    let mut taken = 0;
    // Different distances between large documents: one begins at each place of the ring.
    for gap in (0..LOG as usize).step_by(328) {
        for part in [gap.min(most), gap.saturating_sub(most).min(most), most, most] {
            match taken % 2 {
                0 => index
                    .put(&format!("{taken:a>width$}", width = 1 + gap % 512), &padded(part, taken)),
                _ => index.add(&padded(part, taken)).map(drop),
            }
            .unwrap_or_else(|error| {
                panic!("{mode} {on_full:?}: {part} bytes behind {gap}: {error}")
            });
            taken += 1;
        }
        if mode == Mode::Crash && gap % 5 == 0 {
            index.settle();
            let killed = directory.killed();
            drop(index);
            directory = killed;
            index = open(&directory);
        }
    }
    index.close().unwrap();
    let index = open(&directory);
    assert_eq!(index.accepted(), taken);
    assert_eq!(index.reader().unwrap().count("all").unwrap(), taken);
}

/// The offset is logged again and again besides: the largest that is taken leaves room for the largest document, and for the largest
/// group, wherever the log is at.
#[test]
fn the_largest_offset_leaves_room_for_the_largest_document() {
    comes_back(|| {
        for documents_max in [1 << 10, 4 << 10] {
            REFUSING.into_iter().for_each(|on_full| beside_an_offset(on_full, documents_max));
        }
    });
}

#[test]
fn documents_as_long_as_the_log_allows_leave_no_room_for_an_offset() {
    let directory = Directory::new();
    let longest = bytes_max(Mode::Crash, OnFull::Wait);
    let options = options(&directory, OnFull::Wait).log_bytes(LOG).document_bytes_max(longest);
    let index = options.open().unwrap();
    let refused = index.write(Batch::from_iter([(None, "all")]).offset(b"")).unwrap_err();
    assert_eq!(refused, WriteError::OffsetTooLong { bytes: 0, bytes_max: 0 });
    assert_eq!(index.accepted(), 0);
}

/// The largest of `sizes` that is taken.
fn largest_taken(sizes: Range<usize>, mut is_taken: impl FnMut(usize) -> bool) -> usize {
    let (mut low, mut high) = (sizes.start, sizes.end);
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if is_taken(middle) { low = middle } else { high = middle }
    }
    low
}

fn beside_an_offset(on_full: OnFull, document_bytes_max: usize) {
    let directory = Directory::new();
    let options = options(&directory, on_full).dram_bytes(4 << 20).log_bytes(LOG);
    let index = options.document_bytes_max(document_bytes_max).open().unwrap();
    let add = |documents: usize, offset: usize| {
        let documents = (0..documents).map(|_| (None, "all"));
        index.write(Batch::from_iter(documents).offset(&vec![b'o'; offset]))
    };
    let offset = largest_taken(0..8192, |offset| match add(1, offset) {
        Ok(_) => true,
        Err(WriteError::OffsetTooLong { bytes, bytes_max }) => {
            assert!(bytes == offset && bytes > bytes_max);
            false
        }
        Err(other) => panic!("an offset of {offset} bytes: {other}"),
    });
    assert!((32..=4096).contains(&offset), "{offset} bytes beside {document_bytes_max}");
    let group = largest_taken(1..4096, |documents| match add(documents, offset) {
        Ok(_) => true,
        Err(WriteError::GroupTooLarge { bytes, bytes_max }) if bytes > bytes_max => false,
        Err(other) => panic!("{documents} documents: {other}"),
    });
    assert!(group > 50, "{group} documents beside an offset of {offset} bytes");
    let long = format!("all{}", " ".repeat(document_bytes_max - 3));
    for gap in (0..LOG as usize / 4).step_by(136) {
        index.add(&long[..3.max(gap.min(document_bytes_max))]).unwrap();
        if gap % 3 == 0 {
            index.flush().unwrap();
        }
        for documents in [group, 0, 0] {
            add(documents, offset).unwrap_or_else(|error| panic!("{on_full:?}, a group: {error}"));
        }
        for _ in 0..2 {
            index.add(&long).unwrap_or_else(|error| panic!("{on_full:?}, a document: {error}"));
        }
        index.put("key", &long).unwrap();
        index.delete("key").unwrap();
    }
    let killed = directory.killed();
    let accepted = index.accepted();
    drop(index);
    let options = self::options(&killed, on_full).dram_bytes(8 << 20);
    let index = options.open().unwrap();
    assert_eq!((index.accepted(), index.offset()), (accepted, Ok(Some(vec![b'o'; offset]))));
}
