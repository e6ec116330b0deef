//! A segment, copied: what cannot change as it is, compared with the checksums of when it was engraved; links and the lines of
//! records, which a merge makes anew, as zeros; and its deaths apart.

use std::io;

use super::deaths::{Early, Judge};
use super::frame::{FrameKind, FrameWriter, PAYLOAD_BYTES_MAX};
use super::source::{Point, Source};
use super::terms::Terms;
use super::to_bytes;
use crate::descriptor::{Position, State};
use crate::nvm::section::{Kind, Section, Sections, contents_mask};
use crate::nvm::slot::Entry;
use crate::nvm::stamps::Stamps;
use crate::nvm::{Corrupt, checksum};

/// Bytes of a piece of a section: whole rows, whole nodes.
const PIECE_BYTES: u64 = PAYLOAD_BYTES_MAX / 96 * 96;
/// A segment changes once while it lives: it is merged.
const TRIES: usize = 3;

/// What was copied of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Rows.
    pub rows: u64,
    /// Dead ones.
    pub dead_rows: u64,
}

/// Why a segment was not copied.
#[derive(Debug)]
pub enum CopyError {
    /// It is not what was stored.
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
    /// Copies the segment at `position`, which is not newer than the point's; none if it is gone, and then nothing was written.
    pub fn copy_segment(
        &self,
        position: Position,
        point: &Point,
        early: &Early,
        frames: &mut FrameWriter<'_>,
    ) -> Result<Option<Copied>, CopyError> {
        let place = frames.place();
        let mut tries = 0..TRIES;
        loop {
            let Some(state) = self.state(position)? else { return Ok(None) };
            let copied = self.try_to_copy(position, state, point, early, frames);
            match (copied, self.state(position)?) {
                (Err(CopyError::Out(error)), _) => return Err(CopyError::Out(error)),
                (_, None) => {
                    frames.cut(place)?;
                    return Ok(None);
                }
                (Ok(copied), Some(_)) => return Ok(Some(copied)),
                // What was wrong may be what merging it changed.
                (Err(_), Some(now)) if now != state && tries.next().is_some() => {
                    frames.cut(place)?;
                }
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
            let why = "it says more than that of a newer segment";
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
        let counts = contents_mask(kind, sections.are_packed());
        let (mut check, mut payload) = (0, Vec::new());
        for done in (0..section.bytes).step_by(PIECE_BYTES as usize) {
            payload.clear();
            let bytes = PIECE_BYTES.min(section.bytes - done);
            self.region.read_words(section.start + done, bytes, &mut payload);
            mask(counts, &mut payload);
            check = crc32c::crc32c_append(check, &payload);
            frames.write(FrameKind::Section, [kind as u64, done, 0], &payload)?;
        }
        Ok(compare(kind, section, check)?)
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
            why: "its row died by an operation that never was",
        })?;
        for piece in words.chunks(PAYLOAD_BYTES_MAX as usize / 8) {
            frames.write(FrameKind::Deaths, [0; 3], &to_bytes(piece))?;
        }
        Ok(Copied { rows: entry.rows, dead_rows: words.len() as u64 })
    }
}

/// Writes a section whose contents are at hand.
fn write_again(
    kind: Kind,
    section: Section,
    contents: &[u8],
    frames: &mut FrameWriter<'_>,
) -> Result<(), CopyError> {
    if contents.len() as u64 != section.bytes {
        return Err(wrong(kind, section).into());
    }
    for (i, piece) in contents.chunks(PIECE_BYTES as usize).enumerate() {
        let numbers = [kind as u64, i as u64 * PIECE_BYTES, 0];
        frames.write(FrameKind::Section, numbers, piece)?;
    }
    Ok(compare(kind, section, crc32c::crc32c(contents))?)
}

fn compare(kind: Kind, section: Section, check: u32) -> Result<(), Corrupt> {
    // An empty section has no checksum: it was set when there was nothing.
    if section.bytes == 0 || check == section.check { Ok(()) } else { Err(wrong(kind, section)) }
}

fn wrong(kind: Kind, section: Section) -> Corrupt {
    Corrupt { what: kind.name(), at: section.start, why: "its checksum is wrong" }
}

/// Clears what may change in words that begin with a row, or a node.
fn mask(mask: &[u64], bytes: &mut [u8]) {
    if mask == [u64::MAX] {
        return;
    }
    for (word, mask) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(mask.iter().cycle()) {
        *word = (u64::from_le_bytes(*word) & mask).to_le_bytes();
    }
}
