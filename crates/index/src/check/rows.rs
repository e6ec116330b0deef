//! Checks rows: they are in the order of their operations, and their keys can be read. Document
//! vectors lead to terms, and lengths match them.

use std::sync::atomic::AtomicU16;
use std::sync::atomic::Ordering::Relaxed;

use spirit_mem::{Region, Span};

use crate::check::lengths::Lengths;
use crate::check::seen::{LogEnd, Segment};
use crate::check::{Checked, Part};
use crate::fresh::batch::KEY_BYTES_MAX;
use crate::ground::posting::FREQUENCY_MAX;
use crate::ground::section::Kind;
use crate::rows::lengths::{LengthArray, Statistics, saturated};
use crate::rows::vector::{self, Entry};
use crate::rows::{self, KEY_APART, KEY_INLINE_MAX, KeyKind, Row, RowKey, STAMP_MAX};

/// The rows and document vectors of a segment.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    start: u64,
    table: rows::Rows<'a>,
    units: &'a [AtomicU16],
    /// The documents' lengths, newest first.
    lengths: LengthArray<'a>,
}

impl<'a> Rows<'a> {
    pub(super) fn of(part: &Part<'a>, segment: &Segment) -> Rows<'a> {
        let rows = segment.sections.get(Kind::Rows);
        let vectors = segment.sections.get(Kind::Vectors);
        let region: &Region = part.region;
        let units = Span::new(vectors.start, vectors.bytes / 2);
        let directory = segment.sections.get(Kind::RowDirectory);
        let directory = Span::new(directory.start, directory.bytes / 8);
        let lengths = segment.sections.get(Kind::Lengths);
        let lengths = LengthArray::word(lengths, segment.entry.rows);
        let lengths = LengthArray::at(region, lengths, segment.entry.rows);
        Rows {
            start: rows.start,
            table: rows::Rows::new(region, directory, part.geometry.row_shift),
            units: region.get(units).unwrap_or(&[]),
            lengths: lengths.unwrap_or(LengthArray::new(&[])),
        }
    }

    /// Returns the documents' lengths, newest first.
    pub(super) fn lengths(&self) -> LengthArray<'a> {
        self.lengths
    }

    /// Returns a row's length in the array of lengths.
    fn length(&self, local: u32) -> Option<u16> {
        length_in(&self.lengths, local)
    }

    /// Returns the number of tokens that count of a document with `kept` kept tokens. `said` is its
    /// stored length in a field. A document that was given up counts nothing. In a backup, the last
    /// row may look given up although it died later.
    fn counted(&self, local: u32, said: u16, kept: u32) -> u32 {
        let given_up = !self.row(local).has_lived(local) && said == 0;
        if given_up { 0 } else { kept }
    }

    pub(super) fn len(&self) -> u32 {
        self.lengths.len() as u32
    }

    /// Returns the row of a local id below `len`.
    pub(super) fn row(&self, local: u32) -> Row<'a> {
        self.table.row(local)
    }

    /// Returns the offset of a row, or of a packed row's chunk.
    pub(super) fn place(&self, local: u32) -> u64 {
        self.table.place(local).unwrap_or(self.start)
    }

    /// Returns the number of tokens of a row.
    pub(super) fn tokens(&self, local: u32) -> u32 {
        self.row(local).tokens(self.length(local).unwrap_or(0))
    }

    /// True if the row is or was a document's.
    pub(super) fn is_document(&self, local: u32) -> bool {
        self.row(local).key().kind() != KeyKind::None
    }

    /// Returns the bytes of an explicit key. Returns `None` for other keys, and for one that cannot
    /// be read.
    pub(super) fn explicit_key(&self, key: RowKey) -> Option<Vec<u8>> {
        match key.kind() {
            KeyKind::Inline { bytes, len } => Some(bytes[..len].to_vec()),
            KeyKind::Stored { unit, len } => {
                let units =
                    self.units.get((unit & !KEY_APART) as usize..)?.get(..len.div_ceil(2))?;
                let byte = |i: usize| (units[i / 2].load(Relaxed) >> (8 * (i % 2))) as u8;
                Some((0..len).map(byte).collect())
            }
            KeyKind::Automatic(_) | KeyKind::None => None,
        }
    }
}

/// Returns a row's length in an array of lengths.
fn length_in(lengths: &LengthArray<'_>, local: u32) -> Option<u16> {
    lengths.get(lengths.len().checked_sub(1 + local as usize)?)
}

/// The digests of a segment's postings by its document vectors: a sum over each term's documents. A
/// list with equal documents and frequencies has an equal sum. `None` if vectors are not kept.
pub(super) struct Vectors(Option<Vec<u64>>);

impl Vectors {
    /// True if a term's documents add up to `sum`.
    pub(super) fn agree(&self, ordinal: u32, sum: u64) -> bool {
        let Some(sums) = &self.0 else { return true };
        sums.get(ordinal as usize).is_some_and(|said| *said == sum)
    }

    /// True if a term's documents add up to `sum`. Removes the term's sum.
    pub(super) fn take(&mut self, ordinal: u32, sum: u64) -> bool {
        let Some(sums) = &mut self.0 else { return true };
        sums.get_mut(ordinal as usize).is_some_and(|said| std::mem::take(said) == sum)
    }

    /// True if the sums of all terms were taken.
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().flatten().all(|sum| *sum == 0)
    }
}

/// Returns the amount that a posting adds to its term's sum.
pub(super) fn digest(local: u32, frequency: u32) -> u64 {
    let mixed = ((local as u64) << 8 | frequency as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

pub(super) fn check(
    part: &Part<'_>,
    segment: &Segment,
    lengths: &Lengths<'_>,
    sequence_start: u64,
    checked: &mut Checked,
) -> Vectors {
    let has_vectors = part.geometry.settings.positions && !segment.sections.are_packed();
    let sums = has_vectors.then(|| vec![0; segment.entry.terms as usize]);
    let mut walk = Walk { sums, ..Walk::new(part, segment, lengths) };
    walk.is_counted_later = has_positions(part, segment);
    walk.sequence = sequence_start;
    for local in 0..walk.rows.len() {
        if let Err(why) = walk.row(local) {
            checked.note("row", walk.rows.place(local), why);
        }
        checked.counts.dead_rows += u64::from(walk.rows.row(local).death() != 0);
    }
    if !walk.is_counted_later {
        walk.check_kept(checked);
    }
    let said = (segment.entry.tokens, segment.entry.vector_units);
    if (walk.tokens, walk.units) != said {
        let why = "their tokens or units of vectors are not as many as the segment's slot says";
        checked.note("rows", walk.rows.start, why);
    }
    Vectors(walk.sums)
}

/// True if a segment's lists have the positions of its tokens.
pub(super) fn has_positions(part: &Part<'_>, segment: &Segment) -> bool {
    part.geometry.settings.positions && segment.sections.are_packed()
}

/// Checks documents' lengths against the positions counted in their segment's lists, for each array
/// of lengths.
pub(super) fn check_counts(
    part: &Part<'_>,
    segment: &Segment,
    lengths: &Lengths<'_>,
    counts: &[Vec<u32>],
    checked: &mut Checked,
) {
    let mut walk = Walk::new(part, segment, lengths);
    for local in 0..walk.rows.len() {
        let is_document = walk.rows.is_document(local);
        let of_row = |counts: &Vec<u32>| if is_document { counts[local as usize] } else { 0 };
        walk.counts.clear();
        walk.counts.extend(counts.iter().map(of_row));
        if let Err(why) = walk.lengths(local) {
            checked.note("row", walk.rows.place(local), why);
        }
    }
    walk.check_kept(checked);
}

/// A walk through a segment's rows in order.
struct Walk<'a> {
    segment: &'a Segment,
    rows: Rows<'a>,
    lengths: &'a Lengths<'a>,
    /// By array of lengths: the number of kept tokens of the current document.
    counts: Vec<u32>,
    /// One past the sequence number of the last row that came to life.
    sequence: u64,
    /// The sequence number of the last row, counted from the segment's base.
    newest: u32,
    /// One past its last automatic key.
    number: u64,
    /// One past the last unit that is used.
    unit: usize,
    sums: Option<Vec<u64>>,
    tokens: u64,
    units: u64,
    kept: Statistics,
    /// The ordinals of the current document.
    ordinals: Vec<u32>,
    /// True if its tokens are counted during the check of its lists.
    is_counted_later: bool,
}

type Verdict = Result<(), &'static str>;

impl<'a> Walk<'a> {
    fn new(part: &Part<'a>, segment: &'a Segment, lengths: &'a Lengths<'a>) -> Walk<'a> {
        Walk {
            segment,
            rows: Rows::of(part, segment),
            lengths,
            counts: Vec::new(),
            sequence: 0,
            newest: 0,
            number: segment.entry.numbers_start,
            unit: 0,
            sums: None,
            tokens: 0,
            units: 0,
            kept: Statistics::default(),
            ordinals: Vec::new(),
            is_counted_later: false,
        }
    }

    fn row(&mut self, local: u32) -> Verdict {
        let row = self.rows.row(local);
        let key = row.key();
        // A binary search reads sequence numbers, those of dead rows too.
        let before = std::mem::replace(&mut self.newest, row.sequence());
        if before > self.newest {
            return Err("its sequence number is below the one before");
        }
        if key.kind() == KeyKind::None {
            self.length(local, 0)?;
            return self.no_document(local);
        }
        let lived = row.has_lived(local);
        self.units += self.key(key, lived)? + self.vector(local)?;
        let tokens = self.rows.tokens(local);
        self.tokens += tokens as u64;
        if self.sums.is_some() {
            self.count();
            self.lengths(local)?;
        } else if !self.is_counted_later {
            let said = self.rows.length(local).unwrap_or(0);
            self.length(local, self.rows.counted(local, said, tokens))?;
        }
        if lived { self.sequence(row) } else { Ok(()) }
    }

    fn sequence(&mut self, row: Row<'_>) -> Verdict {
        let sequence = self.segment.entry.base_sequence + row.sequence() as u64;
        if sequence < self.sequence {
            return Err("its sequence number is not above the one before");
        }
        if sequence >= self.segment.entry.sequence_end {
            return Err("its sequence number is not below the segment's end");
        }
        self.sequence = sequence + 1;
        Ok(())
    }

    fn check_kept(&self, checked: &mut Checked) {
        if self.kept != Statistics::from_word(self.segment.entry.kept) {
            let why = "their kept tokens, or documents with any, are not as many as the segment's slot says";
            checked.note("rows", self.rows.start, why);
        }
    }

    /// Counts the tokens of the current document for each array of lengths.
    fn count(&mut self) {
        self.counts.clear();
        self.counts.resize(self.lengths.arrays().len(), 0);
        for number in self.ordinals.iter().filter_map(|ordinal| self.lengths.number_of(*ordinal)) {
            self.counts[number] += 1;
        }
    }

    /// Compares a document's lengths with the counted tokens.
    fn lengths(&mut self, local: u32) -> Verdict {
        let said = self.rows.length(local).unwrap_or(0);
        self.length(local, self.rows.counted(local, said, self.counts[0]))?;
        for (array, count) in self.lengths.arrays().iter().zip(&self.counts).skip(1) {
            let said = length_in(array, local).unwrap_or(0);
            if said != saturated(self.rows.counted(local, said, *count)) {
                return Err("its length in a field differs from its document's");
            }
        }
        Ok(())
    }

    /// Checks the length of a document's text, of which `kept` tokens count.
    fn length(&mut self, local: u32, kept: u32) -> Verdict {
        self.kept += Statistics::of(kept);
        let right = self.rows.length(local) == Some(saturated(kept));
        if right { Ok(()) } else { Err("its length differs from its document's") }
    }

    /// Checks a key. Returns the units that it takes.
    fn key(&mut self, key: RowKey, lived: bool) -> Result<u64, &'static str> {
        match key.kind() {
            KeyKind::None => Ok(0),
            KeyKind::Automatic(number) => {
                if number >= self.segment.entry.numbers_end {
                    return Err("its automatic key is not below the segment's last");
                }
                if lived && number < self.number {
                    return Err("its automatic key is not above the one before");
                }
                self.number = self.number.max(number + u64::from(lived));
                Ok(0)
            }
            KeyKind::Inline { bytes, len } => {
                let right =
                    (1..=KEY_INLINE_MAX).contains(&len) && RowKey::inline(&bytes[..len]) == key;
                if right { Ok(0) } else { Err("its key cannot be read") }
            }
            KeyKind::Stored { unit, len } => {
                let is_apart = unit & KEY_APART != 0;
                let unit = unit & !KEY_APART;
                let right = (KEY_INLINE_MAX + 1..=KEY_BYTES_MAX).contains(&len)
                    && RowKey::stored(unit | if is_apart { KEY_APART } else { 0 }, len) == key
                    && is_apart == self.segment.sections.are_packed()
                    && unit as usize >= self.unit
                    && self.rows.explicit_key(key).is_some();
                if !right {
                    return Err("its key cannot be read");
                }
                let units = len.div_ceil(2);
                self.unit = unit as usize + units;
                Ok(units as u64)
            }
        }
    }

    /// Checks the place of a missing vector. Packed rows have no such place.
    fn no_vector(&mut self, local: u32) -> Result<u64, &'static str> {
        if self.segment.sections.are_packed() {
            return Ok(0);
        }
        let start = self.rows.table.words(local).vector() as usize;
        if start < self.unit || start > self.rows.units.len() {
            return Err("its document vector is misplaced");
        }
        self.unit = start;
        Ok(0)
    }

    /// Reads a document vector, which lies behind those before it. Returns the units that it takes.
    fn vector(&mut self, local: u32) -> Result<u64, &'static str> {
        let row = self.rows.table.words(local);
        let Some(sums) = &mut self.sums else { return self.no_vector(local) };
        let start = row.vector() as usize;
        if start < self.unit || start > self.rows.units.len() {
            return Err("its document vector is misplaced");
        }
        self.unit = start;
        self.ordinals.clear();
        let mut left = row.tokens();
        // Each entry takes at least one of the tokens that are left, so that the loop ends.
        while left > 0 {
            let (entry, units) = vector::take(&self.rows.units[self.unit..])
                .ok_or("its document vector leaves the segment's vectors")?;
            self.unit += units;
            if entry.units() != units as u64 {
                return Err("its document vector has a gap of 0 or 1 positions");
            }
            left = left
                .checked_sub(entry.positions())
                .ok_or("its document vector has a gap beyond the document's end")?;
            let Entry::Term(ordinal) = entry else { continue };
            if ordinal as usize >= sums.len() {
                return Err("its document vector leads to no term");
            }
            self.ordinals.push(ordinal);
        }
        self.ordinals.sort_unstable();
        for same in self.ordinals.chunk_by(|a, b| a == b) {
            let sum = &mut sums[same[0] as usize];
            *sum = sum.wrapping_add(digest(local, (same.len() as u32).min(FREQUENCY_MAX)));
        }
        Ok((self.unit - start) as u64)
    }
    /// Checks a row of a delete or of a broken-off document.
    fn no_document(&self, local: u32) -> Verdict {
        let row = self.rows.row(local);
        let is_packed = self.segment.sections.are_packed();
        let vector = if is_packed { 0 } else { self.rows.table.words(local).vector() };
        if row.key() != RowKey::default() {
            Err("its key cannot be read")
        } else if row.death() == 0 || self.rows.tokens(local) != 0 || vector != 0 {
            Err("it has no document, and is not dead from its start")
        } else {
            Ok(())
        }
    }
}

/// Checks that deaths are by operations that exist, and that segments with dead rows count them.
/// For an operation that is still in the log the count may be missing. Stamp and count are stored
/// together, and a crash may have kept one alone.
pub(super) fn check_deaths(
    part: &Part<'_>,
    segments: &[Segment],
    end: LogEnd,
    checked: &mut Checked,
) {
    let last = segments.last().map_or(0, |segment| segment.entry.row_end).max(end.row_end);
    let row_end = last + end.replayed;
    for segment in segments {
        let rows = Rows::of(part, segment);
        let mut dead = 0;
        for local in 0..rows.len() {
            let death = rows.row(local).death();
            dead += u64::from(death != 0);
            if death < STAMP_MAX && segment.entry.base_row + death as u64 > row_end {
                checked.note(
                    "row",
                    rows.place(local),
                    "it died by an operation that does not exist",
                );
            }
        }
        if dead > 0 && segment.dead == Some(0) && !end.kills {
            checked.note("rows", rows.start, "some are dead, and the segment's slot counts none");
        }
    }
}
