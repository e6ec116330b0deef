//! A map from terms to words: the [merged dictionary](crate::form::merged) alone, in a file of its
//! own, with a word of the caller's in place of a link. No index has one. Experiments compare it
//! with other stores.
//!
//! | page | |
//! |---|---|
//! | 0 | mark: whether everything in the map is durable |
//! | from 1 on | count, buckets and lines of the dictionary |
//!
//! # Orderings
//! One thread puts. A record and a long term's bytes are stored before the chain word that leads to
//! the record. Terms never leave, so no line is reused, and each chain word leads to a record for
//! good.
//!
//! * [`Puts::Together`]: no put waits. [`finish`](TermMap::finish) fences, then marks, then fences.
//!   What a chain leads to counts only with the mark. The first put after that takes the mark away,
//!   and fences before it stores anything else.
//! * [`Puts::Durable`]: the map is marked from the beginning. A put fences between record and chain
//!   word, and behind the chain word. So after a crash each chain leads to whole records, and to
//!   all those whose put returned. A replaced word is one store.
//!
//! The writer's [growth](crate::merge::merged_writer) has fences of its own in either case. The cut
//! of a chain may be lost: the chain then leads on to other buckets' records, which look-ups skip.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::Ordering::Acquire;

use spirit_door::{Door, Site};
use spirit_mem::{Dram, FilePart, HeapFile, Pins, Region, Residency};

use crate::form::merged::{Merged, RECORD_BYTES, chain_word, check_count, count_word, long_lines};
use crate::form::node::Link;
use crate::ground::corrupt::Corrupt;
use crate::ground::damage;
use crate::ground::layout::{NvmLayout, PAGE};
use crate::ground::term::{FieldId, INLINE_BYTES_MAX, Term};
use crate::merge::merged_writer::MergedWriter;
use crate::merge::term_map_error::TermMapError;
use crate::tier::{Nvm, Tier};

/// The mark of a map that is durable: a word of zeros was never stored.
const MARK: u64 = 0x6D61_7000_0000_0001;
/// Bytes that are copied at once to another file.
const PIECE_BYTES: u64 = 256 << 10;
/// The sites that store to the map.
const STORES: [Site; 7] =
    [Site::Record, Site::Enter, Site::Head, Site::Grow, Site::GrowCount, Site::Unlink, Site::Mark];

/// When puts become durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Puts {
    /// All together, when the map is [finished](TermMap::finish).
    Together,
    /// Each before it returns.
    Durable,
}

/// A map from terms to words.
pub struct TermMap {
    region: Region,
    nvm: Nvm,
    pins: Pins,
    writer: MergedWriter,
    puts: Puts,
    /// One past the last line in use.
    lines_end: u64,
}

impl TermMap {
    /// Returns the bytes of a file with room for this many lines. A term takes the
    /// [lines](Self::lines) that its bytes need.
    pub fn file_bytes(lines: u64) -> u64 {
        NvmLayout::dictionary_bytes(lines)
    }

    /// Returns the lines of a term of `bytes` bytes.
    pub fn lines(bytes: usize) -> u64 {
        1 + if bytes > INLINE_BYTES_MAX { long_lines(bytes).into() } else { 0 }
    }

    /// Makes an empty map in `file`, which is new. If the file is private, the map is in memory, and
    /// may be [copied](Self::copy_to) to another file.
    pub fn create(file: Arc<HeapFile>, door: Door, puts: Puts) -> Result<TermMap, TermMapError> {
        let mut map = TermMap::attach(file, door, puts, true)?;
        let parts = map.nvm.layout().parts_at_first();
        if !parts.iter().all(|(start, bytes)| map.nvm.back_range(*start..start + bytes)) {
            return Err(map.failure().unwrap_or(TermMapError::Full));
        }
        map.reserve(0)?;
        if puts == Puts::Durable {
            map.store_mark(MARK);
        }
        map.checked().map(|()| map)
    }

    /// Opens a map that was finished, or whose puts were durable.
    pub fn open(file: Arc<HeapFile>, door: Door, puts: Puts) -> Result<TermMap, TermMapError> {
        let mut map = TermMap::attach(file, door, puts, false)?;
        if !map.is_marked() {
            return Err(TermMapError::Unfinished);
        }
        check_count(&map.region, map.nvm.layout(), true).map_err(TermMapError::Damaged)?;
        damage::clear();
        map.writer = MergedWriter::open(&map.region, &map.nvm, &map.pins, 0);
        let merged = map.merged();
        let lines = merged.used_buckets().flat_map(|bucket| merged.records(bucket));
        map.lines_end = lines.map(|(_, line)| end_of(&merged, line)).max().unwrap_or(0);
        map.checked().map(|()| map)
    }

    fn attach(
        file: Arc<HeapFile>,
        door: Door,
        puts: Puts,
        is_new: bool,
    ) -> Result<TermMap, TermMapError> {
        damage::clear();
        let bytes = file.bytes();
        if bytes < 2 * PAGE || !bytes.is_multiple_of(PAGE) {
            let why = "its file has no whole pages, or too few";
            return Err(TermMapError::Damaged(Corrupt { what: "map of terms", at: bytes, why }));
        }
        let layout = NvmLayout::of_dictionary(bytes);
        let part = FilePart { file: &file, start: 0, bytes };
        let region = Region::reserve_tiers(Some(part), Dram::Private, bytes, Residency::OnTouch);
        let region = region.map_err(TermMapError::Map)?;
        let writer = MergedWriter::new(&region, &layout);
        let nvm = Nvm::new(layout, Tier { file, start: 0, door, is_new, verify: false });
        Ok(TermMap { region, nvm, pins: Pins::new(1), writer, puts, lines_end: 0 })
    }

    /// Makes buckets for this many more terms. Without it, they double when they are fewer than the
    /// lines in use.
    pub fn reserve(&mut self, terms: u64) -> Result<(), TermMapError> {
        let TermMap { region, nvm, pins, writer, .. } = self;
        damage::clear();
        let lines = writer.used() + terms;
        while writer.grow(region, nvm, pins, lines) {}
        // No reader is pinned, so that chains may be cut at once.
        while writer.advance_cutting(region, nvm, pins) {}
        writer.settle(pins, region, nvm);
        self.checked()
    }

    /// Maps a term to a word, in place of the one that it was mapped to.
    pub fn put(&mut self, term: Term<'_>, word: u64) -> Result<(), TermMapError> {
        if self.puts == Puts::Together && self.is_marked() {
            self.store_mark(0);
        }
        damage::clear();
        let found = self.merged().find(term, term.key.hash());
        match found {
            Some(line) => {
                let at = self.merged().place(line) + 8;
                self.publish([Site::Head, Site::HeadWriteBack, Site::HeadFence], at, word);
            }
            // Damage may hide the term's record: do not enter it twice.
            None if damage::is_any() => {}
            None => self.enter(term, word)?,
        }
        self.checked()
    }

    /// Enters a term that the map does not have.
    fn enter(&mut self, term: Term<'_>, word: u64) -> Result<(), TermMapError> {
        if self.writer.used() >= self.merged().buckets() as u64 {
            self.reserve(1)?;
        }
        let TermMap { region, nvm, writer, .. } = self;
        let merged = Merged::new(region, nvm.layout());
        let (at, next) = merged.gap(term.key.hash());
        let line = writer.add(&merged, region, nvm, term, next, Link(word));
        let line = line.ok_or(TermMapError::Full)?;
        self.lines_end = self.lines_end.max(end_of(&merged, line));
        if self.puts == Puts::Durable {
            nvm.door().fence(Site::LinkFence, region);
        }
        let word = chain_word(line);
        self.publish([Site::Enter, Site::EnterWriteBack, Site::HeadFence], at, word);
        Ok(())
    }

    /// Stores a word that makes data reachable, or replaces such a word.
    fn publish(&self, [store, back, fence]: [Site; 3], at: u64, word: u64) {
        let (region, door) = (&self.region, self.nvm.door());
        door.publish(store, region, at, word);
        door.write_back(back, region, at, 8);
        if self.puts == Puts::Durable {
            door.fence(fence, region);
        }
    }

    /// Returns the word that a term is mapped to.
    pub fn get(&self, term: Term<'_>) -> Result<Option<u64>, TermMapError> {
        damage::clear();
        let merged = self.merged();
        match merged.find(term, term.key.hash()) {
            Some(line) => Ok(Some(merged.head(line).0)),
            None => self.checked().map(|()| None),
        }
    }

    /// Calls `take` with each term and its word, in the order of hashes.
    pub fn for_each(&self, mut take: impl FnMut(FieldId, &[u8], u64)) -> Result<(), TermMapError> {
        damage::clear();
        let (merged, mut long) = (self.merged(), Vec::new());
        let records = merged.used_buckets().flat_map(|bucket| merged.records(bucket));
        for (_, line) in records.filter(|(_, line)| merged.is_known(*line)) {
            let key = merged.key(line);
            merged.long_bytes(line, &mut long);
            let (inline, len) = key.inline_bytes();
            let bytes = if key.is_long() { &long[..] } else { &inline[..len] };
            take(key.field(), bytes, merged.head(line).0);
        }
        self.checked()
    }

    /// Makes all puts durable, in the sense of the door's barrier.
    pub fn finish(&mut self) -> Result<(), TermMapError> {
        if self.puts == Puts::Together && !self.is_marked() {
            // All lines were written back when they were stored.
            self.nvm.door().fence(Site::HeadFence, &self.region);
            self.store_mark(MARK);
        }
        self.checked()
    }

    /// Writes the whole map to `file`, which is new and as large as the map's own. It is finished
    /// there.
    pub fn copy_to(&self, file: Arc<HeapFile>, door: Door) -> Result<(), TermMapError> {
        if file.bytes() != self.nvm.layout().bytes {
            return Err(TermMapError::Full);
        }
        let target = TermMap::attach(file, door, Puts::Together, true)?;
        let (merged, layout) = (self.merged(), self.nvm.layout());
        let array = layout.bucket_array(merged.bits());
        let lines = merged.place(0)..merged.place(0) + self.lines_end * RECORD_BYTES;
        for part in [0..PAGE, array.start()..array.end(), lines] {
            if !target.nvm.back_range(part.clone()) {
                return Err(target.failure().unwrap_or(TermMapError::Full));
            }
            if part.start > 0 {
                self.copy(part, &target);
            }
        }
        let at = layout.bucket_count.start();
        let sites = [Site::GrowCount, Site::GrowCountWriteBack, Site::GrowCountFence];
        target.publish(sites, at, count_word(merged.bits()));
        target.nvm.door().fence(Site::GrowCountFence, &target.region);
        target.store_mark(MARK);
        target.checked()
    }

    /// Copies a part of the map to the same place of another one.
    fn copy(&self, part: std::ops::Range<u64>, target: &TermMap) {
        let (door, mut piece) = (target.nvm.door(), Vec::new());
        for at in part.clone().step_by(PIECE_BYTES as usize) {
            piece.clear();
            self.region.read_words(at, PIECE_BYTES.min(part.end - at), &mut piece);
            door.write(Site::Record, &target.region, at, &piece);
            door.write_back(Site::RecordWriteBack, &target.region, at, piece.len() as u64);
        }
    }

    /// Returns the bytes that were stored to the map so far, those that replaced others too.
    pub fn stored_bytes(&self) -> u64 {
        STORES.iter().map(|site| self.nvm.door().passed(*site).bytes).sum()
    }

    fn merged(&self) -> Merged<'_> {
        Merged::new(&self.region, self.nvm.layout())
    }

    fn is_marked(&self) -> bool {
        self.region.view(self.nvm.layout().slots)[0].load(Acquire) == MARK
    }

    fn store_mark(&self, word: u64) {
        let (region, door) = (&self.region, self.nvm.door());
        door.publish(Site::Mark, region, 0, word);
        door.write_back(Site::MarkWriteBack, region, 0, 8);
        door.fence(Site::MarkFence, region);
    }

    fn failure(&self) -> Option<TermMapError> {
        self.nvm.door().failure().map(|why| TermMapError::Disk(why.to_owned()))
    }

    /// Returns what this thread found wrong with the map.
    fn checked(&self) -> Result<(), TermMapError> {
        match damage::found(&self.region) {
            Some(what) => Err(TermMapError::Damaged(what)),
            None => self.failure().map_or(Ok(()), Err),
        }
    }
}

/// Returns one past the last line that a record and its term's bytes take.
fn end_of(merged: &Merged<'_>, line: u32) -> u64 {
    let apart = merged.apart(line).map_or(0, |(first, lines)| u64::from(first + lines));
    apart.max(u64::from(line) + 1)
}
