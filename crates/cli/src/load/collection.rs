//! A collection: files that do not change, read ahead by several threads and added in their order.
//!
//! The index keeps a place in the collection: the file, the last record of it that is in, and the bytes
//! before the next one. A later run begins there. It passes documents over that are in already.

use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};

use spirit::{Bulk, Document, Index, WriteError};

use super::open_source::{Again, Manner, OpenSource, Reached};
use super::piece::Rest;
use super::several::Several;
use super::{Loader, STREAM_DOCUMENTS};
use crate::args::ReadingArgs;
use crate::document::Rules;
use crate::failure::Failure;
use crate::format::Format;
use crate::input::{Cutting, Line, Mark, Records};
use crate::note::note;
use crate::output::grouped;
use crate::resume::Place;

/// The words of a place that an index keeps.
type BulkPlace = [u64; 6];

/// The files of a collection.
pub(crate) struct Collection {
    files: Vec<PathBuf>,
    /// A checksum of the files' names, lengths and times of change, and of how they are read.
    identity: u64,
    /// Bytes of each file.
    bytes: Vec<u64>,
    /// How much of them is read.
    read: Read,
    /// The number of fields that the index had before the first document. How records are read
    /// depends on them, and not on those that a killed run has brought.
    fields: OnceLock<usize>,
}

/// How much of a collection is read, and is to be read, in bytes. For people, so all is relaxed.
#[derive(Clone, Default)]
pub(crate) struct Read {
    pub(crate) read: Arc<AtomicU64>,
    pub(crate) bytes: Arc<AtomicU64>,
}

impl Collection {
    /// Fails unless all of them are files, which can be read again.
    pub(crate) fn of(files: Vec<PathBuf>, reading: &ReadingArgs) -> Result<Collection, Failure> {
        let mut named = format!("{reading:?}").into_bytes();
        let mut bytes = Vec::with_capacity(files.len());
        for path in &files {
            let metadata = match path.as_os_str() == "-" {
                true => None,
                false => Some(fs::metadata(path).map_err(|error| Failure::file(path, &error))?),
            };
            let Some(metadata) = metadata.filter(fs::Metadata::is_file) else {
                let name = path.display();
                return Err(Failure::usage(format_args!(
                    "{name}: is no file, and cannot be read again after a crash; use `spirit ingest`"
                )));
            };
            bytes.push(metadata.len());
            named.extend(path.as_os_str().as_bytes());
            let facts = [metadata.len(), metadata.mtime() as u64, metadata.mtime_nsec() as u64];
            named.extend(facts.map(u64::to_le_bytes).as_flattened());
        }
        let check = u64::from(crc32c::crc32c(&named));
        // Never 0, which is the place of a collection that was not begun.
        let identity = check << 32 | (files.len() as u64 & 0xFFFF_FFFF).max(1);
        Ok(Collection { files, identity, bytes, read: Read::default(), fields: OnceLock::new() })
    }

    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// How much of it is read, for the progress.
    pub(crate) fn reading(&self) -> Read {
        self.read.clone()
    }

    /// The documents of this collection, if it is the one that the index has finished last.
    pub(crate) fn documents_in(&self, index: &Index) -> Option<u64> {
        let [identity, _, documents, ..] = index.finished_bulk();
        let is_last = !index.has_unfinished_bulk() && identity == self.identity;
        is_last.then_some(documents)
    }

    /// The words of a place in the file at `index`.
    fn words(&self, index: usize, place: Place) -> BulkPlace {
        let Place { lines, marked, mark, .. } = place;
        let checks = u64::from(mark.head) << 32 | u64::from(mark.tail);
        let fields = self.fields.get().copied().unwrap_or(0) as u64;
        [self.identity, index as u64 | fields << 32, lines, marked, mark.bytes, checks]
    }

    /// The index of a file, and the place in it, of these words. `fields` are those that the index
    /// has now.
    fn place(&self, words: BulkPlace, fields: usize) -> Result<(usize, Place), Failure> {
        let [identity, index, lines, marked, bytes, checks] = words;
        if identity == 0 {
            self.fields.get_or_init(|| fields);
            return Ok((0, Place::default()));
        }
        if identity != self.identity {
            return Err(Failure::usage(
                "another collection is unfinished in this index, or its files have changed since: \
                 index the same files with the same options, or give it up with --give-up",
            ));
        }
        let mark = Mark { bytes, head: (checks >> 32) as u32, tail: checks as u32 };
        self.fields.get_or_init(|| (index >> 32) as usize);
        let index = (index & 0xFFFF_FFFF) as usize;
        Ok((index, Place { lines, marked, mark, ..Place::default() }))
    }
}

/// Where documents of a collection go.
pub(super) trait Sink {
    /// Adds the next documents, or those before the first that is refused.
    fn add(&mut self, documents: &mut dyn Iterator<Item = Document<'_>>)
    -> Result<u64, WriteError>;
    /// Leaves the next document out.
    fn leave_out(&mut self);
    /// The number of documents before the next one.
    fn documents(&self) -> u64;
    /// Notes the place of the next document.
    fn note_place(&mut self, place: BulkPlace) -> Result<(), WriteError>;
}

impl Sink for Bulk<'_> {
    fn add(
        &mut self,
        documents: &mut dyn Iterator<Item = Document<'_>>,
    ) -> Result<u64, WriteError> {
        self.add_all(documents)
    }

    fn leave_out(&mut self) {
        Bulk::leave_out(self);
    }

    fn documents(&self) -> u64 {
        Bulk::documents(self)
    }

    fn note_place(&mut self, place: BulkPlace) -> Result<(), WriteError> {
        Bulk::note_place(self, place)
    }
}

impl<'a> Loader<'a> {
    /// Adds the documents of a collection that are not in yet.
    pub(crate) fn load_collection(
        &mut self,
        collection: &Collection,
        bulk: &'a mut Bulk<'_>,
    ) -> Result<(), Failure> {
        let fields = self.index.schema().fields().len();
        let (first, from) = collection.place(bulk.place(), fields)?;
        let bytes: u64 = collection.bytes.iter().skip(first).sum();
        collection.read.bytes.store(bytes.saturating_sub(from.mark.bytes), Relaxed);
        if bulk.place() == BulkPlace::default() {
            bulk.note_place(collection.words(0, Place::default())).map_err(Failure::work)?;
        } else if bulk.documents() > 0 {
            let before = grouped(bulk.documents());
            note(format_args!("goes on behind {before} documents"));
        }
        self.sink = Some(bulk);
        let mut several = Several::read(self.sources(collection, first, from))?;
        for (index, path) in collection.files.iter().enumerate().skip(first) {
            self.collected(collection, index, path, &mut several)?;
            self.interrupt.check()?;
            self.note_place(collection.words(index + 1, Place::default()))?;
        }
        // Behind the last file there are no lines: the number of documents is kept there.
        let lines = self.sink.as_ref().map_or(0, |sink| sink.documents());
        let end = Place { lines, ..Place::default() };
        self.note_place(collection.words(collection.files.len(), end))
    }

    /// The files from `first` on, of which that one is read from a place on.
    fn sources(
        &self,
        collection: &Collection,
        first: usize,
        from: Place,
    ) -> impl Iterator<Item = impl FnOnce() -> Result<OpenSource, Failure> + Send + use<>> + Send + use<>
    {
        let reading = &self.reading;
        let cutting = Cutting {
            is_tracked: true,
            read: Some(collection.read.read.clone()),
            ..reading.cutting.clone()
        };
        let schema = self.index.schema();
        let count = collection.fields.get().copied().unwrap_or(0);
        let fields = schema.fields().get(..count).unwrap_or(schema.fields());
        let manner = Manner {
            rules: Arc::new(Rules::new(&reading.texts, cutting.delimiter, fields)),
            documents_max: STREAM_DOCUMENTS,
            keeps_records: self.rejects.is_some(),
            interrupt: self.interrupt.clone(),
        };
        let files = collection.files.clone().into_iter().enumerate().skip(first);
        files.map(move |(index, path)| {
            let (cutting, manner) = (cutting.clone(), manner.clone());
            let from = if index == first { from } else { Place::default() };
            move || {
                let records = Records::open(&manner.interrupt, &path, &cutting);
                let records = records.map_err(|error| Failure::file(&path, &error))?;
                let again = File::open(&path).ok().map(Again::Whole);
                Ok(OpenSource::new(&path, records, manner, from).or_jump(again))
            }
        })
    }

    /// Adds the documents of the file at `index`.
    fn collected(
        &mut self,
        collection: &Collection,
        index: usize,
        path: &Path,
        several: &mut Several,
    ) -> Result<(), Failure> {
        let pieces = several.next_source()?;
        let mut has_places = true;
        loop {
            let piece = pieces.next()?;
            if let Some((format, _)) = &piece.begun {
                // Several objects may have the same number: that of their line.
                has_places = *format != Format::Json;
            }
            let reached = piece.mark.filter(|_| has_places);
            match self.take(path, piece)? {
                Reached::End => return Ok(()),
                Reached::Other => {
                    return Err(Failure::Work(format!(
                        "{}: has other bytes than when it was begun; give the collection up with \
                         --give-up",
                        path.display()
                    )));
                }
                Reached::Full | Reached::Pause => {}
            }
            if let Some((lines, mark)) = reached {
                let (marked, mark) = mark.map_or((0, Mark::default()), |mark| (lines, mark));
                let place = Place { lines, marked, mark, ..Place::default() };
                self.note_place(collection.words(index, place))?;
            }
        }
    }

    fn note_place(&mut self, words: BulkPlace) -> Result<(), Failure> {
        match &mut self.sink {
            Some(sink) => sink.note_place(words).map_err(Failure::work),
            None => Ok(()),
        }
    }

    /// Adds the last record of a file, which has no ending.
    pub(super) fn last_record(&mut self, path: &Path, rest: Rest) -> Result<(), Failure> {
        let Rest { number, record, parser, .. } = rest;
        match parser.parse(&Line::Bytes(&record)) {
            Ok(None) => {
                self.totals.without_text += 1;
                Ok(())
            }
            Ok(Some(document)) => {
                self.chunk.push(number, &document);
                self.chunk.keep(&record);
                self.commit(path, None)
            }
            Err(why) => {
                let (kind, reason) = (why.kind(), why.to_string());
                let line = Line::Bytes(&record);
                self.reject(path, number, &line, &reason)?;
                self.refuse(path, number, kind, &reason)
            }
        }
    }
}
