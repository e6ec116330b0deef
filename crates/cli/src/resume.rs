//! How far files have been read into an index. `ingest --resume` keeps it there as its offset, with
//! each group of documents.
//!
//! A file is known by its device and inode, and by the bytes before a place in it ([`Mark`]). The bytes
//! decide. A log that was renamed goes on; one that was emptied and filled anew begins again; a copy of
//! what was read, also a compressed one, is not read again.
//!
//! The offset is text: a line `files 1`, and then a line for each file, the one read last at the end.
//! It has numbers in hexadecimal: device, inode, the lines that are in, the lines before the mark, and
//! the mark's bytes and two checksums. Behind them is `-`, or the length of a last line without an
//! ending that is in, and the number of its document.

use std::fmt::Write as _;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

use spirit::Index;

use crate::failure::Failure;
use crate::input::Mark;

/// Files that an offset has room for. A line takes at most 138 bytes, an offset 4,096.
pub(crate) const FILES_MAX: usize = 24;
const HEADER: &str = "files 1";

/// What a file is called by its file system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    pub(crate) fn of(metadata: &Metadata) -> FileId {
        FileId { device: metadata.dev(), inode: metadata.ino() }
    }
}

/// A last record without an ending, which went in as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unfinished {
    /// Its length.
    pub(crate) bytes: u64,
    /// The number of its document: what the line becomes replaces it.
    pub(crate) number: u64,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: FileId,
    /// The number of the last record that is in, or was refused.
    pub(crate) lines: u64,
    /// The number of the record that the mark is behind. There may be more that are in.
    pub(crate) marked: u64,
    pub(crate) mark: Mark,
    /// The line behind, if it went in without an ending.
    pub(crate) unfinished: Option<Unfinished>,
}

/// The places in all files, the one that was read last at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places(Vec<Place>);

impl Places {
    /// Those that the index keeps.
    pub(crate) fn of(index: &Index) -> Result<Places, Failure> {
        let Some(offset) = index.offset().map_err(Failure::work)? else {
            return Ok(Places::default());
        };
        Places::from_bytes(&offset).ok_or_else(|| {
            Failure::usage(
                "--resume: the index keeps an offset of another application, or of a version that \
                 counted lines; ingest what is new without --resume, or make a new index",
            )
        })
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut text = HEADER.to_owned();
        for Place { file, lines, marked, mark, unfinished } in &self.0 {
            let FileId { device, inode } = file;
            let Mark { bytes, head, tail } = mark;
            let _ = write!(text, "\n{device:x} {inode:x} {lines:x} {marked:x} ");
            let _ = write!(text, "{bytes:x} {head:x} {tail:x} ");
            let _ = match unfinished {
                None => write!(text, "-"),
                Some(Unfinished { bytes, number }) => write!(text, "{bytes:x} {number:x}"),
            };
        }
        text.into_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Places> {
        let mut lines = std::str::from_utf8(bytes).ok()?.lines();
        lines.next().filter(|line| *line == HEADER)?;
        lines.map(Place::from_line).collect::<Option<_>>().map(Places)
    }

    /// The places that may be in this file: its own first, and then those in files that none of
    /// `given` is, or that it was before it got other bytes.
    pub(crate) fn of_file<'p>(
        &'p self,
        file: FileId,
        given: &'p [FileId],
    ) -> impl Iterator<Item = &'p Place> {
        let own = self.0.iter().filter(move |place| place.file == file);
        let is_elsewhere = |place: &Place| given.contains(&place.file);
        let others = self.0.iter().rev().filter(move |place| place.file != file);
        own.chain(others.filter(move |place| is_elsewhere(place) || place.is_telling()))
    }

    /// Takes the place of the file that it is in, or else of `instead`. Forgets the file that was
    /// not read for the longest time, if there are too many.
    pub(crate) fn note(&mut self, place: Place, instead: Option<FileId>) {
        self.0.retain(|old| old.file != place.file && Some(old.file) != instead);
        if self.0.len() == FILES_MAX {
            self.0.remove(0);
        }
        self.0.push(place);
    }
}

/// How far the files were read, with the one that is being read.
pub(crate) struct Track {
    places: Places,
    /// The files that are read.
    given: Vec<FileId>,
    current: Current,
}

/// The file that is read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Current {
    /// Where it is, with a mark that the index knows.
    place: Place,
    /// The number of the record that was read last, and the mark behind it. Until all records up to it
    /// are in, the index keeps the mark before: what lies before a mark is never read again.
    ahead: Option<(u64, Mark)>,
    /// The file whose place this one takes over.
    instead: Option<FileId>,
}

impl Track {
    pub(crate) fn new(places: Places, given: Vec<FileId>) -> Track {
        Track { places, given, current: Current::default() }
    }

    /// The places that a file may have been read to, the likeliest first.
    pub(crate) fn candidates(&self, file: FileId) -> Vec<Place> {
        self.places.of_file(file, &self.given).copied().collect()
    }

    /// Begins to read a file at `from`, where it may have been another.
    pub(crate) fn begin(&mut self, file: FileId, from: Place) {
        let instead = Some(from.file).filter(|old| *old != file);
        self.current = Current { place: Place { file, ..from }, ahead: None, instead };
    }

    /// Goes on with another file, where [`current`](Self::current) was.
    pub(crate) fn go_on(&mut self, current: Current) {
        self.current = current;
    }

    pub(crate) fn current(&self) -> Current {
        self.current
    }

    /// True if the index knows that this file was read up to `lines`, or to an unfinished line behind.
    pub(crate) fn is_known_to(&self, lines: u64) -> bool {
        let Current { place: current, instead, .. } = self.current;
        let of_file = |place: &Place| place.file == current.file && place.lines >= lines;
        instead.is_none() && (lines == 0 || self.places.0.iter().any(of_file))
    }

    /// Notes that record `number` was read to `mark`.
    pub(crate) fn mark(&mut self, number: u64, mark: Option<Mark>) {
        self.current.ahead = mark.map(|mark| (number, mark)).or(self.current.ahead);
    }

    /// Places all records up to `lines`, and the unfinished line behind them.
    pub(crate) fn at(&self, lines: u64, unfinished: Option<Unfinished>) -> Places {
        let mut places = self.places.clone();
        let Current { place, ahead, instead } = self.current;
        let ahead = ahead.filter(|(marked, _)| *marked <= lines);
        let (marked, mark) = ahead.unwrap_or((place.marked, place.mark));
        places.note(Place { lines, marked, mark, unfinished, ..place }, instead);
        places
    }

    /// Takes over what is in the index now.
    pub(crate) fn note(&mut self, places: Places) {
        if let Some(Place { marked, mark, .. }) = places.0.last() {
            (self.current.place.marked, self.current.place.mark) = (*marked, *mark);
        }
        self.places = places;
        self.current.instead = None;
    }
}

impl Place {
    /// True if another file with the same bytes is this one, copied or renamed. Few bytes may be the
    /// same by chance: a log may begin with the line that the one before began with.
    fn is_telling(&self) -> bool {
        self.marked >= 2 || self.mark.bytes >= 1024
    }

    fn from_line(line: &str) -> Option<Place> {
        let mut words = line.split(' ');
        let mut number = || u64::from_str_radix(words.next()?, 16).ok();
        let file = FileId { device: number()?, inode: number()? };
        let (lines, marked, bytes) = (number()?, number()?, number()?);
        let [head, tail] = [number()?, number()?].map(u32::try_from);
        let mark = Mark { bytes, head: head.ok()?, tail: tail.ok()? };
        let unfinished = match words.next()? {
            "-" => None,
            bytes => {
                let bytes = u64::from_str_radix(bytes, 16).ok()?;
                Some(Unfinished { bytes, number: u64::from_str_radix(words.next()?, 16).ok()? })
            }
        };
        words.next().is_none().then_some(Place { file, lines, marked, mark, unfinished })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(inode: u64) -> Place {
        let file = FileId { device: 0xfe00, inode };
        let mark = Mark { bytes: u64::MAX, head: 0x1234_5678, tail: u32::MAX };
        Place { file, lines: 17, marked: 16, mark, unfinished: None }
    }

    #[test]
    fn places_survive_their_bytes() {
        let unfinished = Some(Unfinished { bytes: u64::MAX, number: u64::MAX });
        let longest = FileId { device: u64::MAX, inode: u64::MAX };
        let longest =
            Place { file: longest, lines: u64::MAX, marked: u64::MAX, unfinished, ..place(1) };
        let places = Places(vec![place(1), longest, place(3)]);
        let bytes = places.bytes();
        let text = String::from_utf8(bytes.clone()).unwrap();
        assert!(
            text.starts_with("files 1\nfe00 1 11 10 ffffffffffffffff 12345678 ffffffff -\n"),
            "{text}"
        );
        assert_eq!(Places::from_bytes(&bytes), Some(places));
        for wrong in [
            "",
            "12\ta.txt",
            "files 2",
            "files 1\n\n",
            "files 1\n1 2 3 4 5 6 7",
            "files 1\n1 2 3 4 5 6 7 - 8",
        ] {
            assert_eq!(Places::from_bytes(wrong.as_bytes()), None, "{wrong:?}");
        }
        let all = Places(vec![longest; FILES_MAX]);
        assert!(all.bytes().len() <= 4096, "{}", all.bytes().len());
    }

    /// A mark behind records that are not in would make the next run pass them over.
    #[test]
    fn no_mark_is_kept_that_is_ahead_of_what_is_in() {
        let mark = |bytes| Mark { bytes, head: 1, tail: 2 };
        let mut track = Track::new(Places::default(), Vec::new());
        track.begin(place(1).file, Place { file: place(1).file, ..Place::default() });
        track.mark(1000, Some(mark(10)));
        let marked = |places: &Places| places.0.last().map(|place| (place.lines, place.marked));
        let first = track.at(500, None);
        assert_eq!(marked(&first), Some((500, 0)));
        track.note(first);
        assert_eq!(marked(&track.at(999, None)), Some((999, 0)));
        let whole = track.at(1000, None);
        assert_eq!(marked(&whole), Some((1000, 1000)));
        track.note(whole);
        track.mark(2000, Some(mark(20)));
        assert_eq!(marked(&track.at(1500, None)), Some((1500, 1000)));
        track.mark(2100, None);
        assert_eq!(marked(&track.at(2100, None)), Some((2100, 2000)));
    }

    #[test]
    fn a_place_takes_that_of_its_file_and_the_oldest_is_forgotten() {
        let mut places = Places::default();
        (0..FILES_MAX as u64).for_each(|inode| places.note(place(inode), None));
        places.note(place(0), None);
        places.note(place(100), Some(FileId { device: 0xfe00, inode: 5 }));
        let inodes: Vec<_> = places.0.iter().map(|place| place.file.inode).collect();
        assert_eq!(inodes.len(), FILES_MAX);
        assert_eq!(inodes[..5], [1, 2, 3, 4, 6]);
        places.note(place(200), None);
        let own = |inode| places.of_file(place(inode).file, &[]).next().map(|found| found.file);
        assert_ne!(own(1), Some(place(1).file));
        assert_eq!(own(2), Some(place(2).file));
    }
}
