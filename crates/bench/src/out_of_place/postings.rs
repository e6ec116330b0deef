//! The file of merged postings: a list a term, one behind the other.
//!
//! | bytes of a list | |
//! |---|---|
//! | 16 | the term's key, by which a reader knows that the list is the term's |
//! | 8 | number of postings (low half), and of parts |
//! | of each part: 16 | the row that local numbers count from, and the number of postings |
//! | 4 a posting, in whole words of 8 | posting words as segments have them: local number and frequency |
//!
//! So rows are global, and raw lists need no conversion: the copy is as cheap as a copy can be.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use spirit_door::{Barrier, Door, Site};
use spirit_index::ground::{TermKey, frequency, local};
use spirit_index::lists::PACKED_BLOCK;
use spirit_index::snapshot::{Segment, Snapshot};
use spirit_index::terms::Entry;
use spirit_kernel::Level;
use spirit_mem::{Dram, FilePart, HeapFile, Region, Residency};

use crate::Fallible;

const PAGE: u64 = 4096;
/// The disk backs a mapped file in steps of this many bytes.
const BACKED_BYTES: u64 = 2 << 20;

/// A posting of a merged list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Posting {
    /// The executor's row number.
    pub(crate) row: u64,
    pub(crate) frequency: u32,
}

/// Merged postings on their way into a file, and in it.
pub(crate) struct PostingsFile {
    file: Arc<HeapFile>,
    region: Region,
    door: Door,
    writes: bool,
    level: Level,
    /// Lists that are not written yet.
    waiting: Vec<u8>,
    written: u64,
    /// Bytes that the disk backs.
    backed: u64,
}

impl PostingsFile {
    /// Returns the bytes of this many lists in segments, at most.
    pub(crate) fn bytes_max(lists: u64, postings: u64) -> u64 {
        (lists * (24 + 16 + 4) + postings * 4).next_multiple_of(PAGE).max(PAGE)
    }

    /// Makes an empty file. Lists are written to it by system calls, or stored to its mapping.
    pub(crate) fn create(path: &Path, bytes_max: u64, writes: bool) -> Fallible<PostingsFile> {
        let file = Arc::new(HeapFile::create(path, bytes_max)?);
        let part = FilePart { file: &file, start: 0, bytes: bytes_max };
        let dram = Dram::Private;
        let region = Region::reserve_tiers(Some(part), dram, bytes_max, Residency::OnTouch)?;
        let door = Door::new(Barrier::Order);
        let door = if writes { door.writing(file.clone(), 0) } else { door };
        let (level, waiting) = (Level::detect(), Vec::new());
        Ok(PostingsFile { file, region, door, writes, level, waiting, written: 0, backed: 0 })
    }

    /// Appends the postings of a term, and returns where they will be.
    pub(crate) fn append(
        &mut self,
        snapshot: &Snapshot<'_>,
        key: TermKey,
        entries: &[Entry],
    ) -> u64 {
        let at = self.written + self.waiting.len() as u64;
        let postings: u64 = entries.iter().map(|entry| u64::from(entry.postings)).sum();
        push(&mut self.waiting, &[key.low, key.high, postings | (entries.len() as u64) << 32]);
        for entry in entries {
            let segment = snapshot.of(entry.segment);
            push(&mut self.waiting, &[segment.base_row(), entry.postings.into()]);
            push_postings(&mut self.waiting, &segment, *entry, self.level);
            self.waiting.resize(self.waiting.len().next_multiple_of(8), 0);
        }
        at
    }

    /// Returns the bytes that were appended and not written.
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.waiting.len()
    }

    /// Writes what was appended, and fences.
    pub(crate) fn write(&mut self) -> Fallible<()> {
        let end = self.written + self.waiting.len() as u64;
        if end > self.backed && !self.writes {
            let to = end.next_multiple_of(BACKED_BYTES).min(self.file.bytes());
            self.file.reserve(self.backed, to - self.backed)?;
            self.backed = to;
        }
        let sites = [Site::Body, Site::BodyWriteBack];
        self.door.stream(sites, &self.region, self.written, [&self.waiting, &[]]);
        self.door.fence(Site::BodyFence, &self.region);
        self.waiting.clear();
        self.written = end;
        self.door.failure().map_or(Ok(()), |why| Err(why.into()))
    }

    /// Reads the list at `at`, which is the term's.
    pub(crate) fn read(&self, at: u64, key: TermKey) -> Fallible<Vec<Posting>> {
        let mut at = at;
        let mut words = |bytes: u64| -> Fallible<Vec<u8>> {
            let end = at.checked_add(bytes).filter(|end| *end <= self.written);
            let mut out = Vec::new();
            end.ok_or("an entry leads out of the postings")?;
            self.region.read_words(at, bytes, &mut out);
            at += bytes;
            Ok(out)
        };
        let head = as_words(&words(24)?);
        if head[..2] != [key.low, key.high] {
            return Err("an entry leads to the postings of another term".into());
        }
        let mut postings = Vec::new();
        for _ in 0..head[2] >> 32 {
            let part = as_words(&words(16)?);
            let list = words((part[1] * 4).next_multiple_of(8))?;
            let (list, _) = list.as_chunks::<4>();
            postings.extend(list[..part[1] as usize].iter().map(|word| {
                let word = u32::from_le_bytes(*word);
                Posting { row: part[0] + u64::from(local(word)), frequency: frequency(word) }
            }));
        }
        if postings.len() as u64 != head[2] & u64::from(u32::MAX) {
            return Err("a list has another number of postings than its head says".into());
        }
        Ok(postings)
    }

    /// Returns the bytes that were stored to the mapping.
    pub(crate) fn stored_bytes(&self) -> u64 {
        if self.writes { 0 } else { self.written }
    }
}

fn as_words(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

fn push(out: &mut Vec<u8>, words: &[u64]) {
    words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
}

/// Appends the postings of a list, whatever its form.
fn push_postings(out: &mut Vec<u8>, segment: &Segment<'_>, entry: Entry, level: Level) {
    let region = segment.memory().region();
    if entry.postings == 1 {
        out.extend_from_slice(&entry.payload.to_le_bytes());
    } else if let Some(list) = segment.packed(entry) {
        let mut words = [0; PACKED_BLOCK];
        for block in 0..list.blocks() {
            let count = list.unpack(region, level, block, &mut words).count;
            words[..count].iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        }
    } else {
        let words: &[AtomicU32] = region.view(segment.flushed().list(entry));
        let start = out.len();
        out.resize(start + words.len() * 4, 0);
        let (targets, _) = out[start..].as_chunks_mut();
        for (target, word) in targets.iter_mut().zip(words) {
            *target = word.load(Relaxed).to_le_bytes();
        }
    }
}
