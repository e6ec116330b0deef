//! The log's reader. It reads consecutive records up to the first place without a valid one, and
//! checks that this is the end.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_mem::{Region, Span};

use crate::form::shape::{NUMBERS_MAX, ROWS_MAX};
use crate::ground::corrupt::Corrupt;
use crate::ground::layout::PAGE;
use crate::log::log_operation::{Rest, group_end};
use crate::log::{
    ARRIVAL_BYTES, GroupEnd, HEADER_BYTES, HEADER_WORDS, Header, LogSpace, LoggedKey,
    LoggedOperation, RecordKind, TIMED, header_check,
};

/// A record as it was found.
#[derive(Debug)]
pub struct Record {
    /// The record's header.
    pub header: Header,
    /// The position of its beginning.
    pub position: u64,
    /// The incarnation that wrote it.
    pub incarnation: u32,
    operations: Vec<u8>,
    /// One past the sequence number of its last operation.
    end: u64,
}

/// An iterator over the log, from the oldest record that counts to its end.
#[derive(Debug)]
pub struct LogReader<'a> {
    region: &'a Region,
    space: LogSpace,
    position: u64,
    end: u64,
    incarnation: u32,
    incarnation_max: u32,
    /// One past the last sequence number.
    sequence: u64,
    /// The position up to which read-ahead was requested; `None` without read-ahead.
    asked: Option<u64>,
}

/// Bytes of the log to read ahead. Half of this is requested at a time.
const AHEAD: u64 = 4 << 20;

impl<'a> LogReader<'a> {
    /// Makes a reader from `position` on, for records of incarnations up to `incarnation_max`.
    pub fn new(region: &'a Region, space: LogSpace, position: u64, incarnation_max: u32) -> Self {
        let end = position.saturating_add(space.bytes);
        let (incarnation, sequence, asked) = (0, 0, None);
        LogReader { region, space, position, end, incarnation, incarnation_max, sequence, asked }
    }

    /// Turns read-ahead on, for a caller that reads to the end. It begins after the first record.
    pub fn ahead(self) -> Self {
        LogReader { asked: Some(self.position), ..self }
    }

    /// Returns the position of the next record. After the last record this is the log's end.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns one past the last sequence number that counts.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Returns the next record, or `None` at the log's end.
    pub fn next_record(&mut self) -> Option<Record> {
        // Each round moves on to a later record or ends. A `Skip` moves to the next lap, and `end`
        // bounds the log to one lap.
        loop {
            let left = self.space.left(self.position);
            let (record, bytes) = self.read(self.position + self.gap(), self.incarnation_max)?;
            let Header { kind, sequence, .. } = record.header;
            match kind {
                RecordKind::Skip => {}
                // Its operations did not take effect: their numbers may come again.
                RecordKind::Cancel => self.sequence = sequence,
                _ if sequence < self.sequence => return None,
                _ => self.sequence = record.end,
            }
            self.incarnation = record.incarnation;
            if kind != RecordKind::Skip {
                self.position = record.position + bytes;
                self.ask_ahead();
                return Some(record);
            }
            self.position += left;
        }
    }

    fn ask_ahead(&mut self) {
        let soon = self.position.saturating_add(AHEAD / 2);
        let Some(asked) = self.asked.filter(|asked| *asked < soon) else { return };
        let from = asked.max(self.position) / PAGE * PAGE;
        // Up to the end of the lap or of the log, whichever comes first.
        let bytes = AHEAD.min(self.space.left(from)).min(self.end.saturating_sub(from));
        let bytes = bytes.next_multiple_of(PAGE);
        self.region.read_ahead(self.space.place(from), bytes);
        self.asked = Some(from.saturating_add(bytes));
    }

    /// Checks that the log's end is real: no record is whole at the end, or up to `within` bytes
    /// behind it. Each record is durable before the next is begun. So if a later record is whole,
    /// one before it was damaged, or the root is outdated.
    pub fn check_end(&self, within: u64) -> Result<(), Corrupt> {
        let at = self.space.place(self.position);
        let corrupt = |why| Err(Corrupt { what: "log record", at, why });
        if self.read(self.position + self.gap(), u32::MAX).is_some() {
            return corrupt(
                "it has a later start number than the root, or repeats older operations",
            );
        }
        if self.is_lapped() {
            return corrupt("it belongs to a later lap that no segment records");
        }
        let end = self.end.min(self.position.saturating_add(within));
        let follows = self.claims(self.position + 8, end).any(|position| {
            let found = self.read(position, u32::MAX);
            // The first record of a lap is begun together with the filler of the lap before.
            found.is_some_and(|(_, bytes)| {
                position % self.space.bytes != 0 || self.read(position + bytes, u32::MAX).is_some()
            })
        });
        if follows { corrupt("it is damaged, but a later record is whole") } else { Ok(()) }
    }

    /// True if the log should contain the oldest record ever, but another lies in its place. Then
    /// there were segments, whose marks are gone.
    fn is_lapped(&self) -> bool {
        let second = Span::<AtomicU64>::new(self.space.place(0) + 8, 1);
        let position = self.region.view(second)[0].load(Relaxed);
        let begins_a_lap = position > 0 && position.is_multiple_of(self.space.bytes);
        self.end == self.space.bytes
            && begins_a_lap
            && LogReader::new(self.region, self.space, position, u32::MAX).next_record().is_some()
    }

    /// Returns all whole records from here on, by position, across gaps and any number of laps.
    pub fn whole_records(&self) -> Vec<Record> {
        let reader = LogReader { end: u64::MAX, asked: None, ..*self };
        let (from, lap) = (self.position, self.space.bytes);
        let words = self.region.view(Span::<AtomicU64>::new(self.space.start, lap / 8));
        let claims = words.iter().skip(1).map(|word| word.load(Relaxed)).zip((0..).step_by(8));
        let claims = claims.filter(|(claim, at)| *claim >= from && claim % lap == *at);
        let records = claims.filter_map(|(claim, _)| reader.read(claim, self.incarnation_max));
        let mut records: Vec<Record> = records.map(|(record, _)| record).collect();
        records.sort_unstable_by_key(|record| record.position);
        records
    }

    /// Yields the positions from `from` to `end` whose second word is the position itself, as in a
    /// record that begins there.
    fn claims(&self, from: u64, end: u64) -> impl Iterator<Item = u64> {
        let laps = std::iter::successors(Some(from), |at| Some(at + self.space.left(*at)));
        laps.take_while(move |at| *at < end).flat_map(move |at| {
            let words = self.space.left(at).min(end - at) / 8;
            let words = self.region.view(Span::<AtomicU64>::new(self.space.place(at), words));
            let seconds = words.iter().skip(1).zip((at..).step_by(8));
            seconds.filter(|(word, at)| word.load(Relaxed) == *at).map(|(_, at)| at)
        })
    }

    /// True if the log's end has the header of a record by the newest incarnation. The record was
    /// not written whole, or was damaged since.
    pub fn has_remains(&self) -> bool {
        let header = self.header(self.position + self.gap());
        header.is_some_and(|words| words[2] as u32 == self.incarnation_max)
    }

    /// Returns the bytes at the end of the ring, if they are too few for a header.
    fn gap(&self) -> u64 {
        let left = self.space.left(self.position);
        if left < HEADER_BYTES { left } else { 0 }
    }

    /// Returns the words of a header at `position`. It claims this position, and its incarnation is
    /// not below that of the last record.
    fn header(&self, position: u64) -> Option<[u64; HEADER_WORDS]> {
        let at = self.space.place(position);
        let words = self.region.get(Span::<AtomicU64>::new(at, HEADER_WORDS as u64))?;
        if words[1].load(Relaxed) != position {
            return None;
        }
        let words: [u64; HEADER_WORDS] = std::array::from_fn(|i| words[i].load(Relaxed));
        // Memory that was never written seems to claim position 0.
        (words[2] as u32 >= self.incarnation && words != [0; HEADER_WORDS]).then_some(words)
    }

    /// Returns the valid record at `position` and its bytes. Its incarnation is at most
    /// `incarnation_max`.
    fn read(&self, position: u64, incarnation_max: u32) -> Option<(Record, u64)> {
        let at = self.space.place(position);
        let words = self.header(position)?;
        let bytes = (words[0] & 0xFFFF_FFFF) * 8;
        let incarnation = words[2] as u32;
        let room = self.space.left(position).min(self.end.saturating_sub(position));
        if bytes < HEADER_BYTES || bytes > room || incarnation > incarnation_max {
            return None;
        }
        let mut operations = Vec::new();
        self.region.read_words(at + HEADER_BYTES, bytes - HEADER_BYTES, &mut operations);
        let check = crc32c::crc32c_append(header_check(self.space.salt, &words), &operations);
        if check != (words[0] >> 32) as u32 {
            return None;
        }
        if words[3..].iter().any(|number| *number > NUMBERS_MAX) || words[4] > ROWS_MAX {
            return None;
        }
        let kind = words[2] >> 32 & 0xFF;
        let arrived_ms = match kind & TIMED {
            0 => 0,
            _ => take_arrival(&mut operations)?,
        };
        let kind = match kind & !TIMED {
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
            arrived_ms,
        };
        let mut rest = Rest::of(&operations, header.sequence);
        let taken = (0..header.operations).take_while(|_| rest.operation().is_some()).count();
        // A writer of another version may have written some that cannot be read.
        let end = rest.sequence + u64::from(header.operations) - taken as u64;
        Some((Record { header, position, incarnation, operations, end }, bytes))
    }
}

/// Takes off the word with the documents' arrival.
fn take_arrival(operations: &mut Vec<u8>) -> Option<u64> {
    let ms = u64::from_le_bytes(*operations.first_chunk()?);
    operations.drain(..ARRIVAL_BYTES as usize);
    (1..=NUMBERS_MAX).contains(&ms).then_some(ms)
}

impl Record {
    /// Returns the bytes of its operations.
    pub fn operation_bytes(&self) -> &[u8] {
        &self.operations
    }

    /// Returns the bytes of the record.
    pub fn bytes(&self) -> u64 {
        self.header.bytes() + self.operations.len() as u64
    }

    /// Returns one past the sequence number of its last operation.
    pub fn operations_end(&self) -> u64 {
        self.end
    }

    /// Returns an upper bound of the rows that its replay takes. Each document may be broken off
    /// once. A record with only an offset takes a row too.
    pub fn rows_max(&self) -> u64 {
        u64::from(self.header.operations.max(1)) * 2
    }

    /// True if its operations fill it exactly.
    pub fn is_whole(&self) -> bool {
        let mut rest = self.rest();
        (0..self.header.operations).all(|_| rest.operation().is_some())
            && (rest.bytes.is_empty() || group_end(rest.bytes).is_some())
    }

    fn rest(&self) -> Rest<'_> {
        Rest::of(&self.operations, self.header.sequence)
    }

    /// Returns the end of its group, if it is a group's record.
    pub fn group_end(&self) -> Option<GroupEnd<'_>> {
        let mut rest = self.rest();
        for _ in 0..self.header.operations {
            rest.operation()?;
        }
        group_end(rest.bytes).filter(|_| self.header.kind == RecordKind::Add)
    }

    /// Returns the number of the group whose offset it has.
    pub fn offset_number(&self) -> Option<u64> {
        self.group_end().filter(|end| end.offset.is_some()).map(|end| end.number)
    }

    /// True if it may kill rows of earlier documents. `explicit_end` is one past the largest number
    /// given as an explicit key so far.
    pub fn may_kill(&self, explicit_end: u64) -> bool {
        let replaces = |key| match key {
            LoggedKey::Bytes(_) => true,
            LoggedKey::Automatic(number) => number < explicit_end,
        };
        self.header.kind == RecordKind::Delete
            || self.reserves_rows()
            || self.operations().any(|operation| replaces(operation.key))
    }

    /// True if it only says that rows are in use, of documents that may have killed others.
    fn reserves_rows(&self) -> bool {
        let Header { kind, operations, .. } = self.header;
        kind == RecordKind::Add && operations == 0 && self.group_end().is_none()
    }

    /// Yields its operations. Ends early if they do not fill the record, which only a writer of
    /// another version can cause.
    pub fn operations(&self) -> impl Iterator<Item = LoggedOperation<'_>> {
        let mut rest = self.rest();
        (0..self.header.operations).map_while(move |_| rest.operation())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{LogWriter, LoggedText, Operations, Reference};
    use proptest::prelude::*;
    use spirit_door::{Barrier, Door};
    use spirit_mem::Residency;

    const SPACE: LogSpace = LogSpace { start: 4096, bytes: 8192, salt: 77 };

    fn header(sequence: u64, operations: usize) -> Header {
        Header {
            kind: RecordKind::Add,
            operations: operations as u32,
            sequence,
            row: sequence * 2,
            documents: sequence + 1,
            // Every third says it.
            arrived_ms: if sequence.is_multiple_of(3) { 1000 + sequence } else { 0 },
        }
    }

    fn len(text: LoggedText<'_>) -> usize {
        match text {
            LoggedText::Bytes(bytes) => bytes.len(),
            LoggedText::Reference(reference) => reference.bytes as usize,
        }
    }

    fn region() -> Region {
        Region::reserve(1 << 20, Residency::OnTouch).unwrap()
    }

    /// Gaps before operations: most have none.
    fn gaps() -> impl Strategy<Value = u64> {
        prop_oneof![4 => Just(0), 2 => 1u64..4, 2 => 250u64..260, 1 => 0u64..1 << 30]
    }

    proptest! {
        /// Appended records are read again, in all laps, from the trimmed position to the end, and
        /// no others.
        #[test]
        fn a_log_is_read_as_it_was_written(
            groups in prop::collection::vec(prop::collection::vec((0usize..300, 0usize..20, gaps()), 1..4), 1..80),
        ) {
            let (region, door) = (region(), Door::new(Barrier::Order));
            let mut writer = LogWriter::new(SPACE, 0, 3);
            let mut kept: Vec<(u64, Vec<_>)> = Vec::new();
            let mut sequence = 0;
            for group in groups {
                let mut operations = Operations::default();
                for (text, key, gap) in &group {
                    operations.pass_over(*gap);
                    let (key, text) = (vec![b'k'; *key], vec![b't'; *text]);
                    let key = if key.is_empty() {
                        LoggedKey::Automatic(9)
                    } else {
                        LoggedKey::Bytes(&key)
                    };
                    // Some have fields.
                    operations.push(key, &text, &text[..text.len() % 17]);
                }
                let bytes = operations.first(group.len());
                let bytes_max = writer.record_bytes_max();
                prop_assert!(HEADER_BYTES + ARRIVAL_BYTES + bytes.len() as u64 <= bytes_max);
                let room = ARRIVAL_BYTES + bytes.len() as u64;
                let head = |kept: &Vec<(u64, _)>| kept.first().map_or(writer.position(), |k| k.0);
                while writer.end_with(head(&kept), room, 0).is_none() {
                    kept.remove(0);
                }
                let position = writer.position();
                let at = writer.append(&door, &region, header(sequence, group.len()), bytes);
                prop_assert!(at >= position);
                let gaps: u64 = group[1..].iter().map(|(.., gap)| gap).sum();
                sequence += group.len() as u64 + gaps;
                kept.push((position, group));
            }
            let mut reader = LogReader::new(&region, SPACE, kept[0].0, 3);
            for (_, group) in &kept {
                let record = reader.next_record().unwrap();
                let mut next = record.header.sequence;
                for (operation, (.., gap)) in record.operations().zip(group) {
                    let first = operation.sequence == record.header.sequence;
                    next += if first { 0 } else { *gap };
                    prop_assert_eq!(operation.sequence, next);
                    next += 1;
                }
                prop_assert_eq!((record.operations_end(), record.is_whole()), (next, true));
                let found: Vec<_> = record
                    .operations()
                    .map(|operation| match operation.key {
                        LoggedKey::Automatic(number) => (operation, number as usize - 9),
                        LoggedKey::Bytes(bytes) => (operation, bytes.len()),
                    })
                    .map(|(operation, key)| (len(operation.text), key, operation.fields.len()))
                    .collect();
                let group: Vec<_> =
                    group.iter().map(|(text, key, _)| (*text, *key, text % 17)).collect();
                let count = group.len();
                prop_assert_eq!(found, group);
                let expected = header(record.header.sequence, count);
                prop_assert_eq!(record.header, expected);
            }
            prop_assert!(reader.next_record().is_none());
            prop_assert_eq!(reader.position(), writer.position());
            prop_assert_eq!(reader.check_end(SPACE.bytes), Ok(()));
        }
    }

    fn append(writer: &mut LogWriter, region: &Region, text: &[u8]) -> u64 {
        let mut operations = Operations::default();
        operations.push(LoggedKey::Automatic(0), text, &[]);
        let position = writer.position();
        let header = Header { arrived_ms: 0, ..header(position, 1) };
        writer.append(&Door::new(Barrier::Order), region, header, operations.first(1));
        position
    }

    fn flip(region: &Region, position: u64) {
        let at = SPACE.start + position % SPACE.bytes;
        let word = &region.view(Span::<AtomicU64>::new(at, 1))[0];
        word.store(word.load(Relaxed) ^ 1, Relaxed);
    }

    fn verdict(region: &Region, from: u64, incarnation_max: u32) -> Result<(), &'static str> {
        let mut reader = LogReader::new(region, SPACE, from, incarnation_max);
        while reader.next_record().is_some() {}
        reader.check_end(SPACE.bytes).map_err(|corrupt| corrupt.why)
    }

    #[test]
    fn a_log_that_ends_before_a_whole_record_is_damaged() {
        let region = region();
        let mut writer = LogWriter::new(SPACE, 0, 1);
        let places = [b"one", b"two", b"six"].map(|text| append(&mut writer, &region, text));
        assert_eq!(verdict(&region, 0, 1), Ok(()));
        for word in 0..places[1] / 8 {
            flip(&region, places[1] + word * 8);
            assert!(verdict(&region, 0, 1).is_err(), "word {word}");
            flip(&region, places[1] + word * 8);
        }
        // The last one cannot be distinguished from one that was never written whole.
        flip(&region, places[2] + 48);
        assert_eq!(verdict(&region, 0, 1), Ok(()));
        flip(&region, places[2] + 48);
        assert!(verdict(&region, 0, 0).is_err(), "of a start that the root does not know");
    }

    #[test]
    fn a_record_begun_with_the_one_that_fills_up_a_lap_may_be_there_without_it() {
        let region = region();
        let mut writer = LogWriter::new(SPACE, 0, 1);
        // The next lap takes its place.
        append(&mut writer, &region, &[b'x'; 3000]);
        let oldest = writer.position();
        while writer.position() < SPACE.bytes - 2048 {
            append(&mut writer, &region, &[b'x'; 1000]);
        }
        let filler = writer.position();
        append(&mut writer, &region, &[b'x'; 2000]);
        assert!(filler < SPACE.bytes && writer.position() > SPACE.bytes);
        flip(&region, filler);
        assert_eq!(verdict(&region, oldest, 1), Ok(()), "a cut may have left this");
        append(&mut writer, &region, b"behind it");
        assert!(verdict(&region, oldest, 1).is_err(), "it was durable before this one");
    }

    #[test]
    fn a_record_of_an_earlier_lap_is_not_the_next() {
        let region = region();
        let mut writer = LogWriter::new(SPACE, 0, 1);
        // Of one size that the ring is a multiple of: so each lies where one of the lap before did.
        let text = (0..512).map(|len| vec![b'x'; len]).find(|text| {
            let mut apart = LogWriter::new(SPACE, 0, 1);
            append(&mut apart, &region, text);
            apart.position() == 512
        });
        let text = text.expect("some text makes a record of 512 bytes");
        assert!(SPACE.bytes.is_multiple_of(512));
        while writer.position() < SPACE.bytes + 1024 {
            append(&mut writer, &region, &text);
        }
        let mut reader = LogReader::new(&region, SPACE, SPACE.bytes, 1);
        let read = std::iter::from_fn(|| reader.next_record().map(drop)).count();
        assert_eq!((read, reader.position()), (2, writer.position()));
        assert_eq!(reader.check_end(SPACE.bytes), Ok(()), "nothing is behind it");
        assert!(verdict(&region, 0, 1).is_err(), "the log was trimmed, and nobody says so");
    }

    #[test]
    fn a_record_with_any_bit_wrong_ends_the_log() {
        let (region, door) = (region(), Door::new(Barrier::Order));
        let mut writer = LogWriter::new(SPACE, 0, 1);
        let mut operations = Operations::default();
        operations.push(LoggedKey::Bytes(b"key"), b"some text", b"fields");
        operations.pass_over(300);
        let elsewhere = Reference::new(b"a place", b"another text");
        operations.push_reference(LoggedKey::Automatic(0), elsewhere, b"others of it");
        operations.set_number(1, 12);
        let end = GroupEnd { number: 34, offset: Some(b"an offset") };
        operations.push_end(end);
        writer.append(&door, &region, header(0, 2), operations.first(3));
        let words = region.view(Span::<AtomicU64>::new(SPACE.start, writer.position() / 8));
        let read = || LogReader::new(&region, SPACE, 0, 1).next_record();
        let record = read().unwrap();
        assert_eq!(
            record.operations().collect::<Vec<_>>(),
            [
                LoggedOperation {
                    sequence: 0,
                    key: LoggedKey::Bytes(b"key"),
                    text: LoggedText::Bytes(b"some text"),
                    fields: b"fields",
                },
                LoggedOperation {
                    sequence: 301,
                    key: LoggedKey::Automatic(12),
                    text: LoggedText::Reference(elsewhere),
                    fields: b"others of it",
                },
            ]
        );
        assert_eq!((record.is_whole(), record.group_end()), (true, Some(end)));
        assert!(elsewhere.is_to(b"another text") && !elsewhere.is_to(b"another test"));
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
