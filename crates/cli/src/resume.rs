//! How far files have been read into an index: what `ingest --resume` keeps in it as its offset, with each group of documents.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use spirit::Index;

use crate::failure::Failure;

/// Up to where: all files before this one, and in it the lines up to this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    path: Vec<u8>,
    line: u64,
}

impl Place {
    pub(crate) fn new(path: &Path, line: u64) -> Place {
        Place { path: path.as_os_str().as_bytes().into(), line }
    }

    /// The line in decimal, a tab, the file's name as it was given.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        [self.line.to_string().as_bytes(), b"\t", &self.path].concat()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Place> {
        let (line, path) = bytes.split_at(bytes.iter().position(|byte| *byte == b'\t')?);
        let line = std::str::from_utf8(line).ok()?.parse().ok()?;
        Some(Place { path: path[1..].into(), line })
    }

    fn is_in(&self, path: &Path) -> bool {
        self.path == path.as_os_str().as_bytes()
    }
}

/// The files that are left, and how many lines of the first are in the index already.
pub(crate) fn left<'f>(
    index: &Index,
    files: &'f [PathBuf],
) -> Result<(&'f [PathBuf], u64), Failure> {
    let Some(offset) = index.offset().map_err(Failure::work)? else { return Ok((files, 0)) };
    let found = Place::from_bytes(&offset);
    let place = found.ok_or_else(|| {
        Failure::usage(
            "--resume: the index keeps an offset of another application; ingest without --resume",
        )
    })?;
    let first = files.iter().position(|path| place.is_in(path)).ok_or_else(|| {
        Failure::usage(format!(
            "--resume: the index has lines up to {} of {}, which is not among these files; name it first, or ingest without --resume",
            place.line,
            String::from_utf8_lossy(&place.path)
        ))
    })?;
    Ok((&files[first..], place.line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_survive_their_bytes() {
        let place = Place::new(Path::new("a\tb.txt"), 12);
        assert_eq!(place.bytes(), b"12\ta\tb.txt");
        assert_eq!(Place::from_bytes(&place.bytes()), Some(place));
        assert!([&b"12"[..], b"x\ty", b""].iter().all(|bytes| Place::from_bytes(bytes).is_none()));
    }
}
