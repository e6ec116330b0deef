//! Checks a segment: its slot, its section table, its shape, the checksums of its sections, and
//! then their contents.

use crate::check::lengths::Lengths;
use crate::check::rows::Rows;
use crate::check::seen::{Found, Segment};
use crate::check::{Checked, Part, columns, order, postings, rows, terms, texts};
use crate::form::shape;
use crate::ground::corrupt::Corrupt;
use crate::ground::ids::{Position, SegmentId, State};
use crate::ground::section::{Kind, SECTIONS, Sections};
use crate::ground::slot::{Entry, Slots};
use crate::tier::pages::Pages;

/// Number of tries for a segment that changes during its check.
const TRIES: usize = 4;

/// Checks the segments one by one. `before` is the entry of the segment before the first. Returns
/// those that can be followed further.
pub(super) fn check_all(
    part: &Part<'_>,
    found: &Found,
    before: Option<Entry>,
    checked: &mut Checked,
) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    for (position, state) in &found.live {
        let before = segments.last().map(|segment| segment.entry).or(before);
        let (segment, apart) = settled(part, *position, *state, before);
        checked.join(apart);
        segments.extend(segment);
    }
    segments
}

/// Checks a segment that may be merged or dropped meanwhile. In that case it discards the findings
/// and tries again, or gives up.
fn settled(
    part: &Part<'_>,
    position: Position,
    mut state: State,
    before: Option<Entry>,
) -> (Option<Segment>, Checked) {
    let slots = Slots::new(part.region, &part.layout);
    for _ in 0..TRIES {
        let mut checked = Checked::default();
        let segment = check(part, position, state, before, &mut checked);
        let segment = segment.map_err(|finding| checked.add(finding)).ok();
        match slots.state(position) {
            Ok(Some(now)) if now != state => state = now,
            Ok(None) => break,
            _ => return (segment, checked),
        }
    }
    (None, Checked::default())
}

fn check(
    part: &Part<'_>,
    position: Position,
    state: State,
    before: Option<Entry>,
    checked: &mut Checked,
) -> Result<Segment, Corrupt> {
    let slots = Slots::new(part.region, &part.layout);
    let dead = slots.dead(position).map_err(|finding| checked.add(finding)).ok();
    let entry = slots.entry(position)?;
    check_blocks(part, slots.place(position), &entry)?;
    let sections = Sections::of(part.region, &entry)?;
    shape::check(part.region, &part.geometry, &entry, &sections)?;
    let id = SegmentId(entry.id as u32);
    let segment = Segment { id, is_merged: state == State::Merged, entry, sections, dead };
    check_table(&segment, checked);
    check_order(slots.place(position), &segment.entry, before, checked);
    check_sums(part, &segment, checked);
    let Entry { rows, terms, .. } = entry;
    checked.counts.segments += 1;
    checked.counts.merged_segments += u64::from(segment.is_merged);
    checked.counts.rows += rows;
    checked.counts.terms += terms;
    let lengths = Lengths::of(part, &segment, Rows::of(part, &segment).lengths());
    let sequence_start = before.map_or(0, |b| b.sequence_end);
    let vectors = rows::check(part, &segment, &lengths, sequence_start, checked);
    columns::check(part, &segment, &vectors, checked);
    postings::check(part, &segment, &lengths, vectors, checked);
    if part.geometry.settings.store {
        texts::check(part, &segment, checked);
    }
    terms::check_keys(part, &segment, checked);
    if !segment.is_merged {
        terms::check_terms(part, &segment, checked);
    }
    if !segment.sections.are_packed() {
        order::check(part, &segment, checked);
    }
    Ok(segment)
}

/// Checks that blocks are in the part, so that all their contents can be read.
fn check_blocks(part: &Part<'_>, at: u64, entry: &Entry) -> Result<(), Corrupt> {
    let blocks = [
        (part.layout.long, entry.long_start, entry.long_bytes),
        (part.layout.short, entry.short_start, entry.short_bytes),
    ];
    for ((from, room), start, bytes) in blocks {
        let end = start.checked_add(bytes);
        if start < from || end.is_none_or(|end| end > from + room) {
            let why = "a block of the segment leaves its partition";
            return Err(Corrupt { what: "segment slot", at, why });
        }
    }
    Ok(())
}

/// Checks that the table has as many entries as this version writes, and that no sections overlap.
fn check_table(segment: &Segment, checked: &mut Checked) {
    let at = segment.entry.long_start;
    if segment.entry.sections != SECTIONS as u64 {
        checked.note("section table", at, "its entries are not as many as this version writes");
    }
    let table_bytes = segment.sections.words().len() as u64 * 8;
    let of = |kind| segment.sections.get(kind);
    let mut spans: Vec<(u64, u64)> =
        Kind::ALL.map(of).iter().map(|section| (section.start, section.bytes)).collect();
    spans.push((at, table_bytes));
    spans.retain(|(_, bytes)| *bytes > 0);
    spans.sort_unstable();
    if spans.windows(2).any(|pair| pair[0].0 + pair[0].1 > pair[1].0) {
        checked.note("section table", at, "sections overlap");
    }
}

/// Checks that the numbers of a newer segment are not below those of an older one.
fn check_order(at: u64, entry: &Entry, before: Option<Entry>, checked: &mut Checked) {
    let Some(before) = before else { return };
    let falls = entry.base_row < before.row_end
        || entry.sequence_end < before.sequence_end
        || entry.log_from < before.log_from;
    if falls {
        checked.note("segment slot", at, "its numbers are below those of the segment before");
    }
}

/// Checks the pages' checksums, apart from words that may change.
fn check_sums(part: &Part<'_>, segment: &Segment, checked: &mut Checked) {
    let pages = Pages::of(&segment.entry, &segment.sections);
    if let Err(finding) = pages.look_at_checks(part.region) {
        return checked.add(finding);
    }
    let sections = Kind::ALL.into_iter().filter(|kind| !segment.is_merged || !kind.is_short_term());
    checked.counts.bytes += sections.map(|kind| segment.sections.get(kind).bytes).sum::<u64>();
    // The short-term block of a merged segment may belong to another.
    let short = pages.short().take_while(|_| !segment.is_merged);
    for page in pages.long().chain(short) {
        if let Err(finding) = pages.look_at(part.region, page) {
            checked.add(finding);
        }
    }
}
