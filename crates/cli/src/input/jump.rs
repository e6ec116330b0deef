//! A way to a place in a file past what lies before it, which was read once.

use std::fs::File;
use std::io::{self, ErrorKind, Seek, SeekFrom};
use std::os::unix::fs::FileExt;

use super::decode::is_utf8;
use super::head::Bytes;
use super::tracked::{COVERED, Mark};
use super::unpack::is_plain;

/// A file with the bytes of a mark at its place, and how they begin and end.
pub(crate) struct Jump {
    pub(super) mark: Mark,
    /// The first 1,024 bytes before the place.
    pub(super) head: Vec<u8>,
    /// The last 1,024 bytes before the place.
    pub(super) tail: Vec<u8>,
}

impl Jump {
    /// None if the file has other bytes there, or is packed or encoded: then it has to be read to
    /// know.
    pub(crate) fn to(file: &File, mark: Mark) -> io::Result<Option<Jump>> {
        let covered = mark.bytes.min(COVERED as u64);
        let mut head = vec![0; covered as usize];
        let mut tail = head.clone();
        for (bytes, at) in [(&mut head, 0), (&mut tail, mark.bytes - covered)] {
            match file.read_exact_at(bytes, at) {
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
                read => read?,
            }
        }
        let is_there = Mark::of(mark.bytes, &head, &tail) == mark;
        let is_text = is_plain(&head) && is_utf8(&head);
        Ok((is_there && is_text).then_some(Jump { mark, head, tail }))
    }

    /// The file from the place on.
    pub(crate) fn rest(&self, mut file: File) -> io::Result<Bytes> {
        file.seek(SeekFrom::Start(self.mark.bytes))?;
        Ok(Box::new(file))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Lines, lines_behind, tracked};
    use super::*;
    use std::io::Write as _;

    /// An unlinked file.
    fn file(bytes: &[u8]) -> File {
        let path = std::env::temp_dir().join(format!("spirit-jump-{}", std::process::id()));
        let mut file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn text() -> String {
        (0..300).map(|n| format!("{n} {}\n", "ab ".repeat(n * n % 97))).collect()
    }

    /// Lines with their numbers and the marks behind them.
    fn read(mut lines: Lines) -> Vec<(u64, String, Mark)> {
        let mut all = Vec::new();
        while let Some((number, line)) = lines.next().unwrap() {
            let line = String::from_utf8_lossy(line.bytes()).into_owned();
            all.push((number, line, lines.mark().unwrap()));
        }
        all
    }

    #[test]
    fn from_any_place_the_rest_is_read_as_from_the_beginning() {
        let text = text();
        let file = file(text.as_bytes());
        let whole = read(Lines::of(tracked(std::io::Cursor::new(text.clone())), 9999));
        for (at, (number, _, mark)) in whole.iter().enumerate() {
            let jump = Jump::to(&file, *mark).unwrap().unwrap();
            let rest = jump.rest(file.try_clone().unwrap()).unwrap();
            assert!(read(lines_behind(jump, rest, *number, 9999)) == whole[at + 1..], "{number}");
        }
    }

    #[test]
    fn a_file_that_must_be_read_to_know_is_not_jumped_in() {
        let text = text();
        let whole = read(Lines::of(tracked(std::io::Cursor::new(text.clone())), 9999));
        let mark = whole[250].2;
        let is_known = |bytes: &[u8]| Jump::to(&file(bytes), mark).unwrap().is_some();
        assert!(is_known(text.as_bytes()));
        assert!(is_known(&text.as_bytes()[..mark.bytes as usize]));
        assert!(!is_known(&text.as_bytes()[..mark.bytes as usize - 1]));
        for at in [0, 1023, mark.bytes as usize - 1024, mark.bytes as usize - 1] {
            let mut other = text.clone().into_bytes();
            other[at] ^= 1;
            assert!(!is_known(&other), "{at}");
        }
        // The same bytes, which are no text.
        for start in ["\u{feff}a", "BZh91AY&SY", "(\u{0}\u{0}"] {
            let text = format!("{start}{text}");
            let mark = Mark::of(3000, &text.as_bytes()[..1024], &text.as_bytes()[..3000]);
            let is_plain = Jump::to(&file(text.as_bytes()), mark).unwrap().is_some();
            assert_eq!(is_plain, start.starts_with('('), "{start:?}");
        }
    }
}
