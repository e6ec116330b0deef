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
//! | 2 | incarnation (low half), kind (8 bits), operations (24 bits) |
//! | 3 | sequence number of the first operation |
//! | 4 | row number of the first operation |
//! | 5 | documents that the index had accepted behind the record |
//! | 6 .. | the operations, one behind the other |
//!
//! | word of an operation | |
//! |---|---|
//! | 0 | bytes of text (low half), bytes of key (16 bits), kind of key (8 bits) |
//! | 1 | the automatic key |
//! | .. | key, then text, each filled up to whole words with zeros |
//!
//! The checksum begins with the index's salt, so what a document holds is not taken for a record. Each start of the
//! index raises the incarnation, durably, before anything is logged; along the log it never falls.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_door::{Door, Site};
use spirit_mem::{Region, Span};

/// Bytes of a record's header.
pub const HEADER_BYTES: u64 = 48;
const HEADER_WORDS: usize = HEADER_BYTES as usize / 8;
/// Bytes of an operation without key and text.
pub const OPERATION_BYTES: u64 = 16;
/// Operations in one record.
pub const OPERATIONS_MAX: usize = (1 << 24) - 1;

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RecordKind {
    /// Documents.
    Add = 1,
    /// One key whose document goes.
    Delete = 2,
    /// Operations of the record before, from its sequence number on, that did not come about.
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
    /// Documents that the index had accepted behind it.
    pub documents: u64,
}

/// How a document in the log is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoggedKey<'a> {
    /// By a number.
    Automatic(u64),
    /// By its own key.
    Bytes(&'a [u8]),
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
    fn place(&self, position: u64) -> u64 {
        self.start + position % self.bytes
    }

    /// Bytes from `position` to where the ring begins anew.
    fn left(&self, position: u64) -> u64 {
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
    /// Adds a document. Its automatic key may be set later.
    pub fn push(&mut self, key: LoggedKey<'_>, text: &[u8]) {
        let (number, key, kind): (u64, &[u8], u64) = match key {
            LoggedKey::Automatic(number) => (number, &[], 1),
            LoggedKey::Bytes(bytes) => (0, bytes, 2),
        };
        let word = text.len() as u64 | (key.len() as u64) << 32 | kind << 48;
        self.bytes.extend_from_slice(&word.to_le_bytes());
        self.bytes.extend_from_slice(&number.to_le_bytes());
        for part in [key, text] {
            self.bytes.extend_from_slice(part);
            self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        }
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

    /// Whether a record with `bytes` bytes of operations can ever be logged.
    pub fn can_hold(&self, bytes: u64) -> bool {
        HEADER_BYTES + bytes <= self.space.record_bytes_max()
    }

    /// Whether there is room for such a record while the log from `head` on must stay.
    pub fn has_room(&self, head: u64, bytes: u64) -> bool {
        let wanted = HEADER_BYTES + bytes;
        let left = self.space.left(self.position);
        let gap = if left < wanted { left } else { 0 };
        self.position + gap + wanted <= head + self.space.bytes
    }

    /// Appends a record. Durable on return. There is room for it.
    pub fn append(&mut self, door: &Door, region: &Region, header: Header, operations: &[u8]) {
        let bytes = HEADER_BYTES + operations.len() as u64;
        let left = self.space.left(self.position);
        if left < bytes {
            self.skip(door, region, left);
        }
        self.write(door, region, header, operations, bytes);
        door.fence(Site::LogFence, region);
    }

    /// Fills the ring's end, which a record does not fit in.
    fn skip(&mut self, door: &Door, region: &Region, left: u64) {
        if left >= HEADER_BYTES {
            let header =
                Header { kind: RecordKind::Skip, operations: 0, sequence: 0, row: 0, documents: 0 };
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
        let mut words = [
            bytes / 8,
            self.position,
            self.incarnation as u64 | (header.kind as u64) << 32 | (header.operations as u64) << 40,
            header.sequence,
            header.row,
            header.documents,
        ];
        let check = crc32c::crc32c_append(header_check(self.space.salt, &words), operations);
        words[0] |= (check as u64) << 32;
        let at = self.space.place(self.position);
        door.write_words(Site::LogRecord, region, at, &words);
        if !operations.is_empty() {
            door.write(Site::LogRecord, region, at + HEADER_BYTES, operations);
        }
        door.write_back(Site::LogWriteBack, region, at, bytes);
        self.position += bytes;
    }
}

/// The checksum of a header, its length included.
fn header_check(salt: u32, words: &[u64; HEADER_WORDS]) -> u32 {
    let mut words = *words;
    words[0] &= 0xFFFF_FFFF;
    super::checksum(salt, &words)
}

/// A record as it was found.
#[derive(Debug)]
pub struct Record {
    /// What it says of itself.
    pub header: Header,
    /// Where it begins.
    pub position: u64,
    /// Who wrote it.
    pub incarnation: u32,
    operations: Vec<u8>,
}

/// Goes through the log from its oldest record that counts to its end.
#[derive(Debug)]
pub struct LogReader<'a> {
    region: &'a Region,
    space: LogSpace,
    position: u64,
    end: u64,
    incarnation: u32,
    incarnation_max: u32,
}

impl<'a> LogReader<'a> {
    /// From `position` on; records of incarnations up to `incarnation_max`.
    pub fn new(region: &'a Region, space: LogSpace, position: u64, incarnation_max: u32) -> Self {
        let end = position + space.bytes;
        LogReader { region, space, position, end, incarnation: 0, incarnation_max }
    }

    /// Where the next record would begin: the log's end, once there is none.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The next record; `None` at the log's end.
    pub fn next_record(&mut self) -> Option<Record> {
        loop {
            let left = self.space.left(self.position);
            let gap = if left < HEADER_BYTES { left } else { 0 };
            let (record, bytes) = self.read(self.position + gap)?;
            self.incarnation = record.incarnation;
            if record.header.kind != RecordKind::Skip {
                self.position = record.position + bytes;
                return Some(record);
            }
            self.position += left;
        }
    }

    /// The record at `position`, if a valid one begins there, and its bytes.
    fn read(&self, position: u64) -> Option<(Record, u64)> {
        let at = self.space.place(position);
        let mut words = [0; HEADER_WORDS];
        let stored = self.region.get(Span::<AtomicU64>::new(at, HEADER_WORDS as u64))?;
        for (word, stored) in words.iter_mut().zip(stored) {
            *word = stored.load(Relaxed);
        }
        let bytes = (words[0] & 0xFFFF_FFFF) * 8;
        let incarnation = words[2] as u32;
        let fits = bytes >= HEADER_BYTES
            && bytes <= self.space.left(position)
            && position + bytes <= self.end;
        let ours = words[1] == position
            && incarnation >= self.incarnation
            && incarnation <= self.incarnation_max;
        if !fits || !ours {
            return None;
        }
        let mut operations = Vec::new();
        self.region.read_words(at + HEADER_BYTES, bytes - HEADER_BYTES, &mut operations);
        let check = crc32c::crc32c_append(header_check(self.space.salt, &words), &operations);
        if check != (words[0] >> 32) as u32 {
            return None;
        }
        let kind = match words[2] >> 32 & 0xFF {
            1 => RecordKind::Add,
            2 => RecordKind::Delete,
            3 => RecordKind::Cancel,
            4 => RecordKind::Skip,
            _ => return None,
        };
        let header = Header {
            kind,
            operations: (words[2] >> 40) as u32,
            sequence: words[3],
            row: words[4],
            documents: words[5],
        };
        Some((Record { header, position, incarnation, operations }, bytes))
    }
}

impl Record {
    /// Its operations: key and text of each. Ends early if they do not fill the record as they should, which only a
    /// writer of another version could do.
    pub fn operations(&self) -> impl Iterator<Item = (LoggedKey<'_>, &[u8])> {
        let mut rest = self.operations.as_slice();
        (0..self.header.operations).map_while(move |_| operation(&mut rest))
    }
}

/// Takes the first operation off.
fn operation<'a>(rest: &mut &'a [u8]) -> Option<(LoggedKey<'a>, &'a [u8])> {
    let word = u64::from_le_bytes(take(rest, 8)?.try_into().ok()?);
    let number = u64::from_le_bytes(take(rest, 8)?.try_into().ok()?);
    let (text_len, key_len) = ((word & 0xFFFF_FFFF) as usize, (word >> 32 & 0xFFFF) as usize);
    let key = take(rest, key_len)?;
    let text = take(rest, text_len)?;
    let key =
        if word >> 48 & 0xFF == 1 { LoggedKey::Automatic(number) } else { LoggedKey::Bytes(key) };
    Some((key, text))
}

/// Takes `len` bytes off, and what fills them up to whole words.
fn take<'a>(rest: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let taken = rest.get(..len)?;
    *rest = rest.get(len.next_multiple_of(8)..)?;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use spirit_door::Barrier;
    use spirit_mem::Residency;

    const SPACE: LogSpace = LogSpace { start: 4096, bytes: 8192, salt: 77 };

    fn header(sequence: u64, operations: usize) -> Header {
        Header {
            kind: RecordKind::Add,
            operations: operations as u32,
            sequence,
            row: sequence * 2,
            documents: sequence + 1,
        }
    }

    fn region() -> Region {
        Region::reserve(1 << 20, Residency::OnTouch).unwrap()
    }

    proptest! {
        /// What was appended is found again, up to what was trimmed, whatever the laps; nothing more is.
        #[test]
        fn a_log_is_read_as_it_was_written(
            groups in prop::collection::vec(prop::collection::vec((0usize..300, 0usize..20), 1..4), 1..80),
        ) {
            let (region, door) = (region(), Door::new(Barrier::Order));
            let mut writer = LogWriter::new(SPACE, 0, 3);
            let mut kept: Vec<(u64, Vec<(usize, usize)>)> = Vec::new();
            for (sequence, group) in groups.into_iter().enumerate() {
                let mut operations = Operations::default();
                for (text, key) in &group {
                    let (key, text) = (vec![b'k'; *key], vec![b't'; *text]);
                    let key = if key.is_empty() {
                        LoggedKey::Automatic(9)
                    } else {
                        LoggedKey::Bytes(&key)
                    };
                    operations.push(key, &text);
                }
                let bytes = operations.first(group.len());
                prop_assert!(writer.can_hold(bytes.len() as u64));
                let head = |kept: &Vec<(u64, _)>| kept.first().map_or(writer.position(), |k| k.0);
                while !writer.has_room(head(&kept), bytes.len() as u64) {
                    kept.remove(0);
                }
                let position = writer.position();
                writer.append(&door, &region, header(sequence as u64, group.len()), bytes);
                kept.push((position, group));
            }
            let mut reader = LogReader::new(&region, SPACE, kept[0].0, 3);
            for (_, group) in &kept {
                let record = reader.next_record().unwrap();
                let found: Vec<_> = record
                    .operations()
                    .map(|(key, text)| match key {
                        LoggedKey::Automatic(number) => (text.len(), number as usize - 9),
                        LoggedKey::Bytes(bytes) => (text.len(), bytes.len()),
                    })
                    .collect();
                prop_assert_eq!(&found, group);
                prop_assert_eq!(record.header.row, record.header.sequence * 2);
            }
            prop_assert!(reader.next_record().is_none());
            prop_assert_eq!(reader.position(), writer.position());
        }
    }

    #[test]
    fn a_record_with_any_bit_wrong_ends_the_log() {
        let (region, door) = (region(), Door::new(Barrier::Order));
        let mut writer = LogWriter::new(SPACE, 0, 1);
        let mut operations = Operations::default();
        operations.push(LoggedKey::Bytes(b"key"), b"some text");
        operations.push(LoggedKey::Automatic(0), b"");
        operations.set_number(1, 12);
        writer.append(&door, &region, header(0, 2), operations.first(2));
        let words = region.view(Span::<AtomicU64>::new(SPACE.start, writer.position() / 8));
        let read = || LogReader::new(&region, SPACE, 0, 1).next_record();
        let record = read().unwrap();
        assert_eq!(
            record.operations().collect::<Vec<_>>(),
            [(LoggedKey::Bytes(b"key"), &b"some text"[..]), (LoggedKey::Automatic(12), b"")]
        );
        for bit in 0..words.len() * 64 {
            let word = &words[bit / 64];
            word.store(word.load(Relaxed) ^ 1 << (bit % 64), Relaxed);
            assert!(read().is_none(), "bit {bit}");
            word.store(word.load(Relaxed) ^ 1 << (bit % 64), Relaxed);
        }
        assert!(read().is_some());
        assert!(LogReader::new(&region, SPACE, 0, 0).next_record().is_none(), "not yet written");
        assert!(
            LogReader::new(&region, LogSpace { salt: 1, ..SPACE }, 0, 1).next_record().is_none()
        );
    }
}
