//! The engine and files that somebody damaged: it says clearly that it will not open them, or answers as if nothing had
//! happened. Where neither is possible, because looking would cost a start too much, `check` finds the damage, and anyone who
//! searches gets answers, right or wrong, and never a panic.

use spirit::{Index, OpenError, WriteError};

use crate::damage::atlas::{Atlas, Promise, Segment};
use crate::damage::flips::{Flip, flips};
use crate::damage::forger::Forger;
use crate::damage::image::Image;
use crate::damage::sample;
use crate::support::columns::read_columns;
use crate::support::directory::Directory;
use crate::support::{Chance, comes_back, size_of_run};

const ROOT_PAGE: usize = 4096;
/// Sections of a segment, and the kind of that of columns.
const COLUMNS: u64 = 13;
/// What is done to a byte.
const MASKS: [u8; 3] = [0x01, 0x80, 0xFF];

/// What became of a file.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Refused,
    Same,
    Other,
}

/// Opens the file, and asks at once, when only what was asked for is in DRAM, and when all is. The file is another one then.
fn outcome(image: &Image, expected: &[String], what: &dyn std::fmt::Debug) -> Outcome {
    let index = match image.open() {
        Ok(index) => index,
        Err(error) => {
            assert_clear(&error);
            return Outcome::Refused;
        }
    };
    let first = sample::answers(&index);
    index.settle();
    let second = sample::answers(&index);
    sample::texts(&index);
    read_columns(&index);
    assert_alive(&index, what);
    if first == expected && second == expected { Outcome::Same } else { Outcome::Other }
}

/// An error that names the file or the executor, and the place.
fn assert_clear(error: &OpenError) {
    match error {
        OpenError::Root { .. } | OpenError::File { .. } => {
            assert!(error.to_string().contains("heap"))
        }
        // What is damaged may be met by what the log is replayed into.
        OpenError::Corrupt { .. } | OpenError::Recovery(WriteError::Damaged { .. }) => {
            assert!(error.to_string().contains(" at 0x"), "{error}");
        }
        _ => panic!("{error}"),
    }
}

/// No stage of the pipeline ended by a panic.
fn assert_alive(index: &Index, what: &dyn std::fmt::Debug) {
    let added = index.put("one more", "all of it");
    assert_ne!(added, Err(WriteError::Poisoned), "{what:x?}");
    let flushed = index.flush();
    assert_ne!(flushed, Err(WriteError::Poisoned), "{what:x?}");
    assert_ne!(index.delete("one more"), Err(WriteError::Poisoned), "{what:x?}");
}

fn expected(image: &Image) -> Vec<String> {
    let answers = sample::answers(&image.open().unwrap());
    image.restore();
    answers
}

#[test]
fn every_byte_of_both_roots() {
    comes_back(|| {
        let image = Image::of(&sample::small());
        let expected = expected(&image);
        for slot in [0, ROOT_PAGE] {
            for at in slot..slot + 512 {
                for mask in MASKS {
                    image.write(at as u64, &[image.bytes[at] ^ mask]);
                    assert!(image.is_found_out(), "byte {at} ^ {mask:#x}");
                    let index = image.open().unwrap();
                    assert_eq!(sample::answers(&index), expected, "byte {at} ^ {mask:#x}");
                    drop(index);
                    image.restore();
                }
            }
        }
    });
}

#[test]
fn what_lies_behind_the_roots_is_nothing() {
    let image = Image::of(&sample::small());
    let expected = expected(&image);
    for slot in [0, ROOT_PAGE] {
        image.write(slot as u64 + 512, &[0xFF; ROOT_PAGE - 512]);
    }
    assert!(!image.is_found_out());
    assert_eq!(outcome(&image, &expected, &"behind the roots"), Outcome::Same);
}

#[test]
fn roots_that_are_older_or_elsewhere() {
    let mut image = Image::of(&sample::small());
    let expected = expected(&image);
    let [first, second] = [0, ROOT_PAGE].map(|at| image.bytes[at..at + ROOT_PAGE].to_vec());
    let zeros = vec![0; ROOT_PAGE];
    let pairs = [
        [&second, &first],
        [&first, &first],
        [&second, &second],
        [&zeros, &second],
        [&first, &zeros],
    ];
    for (number, [a, b]) in pairs.into_iter().enumerate() {
        image.write(0, a);
        image.write(ROOT_PAGE as u64, b);
        assert!(image.is_found_out(), "pair {number}");
        assert_eq!(outcome(&image, &expected, &number), Outcome::Same, "pair {number}");
        image.restore();
    }
    image.write(0, &zeros);
    image.write(ROOT_PAGE as u64, &zeros);
    assert_eq!(outcome(&image, &expected, &"no root"), Outcome::Refused);
    // Roots from before the last starts: what these logged is not theirs.
    let roots = image.bytes[..2 * ROOT_PAGE].to_vec();
    image.restore();
    for number in 0..3 {
        let index = image.open().unwrap();
        index.put("later", &format!("all of start {number}")).unwrap();
        index.close().unwrap();
    }
    image.take();
    image.write(0, &roots);
    assert!(image.is_found_out());
    assert_eq!(outcome(&image, &expected, &"old roots"), Outcome::Refused);
}

#[test]
fn every_length() {
    comes_back(|| {
        let image = Image::of(&sample::small());
        let len = image.bytes.len() as u64;
        let step = 1 + (len - (64 << 10)) / 500;
        let above = (64 << 10..len).rev().step_by(step as usize);
        for len in above.chain((0..64 << 10).rev()) {
            image.truncate(len);
            let error = image.open().map(|_| ()).unwrap_err();
            assert!(matches!(error, OpenError::Root { .. }), "{len} bytes: {error}");
            assert!(error.to_string().contains(&len.to_string()), "{len} bytes: {error}");
            if len % 97 == 0 {
                assert!(image.check().is_err());
            }
        }
        image.restore();
        image.truncate(len + 1);
        assert!(image.open().is_err() && image.check().is_err());
    });
}

#[test]
fn zeroed_pages() {
    comes_back(|| {
        for directory in [sample::settled(), sample::unmerged(), sample::packed()] {
            let image = Image::of(&directory);
            let expected = expected(&image);
            for page in (0..image.bytes.len()).step_by(4096) {
                let zeros = vec![0; 4096.min(image.bytes.len() - page)];
                image.write(page as u64, &zeros);
                let found = image.is_found_out();
                let outcome = outcome(&image, &expected, &page);
                assert!(found || outcome != Outcome::Other, "page at {page:#x}: {outcome:?}");
                image.restore();
            }
        }
    });
}

/// Single bits of every kind of place. What is promised of each is said in the [atlas](crate::damage::atlas).
#[test]
fn flipped_bits() {
    let each = size_of_run("SPIRIT_HOSTILE_FLIPS", 24);
    comes_back(move || {
        let mut chance = Chance::new(5);
        for directory in sample::all() {
            let image = Image::of(&directory);
            let expected = expected(&image);
            for flip in flips(&Atlas::of(&image.bytes).places, each, &mut chance) {
                image.flip(flip);
                judge(&image, &expected, flip);
                image.restore();
            }
        }
    });
}

/// Texts that are damaged are never others: what is read is what was stored, or an error. Every byte of the indexes is
/// another one in turn, and some bits of the blocks.
#[test]
fn damaged_texts_are_missing_and_never_others() {
    let each = size_of_run("SPIRIT_HOSTILE_TEXTS", 150);
    comes_back(move || {
        let mut chance = Chance::new(29);
        for directory in [sample::settled(), sample::unmerged()] {
            let image = Image::of(&directory);
            let expected = sample::texts(&image.open().unwrap());
            assert!(expected.len() > 300 && expected.values().all(Option::is_some));
            image.restore();
            let places = Atlas::of(&image.bytes).places;
            let of = |what| places.iter().filter(move |place| place.what == what).cloned();
            let blocks: Vec<_> = of("texts").collect();
            let mut damage: Vec<(u64, u8)> =
                flips(&blocks, each, &mut chance).into_iter().map(|f| (f.at, 1 << f.bit)).collect();
            for place in of("text index") {
                let bytes = place.at..place.at + place.len;
                damage.extend(bytes.map(|at| (at, MASKS[chance.below(3) as usize])));
            }
            assert!(damage.len() as u64 > each);
            let mut missing = 0;
            for (at, mask) in damage {
                image.write(at, &[image.bytes[at as usize] ^ mask]);
                assert!(image.is_found_out(), "{at:#x} ^ {mask:#x}");
                let found = sample::texts(&image.open().unwrap());
                assert!(found.keys().eq(expected.keys()), "{at:#x} ^ {mask:#x}");
                let differing = found.iter().filter(|(key, text)| expected[*key] != **text);
                for (key, text) in differing {
                    assert_eq!(*text, None, "{key} at {at:#x} ^ {mask:#x}");
                    missing += 1;
                }
                image.restore();
            }
            assert!(missing as u64 > each, "{missing} texts were missing");
        }
    });
}

fn judge(image: &Image, expected: &[String], flip: Flip) {
    let found = image.is_found_out();
    let outcome = outcome(image, expected, &flip);
    match flip.promise {
        Promise::Refused => assert_ne!(outcome, Outcome::Other, "{flip:x?}"),
        Promise::Found => assert!(found, "{flip:x?}"),
        Promise::FoundOrHarmless => assert!(found || outcome == Outcome::Same, "{flip:x?}"),
        Promise::Harmless => assert_eq!(outcome, Outcome::Same, "{flip:x?}"),
        Promise::Uncovered => assert_ne!(outcome, Outcome::Refused, "{flip:x?}"),
    }
}

/// What was forged, where, and how.
type Forged = (&'static str, u64, u64);

/// Runs `try_one` with files that were made to deceive, `each` of every sample: words anywhere are others, and every checksum is right.
fn with_forgeries(each: u64, seed: u64, try_one: impl Fn(&Image, &Forged) + Send + 'static) {
    comes_back(move || {
        let mut chance = Chance::new(seed);
        for directory in sample::all() {
            let image = Image::of(&directory);
            let atlas = Atlas::of(&image.bytes);
            for number in 0..each {
                let mut bytes = image.bytes.clone();
                let forged = forge(&atlas, &mut bytes, number, &mut chance);
                image.write(0, &bytes);
                try_one(&image, &forged);
                image.restore();
            }
        }
    });
}

#[test]
fn forged_files() {
    let each = size_of_run("SPIRIT_HOSTILE_FORGERIES", 300);
    with_forgeries(each, 23, |image, forged| {
        let _ = image.check();
        if let Ok(index) = image.open() {
            sample::answers(&index);
            index.settle();
            sample::answers(&index);
            read_columns(&index);
            assert_alive(&index, forged);
        }
    });
}

#[test]
fn a_file_made_to_deceive_is_salvaged_or_refused() {
    let out = Directory::new();
    with_forgeries(size_of_run("SPIRIT_FORGED_SALVAGES", 60), 21, move |image, forged| {
        let folder = out.path().join("salvaged");
        if Index::salvage(image.path(), &folder, |_| {}).is_ok() {
            let report = Index::check(&folder).unwrap();
            assert!(report.is_sound(), "{forged:x?}: {report}");
            let _ = std::fs::remove_dir_all(&folder);
        }
    });
}

/// Changes a word and makes the checksums over it right; says what it was.
fn forge(atlas: &Atlas<'_>, bytes: &mut [u8], number: u64, chance: &mut Chance) -> Forged {
    let mut forger = Forger { bytes };
    let segment = &atlas.segments[chance.below(atlas.segments.len() as u64) as usize];
    match number % 6 {
        0 => {
            let at = 4096 * chance.below(2) + 16 + chance.below(22) * 8;
            let word = forger.bend(at, chance);
            forger.roots();
            ("root", at, word)
        }
        1 => {
            let at = segment.slot + 8 + chance.below(27) * 8;
            let word = forger.bend(at, chance);
            forger.entry(segment);
            ("slot", at, word)
        }
        2 => {
            let at = segment.table + chance.below(3 * segment.sections.len() as u64) * 8;
            let word = forger.bend(at, chance);
            forger.table(segment);
            ("section table", at, word)
        }
        3 => {
            let (_, start, bytes) =
                segment.sections[chance.below(segment.sections.len() as u64) as usize];
            if bytes < 8 {
                return ("nothing", 0, 0);
            }
            let at = start + chance.below(bytes / 8) * 8;
            let word = forger.bend(at, chance);
            forger.segment(segment);
            ("section", at, word)
        }
        // Nothing leads to packed segments.
        4 if atlas.records.is_empty() => ("nothing", 0, 0),
        4 if chance.below(2) == 0 => {
            let at = atlas.chain_words[chance.below(atlas.chain_words.len() as u64) as usize];
            let word = forger.bend(at, chance);
            forger.chain_word(at);
            ("chain word", at, word)
        }
        4 => {
            let record = atlas.records[chance.below(atlas.records.len() as u64) as usize];
            let at = record + 8 + chance.below(4) * 8;
            let word = forger.bend(at, chance);
            forger.record(record);
            ("record", at, word)
        }
        _ if atlas.log_records.is_empty() => ("nothing", 0, 0),
        _ => {
            let record = atlas.log_records[chance.below(atlas.log_records.len() as u64) as usize];
            let at = record.at + chance.below(record.bytes / 8) * 8;
            let word = forger.bend(at, chance);
            forger.log_record(&record, atlas.salt);
            ("log record", at, word)
        }
    }
}

/// Anyone who makes checksums right too has to make the directory of columns such as can be, and keywords those of the documents.
#[test]
fn forged_columns_are_found_out() {
    comes_back(|| {
        let image = Image::of(&sample::settled());
        let segments = Atlas::of(&image.bytes).segments;
        let columns_of = |segment: &Segment| {
            segment.sections.iter().find(|(kind, ..)| *kind == COLUMNS).copied()
        };
        let with_columns =
            segments.iter().find_map(|segment| Some((segment, columns_of(segment)?)));
        let (segment, (_, start, bytes)) = with_columns.unwrap();
        let count = image.bytes[start as usize];
        assert!(count >= 5 && bytes > 1000, "{count} columns, {bytes} bytes");
        let word =
            |at: u64| u64::from_le_bytes(image.bytes[at as usize..][..8].try_into().unwrap());
        // The first column is that of keywords, few rows of which have any: 4 bytes for the row of each, and 1 for its value.
        let [which, counts] = [8, 16].map(|at| word(start + at));
        assert_eq!(which & 0xFFFF_FFFF, 1 | 2 << 12 | 1 << 16 | 1 << 24);
        let (values, first) = (counts & 0xFFFF_FFFF, start + (counts >> 32) * 8);
        let contents = [(first, values * 4), (first + (values * 4).next_multiple_of(8), values)];
        let bits = |(at, bytes): (u64, u64), each| (at * 8..(at + bytes) * 8).step_by(each);
        let directory = bits((start, 8 + u64::from(count) * 32), 1);
        for bit in directory.chain(contents.into_iter().flat_map(|part| bits(part, 7))) {
            let mut bytes = image.bytes.clone();
            bytes[bit as usize / 8] ^= 1 << (bit % 8);
            Forger { bytes: &mut bytes }.segment(segment);
            image.write(0, &bytes);
            assert!(image.is_found_out(), "bit {bit} behind {start}");
        }
    });
}
