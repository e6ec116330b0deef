//! Classes of characters, and copies straight and reversed, against the oracle over every level.

mod common;

use common::{plain, shared};
use proptest::prelude::*;
use spirit_kernel::{Level, classify_lower, copy, reverse_into};

fn check_text(src: &[u8]) {
    let (lower, classes) = common::classify_lower(src);
    for level in Level::all_supported() {
        for more in 0..3 {
            let blocks = classes.len() + more;
            let mut dst = vec![[0xEE; 64]; blocks];
            let mut masks = vec![[7, 7]; blocks];
            classify_lower(level, src, &mut dst, &mut masks);
            let (text, room) = dst.as_flattened().split_at(src.len());
            assert_eq!(text, lower, "{level:?} {src:?}");
            assert!(room.iter().all(|byte| *byte == 0), "{level:?} left something");
            let (of_text, of_room) = masks.split_at(classes.len());
            assert_eq!(of_text, classes, "{level:?} {src:?}");
            assert!(of_room.iter().all(|pair| *pair == [0, 0]), "{level:?} left something");
        }
    }
}

fn check_transfer(src: &[u32], room: usize) {
    let len = src.len().min(room);
    for level in Level::all_supported() {
        let (from, to) = (shared(src), shared(&vec![77; room]));
        copy(level, &from, &to);
        assert_eq!(plain(&to)[..len], src[..len], "{level:?}");
        reverse_into(level, &from, &to);
        let reversed: Vec<u32> = src[..len].iter().rev().copied().collect();
        assert_eq!(plain(&to)[..len], reversed, "{level:?}");
        assert!(plain(&to)[len..].iter().all(|word| *word == 77), "{level:?} wrote too far");
        assert_eq!(plain(&from), src, "{level:?}");
    }
}

#[test]
fn every_byte_at_every_lane() {
    for byte in 0..=u8::MAX {
        check_text(&[byte; 65]);
        let mut text = [b' '; 130];
        text[usize::from(byte) % 130] = byte;
        check_text(&text);
    }
    check_text(&(0..=u8::MAX).collect::<Vec<_>>());
}

#[test]
fn every_length() {
    for len in 0..300 {
        check_text(&b"The Quick 1 BROWN f\xC3\xB6x, [@`{]/:".repeat(10)[..len]);
        check_transfer(&(0..len as u32).collect::<Vec<_>>(), len);
        check_transfer(&(0..len as u32).collect::<Vec<_>>(), 40);
        check_transfer(&(0..33).collect::<Vec<_>>(), len);
    }
}

#[test]
#[should_panic(expected = "dst holds 0 blocks, the text has 5 bytes")]
fn a_short_destination_is_refused() {
    classify_lower(Level::detect(), b"12345", &mut [], &mut []);
}

#[test]
#[should_panic(expected = "1 pairs of masks for 2 blocks")]
fn too_few_masks_are_refused() {
    classify_lower(Level::detect(), &[0; 65], &mut [[0; 64]; 2], &mut [[0; 2]]);
}

#[test]
fn overlapping_slices_are_no_error() {
    for level in Level::all_supported() {
        let words = shared(&(0..200).collect::<Vec<_>>());
        copy(level, &words[..190], &words[3..]);
        reverse_into(level, &words, &words);
        assert_eq!(words.len(), 200);
    }
}

proptest! {
    #[test]
    fn texts_equal_the_oracle(text in prop::collection::vec(any::<u8>(), 0..400)) {
        check_text(&text);
    }

    #[test]
    fn transfers_equal_the_oracle(src in common::any_words(200), room in 0..200_usize) {
        check_transfer(&src, room);
    }
}
