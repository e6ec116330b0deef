//! The log of operations that no engraved segment has yet (the paper's tLog, §4.8).
//!
//! A ring of records, each written whole behind the last and fenced once, so that its operations may be acknowledged: one
//! barrier a group, where the paper has two a document. No word says where the log ends: its end is the first place
//! without a valid record. A *position* counts the bytes ever logged, gaps included; a record knows its own, so one of an
//! earlier lap is not taken for it.
//!
//! | word of a record | |
//! |---|---|
//! | 0 | words in all (low half), checksum of the others (high half) |
//! | 1 | position |
//! | 2 | incarnation (low half), kind (4 bits), flags (4 bits), operations (24 bits) |
//! | 3 | sequence number of the first operation |
//! | 4 | row number of the first operation |
//! | 5 | one past the number of the last document: those of a record follow each other |
//! | 6 | when its documents arrived, if the flag `TIMED` is set |
//! | .. | the operations, one behind the other |
//!
//! | word of an operation | |
//! |---|---|
//! | 0 | bytes of text (low half), bytes of key (16 bits), kind of key (8 bits) |
//! | 1 | the automatic key |
//! | .. | key, then text, each filled up to whole words with zeros |
//!
//! With bit 5 of the kind of key set a word with the bytes of the document's fields follows the text, and then these, encoded by the crate that
//! makes schemas, filled up as well.
//!
//! With bit 4 of the kind of key set the text is a *reference*: a word with the real text's bytes (low half) and its CRC-32C (high
//! half), then where the application can read it again.
//!
//! The record of a *group* ends with one more operation that is not counted: of kind of key 3, whose text is the application's
//! *offset*; or, where documents of the group are in several executors' logs, of kind 4 in all but the first executor's. Word 1 of it
//! is the group's number, one past its last sequence number. The offset is durable behind all else of its group, so a record of kind 4
//! counts if one with its number, or a higher one, is in the first executor's log. So that what is trimmed does not take the offset
//! along, it is logged again, in a record without documents, before a segment that is to be engraved takes the log's place.
//!
//! What is here is the writer's end; the [reader](crate::log::log_reader) has a file of its own.
//!
//! The checksum begins with the index's salt, so what a document holds is not taken for a record. Each start of the
//! index raises the incarnation, durably, before anything is logged; along the log it never falls.

pub(crate) mod log_operation;
pub mod log_reader;
pub mod seal;

use spirit_door::{Door, Site};
use spirit_mem::Region;

use crate::ground::corrupt::checksum;

/// Bytes of a record's header.
pub const HEADER_BYTES: u64 = 48;
pub(crate) const HEADER_WORDS: usize = 6;
const _: () = assert!(HEADER_BYTES == HEADER_WORDS as u64 * 8);
/// The flag in a record's kind that says that a word with the arrival of its documents follows the header.
pub(crate) const TIMED: u64 = 16;
/// Bytes of that word.
pub const ARRIVAL_BYTES: u64 = 8;
/// Bytes of an operation without key, text and fields.
pub const OPERATION_BYTES: u64 = 16;
/// The kind of key of an operation that is the application's offset.
pub(crate) const OFFSET_KIND: u64 = 3;
/// The same of one that says that the offset is in another log.
pub(crate) const PART_KIND: u64 = 4;
/// Bytes of the application's offset at most.
pub const OFFSET_BYTES_MAX: usize = 4096;
/// The bit of a kind of key that says that the text is a reference.
pub(crate) const REFERENCE_BIT: u64 = 16;
/// The bit that says that the document has fields.
pub(crate) const FIELDS_BIT: u64 = 32;
/// Bytes of a reference at most.
pub const REFERENCE_BYTES_MAX: usize = 64;
/// Operations in one record.
pub const OPERATIONS_MAX: usize = (1 << 24) - 1;

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RecordKind {
    /// Documents, and the application's offset perhaps.
    Add = 1,
    /// One key whose document goes.
    Delete = 2,
    /// Operations of the record before, from its sequence number on, that did not take effect.
    Cancel = 3,
    /// Nothing, up to the end of the ring.
    Skip = 4,
}

/// What the header says besides place and length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What it is.
    pub kind: RecordKind,
    /// How many operations.
    pub operations: u32,
    /// The sequence number of the first one; each has one more than the last.
    pub sequence: u64,
    /// The executor's row number of the first one.
    pub row: u64,
    /// One past the number of its last document; in another record, one past the executor's highest.
    pub documents: u64,
    /// When its documents arrived, in milliseconds of the index's time; 0 if it does not say.
    pub arrived_ms: u64,
}

impl Header {
    /// Bytes of the header, with the arrival.
    pub(crate) fn bytes(&self) -> u64 {
        HEADER_BYTES + if self.arrived_ms > 0 { ARRIVAL_BYTES } else { 0 }
    }
}

/// How a document in the log is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoggedKey<'a> {
    /// By a number.
    Automatic(u64),
    /// By its own key.
    Bytes(&'a [u8]),
}

/// What the log says of a document's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoggedText<'a> {
    /// The text.
    Bytes(&'a [u8]),
    /// Where it can be read again.
    Reference(Reference<'a>),
}

/// An operation in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedOperation<'a> {
    /// How its document is called.
    pub key: LoggedKey<'a>,
    /// The document's text.
    pub text: LoggedText<'a>,
    /// The values of its other fields, encoded; empty if it has none.
    pub fields: &'a [u8],
}

/// Where a document's text can be read again, and how to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference<'a> {
    /// The application's own words for the place, at most [`REFERENCE_BYTES_MAX`] bytes.
    pub place: &'a [u8],
    /// Bytes of the text.
    pub bytes: u32,
    /// CRC-32C of the text.
    pub check: u32,
}

impl<'a> Reference<'a> {
    /// The reference to `text`, which is at `place`.
    pub fn new(place: &'a [u8], text: &[u8]) -> Reference<'a> {
        Reference { place, bytes: text.len() as u32, check: crc32c::crc32c(text) }
    }

    /// Whether `text` is what was referred to.
    pub fn is_to(&self, text: &[u8]) -> bool {
        *self == Reference::new(self.place, text)
    }
}

/// What ends the record of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupEnd<'a> {
    /// The group's number, which is higher than those of all groups before.
    pub number: u64,
    /// The application's offset, unless it is in the first executor's log, and this is another.
    pub offset: Option<&'a [u8]>,
}

/// Where the ring lies, and whose it is.
#[derive(Clone, Copy, Debug)]
pub struct LogSpace {
    /// Offset.
    pub start: u64,
    /// Bytes.
    pub bytes: u64,
    /// What checksums begin with.
    pub salt: u32,
}

impl LogSpace {
    pub(crate) fn place(&self, position: u64) -> u64 {
        self.start + position % self.bytes
    }

    /// Bytes from `position` to where the ring begins anew.
    pub(crate) fn left(&self, position: u64) -> u64 {
        self.bytes - position % self.bytes
    }

    /// The longest record that fits whatever is in the log's way.
    pub fn record_bytes_max(&self) -> u64 {
        self.bytes / 2
    }
}

/// Operations of a record, gathered.
#[derive(Debug, Default)]
pub struct Operations {
    bytes: Vec<u8>,
    /// Where each operation ends.
    ends: Vec<usize>,
    /// How many of the first were taken.
    dropped: usize,
}

impl Operations {
    /// Adds a document; `fields` are the values of its fields, encoded. Its automatic key may be set later.
    #[inline]
    pub fn push(&mut self, key: LoggedKey<'_>, text: &[u8], fields: &[u8]) {
        self.push_document(key, 0, [text, &[]], fields);
    }

    /// The same; its text is not logged.
    pub fn push_reference(&mut self, key: LoggedKey<'_>, reference: Reference<'_>, fields: &[u8]) {
        let word = u64::from(reference.bytes) | u64::from(reference.check) << 32;
        self.push_document(key, REFERENCE_BIT, [&word.to_le_bytes(), reference.place], fields);
    }

    #[inline]
    fn push_document(&mut self, key: LoggedKey<'_>, bit: u64, text: [&[u8]; 2], fields: &[u8]) {
        let (number, key, kind): (u64, &[u8], u64) = match key {
            LoggedKey::Automatic(number) => (number, &[], 1),
            LoggedKey::Bytes(bytes) => (0, bytes, 2),
        };
        if fields.is_empty() {
            self.push_operation(kind | bit, number, key, text);
        } else {
            self.push_operation(kind | bit | FIELDS_BIT, number, key, text);
            self.push_fields(fields);
        }
        self.ends.push(self.bytes.len());
    }

    #[cold]
    fn push_fields(&mut self, fields: &[u8]) {
        self.bytes.extend_from_slice(&(fields.len() as u64).to_le_bytes());
        self.push_filled_up(fields);
    }

    #[inline]
    fn push_operation(&mut self, kind: u64, number: u64, key: &[u8], text: [&[u8]; 2]) {
        let [text, more] = text;
        let bytes = (text.len() + more.len()) as u64;
        let word = bytes | (key.len() as u64) << 32 | kind << 48;
        self.bytes.extend_from_slice([word, number].map(u64::to_le_bytes).as_flattened());
        if !key.is_empty() {
            self.push_filled_up(key);
        }
        self.bytes.extend_from_slice(text);
        self.push_filled_up(more);
    }

    #[inline]
    fn push_filled_up(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.bytes.extend_from_slice(bytes);
        }
        // A whole word of zeros is one store; what is too much of it goes again.
        let end = self.bytes.len().next_multiple_of(8);
        self.bytes.extend_from_slice(&[0; 8]);
        self.bytes.truncate(end);
    }

    /// Ends what is gathered of a group.
    pub fn push_end(&mut self, end: GroupEnd<'_>) {
        let kind = if end.offset.is_some() { OFFSET_KIND } else { PART_KIND };
        self.push_operation(kind, end.number, &[], [end.offset.unwrap_or(&[]), &[]]);
        self.ends.push(self.bytes.len());
    }

    /// Sets the automatic key of the operation at `index` of those that are left.
    pub fn set_number(&mut self, index: usize, number: u64) {
        let start = self.start(index);
        self.bytes[start + 8..start + 16].copy_from_slice(&number.to_le_bytes());
    }

    fn start(&self, index: usize) -> usize {
        (self.dropped + index).checked_sub(1).map_or(0, |last| self.ends[last])
    }

    /// The bytes of the first `count` that are left.
    pub fn first(&self, count: usize) -> &[u8] {
        &self.bytes[self.start(0)..self.start(count)]
    }

    /// Bytes gathered.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Takes the first `count` away.
    pub fn drop_front(&mut self, count: usize) {
        self.dropped += count;
    }

    /// Empties it.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.dropped = 0;
    }
}

/// The writer's end of the log. One at a time: the ingest role's.
#[derive(Debug)]
pub struct LogWriter {
    space: LogSpace,
    position: u64,
    incarnation: u32,
}

impl LogWriter {
    /// Goes on at `position`.
    pub fn new(space: LogSpace, position: u64, incarnation: u32) -> LogWriter {
        LogWriter { space, position, incarnation }
    }

    /// Where the next record begins, or the gap before it.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The longest record that can ever be logged.
    pub fn record_bytes_max(&self) -> u64 {
        self.space.record_bytes_max()
    }

    /// The position behind such a record, and behind short ones of `spare` bytes with the gap before one of them; none if there is no
    /// room for them while the log from `head` on must stay.
    pub fn end_with(&self, head: u64, bytes: u64, spare: u64) -> Option<u64> {
        let wanted = HEADER_BYTES + bytes;
        let left = self.space.left(self.position);
        let gap = if left < wanted { left } else { 0 };
        let end = self.position + gap + wanted + spare;
        (end <= head + self.space.bytes).then_some(end)
    }

    /// Appends a record. Durable on return. There is room for it. Says where it begins.
    pub fn append(
        &mut self,
        door: &Door,
        region: &Region,
        header: Header,
        operations: &[u8],
    ) -> u64 {
        let bytes = header.bytes() + operations.len() as u64;
        let left = self.space.left(self.position);
        if left < bytes {
            self.skip(door, region, left);
        }
        self.write(door, region, header, operations, bytes);
        door.fence(Site::LogFence, region);
        self.position - bytes
    }

    /// Goes on at the ring's beginning, if it is not there and the log from `head` on is behind that; says whether it did. There is
    /// room for a record without operations. The next record's fence makes the skip durable.
    pub fn begin_lap(&mut self, door: &Door, region: &Region, head: u64) -> bool {
        let left = self.space.left(self.position);
        let is_free = self.position + left <= head + self.space.bytes;
        let can = left < self.space.bytes && is_free;
        if can {
            self.skip(door, region, left);
        }
        can
    }

    /// Fills the ring's end, which a record does not fit in.
    fn skip(&mut self, door: &Door, region: &Region, left: u64) {
        if left >= HEADER_BYTES {
            let header = Header {
                kind: RecordKind::Skip,
                operations: 0,
                sequence: 0,
                row: 0,
                documents: 0,
                arrived_ms: 0,
            };
            self.write(door, region, header, &[], HEADER_BYTES);
            self.position += left - HEADER_BYTES;
        } else {
            self.position += left;
        }
    }

    fn write(
        &mut self,
        door: &Door,
        region: &Region,
        header: Header,
        operations: &[u8],
        bytes: u64,
    ) {
        let is_timed = header.arrived_ms > 0;
        let kind = header.kind as u64 | if is_timed { TIMED } else { 0 };
        let mut words = [
            bytes / 8,
            self.position,
            self.incarnation as u64 | kind << 32 | (header.operations as u64) << 40,
            header.sequence,
            header.row,
            header.documents,
        ];
        let arrival = header.arrived_ms.to_le_bytes();
        let arrival = if is_timed { &arrival[..] } else { &[] };
        let check = crc32c::crc32c_append(header_check(self.space.salt, &words), arrival);
        let check = crc32c::crc32c_append(check, operations);
        words[0] |= (check as u64) << 32;
        let at = self.space.place(self.position);
        let mut head = [0; (HEADER_BYTES + ARRIVAL_BYTES) as usize];
        let (of_header, of_arrival) = head.split_at_mut(HEADER_BYTES as usize);
        of_header.copy_from_slice(words.map(u64::to_le_bytes).as_flattened());
        of_arrival[..arrival.len()].copy_from_slice(arrival);
        let parts = [&head[..header.bytes() as usize], operations];
        door.stream([Site::LogRecord, Site::LogWriteBack], region, at, parts);
        self.position += bytes;
    }
}

/// The checksum of a header, its length included.
pub(crate) fn header_check(salt: u32, words: &[u64; HEADER_WORDS]) -> u32 {
    let mut words = *words;
    words[0] &= 0xFFFF_FFFF;
    checksum(salt, &words)
}
