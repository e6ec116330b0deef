//! Indexes that verify what they read, whose file somebody damaged: anyone who asks them gets the right answer or an error, and never a wrong
//! answer, whichever page it was, also when a start makes something else of it. Pages are looked at when they are read for the first time.

use spirit::{Index, WriteError};

use crate::damage::atlas::{Atlas, Place, Promise};
use crate::damage::image::Image;
use crate::damage::sample::{self, REFUSED};
use crate::support::directory::Directory;
use crate::support::{Chance, comes_back, size_of_run};

const PAGE: usize = 4096;

/// How a damaged file was answered from.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    refused: u64,
    same: u64,
    wrong: u64,
}

impl Tally {
    fn add(&mut self, answers: &[String], expected: &[String], what: &dyn std::fmt::Debug) {
        assert_eq!(answers.len(), expected.len());
        for (answer, expected) in answers.iter().zip(expected) {
            if answer == REFUSED {
                self.refused += 1;
            } else if answer == expected {
                self.same += 1;
            } else {
                self.wrong += 1;
                let cut = |text: &str| text.chars().take(200).collect::<String>();
                println!("{what:x?}: {}\n instead of {}", cut(answer), cut(expected));
            }
        }
    }
}

/// Asks a damaged file in a process that only reads, and in one that writes, at once and when all is in DRAM.
fn ask(image: &Image, expected: &[String], what: &dyn std::fmt::Debug, tally: &mut Tally) {
    if let Ok(index) = image.open_verified(true) {
        tally.add(&sample::answers(&index), expected, what);
        // What was right once is not looked at again.
        tally.add(&sample::answers(&index), expected, what);
    }
    if let Ok(index) = image.open_verified(false) {
        tally.add(&sample::answers(&index), expected, what);
        index.settle();
        tally.add(&sample::answers(&index), expected, what);
        takes_more_or_says_why(&index, what);
    }
}

fn takes_more_or_says_why(index: &Index, what: &dyn std::fmt::Debug) {
    for number in 0..3 {
        match index.put(&sample::key(number), "all of it") {
            Ok(_) => {}
            Err(error @ WriteError::Damaged { .. }) => {
                assert!(error.to_string().contains("spirit salvage"), "{error}");
            }
            Err(WriteError::HeapFull) => {}
            Err(error) => panic!("{what:x?}: {error}"),
        }
    }
}

/// The answers of a file that is whole: the same in every process.
fn expected(image: &Image) -> Vec<String> {
    let answers = sample::answers(&image.open_verified(false).unwrap());
    assert!(!answers.iter().any(|answer| answer == REFUSED));
    image.restore();
    assert_eq!(answers, sample::answers(&image.open_verified(true).unwrap()));
    image.restore();
    answers
}

/// Those whose answers do not change while they are asked: nothing is dropped from them.
fn samples() -> [Directory; 5] {
    let raw = [sample::settled(), sample::unmerged(), sample::to_be_merged()];
    let [settled, unmerged, to_be_merged] = raw;
    [settled, unmerged, to_be_merged, sample::packed(), sample::packed_unmerged()]
}

#[test]
fn a_zeroed_page_is_no_wrong_answer() {
    comes_back(|| {
        let mut tally = Tally::default();
        for (name, directory) in (0..).zip(samples()) {
            let image = Image::of(&directory);
            let expected = expected(&image);
            for page in (0..image.bytes.len()).step_by(PAGE) {
                let zeros = [0; PAGE];
                let stored = &image.bytes[page..(page + PAGE).min(image.bytes.len())];
                if stored.iter().all(|byte| *byte == 0) {
                    continue;
                }
                image.write(page as u64, &zeros[..stored.len()]);
                ask(&image, &expected, &(name, page), &mut tally);
                image.restore();
            }
        }
        println!("{tally:?}");
        assert_eq!(tally.wrong, 0);
        assert!(tally.refused > 1000 && tally.same > 1000, "{tally:?}");
    });
}

#[test]
fn a_flipped_bit_is_no_wrong_answer() {
    let each = size_of_run("SPIRIT_VERIFIED_FLIPS", 1);
    comes_back(move || {
        let (mut tally, mut chance) = (Tally::default(), Chance::new(17));
        for (name, directory) in (0..).zip(samples()) {
            let image = Image::of(&directory);
            let expected = expected(&image);
            let places = Atlas::of(&image.bytes).places;
            for page in (0..image.bytes.len()).step_by(PAGE) {
                for _ in 0..each {
                    let Some(at) = stored_byte(&image.bytes, page, &mut chance) else { break };
                    // A death stamp has no check of its own.
                    let is_in = |place: &&Place| {
                        place.at <= at as u64 && (at as u64) < place.at + place.len
                    };
                    let place = places.iter().find(is_in);
                    if place.is_some_and(|place| place.promise == Promise::Uncovered) {
                        continue;
                    }
                    let bit = chance.below(8);
                    image.write(at as u64, &[image.bytes[at] ^ 1 << bit]);
                    ask(&image, &expected, &(name, at, bit), &mut tally);
                    image.restore();
                }
            }
        }
        println!("{tally:?}");
        assert_eq!(tally.wrong, 0);
        assert!(tally.refused > 100, "{tally:?}");
    });
}

/// Pages are damaged while a writer has the index open. Who follows it reads them for the first time.
#[test]
fn a_follower_of_a_live_writer_gets_no_wrong_answer() {
    comes_back(|| {
        let mut tally = Tally::default();
        for directory in [sample::settled(), sample::packed()] {
            let image = Image::of(&directory);
            let expected = expected(&image);
            let writer = image.open_verified(false).unwrap();
            writer.settle();
            for (start, bytes) in Atlas::of(&image.bytes).segments.iter().map(|s| s.blocks[0]) {
                for page in (start..start + bytes).step_by(PAGE) {
                    image.write(page, &[0; PAGE]);
                    let follower = image.open_verified(true).unwrap();
                    tally.add(&sample::answers(&follower), &expected, &page);
                    drop(follower);
                    image.undo(page, PAGE);
                }
            }
            assert_eq!(sample::answers(&writer), expected);
        }
        println!("{tally:?}");
        assert_eq!(tally.wrong, 0);
        assert!(tally.refused > 100, "{tally:?}");
    });
}

/// Of packed rows it has whole pages, which no checksum goes over.
#[test]
fn a_page_of_death_stamps_is_no_page_of_zeros() {
    comes_back(|| {
        let (mut tally, mut pages) = (Tally::default(), 0);
        let mut image = Image::of(&sample::deleted());
        image.options = sample::larger;
        let expected = expected(&image);
        for Place { what, at, len, .. } in Atlas::of(&image.bytes).places {
            if what != "death stamps" {
                continue;
            }
            for page in (at.next_multiple_of(PAGE as u64)..at + len - PAGE as u64).step_by(PAGE) {
                pages += 1;
                image.write(page, &[0; PAGE]);
                ask(&image, &expected, &page, &mut tally);
                image.restore();
            }
        }
        println!("{pages} pages: {tally:?}");
        assert!(pages > 0);
        assert_eq!(tally.wrong, 0);
    });
}

/// A byte of a page that holds something.
fn stored_byte(bytes: &[u8], page: usize, chance: &mut Chance) -> Option<usize> {
    let page = page..(page + PAGE).min(bytes.len());
    let stored: Vec<usize> = page.filter(|at| bytes[*at] != 0).collect();
    if stored.is_empty() { None } else { Some(stored[chance.below(stored.len() as u64) as usize]) }
}
