//! After a start the DRAM dictionary is empty, and filled in the background, while queries read what it does not
//! [cover](super::coverage) where it lies. What is imported of a term are its entries in the newest segments, as many as
//! there is room for beside what is flushed meanwhile. Keys follow.

use super::coverage::Coverage;
use super::merged::Merged;
use super::older::{FindOlder, OlderAt, OlderEntries};
use super::shed::Cut;
use super::tier::Nvm;
use crate::descriptor::{Position, SegmentId, Window};
use crate::dictionary_writer::{DictionaryFull, DictionaryWriter};
use crate::entries::Entry;
use crate::memory::Memory;
use crate::snapshot::Snapshot;
use crate::term::Term;

/// Buckets of one step.
const BUCKETS: usize = 256;
/// Rows of one step.
const ROWS: u32 = 4096;

/// Brings to DRAM what the start found, a few terms and rows at a time.
#[derive(Debug, Default)]
pub struct Importer {
    terms: Terms,
    keys_at: Position,
    key_row: u32,
}

/// How far terms are.
#[derive(Debug, Default)]
enum Terms {
    #[default]
    NotBegun,
    /// Entries of segments from `to` on are being entered; those of the buckets before `bucket` are.
    Entering {
        to: Position,
        bucket: usize,
    },
    /// They did not fit. What was entered goes, and then fewer segments are tried.
    Clearing {
        to: Position,
        cut: Cut,
    },
    Done,
}

impl Importer {
    /// Whether there are terms to be brought. The segments that they are of are merged.
    pub fn has_terms(&self, memory: &Memory) -> bool {
        let coverage = memory.coverage();
        !matches!(self.terms, Terms::Done) && coverage.terms_from() > memory.window().oldest
    }

    /// Takes the next step for terms.
    pub fn terms(&mut self, memory: &Memory) {
        let Some(nvm) = memory.nvm() else { return };
        let (coverage, oldest) = (memory.coverage(), memory.window().oldest);
        let next = match std::mem::take(&mut self.terms) {
            Terms::NotBegun => begin(coverage, oldest),
            Terms::Entering { to, bucket } => enter(memory, nvm, to, bucket),
            Terms::Clearing { to, mut cut } => match cut.advance(memory) {
                true => begin(coverage, to.max(oldest)),
                false => Terms::Clearing { to, cut },
            },
            Terms::Done => Terms::Done,
        };
        self.terms = next;
    }

    /// Brings no more terms: there is other use for the room. Says whether some were entered that do not count.
    pub fn stop_terms(&mut self, memory: &Memory) -> bool {
        let coverage = memory.coverage();
        coverage.set_terms_floor(coverage.terms_from());
        let state = std::mem::replace(&mut self.terms, Terms::Done);
        matches!(state, Terms::Entering { .. } | Terms::Clearing { .. })
    }

    /// The next rows whose keys are to be entered: a segment and its rows. None if all are. `oldest` is retained.
    pub fn rows(&mut self, memory: &Memory, oldest: Position) -> Option<(SegmentId, u32, u32)> {
        if self.keys_at < oldest {
            (self.keys_at, self.key_row) = (oldest, 0);
        }
        while self.keys_at < memory.coverage().base_end() {
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

fn begin(coverage: &Coverage, to: Position) -> Terms {
    if to >= coverage.terms_from() {
        return Terms::Done;
    }
    coverage.set_terms_floor(to);
    Terms::Entering { to, bucket: 0 }
}

/// Enters the terms of some buckets.
fn enter(memory: &Memory, nvm: &Nvm, to: Position, bucket: usize) -> Terms {
    let coverage = memory.coverage();
    let from = coverage.terms_from();
    let buckets = Merged::new(memory.region(), nvm.layout()).buckets();
    let end = buckets.min(bucket + BUCKETS);
    let mut writer = memory.dictionary();
    if enter_buckets(memory, nvm, &mut writer, Window { oldest: to, end: from }, bucket..end)
        .is_err()
    {
        coverage.set_terms_floor(from);
        return Terms::Clearing { to: to + (from - to).div_ceil(2), cut: Cut::new(from) };
    }
    if end < buckets {
        return Terms::Entering { to, bucket: end };
    }
    coverage.set_terms_from(to);
    Terms::Done
}

fn enter_buckets(
    memory: &Memory,
    nvm: &Nvm,
    writer: &mut DictionaryWriter,
    part: Window,
    buckets: std::ops::Range<usize>,
) -> Result<(), DictionaryFull> {
    let merged = Merged::new(memory.region(), nvm.layout());
    let Some(older) = OlderEntries::new(memory) else { return Ok(()) };
    let (mut bytes, mut entries) = (Vec::new(), Vec::<Entry>::new());
    for (_, line) in buckets.flat_map(|bucket| merged.chain(bucket)) {
        if !merged.is_sound(line) {
            continue;
        }
        merged.long_bytes(line, &mut bytes);
        let key = merged.key(line);
        let term = Term { key, bytes: &bytes };
        entries.clear();
        let mut at = OlderAt::from(merged.head(line));
        older.visit(&mut at, term, key.hash(), part, |entry| entries.push(entry));
        entries.reverse();
        if !entries.is_empty() {
            if writer.is_crowded() {
                return Err(DictionaryFull);
            }
            writer.prepend(memory, term, key.hash(), &entries, part.end)?;
        }
    }
    Ok(())
}
