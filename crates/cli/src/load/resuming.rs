//! What is added together with how far the files were read, and where a later run goes on.

use std::ops::Range;
use std::path::{Path, PathBuf};

use spirit::{Batch, WriteError};

use super::piece::Rest;
use super::{Loader, place};
use crate::failure::Failure;
use crate::format::Format;
use crate::input::{Line, Mark};
use crate::note::{note, report};
use crate::resume::{FILES_MAX, FileId, Place, Places, Track, Unfinished};

impl Loader<'_> {
    /// Adds the documents of `files` that are not in yet, and keeps how far it is.
    pub(crate) fn resume(&mut self, files: &[PathBuf]) -> Result<(), Failure> {
        let ids = self.begin_resuming(files)?;
        files.iter().zip(ids).try_for_each(|(path, file)| self.resume_file(path, file))
    }

    /// From now on the index keeps how far files are read. Returns the files' ids.
    pub(super) fn begin_resuming(&mut self, files: &[PathBuf]) -> Result<Vec<FileId>, Failure> {
        if files.len() > FILES_MAX {
            return Err(Failure::usage(format_args!(
                "--resume: {} files, of which an index remembers {FILES_MAX}; give fewer at a time",
                files.len()
            )));
        }
        let ids = files.iter().map(|path| resumable(path)).collect::<Result<Vec<_>, _>>()?;
        self.reading.cutting.is_tracked = true;
        self.track = Some(Track::new(Places::of(self.index)?, ids.clone()));
        Ok(ids)
    }

    /// Goes on in a file where it was left, whatever it was called then; or begins it.
    fn resume_file(&mut self, path: &Path, file: FileId) -> Result<(), Failure> {
        let candidates = self.track.as_ref().map_or_else(Vec::new, |track| track.candidates(file));
        for place in &candidates {
            self.begin(file, *place);
            if self.file(path, *place)? {
                return Ok(());
            }
        }
        if candidates.first().is_some_and(|place| place.file == file) {
            note_other_lines(path);
        }
        let whole = Place { file, ..Place::default() };
        self.begin(file, whole);
        self.file(path, whole).map(drop)
    }

    pub(super) fn begin(&mut self, file: FileId, from: Place) {
        if let Some(track) = &mut self.track {
            track.begin(file, from);
        }
    }

    /// Adds a last record without an ending, or what has become of it. It is read again once it has more.
    pub(super) fn unfinished(&mut self, path: &Path, rest: Rest) -> Result<(), Failure> {
        let Rest { number, record, parser, before } = rest;
        let bytes = record.len() as u64;
        if before.is_some_and(|line| line.bytes == bytes) {
            return Ok(());
        }
        let Ok(Some(mut document)) = parser.parse(&Line::Bytes(&record)) else {
            let why = "no document yet: it has no ending, and is read again when it has one";
            report(place(path, number, why));
            return Ok(());
        };
        let next = || self.index.next_number().map_err(Failure::work);
        let own = before.map_or_else(next, |line| Ok(line.number))?;
        document.key.get_or_insert_with(|| own.to_string().into());
        self.chunk.push(number, &document);
        let line = Unfinished { bytes, number: own };
        self.commit(path, Some(line))
    }

    /// Notes that record `number` was read, up to `mark`.
    pub(super) fn mark(&mut self, number: u64, mark: Option<Mark>) {
        if let Some(track) = &mut self.track {
            track.mark(number, mark);
        }
    }

    /// Keeps that records up to `lines` were read, if the index does not know it: none of the last ones
    /// went in, or the place was another file's.
    pub(super) fn keep_place(&mut self, path: &Path, lines: u64) -> Result<(), Failure> {
        let Some(track) = &mut self.track else { return Ok(()) };
        if track.is_known_to(lines) {
            return Ok(());
        }
        let places = track.at(lines, None);
        let kept = self.index.write(Batch::new().offset(&places.bytes()));
        kept.map_err(|error| Failure::Work(place(path, lines, &error.to_string())))?;
        track.note(places);
        Ok(())
    }

    /// Fails if what is read is to be resumed and has no lines to count: several objects may be on one.
    pub(super) fn check_resumable(&self, path: &Path, format: Format) -> Result<(), Failure> {
        let name = path.display();
        if self.track.is_none() {
            return Ok(());
        }
        if let Format::Warc | Format::Trec = format {
            return Err(Failure::usage(format_args!(
                "--resume: {name} has no lines to go on at; ingest it without --resume: records have keys, so that none \
                 is there twice"
            )));
        }
        if format != Format::Json {
            return Ok(());
        }
        Err(Failure::usage(format_args!(
            "--resume: {name} is an array, or has objects over several lines; make it JSON lines, as with \
             `jq -c '.[]'`, or ingest without --resume"
        )))
    }

    /// Adds these documents, or as many of them as can be added together, with how far the file was
    /// read.
    pub(super) fn add_group(
        &mut self,
        documents: Range<usize>,
        unfinished: Option<Unfinished>,
    ) -> Result<u64, WriteError> {
        let Some(track) = &mut self.track else { return Ok(0) };
        let (first, mut count) = (documents.start, documents.len().min(self.group_max));
        loop {
            let line = self.chunk.line(first + count - 1);
            let places = track.at(line - u64::from(unfinished.is_some()), unfinished);
            let offset = places.bytes();
            let batch: Batch<'_> = self.chunk.documents(first..first + count).collect();
            match self.index.write(batch.offset(&offset)) {
                Ok(()) => {
                    track.note(places);
                    return Ok(count as u64);
                }
                Err(error) if count > 1 && is_of_group(&error) => {
                    count /= 2;
                    if is_of_size(&error) {
                        self.group_max = count;
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// Says that a file is not what was read.
pub(super) fn note_other_lines(path: &Path) {
    note(format_args!(
        "{} has other lines than were read from it; it is read from its beginning",
        path.display()
    ));
}

/// Whether fewer documents may be added together where these were not.
fn is_of_group(error: &WriteError) -> bool {
    let is_of_one = matches!(
        error,
        WriteError::DocumentTooLong { .. } | WriteError::Field(_) | WriteError::Key { .. }
    );
    is_of_one || is_of_size(error)
}

/// Whether it were too many documents, of which none may be wrong.
fn is_of_size(error: &WriteError) -> bool {
    matches!(error, WriteError::GroupTooLarge { .. } | WriteError::GroupBeyondSegment { .. })
}

/// Returns the id of a file that can be found again.
fn resumable(path: &Path) -> Result<FileId, Failure> {
    let metadata = match path.as_os_str() == "-" {
        true => None,
        false => Some(std::fs::metadata(path).map_err(|error| Failure::file(path, &error))?),
    };
    metadata.filter(|metadata| metadata.is_file()).map(|metadata| FileId::of(&metadata)).ok_or_else(
        || {
            Failure::usage(format_args!(
                "--resume: {} is no file: what was read of it cannot be found again; ingest it \
                 without --resume",
                path.display()
            ))
        },
    )
}
