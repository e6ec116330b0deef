//! The list of the documents' fields, in two slots behind the root. The crate that makes schemas
//! defines its contents; here it is bytes.
//!
//! A new list goes into the slot of the older one. It is durable before anything names a field that
//! it adds. The newest valid list wins. A cut during a write leaves the previous list, and nothing
//! names a field that this list lacks. The list only grows, and is written when it does.
//!
//! | word of a slot | |
//! |---|---|
//! | 0 | bytes of the list (low half), checksum (high half) |
//! | 1 | generation: counts the lists ever written |
//! | 2 .. | the list, filled up to whole words with zeros |
//!
//! The checksum covers the whole slot, with itself taken as zero. The root names the generation
//! before any document has a field that it adds. So a start distinguishes a damaged list from one
//! that was never written.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_door::{Door, Site};
use spirit_mem::{Region, Span};

use crate::ground::corrupt::{Corrupt, checksum};
use crate::ground::layout::{FIELD_LIST_BYTES as SLOT_BYTES, ROOT_BYTES};

const HEADER_WORDS: usize = 2;
/// Largest number of bytes of a list.
pub const LIST_BYTES_MAX: u64 = SLOT_BYTES - HEADER_WORDS as u64 * 8;

/// A list of fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldList {
    /// Number of lists ever written; 0 if none was.
    pub generation: u64,
    /// The bytes of the list.
    pub bytes: Vec<u8>,
}

/// The state of a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Slot {
    Empty,
    Torn,
    Whole(FieldList),
}

/// Reads the newest list of `region`. The region begins like the file and reaches up to
/// [`PARTS_START`](crate::ground::layout::PARTS_START). `generation_min` is the generation in the
/// root.
pub fn read(region: &Region, generation_min: u64) -> Result<FieldList, Corrupt> {
    let slots = [0, 1].map(|slot| read_slot(region, slot));
    let whole = slots.into_iter().filter_map(|slot| match slot {
        Slot::Whole(list) => Some(list),
        Slot::Empty | Slot::Torn => None,
    });
    let newest = whole.max_by_key(|list| list.generation).unwrap_or_default();
    if newest.generation < generation_min {
        let why = "it is older than the root says";
        return Err(Corrupt { what: "list of fields", at: place(generation_min), why });
    }
    Ok(newest)
}

/// Returns the generation of the newest list, with two loads. This list may still be in the middle
/// of a write.
#[inline]
pub fn newest(region: &Region) -> u64 {
    let generation = |slot| words(region, slot)[1].load(Relaxed);
    generation(0).max(generation(1))
}

/// Returns the offset of a generation's list.
fn place(generation: u64) -> u64 {
    ROOT_BYTES + generation % 2 * SLOT_BYTES
}

fn words(region: &Region, slot: u64) -> &[AtomicU64] {
    region.view(Span::new(place(slot), SLOT_BYTES / 8))
}

fn read_slot(region: &Region, slot: u64) -> Slot {
    let words = words(region, slot);
    let [first, generation] = [words[0].load(Relaxed), words[1].load(Relaxed)];
    if (first, generation) == (0, 0) {
        return Slot::Empty;
    }
    let len = (first & 0xFFFF_FFFF) as usize;
    if len as u64 > LIST_BYTES_MAX {
        return Slot::Torn;
    }
    let list = &words[HEADER_WORDS..][..len.div_ceil(8)];
    let list: Vec<u64> = list.iter().map(|word| word.load(Relaxed)).collect();
    if check_of(len, generation, &list) != (first >> 32) as u32 {
        return Slot::Torn;
    }
    let mut bytes: Vec<u8> = list.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.truncate(len);
    Slot::Whole(FieldList { generation, bytes })
}

fn check_of(len: usize, generation: u64, list: &[u64]) -> u32 {
    checksum(checksum(0, &[len as u64, generation]), list)
}

/// Writes a list, whose generation is one more than the newest's. It is durable on return, unless
/// the door reports a failed sync.
///
/// # Panics
/// If it is longer than [`LIST_BYTES_MAX`].
pub fn write(region: &Region, door: &Door, list: &FieldList) {
    assert!(list.bytes.len() as u64 <= LIST_BYTES_MAX, "a schema has a bounded number of fields");
    let mut bytes = list.bytes.clone();
    bytes.resize(list.bytes.len().next_multiple_of(8), 0);
    let words: Vec<u64> = bytes
        .chunks_exact(8)
        .map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")))
        .collect();
    let check = check_of(list.bytes.len(), list.generation, &words);
    let header = [list.bytes.len() as u64 | u64::from(check) << 32, list.generation];
    let slot = [header.map(u64::to_le_bytes).as_flattened(), &bytes].concat();
    let at = place(list.generation);
    door.write(Site::Fields, region, at, &slot);
    door.write_back(Site::FieldsWriteBack, region, at, slot.len() as u64);
    door.fence(Site::FieldsFence, region);
}

/// True if a slot is neither empty nor whole: a write to it was torn, or it is damaged.
pub fn is_torn(region: &Region) -> bool {
    [0, 1].into_iter().any(|slot| read_slot(region, slot) == Slot::Torn)
}

/// Returns the faults of both slots, even if the other slot suffices.
pub fn check(region: &Region, generation_min: u64) -> Vec<Corrupt> {
    let mut findings = Vec::new();
    let mut note =
        |slot, why| findings.push(Corrupt { what: "list of fields", at: place(slot), why });
    let newest = read(region, generation_min);
    let generation = newest.as_ref().map_or(generation_min, |list| list.generation);
    for slot in [0, 1] {
        match read_slot(region, slot) {
            Slot::Whole(list) if list.generation % 2 != slot => {
                note(slot, "it belongs to the other slot")
            }
            Slot::Whole(list) if list.generation + 1 < generation => {
                note(slot, "it is older than it can be");
            }
            Slot::Whole(_) => {}
            // The first list is in the second slot.
            Slot::Empty if generation < 2 - slot => {}
            Slot::Empty => note(slot, "it is missing"),
            Slot::Torn => {
                note(slot, "it was torn during a write, or is damaged; the other slot is used");
            }
        }
    }
    findings.extend(newest.err());
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::layout::PARTS_START;
    use spirit_door::Barrier;
    use spirit_mem::Residency;

    fn region() -> Region {
        Region::reserve(PARTS_START, Residency::OnTouch).unwrap()
    }

    fn list(generation: u64) -> FieldList {
        FieldList { generation, bytes: vec![7; generation as usize * 5] }
    }

    #[test]
    fn the_newest_list_wins() {
        let (region, door) = (region(), Door::new(Barrier::Order));
        assert_eq!(read(&region, 0), Ok(FieldList::default()));
        assert_eq!(check(&region, 0), []);
        for generation in 1..5 {
            write(&region, &door, &list(generation));
            assert_eq!(read(&region, generation - 1), Ok(list(generation)));
            assert_eq!(check(&region, generation), []);
        }
        let longest = FieldList { generation: 5, bytes: vec![1; LIST_BYTES_MAX as usize] };
        write(&region, &door, &longest);
        assert_eq!(read(&region, 5), Ok(longest));
    }

    /// Any bit of the newest wrong leaves the one before, unless the root knows better.
    #[test]
    fn a_torn_list_is_none() {
        let (region, door) = (region(), Door::new(Barrier::Order));
        for generation in [1, 2] {
            write(&region, &door, &list(generation));
        }
        let words = words(&region, 2);
        for bit in 0..(HEADER_WORDS + 2) * 64 {
            let word = &words[bit / 64];
            word.store(word.load(Relaxed) ^ 1 << (bit % 64), Relaxed);
            assert_eq!(read(&region, 1), Ok(list(1)), "bit {bit}");
            assert!(read(&region, 2).is_err());
            assert!(is_torn(&region));
            assert_eq!(check(&region, 1).len(), 1, "bit {bit}");
            assert_eq!(check(&region, 2).len(), 2, "bit {bit}");
            word.store(word.load(Relaxed) ^ 1 << (bit % 64), Relaxed);
        }
        assert!(!is_torn(&region));
    }
}
