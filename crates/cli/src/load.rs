//! Files go into an index: a chunk of records at a time, each bad one reported with its place, the rest taken.

mod ahead;
mod collection;
mod following;
mod open_source;
mod piece;
mod resuming;
mod several;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use spirit::schema::FieldError;
use spirit::{Index, WriteError};
use spirit_forms::escape::escaped;

use crate::chunk::Chunk;
use crate::document::Rules;
use crate::failure::Failure;
use crate::full;
use crate::input::{Cutting, Line, Records};
use crate::interrupt::Interrupt;
use crate::misfits::{OnMisfit, is_misfit};
use crate::note::report;
use crate::progress::Progress;
use crate::refusals::{Refusals, kind_of};
use crate::rejects::Rejects;
use crate::resume::{Place, Track, Unfinished};
use crate::totals::Totals;
use ahead::Ahead;
use collection::Sink;
pub(crate) use collection::{Collection, Read};
use open_source::{Again, Manner, OpenSource, Reached};
use piece::{Bad, Ended, Piece};

/// Documents given to the index at once: enough that their cache misses overlap.
const CHUNK_DOCUMENTS: usize = 1000;
/// The same for several executors, together with the place that was reached.
const GROUP_DOCUMENTS: usize = 16_384;
/// The same for several executors alone. Their threads wait for each other at the end.
const STREAM_DOCUMENTS: usize = 65_536;
/// An error shows this many characters of a field's name.
const NAME_SHOWN: usize = 200;

/// How files are read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    pub(crate) cutting: Cutting,
    /// Names of the member that is the text; if empty, the usual ones.
    pub(crate) texts: Vec<String>,
    /// Stop at the first bad record.
    pub(crate) strict: bool,
    /// Unless set, a strict schema refuses, and others keep.
    pub(crate) on_misfit: Option<OnMisfit>,
}

pub(crate) struct Loader<'a> {
    index: &'a Index,
    reading: Reading,
    progress: &'a mut Progress,
    interrupt: Interrupt,
    /// Where each document is acknowledged.
    acks: Option<&'a mut dyn Write>,
    /// How far the files were read, if what goes in goes in together with that.
    track: Option<Track>,
    /// The collection that goes in, if it is one.
    sink: Option<&'a mut (dyn Sink + 'a)>,
    chunk: Chunk,
    /// The first document of the chunk that is not in.
    next: usize,
    /// The most documents that are added together with how far the files were read.
    group_max: usize,
    /// Sources are read and parsed by a thread of their own.
    is_ahead: bool,
    totals: Totals,
    refusals: Refusals,
    /// Where refused records are kept.
    rejects: Option<Rejects>,
    /// Bad lines that were reported when the same files were read before.
    reported: u64,
    /// A document found no room.
    is_full: bool,
}

impl<'a> Loader<'a> {
    pub(crate) fn new(
        index: &'a Index,
        reading: Reading,
        progress: &'a mut Progress,
    ) -> Loader<'a> {
        let chunk = Chunk::default();
        let interrupt = Interrupt::default();
        Loader {
            index,
            reading,
            progress,
            interrupt,
            acks: None,
            track: None,
            sink: None,
            chunk,
            next: 0,
            group_max: usize::MAX,
            is_ahead: false,
            totals: Totals::default(),
            refusals: Refusals::default(),
            rejects: None,
            reported: 0,
            is_full: false,
        }
    }

    /// Does not report the first `count` bad lines: that was done before.
    pub(crate) fn reported(mut self, count: u64) -> Loader<'a> {
        self.reported = count;
        self
    }

    /// True if a document found no room.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Stops when `interrupt` says so: what was read before goes in.
    pub(crate) fn until(mut self, interrupt: Interrupt) -> Loader<'a> {
        self.interrupt = interrupt;
        self
    }

    /// Reads and parses on a thread of its own, ahead of what goes in.
    pub(crate) fn ahead(mut self, is_ahead: bool) -> Loader<'a> {
        self.is_ahead = is_ahead;
        self
    }

    /// Prints `ack KEY` on `out` for each document once queries find it.
    pub(crate) fn acknowledge(mut self, out: &'a mut dyn Write) -> Loader<'a> {
        self.acks = Some(out);
        self
    }

    /// Keeps refused records as they are.
    pub(crate) fn keep(mut self, rejects: Option<Rejects>) -> Loader<'a> {
        self.rejects = rejects;
        self
    }

    pub(crate) fn totals(&self) -> Totals {
        self.totals
    }

    /// Says what was refused, and why.
    pub(crate) fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    /// Adds the documents of `files`, in order.
    pub(crate) fn load(&mut self, files: &[PathBuf]) -> Result<(), Failure> {
        let whole = Place::default();
        files.iter().try_for_each(|path| self.file(path, whole).map(drop))
    }

    /// Adds the documents of a file behind a place in it. False, and nothing is added, if the file has
    /// other records before it.
    fn file(&mut self, path: &Path, from: Place) -> Result<bool, Failure> {
        let records = Records::open(&self.interrupt, path, &self.reading.cutting);
        let records = records.map_err(|error| Failure::file(path, &error))?;
        let again = self.track.as_ref().and_then(|_| File::open(path).ok()).map(Again::Whole);
        let mut source = OpenSource::new(path, records, self.manner(), from).or_jump(again);
        let reached = if self.is_ahead && self.acks.is_none() {
            let ahead = Ahead::of(source)?;
            self.until_end(|loader| {
                ahead.give_back(std::mem::take(&mut loader.chunk));
                loader.take(path, ahead.piece()?)
            })?
        } else {
            self.until_end(|loader| loader.read(&mut source))?
        };
        if reached == Reached::Other {
            return Ok(false);
        }
        self.interrupt.check().map(|()| true)
    }

    fn until_end(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<Reached, Failure>,
    ) -> Result<Reached, Failure> {
        loop {
            match read(self)? {
                Reached::Pause | Reached::Full => {}
                reached => return Ok(reached),
            }
        }
    }

    fn manner(&self) -> Manner {
        let Reading { cutting, texts, .. } = &self.reading;
        let executors = self.index.settings().executors;
        let documents_max = match (&self.acks, &self.track, executors) {
            // A document that is to be acknowledged does not wait for others.
            (Some(_), ..) => 1,
            (None, _, 1) => CHUNK_DOCUMENTS,
            (None, Some(_), _) => GROUP_DOCUMENTS,
            (None, None, _) => STREAM_DOCUMENTS,
        };
        Manner {
            rules: Arc::new(Rules::new(texts, cutting.delimiter, self.index.schema().fields())),
            documents_max,
            keeps_records: self.rejects.is_some(),
            interrupt: self.interrupt.clone(),
        }
    }

    /// Adds the next piece of a source.
    fn read(&mut self, source: &mut OpenSource) -> Result<Reached, Failure> {
        let piece = source.piece(std::mem::take(&mut self.chunk));
        self.take(&source.path, piece)
    }

    /// Adds a piece. Reports are in order, and with `strict` what comes before a bad record goes in.
    fn take(&mut self, path: &Path, piece: Piece) -> Result<Reached, Failure> {
        let Piece { begun, chunk, bad, without_text, mark, ended } = piece;
        self.totals.without_text += without_text;
        if let Some((format, names)) = begun {
            self.check_resumable(path, format)?;
            self.rejects.iter_mut().for_each(|rejects| rejects.begin(&names));
        }
        self.begin_chunk(path, chunk);
        if let Some((number, mark)) = mark {
            self.mark(number, mark);
        }
        for Bad { before, line, kind, reason, record } in bad {
            self.commit_to(path, before, None)?;
            let record = record.as_deref().map_or(Line::TooLong, Line::Bytes);
            self.reject(path, line, &record, &reason)?;
            self.refuse(path, line, kind, &reason)?;
        }
        self.commit(path, None)?;
        match ended {
            Ended::Full => Ok(Reached::Full),
            Ended::Pause => Ok(Reached::Pause),
            Ended::Other => Ok(Reached::Other),
            Ended::Failed(failure) => Err(failure),
            Ended::End { keep, rest } => {
                match rest {
                    Some(rest) if self.sink.is_some() => self.last_record(path, rest)?,
                    Some(rest) => self.unfinished(path, rest)?,
                    None => {}
                }
                keep.map_or(Ok(()), |lines| self.keep_place(path, lines))?;
                Ok(Reached::End)
            }
        }
    }

    /// Begins to add documents, without the members that were refused before.
    fn begin_chunk(&mut self, path: &Path, chunk: Chunk) {
        (self.chunk, self.next) = (chunk, 0);
        let refusals = &mut self.refusals;
        if refusals.has_members() {
            self.chunk.pass_over(0, |name, line| refusals.passes_over(name, path, line));
        }
    }

    /// Adds all documents of the chunk. The last may be a line without an ending.
    fn commit(&mut self, path: &Path, unfinished: Option<Unfinished>) -> Result<(), Failure> {
        self.commit_to(path, self.chunk.len(), unfinished)?;
        self.chunk.clear();
        self.next = 0;
        self.progress.tick(&self.totals);
        Ok(())
    }

    /// Adds the documents of the chunk before the one at `end`.
    fn commit_to(
        &mut self,
        path: &Path,
        end: usize,
        unfinished: Option<Unfinished>,
    ) -> Result<(), Failure> {
        while self.next < end {
            let next = self.next;
            let result = match self.acks {
                Some(_) => self.add_one(next)?,
                None if self.track.is_some() => self.add_group(next..end, unfinished),
                None => match &mut self.sink {
                    Some(sink) => sink.add(&mut self.chunk.documents(next..end)),
                    None => self.index.add_all(self.chunk.documents(next..end)),
                },
            };
            let (added, refused) = after_some(result);
            self.count(next, added);
            self.next += added;
            let next = self.next;
            match refused {
                // Without that member, or that value, it is tried again.
                Some(error) if self.passes_over(path, next, &error) => {}
                Some(error) if self.fits(path, next, &error) => {}
                Some(error) => {
                    self.not_added(path, next, &error)?;
                    self.sink.iter_mut().for_each(|sink| sink.leave_out());
                    self.next += 1;
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Adds the document at `index` and acknowledges it.
    fn add_one(&mut self, index: usize) -> Result<Result<u64, WriteError>, Failure> {
        let own = self.chunk.key(index);
        let added = self.index.add(self.chunk.document(index));
        let key = added.map(|number| own.map_or_else(|| number.to_string(), str::to_owned));
        match (key, &mut self.acks) {
            (Err(error), _) => return Ok(Err(error)),
            (Ok(key), Some(out)) => {
                writeln!(out, "ack {}", escaped(&key))?;
                out.flush()?;
            }
            (Ok(_), None) => {}
        }
        Ok(Ok(1))
    }

    fn count(&mut self, first: usize, count: usize) {
        let bytes = self.chunk.from(first).take(count).map(|(_, text)| text.len() as u64);
        self.totals.bytes += bytes.sum::<u64>();
        self.totals.documents += count as u64;
    }

    /// Takes members out of documents if their names can be no fields'. A strict schema refuses them
    /// instead. False if that was not what was wrong.
    fn passes_over(&mut self, path: &Path, index: usize, error: &WriteError) -> bool {
        let WriteError::Field(error) = error else { return false };
        if !self.index.schema().is_dynamic() {
            return false;
        }
        let (FieldError::Name { field } | FieldError::Reserved { field }) = error else {
            return false;
        };
        // An error shows a part of a long name.
        let is_it = |name: &str| match field.len() >= NAME_SHOWN {
            true => name.starts_with(field),
            false => name == field,
        };
        let refusals = &mut self.refusals;
        self.chunk.pass_over(index, |name, line| {
            let passed = is_it(name);
            if passed {
                refusals.pass_over(name, 1, path, line);
            }
            passed
        })
    }

    /// Makes documents from `first` on fit the schema. False if that was not what was wrong.
    fn fits(&mut self, path: &Path, first: usize, error: &WriteError) -> bool {
        let WriteError::Field(misfit) = error else { return false };
        let (schema, mut changed) = (self.index.schema(), false);
        let usual = if schema.is_dynamic() { OnMisfit::Keep } else { OnMisfit::Refuse };
        let policy = self.reading.on_misfit.unwrap_or(usual);
        if policy == OnMisfit::Refuse || self.reading.strict || !is_misfit(misfit) {
            return false;
        }
        for index in first..self.chunk.len() {
            let line = self.chunk.line(index);
            let refusals = &mut self.refusals;
            let left_out = |name: &str, misfit: FieldError| {
                if refusals.leave_out(name, path, line) {
                    let why = "left out, as others of this field will be (--on-misfit)";
                    report(place(path, line, &format!("{misfit}: {why}")));
                }
            };
            let fitted = policy.fit(&mut self.chunk, index, &schema, left_out);
            changed |= fitted && index == first;
        }
        changed
    }

    fn not_added(&mut self, path: &Path, index: usize, error: &WriteError) -> Result<(), Failure> {
        let line = self.chunk.line(index);
        match error {
            // It waited for room until it was interrupted.
            WriteError::HeapFull if self.interrupt.is_asked() => self.interrupt.check(),
            // Nothing that follows would fare better.
            WriteError::HeapFull | WriteError::KeysFull => {
                self.is_full = true;
                Err(Failure::Work(place(path, line, &full::said(self.index, error))))
            }
            WriteError::SyncFailed
            | WriteError::Poisoned
            | WriteError::OffsetNotKept
            | WriteError::BulkUnfinished
            | WriteError::BulkKeysMixed
            | WriteError::OffsetTooLong { .. }
            | WriteError::ReadOnly => Err(Failure::Work(place(path, line, &error.to_string()))),
            _ => {
                let (bytes, reason) = (self.chunk.kept(index).to_owned(), error.to_string());
                self.reject(path, line, &Line::Bytes(&bytes), &reason)?;
                self.refuse(path, line, kind_of(error), &reason)
            }
        }
    }

    /// Keeps a refused record.
    fn reject(
        &mut self,
        path: &Path,
        line: u64,
        record: &Line<'_>,
        reason: &str,
    ) -> Result<(), Failure> {
        let Some(rejects) = &mut self.rejects else { return Ok(()) };
        let record = if let Line::Bytes(bytes) = record { Some(*bytes) } else { None };
        rejects.write(record, &place(path, line, reason))
    }

    fn refuse(
        &mut self,
        path: &Path,
        line: u64,
        kind: &'static str,
        reason: &str,
    ) -> Result<(), Failure> {
        self.totals.refused += 1;
        self.refusals.count(kind, path, line);
        let reason = place(path, line, reason);
        if self.reading.strict {
            return Err(Failure::Work(reason));
        }
        if self.totals.refused > self.reported {
            report(reason);
        }
        Ok(())
    }
}

/// The number of documents that were added, and why no more were.
pub(crate) fn after_some(result: Result<u64, WriteError>) -> (usize, Option<WriteError>) {
    match result {
        Ok(added) => (added as usize, None),
        Err(WriteError::AfterSome { added, error }) => (added as usize, Some(*error)),
        Err(error) => (0, Some(error)),
    }
}

fn place(path: &Path, line: u64, reason: &str) -> String {
    format!("{}:{line}: {reason}", path.display())
}
