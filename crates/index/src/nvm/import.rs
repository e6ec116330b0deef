//! After a start the DRAM dictionary is empty, and fills while queries run: in the background, and first with the terms that
//! somebody asks for or adds to. So the first answer costs what its own terms cost, whatever the index holds.
//!
//! What is *imported* of a term are its entries in the segments that the start found, the *base*. A term is in the DRAM
//! dictionary with all of them, or not at all; what is flushed since is appended behind them. A term's base entries are found
//! by its nodes, and in base segments that are not merged by their own tables.
//!
//! Whoever misses a term in the DRAM dictionary takes the writer's lock for as long as one import takes: the one exception
//! from queries that wait for nothing, and it ends when all is imported.

use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::engrave::term_at;
use super::merge::{find_ordinal, hash_word};
use super::merged::{Merged, NODE_BYTES, Node};
use super::section::Kind;
use super::shape;
use crate::descriptor::{Position, SegmentId};
use crate::dictionary::{Dictionary, TermId};
use crate::dictionary_writer::{DictionaryFull, DictionaryWriter};
use crate::entries::Entry;
use crate::keys;
use crate::memory::Memory;
use crate::nvm::tier::Nvm;
use crate::snapshot::Snapshot;
use crate::term::{Term, TermKey};

/// What of the base is in DRAM.
#[derive(Debug)]
pub struct Base {
    /// Base segments are at positions below this; 0 if the index did not start with any.
    end: AtomicU32,
    terms_done: AtomicBool,
    keys_done: AtomicBool,
}

impl Default for Base {
    fn default() -> Base {
        let done = || AtomicBool::new(true);
        Base { end: AtomicU32::new(0), terms_done: done(), keys_done: done() }
    }
}

impl Base {
    /// The segments before `end` are the base, and nothing of them is in DRAM. Before any reader.
    pub(crate) fn begin(&self, end: Position) {
        self.end.store(end, Release);
        self.terms_done.store(end == 0, Release);
        self.keys_done.store(end == 0, Release);
    }

    /// One past the base's last position.
    #[inline(always)]
    pub fn end(&self) -> Position {
        self.end.load(Acquire)
    }

    /// Whether all terms are imported.
    #[inline(always)]
    pub fn has_terms(&self) -> bool {
        self.terms_done.load(Acquire)
    }

    /// Whether all keys are in the key table.
    #[inline(always)]
    pub fn has_keys(&self) -> bool {
        self.keys_done.load(Acquire)
    }

    /// All keys are in the key table.
    pub fn set_keys_done(&self) {
        self.keys_done.store(true, Release);
    }
}

/// The DRAM dictionary's writer, which whoever imports takes.
pub struct Writer(Mutex<DictionaryWriter>);

impl Writer {
    pub(crate) fn new(writer: DictionaryWriter) -> Writer {
        Writer(Mutex::new(writer))
    }

    /// The writer, waiting for whoever has it.
    pub fn lock(&self) -> MutexGuard<'_, DictionaryWriter> {
        // A panic while it is held poisons the index through the stage that panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A term's entries in the base, oldest first.
fn base_entries(memory: &Memory, nvm: &Nvm, term: Term<'_>, hash: u64) -> Vec<Entry> {
    let region = memory.region();
    let (window, end) = (memory.window(), memory.base().end());
    // First: a segment that is merged meanwhile keeps its own table for as long as we are pinned, or have the lock.
    let unmerged = memory.merged().max(window.oldest)..end;
    let merged = Merged::new(region, nvm.layout());
    let mut entries = Vec::new();
    let entry = |node: Node| {
        let entry = Entry {
            segment: node.segment,
            postings: node.postings,
            payload: node.payload,
            total: 0,
        };
        leads_to_postings(memory, entry).then_some(entry)
    };
    if let Some(line) = merged.find(term, hash) {
        let nodes = merged.nodes(line, window.oldest).map(|(_, node)| node);
        let merged_end = unmerged.start.min(end);
        entries.extend(nodes.filter(|node| node.segment.position() < merged_end).filter_map(entry));
    }
    entries.reverse();
    for position in unmerged {
        let Ok((_, sections)) = nvm.sections(region, position) else { continue };
        if let Some(ordinal) = find_ordinal(region, &sections, term, hash) {
            let at = sections.get(Kind::Nodes).start + ordinal * NODE_BYTES;
            let node = Node::read(region, at).filter(|node| node.is_of(term.key));
            entries.extend(node.and_then(entry));
        }
    }
    entries
}

/// Whether an entry leads into the posting arrays of its segment: queries go by it without looking again.
fn leads_to_postings(memory: &Memory, entry: Entry) -> bool {
    let found = memory.table().get(entry.segment.position());
    found.is_some_and(|(segment, _)| {
        let (words, bitmap_rows) = (segment.posting_words(), segment.bitmap_rows() as u32);
        segment.id() == entry.segment.0 as u64
            && shape::holds(words, bitmap_rows, entry.payload, entry.postings)
    })
}

/// The term in the DRAM dictionary, with all of its entries in the base if it has any. The caller is pinned.
pub fn find(memory: &Memory, term: Term<'_>, hash: u64) -> Option<TermId> {
    let dictionary = Dictionary::new(memory.region(), memory.geometry());
    if let Some(id) = dictionary.find(term, hash) {
        return Some(id);
    }
    let nvm = memory.nvm()?;
    if memory.base().has_terms() {
        // What was imported since we looked.
        return dictionary.find(term, hash);
    }
    // A term that is nowhere needs no lock. One that was imported since we looked is found below.
    if base_entries(memory, nvm, term, hash).is_empty() {
        return dictionary.find(term, hash);
    }
    import(memory, &mut memory.dictionary().lock(), term, hash).ok().flatten()
}

/// The same for whoever has the writer.
pub fn import(
    memory: &Memory,
    writer: &mut DictionaryWriter,
    term: Term<'_>,
    hash: u64,
) -> Result<Option<TermId>, DictionaryFull> {
    let dictionary = Dictionary::new(memory.region(), memory.geometry());
    if let Some(id) = dictionary.find(term, hash) {
        return Ok(Some(id));
    }
    let Some(nvm) = memory.nvm().filter(|_| !memory.base().has_terms()) else { return Ok(None) };
    let entries = base_entries(memory, nvm, term, hash);
    if entries.is_empty() {
        return Ok(None);
    }
    writer.enter(memory, term, hash, &entries).map(Some)
}

/// Brings what is left of the base to DRAM, a few terms and rows at a time.
#[derive(Debug, Default)]
pub struct Importer {
    bucket: usize,
    keys_at: Position,
    key_row: u32,
}

/// Buckets of one step.
const BUCKETS: usize = 256;
/// Rows of one step.
const ROWS: u32 = 4096;

impl Importer {
    /// Takes the next step for terms; says whether there was one. The base is merged.
    pub fn terms(&mut self, memory: &Memory) -> Result<bool, DictionaryFull> {
        let Some(nvm) = memory.nvm().filter(|_| !memory.base().has_terms()) else {
            return Ok(false);
        };
        let merged = Merged::new(memory.region(), nvm.layout());
        let end = merged.buckets().min(self.bucket + BUCKETS);
        let mut writer = memory.dictionary().lock();
        let mut bytes = Vec::new();
        while self.bucket < end {
            for (_, line) in merged.chain(self.bucket).filter(|(_, line)| merged.is_sound(*line)) {
                merged.long_bytes(line, &mut bytes);
                let key: TermKey = merged.key(line);
                import(memory, &mut writer, Term { key, bytes: &bytes }, key.hash())?;
            }
            self.bucket += 1;
        }
        if end == merged.buckets() {
            writer.reserve(0);
            memory.base().terms_done.store(true, Release);
        }
        Ok(true)
    }

    /// The same before anything is merged: with the terms of base segments that are not.
    pub fn all_terms(&mut self, memory: &Memory) -> Result<(), DictionaryFull> {
        let Some(nvm) = memory.nvm().filter(|_| !memory.base().has_terms()) else { return Ok(()) };
        let mut bytes = Vec::new();
        for position in memory.merged()..memory.base().end() {
            let Ok((_, sections)) = nvm.sections(memory.region(), position) else { continue };
            for index in 0..sections.get(Kind::TermHashes).bytes / 8 {
                let ordinal = hash_word(memory.region(), &sections, index) & 0xFFFF_FFFF;
                let found = term_at(memory.region(), &sections, ordinal);
                found.bytes(memory.region(), &sections, &mut bytes);
                let term = Term { key: found.key, bytes: &bytes };
                import(memory, &mut memory.dictionary().lock(), term, found.key.hash())?;
            }
        }
        while self.terms(memory)? {}
        Ok(())
    }

    /// The next rows whose keys are to be entered: a segment and its rows. None if all are. `oldest` is retained.
    pub fn rows(&mut self, memory: &Memory, oldest: Position) -> Option<(SegmentId, u32, u32)> {
        if self.keys_at < oldest {
            (self.keys_at, self.key_row) = (oldest, 0);
        }
        while self.keys_at < memory.base().end() {
            let segment = Snapshot::of_role(memory, u64::MAX).segment(self.keys_at)?;
            let (first, end) = (self.key_row, segment.rows().min(self.key_row + ROWS));
            if first < end {
                self.key_row = end;
                return Some((segment.id(), first, end));
            }
            (self.keys_at, self.key_row) = (self.keys_at + 1, 0);
        }
        None
    }

    /// The row `local` of the segment that was given last found no place: it comes next.
    pub fn again_from(&mut self, local: u32) {
        self.key_row = local;
    }
}

/// The row of the document with an explicit key, in a base segment: for as long as keys are not all in the key table.
pub fn find_key(memory: &Memory, snapshot: &Snapshot<'_>, key: &[u8], hash: u64) -> Option<u64> {
    let nvm = memory.nvm()?;
    let (window, end) = (snapshot.window(), memory.base().end());
    let wanted = hash & 0xFFFF_FFFF;
    for position in (window.oldest..end.min(window.end)).rev() {
        let Ok((_, sections)) = nvm.sections(memory.region(), position) else { continue };
        let section = sections.get(Kind::KeyHashes);
        let words = memory.region().view(spirit_mem::Span::<std::sync::atomic::AtomicU64>::new(
            section.start,
            section.bytes / 8,
        ));
        let load = |i: usize| words[i].load(std::sync::atomic::Ordering::Relaxed);
        let first = partition_point(words.len(), |i| load(i) >> 32 < wanted);
        let segment = snapshot.segment(position)?;
        let found = (first..words.len())
            .map(load)
            .take_while(|word| word >> 32 == wanted)
            .map(|word| word as u32)
            .find(|local| {
                let row = segment.row_table().row(*local);
                keys::is(&segment, row.key(), key) && !segment.is_dead(*local)
            });
        if let Some(local) = found {
            return Some(segment.row_number(local));
        }
    }
    None
}

fn partition_point(len: usize, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}
