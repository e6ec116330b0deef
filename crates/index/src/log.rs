//! The log of operations that are not in an engraved segment yet (the paper's tLog, §4.8).
//!
//! The log is a ring of records. Each record is written whole behind the last and fenced once
//! before its operations are acknowledged. This takes one barrier a group, where the paper has two
//! a document. No word says where the log ends: it ends at the first place without a valid record.
//! A *position* counts the bytes ever logged, gaps included. A record contains its own position, so
//! a record of an earlier lap is not taken for it.
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
//! | 0 | bytes of text (low half), bytes of key (16 bits), kind of key (8 bits), gap (8 bits) |
//! | 1 | the automatic key |
//! | 2 | only if the gap is 255: the gap |
//! | .. | key, then text, each filled up to whole words with zeros |
//!
//! The *gap* is the count of sequence numbers between the operation before and this one. Documents
//! that are spread over several executors have them. The first operation's gap means nothing.
//!
//! If bit 5 of the kind of key is set, the document has fields. Behind the text follow a word with
//! their length in bytes and then the fields, filled up to whole words. The crate that makes
//! schemas encodes them.
//!
//! If bit 4 of the kind of key is set, the text is a *reference*. It has a word with the real
//! text's bytes (low half) and its CRC-32C (high half). Then comes the place where the application
//! can read the text again.
//!
//! The record of a *group* ends with one more operation, which is not counted. Its kind of key is
//! 3, and its text is the application's *offset*. If the group's documents are in several
//! executors' logs, the kind is 4 in all but the first executor's. Word 1 of the operation is the
//! group's number, one past its last sequence number.
//!
//! The offset becomes durable after all other parts of its group. So a record of kind 4 counts only
//! if the first executor's log has an offset with this number or a higher one. Trimming must not
//! lose the offset. So it is logged again, in a record without documents, before a segment is
//! engraved and replaces a part of the log.
//!
//! This file has the writer; the [reader](crate::log::log_reader) has its own.
//!
//! The checksum begins with the index's salt, so that a document's contents are not taken for a
//! record. A start durably raises the incarnation before it stores anything. So two starts that log
//! have different ones, and along the log the incarnation never falls.

pub(crate) mod log_operation;
pub(crate) mod log_reader;
pub mod seal;

pub use log_reader::{LogReader, Record};

use spirit_door::{Door, Site};
use spirit_mem::Region;

use crate::ground::corrupt::checksum;

/// Bytes of a record's header.
pub const HEADER_BYTES: u64 = 48;
pub(crate) const HEADER_WORDS: usize = 6;
const _: () = assert!(HEADER_BYTES == HEADER_WORDS as u64 * 8);
/// The flag in a record's kind for the arrival: a word with the documents' arrival follows the
/// header.
pub(crate) const TIMED: u64 = 16;
/// Bytes of that word.
pub const ARRIVAL_BYTES: u64 = 8;
/// Bytes of an operation without key, text and fields.
pub const OPERATION_BYTES: u64 = 16;
/// The kind of key of an operation that holds the application's offset.
pub(crate) const OFFSET_KIND: u64 = 3;
/// The kind of key of an operation that refers to the offset in another log.
pub(crate) const PART_KIND: u64 = 4;
/// Largest number of bytes of the application's offset.
pub const OFFSET_BYTES_MAX: usize = 4096;
/// The bit of a kind of key that marks the text as a reference.
pub(crate) const REFERENCE_BIT: u64 = 16;
/// The bit of a kind of key that marks a document with fields.
pub(crate) const FIELDS_BIT: u64 = 32;
/// The first bit of an operation's gap.
pub(crate) const GAP_SHIFT: u32 = 56;
/// The gap of an operation that has a word for it.
pub(crate) const GAP_APART: u64 = 255;
/// Largest number of bytes of a reference.
pub const REFERENCE_BYTES_MAX: usize = 64;
/// Largest number of operations in one record.
pub const OPERATIONS_MAX: usize = (1 << 24) - 1;

/// The kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RecordKind {
    /// Documents, with or without the application's offset. Without any operation, rows that are in
    /// use: those below its row.
    Add = 1,
    /// One key whose document is deleted.
    Delete = 2,
    /// Operations of the record before, from its sequence number on, that did not take effect.
    Cancel = 3,
    /// A filler up to the end of the ring.
    Skip = 4,
}

/// The contents of a header, apart from place and length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The record's kind.
    pub kind: RecordKind,
    /// Number of operations.
    pub operations: u32,
    /// Sequence number of the first operation.
    pub sequence: u64,
    /// The executor's row number of the first operation.
    pub row: u64,
    /// One past the number of its last document. In a record without documents, one past the
    /// executor's highest.
    pub documents: u64,
    /// Arrival of its documents, in milliseconds of the index's time; 0 if it is not recorded.
    pub arrived_ms: u64,
}

impl Header {
    /// Returns the bytes of the header, with the arrival.
    pub(crate) fn bytes(&self) -> u64 {
        HEADER_BYTES + if self.arrived_ms > 0 { ARRIVAL_BYTES } else { 0 }
    }
}

/// The key of a logged document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoggedKey<'a> {
    /// A number.
    Automatic(u64),
    /// The document's own key.
    Bytes(&'a [u8]),
}

/// The text of a logged document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoggedText<'a> {
    /// The text itself.
    Bytes(&'a [u8]),
    /// The place where it can be read again.
    Reference(Reference<'a>),
}

/// An operation in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedOperation<'a> {
    /// Its sequence number.
    pub sequence: u64,
    /// The key of its document.
    pub key: LoggedKey<'a>,
    /// The document's text.
    pub text: LoggedText<'a>,
    /// The values of its other fields, encoded; empty if it has none.
    pub fields: &'a [u8],
}

/// The place where a document's text can be read again, with a check of the text.
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
    /// Makes the reference to `text`, which is at `place`.
    pub fn new(place: &'a [u8], text: &[u8]) -> Reference<'a> {
        Reference { place, bytes: text.len() as u32, check: crc32c::crc32c(text) }
    }

    /// True if `text` is the text of the reference.
    pub fn is_to(&self, text: &[u8]) -> bool {
        *self == Reference::new(self.place, text)
    }
}

/// The end of a group's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupEnd<'a> {
    /// The group's number, higher than those of all groups before.
    pub number: u64,
    /// The application's offset; `None` if it is in the first executor's log and this is another's.
    pub offset: Option<&'a [u8]>,
}

/// The place of the ring, and the salt of its index.
#[derive(Clone, Copy, Debug)]
pub struct LogSpace {
    /// Offset of the ring.
    pub start: u64,
    /// Bytes of the ring.
    pub bytes: u64,
    /// Initial value of the checksums.
    pub salt: u32,
}

impl LogSpace {
    pub(crate) fn place(&self, position: u64) -> u64 {
        self.start + position % self.bytes
    }

    /// Returns the bytes from `position` to the end of the ring.
    pub(crate) fn left(&self, position: u64) -> u64 {
        self.bytes - position % self.bytes
    }

    /// Returns the length of the longest record that fits at any state of the log.
    pub fn record_bytes_max(&self) -> u64 {
        self.bytes / 2
    }
}

/// The gathered operations of a record.
#[derive(Debug, Default)]
pub struct Operations {
    bytes: Vec<u8>,
    /// The end of each operation in `bytes`.
    ends: Vec<usize>,
    /// Number of operations taken from the front.
    dropped: usize,
    /// The gap before the next operation.
    gap: u64,
}

impl Operations {
    /// Leaves `gap` sequence numbers out before the document that is added next.
    #[inline]
    pub fn pass_over(&mut self, gap: u64) {
        self.gap = gap;
    }

    /// Adds a document with the encoded values of its fields. Its automatic key may be set later.
    #[inline]
    pub fn push(&mut self, key: LoggedKey<'_>, text: &[u8], fields: &[u8]) {
        self.push_document(key, 0, [text, &[]], fields);
    }

    /// Like [`push`](Self::push), but logs a reference in place of the text.
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
        let gap = std::mem::take(&mut self.gap);
        let word = bytes | (key.len() as u64) << 32 | kind << 48 | gap.min(GAP_APART) << GAP_SHIFT;
        self.bytes.extend_from_slice([word, number].map(u64::to_le_bytes).as_flattened());
        if gap >= GAP_APART {
            self.bytes.extend_from_slice(&gap.to_le_bytes());
        }
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
        // A whole word of zeros is one store; the excess is cut off again.
        let end = self.bytes.len().next_multiple_of(8);
        self.bytes.extend_from_slice(&[0; 8]);
        self.bytes.truncate(end);
    }

    /// Adds the end of a group.
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

    /// Returns the bytes of the first `count` operations that are left.
    pub fn first(&self, count: usize) -> &[u8] {
        &self.bytes[self.start(0)..self.start(count)]
    }

    /// Returns the bytes gathered, with those of taken operations.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Takes the first `count` operations away.
    pub fn drop_front(&mut self, count: usize) {
        self.dropped += count;
    }

    /// Empties the buffer.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        (self.dropped, self.gap) = (0, 0);
    }
}

/// The log's writer. There is one at a time, the ingest role's.
#[derive(Debug)]
pub struct LogWriter {
    space: LogSpace,
    position: u64,
    incarnation: u32,
}

impl LogWriter {
    /// Makes the writer that continues at `position`.
    pub fn new(space: LogSpace, position: u64, incarnation: u32) -> LogWriter {
        LogWriter { space, position, incarnation }
    }

    /// Returns the position of the next record, or of the gap before it.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns the length of the longest record that can ever be logged.
    pub fn record_bytes_max(&self) -> u64 {
        self.space.record_bytes_max()
    }

    /// Returns the log's end after a record with `bytes` bytes behind its header and `spare` bytes
    /// of further records. `spare` includes the gap before one of these. Returns `None` if there is
    /// no room while the log from `head` on must stay.
    pub fn end_with(&self, head: u64, bytes: u64, spare: u64) -> Option<u64> {
        let wanted = HEADER_BYTES + bytes;
        let left = self.space.left(self.position);
        let gap = if left < wanted { left } else { 0 };
        let end = self.position + gap + wanted + spare;
        (end <= head + self.space.bytes).then_some(end)
    }

    /// Appends a record, durable on return, and returns its position. There is room for it.
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

    /// Moves to the ring's beginning and returns true, if the log from `head` on leaves it free.
    /// Does nothing if the writer is there already. There is room for a record without operations.
    /// The next record's fence makes the skip durable.
    pub fn begin_lap(&mut self, door: &Door, region: &Region, head: u64) -> bool {
        let left = self.space.left(self.position);
        let is_free = self.position + left <= head + self.space.bytes;
        let can = left < self.space.bytes && is_free;
        if can {
            self.skip(door, region, left);
        }
        can
    }

    /// Fills the end of the ring, which is too short for the next record.
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

/// Returns the checksum of a header, with its length.
pub(crate) fn header_check(salt: u32, words: &[u64; HEADER_WORDS]) -> u32 {
    let mut words = *words;
    words[0] &= 0xFFFF_FFFF;
    checksum(salt, &words)
}
