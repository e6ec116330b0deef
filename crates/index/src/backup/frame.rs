//! A frame: a kind, three numbers and at most one mebibyte, under a checksum that continues from
//! the frame before. So a frame that is missing, doubled or out of place is detected like a damaged
//! one.
//!
//! | word | |
//! |---|---|
//! | 0 | kind (low half), check (high half) |
//! | 1 | bytes of the payload |
//! | 2 | number of the frame |
//! | 3 .. 6 | the kind's numbers |

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom, Write};

use crate::backup::to_words;
use crate::ground::corrupt::checksum;

/// `SPIRITBK`.
const MAGIC: u64 = u64::from_le_bytes(*b"SPIRITBK");
/// The format that this version reads and writes.
pub const BACKUP_VERSION: u32 = 11;
const BYTE_ORDER: u64 = 0x0102_0304;
/// Bytes before the first frame.
const PREFACE_BYTES: u64 = 16;
const HEADER_WORDS: usize = 6;
const HEADER_BYTES: u64 = HEADER_WORDS as u64 * 8;
/// Largest number of bytes of a payload.
pub(crate) const PAYLOAD_BYTES_MAX: u64 = 1 << 20;

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum FrameKind {
    /// The index's root.
    Root = 1,
    /// A piece of a log.
    Log = 2,
    /// The beginning of a segment.
    Segment = 3,
    /// A piece of one of its sections.
    Section = 4,
    /// Some of its dead rows.
    Deaths = 5,
    /// The end of an executor's part.
    Part = 6,
    /// The end of the backup.
    End = 7,
    /// The list of fields.
    Fields = 8,
}

impl FrameKind {
    fn from_number(number: u32) -> Option<FrameKind> {
        use FrameKind::*;
        let all = [Root, Log, Segment, Section, Deaths, Part, End, Fields];
        all.into_iter().find(|k| *k as u32 == number)
    }
}

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Offset of its beginning in the file.
    pub at: u64,
    /// Its kind.
    pub kind: FrameKind,
    /// The numbers of its kind.
    pub numbers: [u64; 3],
    /// Whole words.
    pub payload: Vec<u8>,
}

/// A place between two frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Number of bytes before it.
    pub at: u64,
    /// Number of frames before it.
    pub number: u64,
    /// The check of the last of them.
    check: u32,
}

/// The output of frames.
pub trait Sink: Write {
    /// Cuts the output off behind the first `bytes` bytes.
    fn cut(&mut self, bytes: u64) -> io::Result<()>;
}

impl Sink for Vec<u8> {
    fn cut(&mut self, bytes: u64) -> io::Result<()> {
        self.truncate(bytes as usize);
        Ok(())
    }
}

/// The writer of consecutive frames.
pub struct FrameWriter<'a> {
    sink: &'a mut dyn Sink,
    place: Place,
}

impl<'a> FrameWriter<'a> {
    /// Begins a file.
    pub fn new(sink: &'a mut dyn Sink) -> io::Result<FrameWriter<'a>> {
        sink.write_all(&MAGIC.to_le_bytes())?;
        sink.write_all(&(BACKUP_VERSION as u64 | BYTE_ORDER << 32).to_le_bytes())?;
        Ok(FrameWriter { sink, place: Place { at: PREFACE_BYTES, ..Place::default() } })
    }

    /// Returns the place of the next frame.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Takes back all frames from `place` on.
    pub fn cut(&mut self, place: Place) -> io::Result<()> {
        self.sink.cut(place.at)?;
        self.place = place;
        Ok(())
    }

    /// Writes a frame.
    ///
    /// # Panics
    ///
    /// If the payload is not whole words, or longer than [`PAYLOAD_BYTES_MAX`].
    pub fn write(&mut self, kind: FrameKind, numbers: [u64; 3], payload: &[u8]) -> io::Result<()> {
        let bytes = payload.len() as u64;
        assert!(bytes.is_multiple_of(8) && bytes <= PAYLOAD_BYTES_MAX, "{bytes} bytes in a frame");
        let [a, b, c] = numbers;
        let mut words = [kind as u64, bytes, self.place.number, a, b, c];
        let check = frame_check(self.place.check, &words, payload);
        words[0] |= (check as u64) << 32;
        self.sink.write_all(words.map(u64::to_le_bytes).as_flattened())?;
        self.sink.write_all(payload)?;
        let Place { at, number, .. } = self.place;
        self.place = Place { at: at + HEADER_BYTES + bytes, number: number + 1, check };
        Ok(())
    }
}

/// Returns the check of a frame whose first word has none yet.
fn frame_check(before: u32, words: &[u64; HEADER_WORDS], payload: &[u8]) -> u32 {
    crc32c::crc32c_append(checksum(before, words), payload)
}

/// The input of frames.
pub trait Input: Read + Seek {}

impl<T: Read + Seek> Input for T {}

/// The reader of consecutive frames.
pub struct FrameReader<'a> {
    input: &'a mut dyn Input,
    place: Place,
}

/// The reason why a backup cannot be read.
#[derive(Debug)]
pub enum Fault {
    /// An error of the operating system.
    System(io::Error),
    /// The file is not a backup.
    NotABackup,
    /// Another version made the backup, and its format is not read here.
    Version(u32),
    /// A machine with another byte order made the backup.
    ByteOrder,
    /// The backup is damaged.
    Damaged {
        /// The place in the file.
        at: u64,
        /// The kind of damage.
        why: &'static str,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::System(reason) => write!(f, "cannot read it: {reason}"),
            Fault::NotABackup => f.write_str("this is not a backup"),
            Fault::Version(found) => write!(
                f,
                "its format is version {found}, and this program reads version {BACKUP_VERSION}: use the program that \
                 made it"
            ),
            Fault::ByteOrder => f.write_str("it was made on a machine with another byte order"),
            Fault::Damaged { at, why } => {
                write!(f, "at {at:#x}: {why}; this backup cannot be used, take another")
            }
        }
    }
}

impl std::error::Error for Fault {}

impl<'a> FrameReader<'a> {
    /// Begins to read a file.
    pub fn new(input: &'a mut dyn Input) -> Result<FrameReader<'a>, Fault> {
        let mut preface = [0; PREFACE_BYTES as usize];
        input.read_exact(&mut preface).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Fault::NotABackup,
            _ => Fault::System(error),
        })?;
        let mut words = to_words(&preface);
        let (magic, said) = (words.next().unwrap_or(0), words.next().unwrap_or(0));
        if magic == MAGIC.swap_bytes() {
            return Err(Fault::ByteOrder);
        }
        if magic != MAGIC {
            return Err(Fault::NotABackup);
        }
        if said >> 32 != BYTE_ORDER {
            return Err(Fault::Damaged { at: 8, why: "the byte order is unknown" });
        }
        if said as u32 != BACKUP_VERSION {
            return Err(Fault::Version(said as u32));
        }
        Ok(FrameReader { input, place: Place { at: PREFACE_BYTES, ..Place::default() } })
    }

    /// Returns the place of the next frame.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Moves to the beginning of a frame.
    pub fn go_to(&mut self, place: Place) -> Result<(), Fault> {
        self.input.seek(SeekFrom::Start(place.at)).map_err(Fault::System)?;
        self.place = place;
        Ok(())
    }

    /// Reads the next frame.
    pub fn next_frame(&mut self) -> Result<Frame, Fault> {
        let Place { at, number, check: before } = self.place;
        let damaged = |why| Fault::Damaged { at, why };
        let mut header = [0; HEADER_BYTES as usize];
        self.read(&mut header)?;
        let mut words = [0; HEADER_WORDS];
        words.iter_mut().zip(to_words(&header)).for_each(|(to, word)| *to = word);
        let check = (words[0] >> 32) as u32;
        words[0] &= 0xFFFF_FFFF;
        let [kind, bytes, said, a, b, c] = words;
        if !bytes.is_multiple_of(8) || bytes > PAYLOAD_BYTES_MAX {
            return Err(damaged("a frame is longer than the limit"));
        }
        let mut payload = vec![0; bytes as usize];
        self.read(&mut payload)?;
        if said != number || check != frame_check(before, &words, &payload) {
            return Err(damaged("the checksum of a frame is wrong"));
        }
        let kind = FrameKind::from_number(kind as u32);
        let kind = kind.ok_or_else(|| damaged("a frame has an unknown kind"))?;
        self.place = Place { at: at + HEADER_BYTES + bytes, number: number + 1, check };
        Ok(Frame { at, kind, numbers: [a, b, c], payload })
    }

    fn read(&mut self, bytes: &mut [u8]) -> Result<(), Fault> {
        let at = self.place.at;
        self.input.read_exact(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                Fault::Damaged { at, why: "the file ends within a frame" }
            }
            _ => Fault::System(error),
        })
    }

    /// Checks that the file ends here.
    pub fn check_end(&mut self) -> Result<(), Fault> {
        let mut more = [0];
        match self.input.read(&mut more).map_err(Fault::System)? {
            0 => Ok(()),
            _ => Err(Fault::Damaged { at: self.place.at, why: "the file goes on after its end" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn written() -> Vec<u8> {
        let mut file = Vec::new();
        let mut frames = FrameWriter::new(&mut file).unwrap();
        frames.write(FrameKind::Log, [1, 2, 3], &[7; 24]).unwrap();
        let place = frames.place();
        frames.write(FrameKind::Section, [9, 9, 9], &[1; 800]).unwrap();
        frames.cut(place).unwrap();
        frames.write(FrameKind::Deaths, [4, 5, 6], &[]).unwrap();
        frames.write(FrameKind::End, [2, 0, 0], &[]).unwrap();
        file
    }

    fn read(file: &[u8]) -> Result<Vec<Frame>, Fault> {
        let mut input = Cursor::new(file);
        let mut reader = FrameReader::new(&mut input)?;
        let frames = (0..3).map(|_| reader.next_frame()).collect::<Result<Vec<_>, _>>()?;
        reader.check_end()?;
        Ok(frames)
    }

    #[test]
    fn frames_are_read_as_they_were_written() {
        let frames = read(&written()).unwrap();
        assert_eq!(frames[0].payload, [7; 24]);
        assert_eq!((frames[1].kind, frames[1].numbers), (FrameKind::Deaths, [4, 5, 6]));
        assert_eq!(frames[2].kind, FrameKind::End);
    }

    #[test]
    fn a_reader_goes_where_it_was() {
        let file = written();
        let mut input = Cursor::new(&file);
        let mut reader = FrameReader::new(&mut input).unwrap();
        reader.next_frame().unwrap();
        let place = reader.place();
        let second = reader.next_frame().unwrap();
        reader.next_frame().unwrap();
        reader.go_to(place).unwrap();
        assert_eq!(reader.next_frame().unwrap(), second);
    }

    #[test]
    fn every_bit_and_every_byte_counts() {
        let file = written();
        for bit in 0..file.len() * 8 {
            let mut other = file.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(read(&other).is_err(), "bit {bit}");
        }
        for len in 0..file.len() {
            assert!(read(&file[..len]).is_err(), "{len} bytes");
        }
        assert!(read(&[&file[..], &[0]].concat()).is_err());
    }

    #[test]
    fn frames_that_change_places_are_found() {
        let file = written();
        let (first, second) = (16..16 + 48 + 24, 16 + 48 + 24..16 + 2 * 48 + 24);
        let swapped = [&file[..16], &file[second.clone()], &file[first], &file[second.end..]];
        assert!(read(&swapped.concat()).is_err());
        assert!(read(&[&file[..second.start], &file[second.end..]].concat()).is_err());
    }
}
