//! Import: after a start the DRAM dictionary is empty and is filled in the background. Meanwhile
//! queries read in the second tier what it does not [cover](crate::memory::coverage). The import
//! takes each term's entries in the newest segments. It takes as many as there is room for, beside
//! those of segments that are flushed meanwhile. Keys follow.

use crate::form::merged::Merged;
use crate::form::older::{OlderAt, OlderEntries};
use crate::ground::damage;
use crate::ground::ids::{Position, SegmentId};
use crate::ground::term::Term;
use crate::memory::Memory;
use crate::memory::coverage::Coverage;
use crate::memory::descriptor::Window;
use crate::snapshot::Snapshot;
use crate::start::packed_import::PackedImport;
use crate::start::shed::Cut;
use crate::terms::dictionary_writer::{DictionaryFull, DictionaryWriter};
use crate::terms::entries::Entry;
use crate::tier::Nvm;

/// Number of buckets of one step.
const BUCKETS: usize = 256;
/// Number of rows of one step.
const ROWS: u32 = 4096;

/// The import of recovered terms and keys to DRAM, in small steps.
#[derive(Debug, Default)]
pub struct Importer {
    terms: Terms,
    key_row: u32,
}

/// The progress of terms.
#[derive(Debug, Default)]
enum Terms {
    #[default]
    NotBegun,
    /// Entries of segments from `to` on are being entered.
    Entering {
        to: Position,
        next: Next,
    },
    /// The entries did not fit. The import removes those entered, and then tries fewer segments.
    Clearing {
        to: Position,
        cut: Cut,
    },
    Done,
}

/// The part of the entries that comes next.
#[derive(Debug)]
enum Next {
    /// Entries that links lead to, from this hash's bucket of the merged dictionary on.
    Linked(u64),
    /// Entries of segments with packed terms, together with all other entries of those terms.
    Packed(PackedImport),
}

impl Importer {
    /// True if there are terms to import. Their segments are merged.
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
            Terms::Entering { to, next } => enter(memory, nvm, to, next),
            Terms::Clearing { to, mut cut } => match cut.advance(memory) {
                true => begin(coverage, to.max(oldest)),
                false => Terms::Clearing { to, cut },
            },
            Terms::Done => Terms::Done,
        };
        self.terms = next;
    }

    /// Stops the import of terms, because their room is needed. Returns true if some entries were
    /// entered that do not count.
    pub fn stop_terms(&mut self, memory: &Memory) -> bool {
        let coverage = memory.coverage();
        coverage.set_terms_floor(coverage.terms_from());
        let state = std::mem::replace(&mut self.terms, Terms::Done);
        matches!(state, Terms::Entering { .. } | Terms::Clearing { .. })
    }

    /// Returns the next rows whose keys are to be entered, as a segment and its rows. They are of
    /// the newest segment whose keys are missing. Returns `None` if all keys from `oldest` on, the
    /// oldest retained segment, are there. The caller holds the key lock, and no key has left the
    /// table.
    pub fn rows(&mut self, memory: &Memory, oldest: Position) -> Option<(SegmentId, u32, u32)> {
        let coverage = memory.coverage();
        // Each round returns or moves `keys_from` down by one, so that the loop ends at `oldest`.
        while coverage.keys_from() > oldest {
            let position = coverage.keys_from() - 1;
            let segment = Snapshot::of_role(memory, u64::MAX).segment(position)?;
            let (first, end) = (self.key_row, segment.rows().min(self.key_row + ROWS));
            if first < end {
                self.key_row = end;
                return Some((segment.id(), first, end));
            }
            self.key_row = 0;
            coverage.set_keys_from(position);
        }
        None
    }

    /// Notes that row `local` of the last segment returned found no place. It comes next.
    pub fn again_from(&mut self, local: u32) {
        self.key_row = local;
    }
}

fn begin(coverage: Coverage<'_>, to: Position) -> Terms {
    if to >= coverage.terms_from() {
        return Terms::Done;
    }
    coverage.set_terms_floor(to);
    Terms::Entering { to, next: Next::Linked(0) }
}

/// Enters some terms.
fn enter(memory: &Memory, nvm: &Nvm, to: Position, next: Next) -> Terms {
    let coverage = memory.coverage();
    let from = coverage.terms_from();
    damage::clear();
    let entered = enter_next(memory, nvm, Window { oldest: to, end: from }, next);
    if damage::is_any() {
        // Terms may be missing. Queries go on reading in the second tier, and find the damage
        // themselves.
        coverage.set_terms_floor(from);
        return Terms::Clearing { to: from, cut: Cut::new(from) };
    }
    match entered {
        Ok(Some(next)) => Terms::Entering { to, next },
        Ok(None) => {
            coverage.set_terms_from(to);
            Terms::Done
        }
        Err(DictionaryFull) => {
            coverage.set_terms_floor(from);
            Terms::Clearing { to: to + (from - to).div_ceil(2), cut: Cut::new(from) }
        }
    }
}

/// Enters some terms into `part`. Returns the next step, if there is one.
fn enter_next(
    memory: &Memory,
    nvm: &Nvm,
    part: Window,
    next: Next,
) -> Result<Option<Next>, DictionaryFull> {
    let Some(older) = OlderEntries::new(memory) else { return Ok(None) };
    let mut writer = memory.dictionary();
    match next {
        Next::Linked(hash) => {
            // There may be more buckets than in the last step.
            let merged = Merged::new(memory.region(), nvm.layout());
            let bucket = merged.bucket(hash);
            let end = merged.buckets().min(bucket + BUCKETS);
            enter_buckets(memory, &merged, &older, &mut writer, part, bucket..end)?;
            let is_last = end == merged.buckets();
            Ok(Some(if is_last {
                Next::Packed(PackedImport::default())
            } else {
                Next::Linked(merged.first_hash(end))
            }))
        }
        Next::Packed(mut import) => {
            let is_last = import.enter(memory, &older, &mut writer, part)?;
            Ok((!is_last).then_some(Next::Packed(import)))
        }
    }
}

fn enter_buckets(
    memory: &Memory,
    merged: &Merged<'_>,
    older: &OlderEntries<'_>,
    writer: &mut DictionaryWriter,
    part: Window,
    buckets: std::ops::Range<usize>,
) -> Result<(), DictionaryFull> {
    let (mut bytes, mut entries) = (Vec::new(), Vec::<Entry>::new());
    for (_, line) in buckets.flat_map(|bucket| merged.records(bucket)) {
        if !merged.is_known(line) {
            continue;
        }
        merged.long_bytes(line, &mut bytes);
        let key = merged.key(line);
        let term = Term { key, bytes: &bytes };
        entries.clear();
        let mut at = OlderAt::from(merged.head(line));
        older.visit_linked(&mut at, key, part, |entry| entries.push(entry));
        entries.reverse();
        if !entries.is_empty() {
            if writer.is_crowded() {
                return Err(DictionaryFull);
            }
            writer.prepend(memory.footing(), term, key.hash(), &entries, part.end)?;
        }
    }
    Ok(())
}
