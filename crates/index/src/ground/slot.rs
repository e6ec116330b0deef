//! The engrave log: one slot a segment, at a place that its position determines (paper §4.8, the
//! eLog).
//!
//! | word | |
//! |---|---|
//! | 0 | mark: state (3 bits), position (31 bits), check of both (30 bits) |
//! | 1 .. 29 | the segment's numbers and the place of its copy ([`Entry`]) |
//! | 29 | checksum of words 1 .. 29 (low half); 0 |
//! | 30 | dead rows (low half), check (high half): the only word that changes while it lives |
//! | 31 | 0 |
//!
//! A slot counts if its mark says so, and the mark is stored when all else is durable. So a segment
//! whose engraving was broken off does not exist and needs no undo. Its space is allocated again.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

use spirit_door::{Door, Site};
use spirit_mem::{Region, Span};

use crate::ground::corrupt::{Corrupt, checksum};
use crate::ground::ids::{Position, State};
use crate::ground::layout::{NvmLayout, SLOT_BYTES};

/// Number of words of an entry.
pub(crate) const ENTRY_WORDS: usize = 28;
const ENTRY_AT: u64 = 8;
const CHECK_AT: u64 = 29 * 8;
const DEAD_AT: u64 = 30 * 8;
const _: () = assert!(ENTRY_AT + ENTRY_WORDS as u64 * 8 == CHECK_AT && DEAD_AT + 16 == SLOT_BYTES);

/// The state in the mark of a segment that retention dropped.
const RETIRED: u64 = 6;

/// The contents of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// No segment was ever engraved here.
    Empty,
    /// The segment is there.
    Live(Position, State),
    /// The segment was there.
    Retired(Position),
}

impl Mark {
    /// Returns its word.
    pub(crate) fn word(self) -> u64 {
        let (state, position) = match self {
            Mark::Empty => return 0,
            Mark::Live(position, state) => (state as u64, position),
            Mark::Retired(position) => (RETIRED, position),
        };
        let said = state | (position as u64) << 3;
        said | (checksum(0, &[said]) as u64 & 0x3FFF_FFFF) << 34
    }

    /// Parses its word, if the word was ever stored.
    pub(crate) fn from_word(word: u64) -> Option<Mark> {
        if word == 0 {
            return Some(Mark::Empty);
        }
        let position = (word >> 3 & 0x7FFF_FFFF) as Position;
        let mark = match word & 7 {
            RETIRED => Mark::Retired(position),
            3 => Mark::Live(position, State::Engraved),
            5 => Mark::Live(position, State::Merged),
            _ => return None,
        };
        (mark.word() == word).then_some(mark)
    }
}

macro_rules! entry {
    ($($(#[$doc:meta])* $name:ident = $index:expr,)*) => {
        /// The numbers of a segment in its slot.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Entry {
            $($(#[$doc])* pub $name: u64,)*
        }

        $(const _: () = assert!($index < ENTRY_WORDS);)*

        impl Entry {
            /// Returns its words.
            pub fn words(&self) -> [u64; ENTRY_WORDS] {
                let mut words = [0; ENTRY_WORDS];
                $(words[$index] = self.$name;)*
                words
            }

            /// Parses its words.
            pub fn from_words(words: &[u64; ENTRY_WORDS]) -> Entry {
                Entry { $($name: words[$index],)* }
            }
        }
    };
}

entry! {
    /// The segment's id.
    id = 0,
    /// The executor's row number of local id 0.
    base_row = 1,
    /// Number of rows.
    rows = 2,
    /// The index-wide sequence number from which the rows' deltas count.
    base_sequence = 3,
    /// Upper bound of the sequence numbers of this executor in this and older segments, exclusive.
    sequence_end = 4,
    /// Log position of the first operation behind them, or of a record that holds it.
    log_from = 5,
    /// One past the highest number that a document of this executor took, in this segment or in
    /// older ones.
    documents_end = 6,
    /// One past the largest number given as an explicit key until then.
    explicit_end = 7,
    /// The first automatic key of its rows.
    numbers_start = 8,
    /// One past the last automatic key of its rows; 0 if there are no such keys.
    numbers_end = 9,
    /// The row number behind its last row.
    row_end = 10,
    /// Number of distinct terms.
    terms = 11,
    /// Number of postings.
    posting_count = 12,
    /// Number of tokens.
    tokens = 13,
    /// Units of the document vectors and stored keys in use.
    vector_units = 14,
    /// Number of rows of each bitmap; 0 if lists have none.
    bitmap_rows = 15,
    /// Offset of its block in the long-term partition.
    long_start = 16,
    /// Bytes of that block.
    long_bytes = 17,
    /// Offset of its block in the short-term partition.
    short_start = 18,
    /// Bytes of that block.
    short_bytes = 19,
    /// Number of sections of its copy.
    sections = 20,
    /// Checksum of the section table.
    sections_check = 21,
    /// Arrival of its last operation, in milliseconds since 1970.
    arrived_ms = 22,
    /// Number of documents that this executor had accepted when the segment was full.
    accepted = 23,
    /// Number of these that lived when their segment was dropped, before this one was engraved.
    expired = 24,
    /// The oldest segment at that time.
    oldest = 25,
    /// Bytes of its documents' texts, if they are kept.
    text_bytes = 26,
    /// Number of its documents with kept tokens, and of these tokens, in the form of a running
    /// count.
    kept = 27,
}

/// The slots of an executor.
#[derive(Clone, Copy)]
pub(crate) struct Slots<'a> {
    region: &'a Region,
    start: u64,
    count: u64,
}

impl<'a> Slots<'a> {
    /// Returns the slots of `layout`.
    pub(crate) fn new(region: &'a Region, layout: &NvmLayout) -> Slots<'a> {
        Slots { region, start: layout.slots.start(), count: layout.slots_max }
    }

    /// Returns the number of slots.
    pub(crate) fn count(self) -> u64 {
        self.count
    }

    /// Returns the offset of a position's slot.
    pub(crate) fn place(self, position: Position) -> u64 {
        self.start + position as u64 % self.count * SLOT_BYTES
    }

    fn word(self, at: u64) -> &'a AtomicU64 {
        &self.region.view(Span::<AtomicU64>::new(at, 1))[0]
    }

    /// Returns the mark of the slot at `index`.
    pub(crate) fn mark(self, index: u64) -> Result<Mark, Corrupt> {
        let at = self.start + index * SLOT_BYTES;
        let corrupt = |why| Corrupt { what: "segment mark", at, why };
        let mark = Mark::from_word(self.word(at).load(Acquire));
        let mark = mark.ok_or_else(|| corrupt("its check is wrong"))?;
        match mark {
            Mark::Live(position, _) | Mark::Retired(position)
                if position as u64 % self.count != index =>
            {
                Err(corrupt("it belongs to another slot's segment"))
            }
            _ => Ok(mark),
        }
    }

    /// Returns the state of the segment at `position`, if it lives. It is merged if it or a newer
    /// live segment is marked so.
    pub(crate) fn state(self, position: Position) -> Result<Option<State>, Corrupt> {
        // Each round goes to the next newer segment. The first slot without such a segment ends the
        // loop.
        let mut at = position;
        loop {
            match self.mark(at as u64 % self.count)? {
                Mark::Live(found, State::Merged) if found == at => return Ok(Some(State::Merged)),
                Mark::Live(found, _) if found == at => at += 1,
                _ => return Ok((at > position).then_some(State::Engraved)),
            }
        }
    }

    /// Returns the entry of the slot of `position`, whose mark was checked.
    pub(crate) fn entry(self, position: Position) -> Result<Entry, Corrupt> {
        let place = self.place(position);
        let mut words = [0; ENTRY_WORDS];
        let stored = Span::<AtomicU64>::new(place + ENTRY_AT, ENTRY_WORDS as u64);
        for (word, stored) in words.iter_mut().zip(self.region.view(stored)) {
            *word = stored.load(Relaxed);
        }
        let corrupt = |why| Corrupt { what: "segment slot", at: place, why };
        if self.word(place + CHECK_AT).load(Relaxed) != checksum(0, &words) as u64 {
            return Err(corrupt("its checksum is wrong"));
        }
        let entry = Entry::from_words(&words);
        if entry.id >> 1 != position as u64 {
            return Err(corrupt("it belongs to another segment"));
        }
        Ok(entry)
    }

    /// Returns the number of dead rows of the segment at `position`.
    pub(crate) fn dead(self, position: Position) -> Result<u32, Corrupt> {
        let at = self.place(position) + DEAD_AT;
        let word = self.word(at).load(Relaxed);
        let corrupt = Corrupt { what: "count of dead rows", at, why: "its check is wrong" };
        if word == dead_word(word as u32) { Ok(word as u32) } else { Err(corrupt) }
    }

    /// Writes a slot, apart from its mark, and writes it back.
    pub(crate) fn write(self, door: &Door, position: Position, entry: &Entry) {
        let place = self.place(position);
        let mut words = [0; ENTRY_WORDS + 1];
        words[..ENTRY_WORDS].copy_from_slice(&entry.words());
        words[ENTRY_WORDS] = checksum(0, &words[..ENTRY_WORDS]) as u64;
        door.write_words(Site::Slot, self.region, place + ENTRY_AT, &words);
        door.write_back(Site::SlotWriteBack, self.region, place, SLOT_BYTES);
    }

    /// Stores the number of dead rows of the segment at `position`, and writes the word back.
    pub(crate) fn set_dead(
        self,
        door: &Door,
        [store, back]: [Site; 2],
        position: Position,
        dead: u32,
    ) {
        let at = self.place(position) + DEAD_AT;
        door.store(store, self.region, at, dead_word(dead));
        door.write_back(back, self.region, at, 8);
    }

    /// Marks the segment as engraved, or marks it and all older ones as merged. It is durable on
    /// return. To be engraved, slot and copy are durable before. To be merged, the dictionary's
    /// heads are.
    pub(crate) fn set_live(self, door: &Door, position: Position, state: State) {
        let at = self.place(position);
        door.publish(Site::Mark, self.region, at, Mark::Live(position, state).word());
        door.write_back(Site::MarkWriteBack, self.region, at, 8);
        door.fence(Site::MarkFence, self.region);
    }

    /// Marks the segment as gone, durable on return.
    pub(crate) fn retire(self, door: &Door, position: Position) {
        let at = self.place(position);
        door.publish(Site::Retire, self.region, at, Mark::Retired(position).word());
        door.write_back(Site::RetireWriteBack, self.region, at, 8);
        door.fence(Site::RetireFence, self.region);
    }
}

pub(crate) fn dead_word(dead: u32) -> u64 {
    dead as u64 | (checksum(0, &[dead as u64]) as u64) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_told_from_anything_else() {
        let marks = [
            Mark::Empty,
            Mark::Live(0, State::Engraved),
            Mark::Live(0x7FFF_FFFF, State::Merged),
            Mark::Retired(17),
        ];
        for mark in marks {
            assert_eq!(Mark::from_word(mark.word()), Some(mark));
            if mark != Mark::Empty {
                for bit in 0..64 {
                    assert_eq!(Mark::from_word(mark.word() ^ 1 << bit), None, "{mark:?} bit {bit}");
                }
            }
        }
    }

    #[test]
    fn entries_survive_their_words() {
        let words = std::array::from_fn(|i| i as u64 * 7 + 1);
        assert_eq!(Entry::from_words(&words).words(), words);
    }
}
