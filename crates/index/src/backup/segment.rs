//! The copy of a segment. Data that cannot change is copied and compared with the checksums of its
//! pages, made when it was engraved. A merge makes links and the lines of records again, so they
//! are copied as zeros. Deaths are copied apart.

use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::fence;

use spirit_mem::Span;

use crate::backup::deaths::{Early, Judge};
use crate::backup::frame::{FrameKind, FrameWriter, PAYLOAD_BYTES_MAX};
use crate::backup::source::{Point, Source};
use crate::backup::terms::Terms;
use crate::backup::to_bytes;
use crate::ground::corrupt::{Corrupt, checksum};
use crate::ground::ids::{Position, State};
use crate::ground::section::{Kind, Section, Sections};
use crate::ground::slot::Entry;
use crate::rows::stamps::Stamps;
use crate::tier::pages::{Pages, keep, mask};

/// Bytes of a piece of a section, in whole rows and whole nodes.
const PIECE_BYTES: u64 = PAYLOAD_BYTES_MAX / 96 * 96;
/// Number of retries. A segment changes once while it lives: it is merged.
const TRIES: usize = 3;

/// The counts of a copied segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Number of rows.
    pub rows: u64,
    /// Number of dead rows.
    pub dead_rows: u64,
}

/// The reason why a segment was not copied.
#[derive(Debug)]
pub enum CopyError {
    /// The segment is damaged.
    Corrupt(Corrupt),
    /// The copy could not be written.
    Out(io::Error),
}

impl From<Corrupt> for CopyError {
    fn from(corrupt: Corrupt) -> CopyError {
        CopyError::Corrupt(corrupt)
    }
}

impl From<io::Error> for CopyError {
    fn from(error: io::Error) -> CopyError {
        CopyError::Out(error)
    }
}

impl Source<'_> {
    /// Copies the segment at `position`, which is not newer than the point's. If the segment is
    /// gone, returns `None` and writes nothing.
    pub fn copy_segment(
        &self,
        position: Position,
        point: &Point,
        early: &Early,
        frames: &mut FrameWriter<'_>,
    ) -> Result<Option<Copied>, CopyError> {
        let place = frames.place();
        let mut tries = 0..TRIES;
        // Each round returns, or uses up one of `TRIES` retries.
        loop {
            let Some(state) = self.state(position)? else { return Ok(None) };
            let copied = self.try_to_copy(position, state, point, early, frames);
            // The segment's words are loaded before the state is loaded again.
            fence(Acquire);
            match (copied, self.state(position)?) {
                (Err(CopyError::Out(error)), _) => return Err(CopyError::Out(error)),
                (_, None) => {
                    frames.cut(place)?;
                    return Ok(None);
                }
                // It was merged meanwhile. Its short-term block may have been reused by another
                // segment before it was copied.
                (_, Some(now)) if now != state && tries.next().is_some() => frames.cut(place)?,
                (Ok(copied), Some(_)) => return Ok(Some(copied)),
                (Err(error), Some(_)) => return Err(error),
            }
        }
    }

    fn try_to_copy(
        &self,
        position: Position,
        state: State,
        point: &Point,
        early: &Early,
        frames: &mut FrameWriter<'_>,
    ) -> Result<Copied, CopyError> {
        let (entry, sections) = self.sections(position)?;
        if entry.row_end > point.row_end() {
            let why = "its numbers exceed those of a newer segment";
            return Err(Corrupt { what: "segment slot", at: entry.long_start, why }.into());
        }
        if checksum(0, &sections.words()) as u64 != entry.sections_check {
            let why = "it has entries that this version does not know";
            return Err(Corrupt { what: "section table", at: entry.long_start, why }.into());
        }
        let is_merged = state == State::Merged;
        let terms = match is_merged {
            true => Some(Terms::again(self.region, &self.layout, &sections)?),
            false => None,
        };
        let pages = Pages::of(&entry, &sections);
        self.compare(&pages, terms.as_ref())?;
        let words = [&entry.words()[..], &sections.words()[..]].concat();
        let numbers = [position as u64, is_merged.into(), 0];
        frames.write(FrameKind::Segment, numbers, &to_bytes(&words))?;
        for kind in Kind::ALL {
            let section = sections.get(kind);
            match &terms {
                Some(terms) if kind.is_short_term() => {
                    write_again(kind, section, terms.section(kind), frames)?;
                }
                _ => self.copy_section(kind, &sections, frames)?,
            }
        }
        self.copy_deaths(position, &entry, &sections, point, early, frames)
    }

    fn copy_section(
        &self,
        kind: Kind,
        sections: &Sections,
        frames: &mut FrameWriter<'_>,
    ) -> Result<(), CopyError> {
        let section = sections.get(kind);
        let counts = mask(kind, sections.are_packed());
        let mut words = Vec::new();
        for done in (0..section.bytes).step_by(PIECE_BYTES as usize) {
            let bytes = PIECE_BYTES.min(section.bytes - done);
            let stored = self.region.get(Span::<AtomicU64>::new(section.start + done, bytes / 8));
            words.clear();
            words.extend(stored.unwrap_or(&[]).iter().map(|word| word.load(Relaxed)));
            keep(counts, done / 8, &mut words);
            frames.write(FrameKind::Section, [kind as u64, done, 0], &to_bytes(&words))?;
        }
        Ok(())
    }

    /// Compares the data to copy with the checks of its pages. `terms` are those of a merged
    /// segment.
    fn compare(&self, pages: &Pages, terms: Option<&Terms>) -> Result<(), Corrupt> {
        pages.look_at_checks(self.region)?;
        pages.long().try_for_each(|page| pages.look_at(self.region, page))?;
        let Some(terms) = terms else {
            return pages.short().try_for_each(|page| pages.look_at(self.region, page));
        };
        for page in pages.short() {
            let found = pages.check_of(page, |kind, first, out| {
                let words = terms.section(kind).chunks_exact(8).skip(first as usize);
                for (to, word) in out.iter_mut().zip(words) {
                    *to = word.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
                }
            });
            if found.is_none() || found != pages.stored(self.region, page) {
                return Err(wrong(pages.first_kind(page), page));
            }
        }
        Ok(())
    }

    fn copy_deaths(
        &self,
        position: Position,
        entry: &Entry,
        sections: &Sections,
        point: &Point,
        early: &Early,
        frames: &mut FrameWriter<'_>,
    ) -> Result<Copied, CopyError> {
        let judge = Judge {
            early: early.get(position),
            base_row: entry.base_row,
            row_end: point.row_end(),
            row_limit: point.row_limit,
            is_far: self.is_far(entry.base_row, point),
        };
        let (stamps, rows) = (Stamps::of(sections), entry.rows as u32);
        let words = judge.deaths(self.region, stamps, rows).map_err(|local| Corrupt {
            what: "death stamp",
            at: stamps.place(local).0,
            why: "its row died by an operation that does not exist",
        })?;
        for piece in words.chunks(PAYLOAD_BYTES_MAX as usize / 8) {
            frames.write(FrameKind::Deaths, [0; 3], &to_bytes(piece))?;
        }
        Ok(Copied { rows: entry.rows, dead_rows: words.len() as u64 })
    }
}

/// Writes a section whose contents are in memory.
fn write_again(
    kind: Kind,
    section: Section,
    contents: &[u8],
    frames: &mut FrameWriter<'_>,
) -> Result<(), CopyError> {
    if contents.len() as u64 != section.bytes {
        return Err(wrong(kind, section.start).into());
    }
    for (i, piece) in contents.chunks(PIECE_BYTES as usize).enumerate() {
        let numbers = [kind as u64, i as u64 * PIECE_BYTES, 0];
        frames.write(FrameKind::Section, numbers, piece)?;
    }
    Ok(())
}

fn wrong(kind: Kind, at: u64) -> Corrupt {
    Corrupt { what: kind.name(), at, why: "its checksum is wrong" }
}
