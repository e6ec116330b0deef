//! The log's reader: records one behind the other, up to the first place without a valid one; and whether that is the end.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_mem::{Region, Span};

use crate::form::shape::{NUMBERS_MAX, ROWS_MAX};
use crate::ground::corrupt::Corrupt;
use crate::ground::layout::PAGE;
use crate::log::log_operation::{group_end, operation};
use crate::log::{
    ARRIVAL_BYTES, GroupEnd, HEADER_BYTES, HEADER_WORDS, Header, LogSpace, LoggedKey,
    LoggedOperation, RecordKind, TIMED, header_check,
};

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
    /// One past the last sequence number.
    sequence: u64,
    /// Up to where the medium was asked for what comes next, if it is.
    asked: Option<u64>,
}

/// The log is asked for so far ahead of what is read, half of it at a time.
const AHEAD: u64 = 4 << 20;

impl<'a> LogReader<'a> {
    /// From `position` on; records of incarnations up to `incarnation_max`.
    pub fn new(region: &'a Region, space: LogSpace, position: u64, incarnation_max: u32) -> Self {
        let end = position.saturating_add(space.bytes);
        let (incarnation, sequence, asked) = (0, 0, None);
        LogReader { region, space, position, end, incarnation, incarnation_max, sequence, asked }
    }

    /// Asks the medium for what comes next, as soon as there is a record: for who reads to the end.
    pub fn ahead(self) -> Self {
        LogReader { asked: Some(self.position), ..self }
    }

    /// Where the next record would begin: the log's end, once there is none.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// One past the last sequence number that counts.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The next record; `None` at the log's end.
    pub fn next_record(&mut self) -> Option<Record> {
        loop {
            let left = self.space.left(self.position);
            let (record, bytes) = self.read(self.position + self.gap(), self.incarnation_max)?;
            let Header { kind, sequence, operations, .. } = record.header;
            match kind {
                RecordKind::Skip => {}
                // Its operations did not take effect: their numbers may come again.
                RecordKind::Cancel => self.sequence = sequence,
                _ if sequence < self.sequence => return None,
                _ => self.sequence = sequence + u64::from(operations),
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
        // Up to the end of the lap, whichever is first.
        let bytes = AHEAD.min(self.space.left(from)).min(self.end.saturating_sub(from));
        let bytes = bytes.next_multiple_of(PAGE);
        self.region.read_ahead(self.space.place(from), bytes);
        self.asked = Some(from.saturating_add(bytes));
    }

    /// Whether the log's end is one: at it, and `within` this many bytes behind it, no record is whole. Each is durable before
    /// the next is begun, so if one is, another before it was damaged; or the root is an older one.
    pub fn check_end(&self, within: u64) -> Result<(), Corrupt> {
        let at = self.space.place(self.position);
        let corrupt = |why| Err(Corrupt { what: "log record", at, why });
        if self.read(self.position + self.gap(), u32::MAX).is_some() {
            return corrupt(
                "it is of a later start than the root knows, or falls behind the one before",
            );
        }
        if self.is_lapped() {
            return corrupt("it is of a later lap, and no segment says so");
        }
        let end = self.end.min(self.position.saturating_add(within));
        let follows = self.claims(self.position + 8, end).any(|position| {
            let found = self.read(position, u32::MAX);
            // The first record of a lap is begun together with the one that fills up the lap before.
            found.is_some_and(|(_, bytes)| {
                position % self.space.bytes != 0 || self.read(position + bytes, u32::MAX).is_some()
            })
        });
        if follows { corrupt("it is damaged: a later one is whole") } else { Ok(()) }
    }

    /// Whether the oldest record that ever was is to be in the log, and another lies in its place: then there were segments, whose marks are
    /// gone.
    fn is_lapped(&self) -> bool {
        let second = Span::<AtomicU64>::new(self.space.place(0) + 8, 1);
        let position = self.region.view(second)[0].load(Relaxed);
        let begins_a_lap = position > 0 && position.is_multiple_of(self.space.bytes);
        self.end == self.space.bytes
            && begins_a_lap
            && LogReader::new(self.region, self.space, position, u32::MAX).next_record().is_some()
    }

    /// All whole records from here on, in their order, whatever is between them and however many laps they are further.
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

    /// The positions from `from` up to `end` whose second word is the position itself, as it is in a record that begins there.
    fn claims(&self, from: u64, end: u64) -> impl Iterator<Item = u64> {
        let laps = std::iter::successors(Some(from), |at| Some(at + self.space.left(*at)));
        laps.take_while(move |at| *at < end).flat_map(move |at| {
            let words = self.space.left(at).min(end - at) / 8;
            let words = self.region.view(Span::<AtomicU64>::new(self.space.place(at), words));
            let seconds = words.iter().skip(1).zip((at..).step_by(8));
            seconds.filter(|(word, at)| word.load(Relaxed) == *at).map(|(_, at)| at)
        })
    }

    /// Whether at the log's end there is the header of a record that the newest incarnation did not write whole, or that
    /// was damaged since.
    pub fn has_remains(&self) -> bool {
        let header = self.header(self.position + self.gap());
        header.is_some_and(|words| words[2] as u32 == self.incarnation_max)
    }

    /// Bytes at the ring's end that are too few for a header.
    fn gap(&self) -> u64 {
        let left = self.space.left(self.position);
        if left < HEADER_BYTES { left } else { 0 }
    }

    /// The words of a header that says it is of the record at `position`, written not before the last one.
    fn header(&self, position: u64) -> Option<[u64; HEADER_WORDS]> {
        let at = self.space.place(position);
        let words = self.region.get(Span::<AtomicU64>::new(at, HEADER_WORDS as u64))?;
        if words[1].load(Relaxed) != position {
            return None;
        }
        let words: [u64; HEADER_WORDS] = std::array::from_fn(|i| words[i].load(Relaxed));
        // Where nothing was ever written, position 0 seems to be said.
        (words[2] as u32 >= self.incarnation && words != [0; HEADER_WORDS]).then_some(words)
    }

    /// The record at `position`, if a valid one of an incarnation up to `incarnation_max` begins there, and its bytes.
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
        Some((Record { header, position, incarnation, operations }, bytes))
    }
}

/// Takes the word off that says when documents arrived.
fn take_arrival(operations: &mut Vec<u8>) -> Option<u64> {
    let ms = u64::from_le_bytes(*operations.first_chunk()?);
    operations.drain(..ARRIVAL_BYTES as usize);
    (1..=NUMBERS_MAX).contains(&ms).then_some(ms)
}

impl Record {
    /// Its operations as they lie in it.
    pub fn operation_bytes(&self) -> &[u8] {
        &self.operations
    }

    /// Bytes of the record.
    pub fn bytes(&self) -> u64 {
        self.header.bytes() + self.operations.len() as u64
    }

    /// One past the sequence number of its last operation.
    pub fn operations_end(&self) -> u64 {
        self.header.sequence + u64::from(self.header.operations)
    }

    /// Rows that it takes at most when it is replayed: a document may break off once, and a record of nothing but an offset has one.
    pub fn rows_max(&self) -> u64 {
        u64::from(self.header.operations.max(1)) * 2
    }

    /// Whether its operations fill it as they should.
    pub fn is_whole(&self) -> bool {
        let mut rest = self.operations.as_slice();
        (0..self.header.operations).all(|_| operation(&mut rest).is_some())
            && (rest.is_empty() || group_end(rest).is_some())
    }

    /// What ends it, if it is a group's.
    pub fn group_end(&self) -> Option<GroupEnd<'_>> {
        let mut rest = self.operations.as_slice();
        for _ in 0..self.header.operations {
            operation(&mut rest)?;
        }
        group_end(rest).filter(|_| self.header.kind == RecordKind::Add)
    }

    /// The number of the group whose end it is, with the application's offset.
    pub fn offset_number(&self) -> Option<u64> {
        self.group_end().filter(|end| end.offset.is_some()).map(|end| end.number)
    }

    /// Whether it may kill rows of documents that came before. `explicit_end` is one past the largest number that had been
    /// given as an explicit key.
    pub fn may_kill(&self, explicit_end: u64) -> bool {
        let replaces = |key| match key {
            LoggedKey::Bytes(_) => true,
            LoggedKey::Automatic(number) => number < explicit_end,
        };
        self.header.kind == RecordKind::Delete
            || self.operations().any(|operation| replaces(operation.key))
    }

    /// Its operations. Ends early if they do not fill the record as they should, which only a
    /// writer of another version could do.
    pub fn operations(&self) -> impl Iterator<Item = LoggedOperation<'_>> {
        let mut rest = self.operations.as_slice();
        (0..self.header.operations).map_while(move |_| operation(&mut rest))
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

    proptest! {
        /// What was appended is found again, up to what was trimmed, whatever the laps; nothing more is.
        #[test]
        fn a_log_is_read_as_it_was_written(
            groups in prop::collection::vec(prop::collection::vec((0usize..300, 0usize..20), 1..4), 1..80),
        ) {
            let (region, door) = (region(), Door::new(Barrier::Order));
            let mut writer = LogWriter::new(SPACE, 0, 3);
            let mut kept: Vec<(u64, Vec<(usize, usize)>)> = Vec::new();
            let mut sequence = 0;
            for group in groups {
                let mut operations = Operations::default();
                for (text, key) in &group {
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
                sequence += group.len() as u64;
                kept.push((position, group));
            }
            let mut reader = LogReader::new(&region, SPACE, kept[0].0, 3);
            for (_, group) in &kept {
                let record = reader.next_record().unwrap();
                let found: Vec<_> = record
                    .operations()
                    .map(|operation| match operation.key {
                        LoggedKey::Automatic(number) => (operation, number as usize - 9),
                        LoggedKey::Bytes(bytes) => (operation, bytes.len()),
                    })
                    .map(|(operation, key)| (len(operation.text), key, operation.fields.len()))
                    .collect();
                let group: Vec<_> =
                    group.iter().map(|(text, key)| (*text, *key, text % 17)).collect();
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
                    key: LoggedKey::Bytes(b"key"),
                    text: LoggedText::Bytes(b"some text"),
                    fields: b"fields",
                },
                LoggedOperation {
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
