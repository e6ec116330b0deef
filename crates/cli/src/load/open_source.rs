//! A source that is being read, and how far it was read. It gives documents a piece at a time.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::piece::{Bad, Ended, Piece, Rest};
use crate::chunk::Chunk;
use crate::document::{Parser, Rules};
use crate::failure::Failure;
use crate::input::{Followed, Jump, Line, Records, Step};
use crate::interrupt::Interrupt;
use crate::resume::{Place, Unfinished};

/// Bytes of a piece's documents, of which the last may go beyond.
const PIECE_BYTES: usize = 16 << 20;

pub(super) struct OpenSource {
    pub(super) path: PathBuf,
    records: Records,
    /// How it is read.
    manner: Manner,
    /// None until the format is known.
    parser: Option<Arc<Parser>>,
    /// What lies before is in.
    from: Place,
    /// The number of the last record that was read.
    pub(super) last: u64,
    /// The record behind `from` that went in without an ending.
    unfinished: Option<Unfinished>,
    /// The file once more, to go on at the place without reading what lies before.
    again: Option<Again>,
}

/// How a source is read.
#[derive(Clone)]
pub(super) struct Manner {
    pub(super) rules: Arc<Rules>,
    /// The most documents of a piece.
    pub(super) documents_max: usize,
    /// Records are wanted as they were read.
    pub(super) keeps_records: bool,
    pub(super) interrupt: Interrupt,
}

/// A file that can be gone on with at a place.
pub(super) enum Again {
    /// As it is.
    Whole(File),
    /// As it grows.
    Growing(File, Followed),
}

/// Why reading stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reached {
    /// A chunk was full, and is in.
    Full,
    /// Nothing more is there yet. All that was read is in.
    Pause,
    End,
    /// The source is not the one that was read: it has other records before the place.
    Other,
}

impl OpenSource {
    pub(super) fn new(path: &Path, records: Records, manner: Manner, from: Place) -> OpenSource {
        let (path, unfinished) = (path.into(), from.unfinished);
        OpenSource { path, records, manner, parser: None, from, last: 0, unfinished, again: None }
    }

    /// Goes on at the place without reading what lies before, if that is possible.
    pub(super) fn or_jump(self, again: Option<Again>) -> OpenSource {
        let again = again.filter(|_| self.from.marked > 0);
        OpenSource { again, ..self }
    }

    /// Goes to the place, once the format is known, if the file has the same bytes before it.
    fn jump(&mut self) -> io::Result<()> {
        let Some(again) = self.again.take().filter(|_| self.records.are_lines()) else {
            return Ok(());
        };
        let (Again::Whole(file) | Again::Growing(file, _)) = &again;
        let Some(jump) = Jump::to(file, self.from.mark)? else { return Ok(()) };
        let rest = match again {
            Again::Whole(file) => jump.rest(file)?,
            Again::Growing(_, followed) => Box::new(followed.behind(&jump)),
        };
        self.records.jump(jump, rest, self.from.marked);
        self.last = self.from.marked;
        Ok(())
    }

    /// Returns the most documents of a piece.
    pub(super) fn documents_max(&self) -> usize {
        self.manner.documents_max
    }

    /// Sets it.
    pub(super) fn take_at_most(&mut self, documents: usize) {
        self.manner.documents_max = documents;
    }

    /// Reads and parses records until a piece is full, or nothing more is there. The piece's
    /// documents go into `chunk`, which is empty.
    pub(super) fn piece(&mut self, chunk: Chunk) -> Piece {
        let mut piece = Piece::new(chunk);
        piece.ended = match self.fill(&mut piece) {
            Ok(ended) => ended,
            Err(failure) => Ended::Failed(failure),
        };
        piece
    }

    fn fill(&mut self, piece: &mut Piece) -> Result<Ended, Failure> {
        loop {
            // The place before which everything is in was reached.
            let is_here = self.last >= self.from.marked;
            let (number, record) = match self.records.step() {
                Ok(Step::Record(number, record)) => (number, record),
                Ok(Step::Unfinished(number, record, before)) => {
                    if !is_here || number <= self.from.lines {
                        return Ok(Ended::Other);
                    }
                    piece.mark = Some((self.last, before));
                    let (parser, before) = (self.parser.clone(), self.unfinished);
                    let record = record.bytes().to_vec();
                    let rest = parser.map(|parser| Rest { number, record, parser, before });
                    return Ok(self.end(rest));
                }
                Ok(Step::Begin(format, names)) => {
                    let made = Parser::new(format, names, self.manner.rules.clone());
                    let path = self.path.display();
                    let made = made.map_err(|why| Failure::Work(format!("{path}: {why}")))?;
                    self.parser = Some(Arc::new(made));
                    piece.begun = Some((format, names.to_vec()));
                    self.jump().map_err(|error| Failure::file(&self.path, &error))?;
                    continue;
                }
                Ok(Step::Pause) if !is_here => return Ok(Ended::Other),
                Ok(Step::Pause) => {
                    piece.mark = Some((self.last, self.records.mark_at_pause()));
                    return Ok(Ended::Pause);
                }
                Ok(Step::End) if !is_here => return Ok(Ended::Other),
                Ok(Step::End) => {
                    piece.mark = Some((self.last, self.records.mark()));
                    return Ok(self.end(None));
                }
                // Records before the place that cannot be read go in.
                Err(error) => return Err(Failure::file(&self.path, &error)),
            };
            if self.manner.interrupt.is_asked() {
                // The line may have been cut off.
                return Ok(self.end(None));
            }
            self.last = number;
            if !is_here {
                let is_marked = number == self.from.marked;
                if number > self.from.marked
                    || is_marked && self.records.mark() != Some(self.from.mark)
                {
                    return Ok(Ended::Other);
                }
                continue;
            }
            let Some(parser) = self.parser.as_ref().filter(|_| number > self.from.lines) else {
                continue;
            };
            let before = self.unfinished.take();
            if before.is_some_and(|line| line.bytes == record.bytes().len() as u64) {
                // Only its ending was missing.
                continue;
            }
            put(piece, parser, number, &record, before, self.manner.keeps_records);
            let Piece { chunk, bad, .. } = piece;
            let count = chunk.len() + bad.len();
            if count >= self.manner.documents_max || chunk.bytes() >= PIECE_BYTES {
                piece.mark = Some((number, self.records.mark()));
                return Ok(Ended::Full);
            }
        }
    }

    fn end(&self, rest: Option<Rest>) -> Ended {
        let is_here = self.last >= self.from.marked;
        Ended::End { keep: is_here.then_some(self.last.max(self.from.lines)), rest }
    }
}

/// Puts a record into a piece. It replaces the document of the line that was unfinished before.
fn put(
    piece: &mut Piece,
    parser: &Parser,
    line: u64,
    record: &Line<'_>,
    unfinished: Option<Unfinished>,
    is_kept: bool,
) {
    let kept =
        if let Line::Bytes(bytes) = record { Some(*bytes).filter(|_| is_kept) } else { None };
    match parser.parse(record) {
        Ok(None) => piece.without_text += 1,
        Ok(Some(mut document)) => {
            if let Some(line) = unfinished {
                document.key.get_or_insert_with(|| line.number.to_string().into());
            }
            piece.chunk.push(line, &document);
            kept.iter().for_each(|bytes| piece.chunk.keep(bytes));
        }
        Err(why) => {
            let (before, kind, reason) = (piece.chunk.len(), why.kind(), why.to_string());
            piece.bad.push(Bad { before, line, kind, reason, record: kept.map(<[u8]>::to_vec) });
        }
    }
}
