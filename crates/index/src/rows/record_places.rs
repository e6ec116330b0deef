//! The places of the [records](crate::ground::values) of a fresh segment's rows.
//!
//! Behind the rows of a chunk there is half a word for each. Most segments have no records, and pay
//! nothing for them. A directory has the beginning of each chunk's half words. It has 0 until one
//! of the chunk's rows has a record.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};

use spirit_mem::{Region, Span};

use crate::ground::geometry::Geometry;

/// The places of one segment's records.
#[derive(Clone, Copy)]
pub(crate) struct RecordPlaces<'a> {
    region: &'a Region,
    geometry: &'a Geometry,
    directory: &'a [AtomicU64],
}

impl<'a> RecordPlaces<'a> {
    /// Makes the places behind the directory at `directory`.
    pub(crate) fn new(region: &'a Region, geometry: &'a Geometry, directory: u64) -> Self {
        let directory = region.view(Span::new(directory, geometry.row_entries));
        RecordPlaces { region, geometry, directory }
    }

    /// Clears the directory: no row has a record.
    pub(crate) fn clear(&self) {
        self.directory.iter().for_each(|chunk| chunk.store(0, Relaxed));
    }

    /// True if no row has a record.
    pub(crate) fn is_empty(&self) -> bool {
        self.directory.iter().all(|chunk| chunk.load(Relaxed) == 0)
    }

    /// Returns the first word of a row's record, or 0 if it has none.
    pub(crate) fn get(&self, local: u32) -> u32 {
        let chunk = self.directory.get((local >> self.geometry.row_shift) as usize);
        match chunk.map_or(0, |chunk| chunk.load(Acquire)) {
            0 => 0,
            // Relaxed: a reader that knows of the row has acquired its data.
            start => self.of_chunk(start)[self.inside(local)].load(Relaxed),
        }
    }

    /// Notes that the row's record begins with the word `first`. The chunk of the row begins at
    /// `chunk`.
    pub(crate) fn put(&self, local: u32, chunk: u64, first: u32) {
        let entry = &self.directory[(local >> self.geometry.row_shift) as usize];
        let mut start = entry.load(Relaxed);
        if start == 0 {
            start = self.geometry.record_places(chunk);
            self.of_chunk(start).iter().for_each(|place| place.store(0, Relaxed));
            entry.store(start, Release);
        }
        self.of_chunk(start)[self.inside(local)].store(first, Relaxed);
    }

    fn of_chunk(&self, start: u64) -> &'a [AtomicU32] {
        self.region.view(Span::new(start, 1 << self.geometry.row_shift))
    }

    fn inside(&self, local: u32) -> usize {
        (local & ((1 << self.geometry.row_shift) - 1)) as usize
    }
}
