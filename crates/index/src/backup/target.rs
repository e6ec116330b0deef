//! The target of a restore: a part made of a backup. Each segment is put in its old place in its
//! engraved form, with its deaths. The engine's own stage merges the merged ones again. The log is
//! put in its old place.
//!
//! No reader sees the part before it is complete, so the order of stores does not matter. Values
//! from the backup are checked before use. Its checksums are right by then, but they are not
//! secret.

use std::fmt;
use std::sync::atomic::AtomicU64;

use std::ops::Range;

use spirit_door::{Door, Site};
use spirit_mem::{Region, Ring, Span};

use crate::backup::contents::{PartContents, SegmentContents, position_of};
use crate::backup::frame::{Fault, FrameKind, FrameReader};
use crate::backup::to_words;
use crate::form::shape;
use crate::ground::corrupt::Corrupt;
use crate::ground::geometry::Geometry;
use crate::ground::ids::{Partition, SegmentId, State};
use crate::ground::layout::NvmLayout;
use crate::ground::section::{Kind, Sections};
use crate::ground::slot::{Entry, Slots};
use crate::memory::Memory;
use crate::merge::Merge;
use crate::merge::merged_writer::MergedWriter;
use crate::rows::packed::ALIVE;
use crate::rows::stamps::Stamps;

/// The reason why no part can be made of a backup.
#[derive(Debug)]
pub enum PutError {
    /// The backup cannot be read.
    Fault(Fault),
    /// No index can have the backup's contents.
    Corrupt(Corrupt),
    /// The disk has no room.
    NoRoom,
    /// The merged dictionary has no room.
    DictionaryFull,
}

impl fmt::Display for PutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PutError::Fault(fault) => fault.fmt(f),
            PutError::Corrupt(corrupt) => write!(f, "its contents are not valid: {corrupt}"),
            PutError::NoRoom => f.write_str("no space left on the device"),
            PutError::DictionaryFull => {
                f.write_str("its terms do not fit in the merged dictionary")
            }
        }
    }
}

impl std::error::Error for PutError {}

impl From<Fault> for PutError {
    fn from(fault: Fault) -> PutError {
        PutError::Fault(fault)
    }
}

impl From<Corrupt> for PutError {
    fn from(corrupt: Corrupt) -> PutError {
        PutError::Corrupt(corrupt)
    }
}

/// A part that is being made, mapped from offset 0 of a region of zeros.
pub struct Target<'a> {
    region: &'a Region,
    door: &'a Door,
    geometry: &'a Geometry,
    layout: &'a NvmLayout,
}

impl<'a> Target<'a> {
    /// Makes the target in `region`, with the second tier of `geometry`.
    ///
    /// # Panics
    ///
    /// If the geometry has no second tier.
    pub fn new(region: &'a Region, door: &'a Door, geometry: &'a Geometry) -> Target<'a> {
        let layout = geometry.nvm.as_ref().expect("a backup is of a part of a second tier");
        Target { region, door, geometry, layout }
    }

    fn slots(&self) -> Slots<'a> {
        Slots::new(self.region, self.layout)
    }

    /// Puts a segment in its place, engraved and not merged. The space of its blocks is backed.
    pub fn put_segment(
        &self,
        reader: &mut FrameReader<'_>,
        segment: &SegmentContents,
        row_end: u64,
    ) -> Result<(), PutError> {
        let SegmentContents { entry, sections, place, .. } = segment;
        self.put_slot(entry)?;
        let words = sections.words();
        if words.len() as u64 * 8 > entry.long_bytes {
            return Err(slot_error(entry, "its section table leaves its block").into());
        }
        self.door.write_words(Site::BodyWords, self.region, entry.long_start, &words);
        reader.go_to(*place)?;
        let mut deaths = Vec::new();
        // Each round reads a frame. The first frame of another kind ends the loop.
        loop {
            let frame = reader.next_frame()?;
            match frame.kind {
                FrameKind::Section => {
                    self.put_piece(sections, frame.numbers, &frame.payload)?;
                }
                FrameKind::Deaths => deaths.extend(to_words(&frame.payload)),
                // The frame is the next segment's or the part's. The survey has seen that this
                // segment is whole.
                _ => break,
            }
        }
        // Checksums detect pieces that overwrote the table or another section.
        let sections = Sections::of(self.region, entry)?;
        shape::check(self.region, self.geometry, entry, &sections)?;
        shape::check_terms(self.region, entry, &sections)?;
        self.put_deaths(entry, &sections, &deaths, row_end)?;
        self.slots().set_live(self.door, segment.position(), State::Engraved);
        Ok(())
    }

    fn put_slot(&self, entry: &Entry) -> Result<(), Corrupt> {
        let at = self.slots().place(position_of(entry));
        shape::check_numbers(self.geometry, entry)?;
        crate::backup::check_blocks(self.layout, at, entry)?;
        self.slots().write(self.door, position_of(entry), entry);
        Ok(())
    }

    fn put_piece(
        &self,
        sections: &Sections,
        [kind, done, _]: [u64; 3],
        bytes: &[u8],
    ) -> Result<(), Corrupt> {
        // The survey has checked that this is a part of the section, and the section a part of a
        // block.
        let known = Kind::ALL.into_iter().find(|known| *known as u64 == kind);
        let start = known.map_or(0, |kind| sections.get(kind).start);
        let at = start.saturating_add(done);
        if self.region.get(Span::<AtomicU64>::new(at, bytes.len() as u64 / 8)).is_none() {
            return Err(Corrupt { what: "section", at, why: "it leaves the heap" });
        }
        let write = |bytes: &[u8]| self.door.write(Site::BodyWords, self.region, at, bytes);
        match known {
            // All rows live until `put_deaths` kills some.
            Some(Kind::Deaths) => write(&ALIVE.to_le_bytes().repeat(bytes.len() / 8)),
            _ => write(bytes),
        }
        Ok(())
    }

    fn put_deaths(
        &self,
        entry: &Entry,
        sections: &Sections,
        deaths: &[u64],
        row_end: u64,
    ) -> Result<(), Corrupt> {
        let ascend = deaths.is_sorted_by(|a, b| (*a as u32) < *b as u32);
        let last = row_end.saturating_sub(entry.base_row);
        let can_be = |word: &u64| {
            let (local, stamp) = (*word & 0xFFFF_FFFF, *word >> 32);
            local < entry.rows && (1..=last).contains(&stamp)
        };
        if !ascend || !deaths.iter().all(can_be) {
            return Err(slot_error(
                entry,
                "its death stamps name rows that do not exist, or later operations",
            ));
        }
        let stamps = Stamps::of(sections);
        for word in deaths {
            let (local, stamp) = (*word as u32, (word >> 32) as u32);
            stamps.set(self.door, Site::BodyStamp, self.region, local, stamp);
        }
        let sites = [Site::BodyStamp, Site::BodyWriteBack];
        self.slots().set_dead(self.door, sites, position_of(entry), deaths.len() as u32);
        Ok(())
    }

    /// Stores the executor's state in the newest segment's slot, if the part has no segments.
    pub fn put_newest(&self, part: &PartContents) -> Result<(), PutError> {
        let Some(newest) = part.newest.filter(|_| part.segments.is_empty()) else { return Ok(()) };
        self.put_slot(&newest)?;
        self.slots().retire(self.door, position_of(&newest));
        Ok(())
    }

    /// Puts the log in its place. `back` backs the place on the disk.
    pub fn put_log(
        &self,
        reader: &mut FrameReader<'_>,
        part: &PartContents,
        back: impl Fn(Range<u64>) -> bool,
    ) -> Result<(), PutError> {
        let (start, bytes) = self.layout.log;
        for piece in &part.log {
            reader.go_to(piece.place)?;
            let frame = reader.next_frame()?;
            let place = piece.position % bytes;
            if !place.is_multiple_of(8) || place + frame.payload.len() as u64 > bytes {
                let why = "it leaves the log";
                return Err(Corrupt { what: "log", at: start + place, why }.into());
            }
            let place = start + place;
            if !back(place..place + frame.payload.len() as u64) {
                return Err(PutError::NoRoom);
            }
            self.door.write(Site::LogRecord, self.region, place, &frame.payload);
        }
        Ok(())
    }
}

fn slot_error(entry: &Entry, why: &'static str) -> Corrupt {
    Corrupt { what: "segment slot", at: entry.long_start, why }
}

/// Checks that the blocks of a part's segments lie in their partitions and do not overlap.
pub fn check_rings(geometry: &Geometry, part: &PartContents) -> Result<(), PutError> {
    let layout = geometry.nvm.as_ref().expect("a backup is of a part of a second tier");
    let ring = |(start, bytes)| Ring::new(start, bytes, part.segments.len() * 2);
    let (mut long, mut short) = (ring(layout.long), ring(layout.short));
    for SegmentContents { entry, is_merged, .. } in &part.segments {
        crate::backup::check_blocks(layout, entry.long_start, entry)?;
        let fits = long.restore(entry.long_start, entry.long_bytes, entry.id)
            && (*is_merged || short.restore(entry.short_start, entry.short_bytes, entry.id));
        if !fits {
            return Err(overlaps(entry).into());
        }
    }
    Ok(())
}

fn overlaps(entry: &Entry) -> Corrupt {
    slot_error(entry, "a block of it overlaps another segment's")
}

/// Makes the part of `memory`, which is new, from a part of a backup. Calls `step` for each segment
/// with its offset in the backup.
pub fn restore(
    memory: &Memory,
    reader: &mut FrameReader<'_>,
    part: &PartContents,
    step: &mut dyn FnMut(u64),
) -> Result<(), PutError> {
    let nvm = memory.nvm().expect("a backup is of a part of a second tier");
    let target = Target::new(memory.region(), nvm.door(), memory.geometry());
    let mut writer = None;
    for segment in &part.segments {
        make_space(memory, segment)?;
        target.put_segment(reader, segment, part.row_end())?;
        if segment.is_merged {
            let oldest = part.segments[0].position();
            let writer = writer.get_or_insert_with(|| {
                MergedWriter::open(memory.region(), nvm, memory.pins(), oldest)
            });
            merge(memory, writer, segment)?;
            writer.collect(memory.pins());
        }
        step(segment.place.at);
    }
    target.put_newest(part)?;
    target.put_log(reader, part, |range| nvm.back_range(range))
}

/// Takes the segment's blocks in their rings, and space for them on the disk.
fn make_space(memory: &Memory, segment: &SegmentContents) -> Result<(), PutError> {
    let SegmentContents { entry, is_merged, .. } = segment;
    let nvm = memory.nvm().expect("a backup is of a part of a second tier");
    crate::backup::check_blocks(nvm.layout(), entry.long_start, entry)?;
    let blocks = [
        (Partition::NvmLong, entry.long_start, entry.long_bytes),
        (Partition::NvmShort, entry.short_start, entry.short_bytes),
    ];
    for (partition, start, bytes) in blocks {
        // The short-term block of a merged segment is only needed until it is merged.
        let is_kept = partition == Partition::NvmLong || !is_merged;
        if is_kept && !memory.restore(partition, start, bytes, SegmentId(entry.id as u32)) {
            return Err(overlaps(entry).into());
        }
        if !nvm.back(partition, start + bytes) {
            return Err(PutError::NoRoom);
        }
    }
    Ok(())
}

fn merge(
    memory: &Memory,
    writer: &mut MergedWriter,
    segment: &SegmentContents,
) -> Result<(), PutError> {
    let id = SegmentId(segment.entry.id as u32);
    let mut merge = Merge::default();
    merge.begin(memory, [id]);
    while !merge.advance(memory, writer).map_err(|_| PutError::DictionaryFull)? {}
    Ok(())
}
