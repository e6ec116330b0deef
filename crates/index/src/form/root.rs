//! The root: the words about a whole index, in two slots at the beginning of its file.
//!
//! A new root goes into the slot of the older one, and is durable before anything relies on it. The
//! newest valid slot wins. So a cut during a write leaves the previous root. A root is written when
//! an index is made, before it is changed, and when it is closed in an orderly way; and
//! when the list of fields has grown, or a bulk load has come further. No document waits for it.
//!
//! | word of a slot | |
//! |---|---|
//! | 0 | magic number |
//! | 1 | format version (low half), byte order mark (high half) |
//! | 2 .. 63 | [`Root`] |
//! | 63 | checksum of the words before |

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_door::{Door, Site};
use spirit_mem::{Region, Residency, Span};

use crate::form::shape::NUMBERS_MAX;
use crate::ground::blocks::Blocks;
use crate::ground::corrupt::{Corrupt, checksum};
use crate::ground::geometry::{
    Geometry, GeometryError, Postings, SEGMENT_BYTES_MAX, SEGMENT_BYTES_MIN, Settings,
};
use crate::ground::layout::{NvmSettings, PAGE, PARTS_START, ROOT_BYTES};
use crate::ground::parts::Parts;

const SLOT_BYTES: u64 = 4096;
/// Number of words of a root.
pub const WORDS: usize = 64;
const FIELDS: usize = WORDS - 3;
const _: () = assert!(2 * SLOT_BYTES == ROOT_BYTES && WORDS as u64 * 8 <= SLOT_BYTES);
/// `SPIRITIX`.
const MAGIC: u64 = u64::from_le_bytes(*b"SPIRITIX");
/// The format that this version reads and writes.
pub const FORMAT_VERSION: u32 = 11;
/// Index of the field `start`.
const START_FIELD: u64 = 26;
const BYTE_ORDER: u64 = 0x0102_0304;

macro_rules! root {
    ($($(#[$doc:meta])* $name:ident = $index:expr,)*) => {
        /// The contents of a root.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Root {
            $($(#[$doc])* pub $name: u64,)*
        }

        $(const _: () = assert!($index < FIELDS);)*

        impl Root {
            fn fields(&self) -> [u64; FIELDS] {
                let mut words = [0; FIELDS];
                $(words[$index] = self.$name;)*
                words
            }

            fn from_fields(words: &[u64]) -> Root {
                Root { $($name: words[$index],)* }
            }
        }
    };
}

root! {
    /// Number of roots ever written; the highest is the newest.
    generation = 0,
    /// Number of starts of the index.
    incarnation = 1,
    /// 1 while the index is open, 2 after an orderly close.
    state = 2,
    /// Initial value of the checksums of log records.
    salt = 3,
    /// Number of executors.
    executors = 4,
    /// Bytes of a fresh segment.
    segment_bytes = 5,
    /// Bytes of each executor's part of the file.
    nvm_bytes = 6,
    /// Bytes of each executor's log.
    log_bytes = 7,
    /// 1 if document vectors are kept.
    positions = 8,
    /// The number of the mode.
    mode = 9,
    /// The number of the level of durability.
    level = 10,
    /// The analyzer's name, zero padded.
    analyzer = 11,
    /// Largest number of bytes of a document.
    document_bytes_max = 12,
    /// The number of the behaviour on a full heap.
    on_full = 13,
    /// Time when the index was made, in milliseconds since 1970.
    created_ms = 14,
    /// First half of the id of the machine's boot during which the index was opened.
    boot_low = 15,
    /// Second half of that id.
    boot_high = 16,
    /// The device that the file was on.
    device = 17,
    /// The file's number on it.
    inode = 18,
    /// The mount through which it was seen.
    mount = 19,
    /// Bytes of DRAM that the index was opened with.
    dram_bytes = 20,
    /// 1 if the documents' texts are kept, 2 if they are also not searched.
    store = 21,
    /// Minimum age up to which documents are kept, in milliseconds after their arrival. 0: as long
    /// as there is room.
    retain_ms = 22,
    /// 1 if documents may only have fields that are in the list.
    strict = 23,
    /// Generation of the list of fields when the root was written.
    fields = 24,
    /// The form of engraved lists: 0 raw, 1 packed.
    postings = 25,
    /// A number drawn at each start for writing. Readers in other processes see by it that a writer
    /// has started.
    start = START_FIELD as usize,
    /// The number of the file system while it was mounted; 0 if it has none.
    file_system = 27,
    /// Time when the file was made, in nanoseconds since 1970; 0 if the file system does not record
    /// it.
    birth = 28,
    /// The index's time when the root was written, in milliseconds since 1970. 0 if documents are
    /// kept as long as there is room.
    time_ms = 29,
    /// The machine's wall clock at that moment.
    wall_ms = 30,
    /// One past the sequence number of the first document of a bulk load that is unfinished; 0
    /// without one.
    bulk_first = 31,
    /// The document number of that document. Both numbers go up by one a document.
    bulk_document = 32,
    /// The sequence number of the first document of the load that may not be engraved.
    bulk_next = 33,
    /// The kinds of keys before it: bit 0 automatic ones, bit 1 explicit ones that are numbers.
    bulk_keys = 34,
    /// The place of that document in the collection, in words of the application.
    bulk_place_0 = 35,
    /// Its second word.
    bulk_place_1 = 36,
    /// Its third word.
    bulk_place_2 = 37,
    /// Its fourth word.
    bulk_place_3 = 38,
    /// Its fifth word.
    bulk_place_4 = 39,
    /// Its sixth word.
    bulk_place_5 = 40,
    /// Bytes of the short-term partition of each executor's part; 0: a share of the part.
    short_bytes = 41,
    /// Bytes of its long-term partition; 0: what the others leave.
    long_bytes = 42,
    /// Bytes of its dictionary; 0: a share of the part.
    dictionary_bytes = 43,
}

impl Root {
    /// Returns the bytes of the index's file, or `None` if no file can have them.
    pub fn file_bytes(&self) -> Option<u64> {
        self.executors.checked_mul(self.nvm_bytes)?.checked_add(PARTS_START)
    }

    /// Returns the sizes of each executor's part.
    pub fn nvm(&self) -> NvmSettings {
        let parts = Parts {
            short: self.short_bytes,
            long: self.long_bytes,
            dictionary: self.dictionary_bytes,
        };
        NvmSettings { bytes: self.nvm_bytes, log_bytes: self.log_bytes, parts }
    }

    /// Returns the form in which engraved lists are stored.
    pub fn postings(&self) -> Postings {
        if self.postings == 0 { Postings::Raw } else { Postings::Packed }
    }

    /// Returns settings of a memory over one of the parts. Any amount of DRAM suffices for the
    /// contents of the file, so this takes the least.
    pub fn settings(&self) -> Result<Settings, GeometryError> {
        let settings = Settings {
            dram_bytes: 0,
            segment_bytes: self.segment_bytes,
            blocks: Blocks::Variable { doublings: 1 },
            positions: self.positions != 0,
            store: self.store != 0,
            postings: self.postings(),
            residency: Residency::OnTouch,
            parts: Parts::default(),
            nvm: Some(self.nvm()),
        };
        Ok(Settings { dram_bytes: Geometry::dram_bytes_min(settings)?, ..settings })
    }

    fn are_parts_possible(&self) -> bool {
        let parts = [self.short_bytes, self.long_bytes, self.dictionary_bytes];
        // The usual ones always fit.
        let all_usual = parts == [0; 3];
        all_usual
            || (parts.iter().all(|bytes| *bytes < NUMBERS_MAX && bytes.is_multiple_of(PAGE))
                && self.nvm().fits(self.segment_bytes))
    }

    /// True if the sizes are possible. Sums of possible sizes do not overflow.
    fn is_possible(&self) -> bool {
        let sizes = (SEGMENT_BYTES_MIN..=SEGMENT_BYTES_MAX).contains(&self.segment_bytes)
            && self.executors > 0
            && self.nvm_bytes.is_multiple_of(PAGE)
            && self.nvm_bytes < NUMBERS_MAX
            && self.log_bytes <= self.nvm_bytes
            && self.are_parts_possible();
        // The log has room for 32 bits of an incarnation.
        let numbers = self.generation < NUMBERS_MAX && self.incarnation < u32::MAX as u64;
        sizes && numbers
    }
}

/// The reason why a file has no root that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RootError {
    /// The file is not that of an index.
    NotAnIndex,
    /// Another version made the index, and its format is not read here.
    Version {
        /// The version in the file.
        found: u32,
    },
    /// A machine with another byte order made the index.
    ByteOrder,
    /// Neither slot is valid.
    Corrupt(Corrupt),
}

impl std::fmt::Display for RootError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RootError::NotAnIndex => f.write_str("this is not the file of an index"),
            RootError::Version { found } => write!(
                f,
                "its format is version {found}, and this program reads version {FORMAT_VERSION}: use the program that made it"
            ),
            RootError::ByteOrder => f.write_str(
                "it was made on a machine with another byte order: index the documents anew here",
            ),
            RootError::Corrupt(corrupt) => write!(f, "{corrupt}; restore a backup"),
        }
    }
}

impl std::error::Error for RootError {}

/// Reads the newest valid root of `region`, which is at least [`ROOT_BYTES`] long.
pub fn read(region: &Region) -> Result<Root, RootError> {
    match [0, 1].map(|slot| read_slot(region, slot)) {
        [Ok(a), Ok(b)] => Ok(if a.generation > b.generation { a } else { b }),
        [Ok(root), Err(_)] | [Err(_), Ok(root)] => Ok(root),
        // The second slot is empty after the making of an index: the first one says more.
        [Err(RootError::NotAnIndex), Err(second)] => Err(second),
        [Err(first), Err(_)] => Err(first),
    }
}

/// Loads the start numbers of both slots, valid or not, with two loads.
#[inline]
pub fn starts(region: &Region) -> [u64; 2] {
    [0, 1].map(|slot| {
        let at = slot * SLOT_BYTES + (2 + START_FIELD) * 8;
        region.view(Span::<AtomicU64>::new(at, 1))[0].load(Relaxed)
    })
}

fn read_slot(region: &Region, slot: u64) -> Result<Root, RootError> {
    let at = slot * SLOT_BYTES;
    let stored = region.view(Span::<AtomicU64>::new(at, WORDS as u64));
    parse(&std::array::from_fn(|i| stored[i].load(Relaxed)), at)
}

/// Parses the root in these words, which lie at `at` of a file.
pub fn parse(words: &[u64; WORDS], at: u64) -> Result<Root, RootError> {
    if words[0] != MAGIC {
        return Err(if words[0] == MAGIC.swap_bytes() {
            RootError::ByteOrder
        } else {
            RootError::NotAnIndex
        });
    }
    if words[WORDS - 1] != checksum(0, &words[..WORDS - 1]) as u64 {
        let why = "its checksum is wrong";
        return Err(RootError::Corrupt(Corrupt { what: "root", at, why }));
    }
    if words[1] as u32 != FORMAT_VERSION {
        return Err(RootError::Version { found: words[1] as u32 });
    }
    if words[1] >> 32 != BYTE_ORDER {
        return Err(RootError::ByteOrder);
    }
    let root = Root::from_fields(&words[2..WORDS - 1]);
    if !root.is_possible() {
        let why = "its values are not valid";
        return Err(RootError::Corrupt(Corrupt { what: "root", at, why }));
    }
    Ok(root)
}

/// Returns the faults of both slots, even if the other slot suffices.
pub fn check(region: &Region) -> Vec<Corrupt> {
    let mut findings = Vec::new();
    let mut note = |slot: u64, why| {
        findings.push(Corrupt { what: "root", at: slot * SLOT_BYTES, why });
    };
    let newest = read(region).map_or(0, |root| root.generation);
    for slot in [0, 1] {
        match read_slot(region, slot) {
            Ok(root) if root.generation % 2 != slot => note(slot, "it belongs to the other slot"),
            Ok(root) if root.generation + 1 < newest => note(slot, "it is older than it can be"),
            Ok(_) => {}
            // The second slot is empty until the index is opened again, or closed.
            Err(_) if newest == 0 && slot == 1 && is_empty(region, slot) => {}
            Err(_) => {
                note(slot, "it was torn during a write, or is damaged; the other slot is used")
            }
        }
    }
    findings
}

fn is_empty(region: &Region, slot: u64) -> bool {
    let stored = region.view(Span::<AtomicU64>::new(slot * SLOT_BYTES, WORDS as u64));
    stored.iter().all(|word| word.load(Relaxed) == 0)
}

/// Returns the words of a root.
pub fn words(root: &Root) -> [u64; WORDS] {
    let mut words = [0; WORDS];
    words[0] = MAGIC;
    words[1] = FORMAT_VERSION as u64 | BYTE_ORDER << 32;
    words[2..WORDS - 1].copy_from_slice(&root.fields());
    words[WORDS - 1] = checksum(0, &words[..WORDS - 1]) as u64;
    words
}

/// Writes `root`, whose generation is one more than the newest's. It is durable on return.
pub fn write(region: &Region, door: &Door, root: &Root) {
    let words = words(root);
    let at = root.generation % 2 * SLOT_BYTES;
    door.write_words(Site::Root, region, at, &words);
    door.write_back(Site::RootWriteBack, region, at, WORDS as u64 * 8);
    door.fence(Site::RootFence, region);
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirit_door::Barrier;
    use spirit_mem::Residency;

    fn word(region: &Region, index: u64) -> &AtomicU64 {
        &region.view(Span::<AtomicU64>::new(index * 8, 1))[0]
    }

    fn root(generation: u64) -> Root {
        let (executors, segment_bytes) = (1, SEGMENT_BYTES_MIN);
        Root { generation, inode: generation + 7, executors, segment_bytes, ..Root::default() }
    }

    #[test]
    fn the_newest_valid_root_wins() {
        let region = Region::reserve(ROOT_BYTES, Residency::OnTouch).unwrap();
        let door = Door::new(Barrier::Order);
        assert_eq!(read(&region), Err(RootError::NotAnIndex));
        for generation in 0..4 {
            write(&region, &door, &root(generation));
            assert_eq!(read(&region), Ok(root(generation)));
        }
        assert_eq!(check(&region), []);
        // The newest is in the second slot. Any bit of it wrong leaves the one before.
        for bit in 0..WORDS as u64 * 64 {
            let word = word(&region, SLOT_BYTES / 8 + bit / 64);
            word.store(word.load(Relaxed) ^ 1 << (bit % 64), Relaxed);
            assert_eq!(read(&region), Ok(root(2)), "bit {bit}");
            assert_eq!(check(&region).len(), 1, "bit {bit}");
            word.store(word.load(Relaxed) ^ 1 << (bit % 64), Relaxed);
        }
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let region = Region::reserve(ROOT_BYTES, Residency::OnTouch).unwrap();
        let door = Door::new(Barrier::Order);
        write(&region, &door, &Root { log_bytes: 1, ..root(0) });
        assert!(matches!(read(&region), Err(RootError::Corrupt(_))), "a log beyond its part");
        write(&region, &door, &root(0));
        assert!(read(&region).is_ok());
        word(&region, 5).store(99, Relaxed);
        assert!(matches!(read(&region), Err(RootError::Corrupt(_))));
        word(&region, 1).store((FORMAT_VERSION + 1) as u64 | BYTE_ORDER << 32, Relaxed);
        let words: Vec<u64> =
            (0..WORDS as u64 - 1).map(|i| word(&region, i).load(Relaxed)).collect();
        word(&region, WORDS as u64 - 1).store(checksum(0, &words) as u64, Relaxed);
        assert_eq!(read(&region), Err(RootError::Version { found: FORMAT_VERSION + 1 }));
        word(&region, 0).store(MAGIC.swap_bytes(), Relaxed);
        assert_eq!(read(&region), Err(RootError::ByteOrder));
    }
}
