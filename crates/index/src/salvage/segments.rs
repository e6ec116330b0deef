//! Salvage of segments: finds them, keeps the whole ones, and replaces the others.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use spirit_door::Site;
use spirit_mem::Span;

use crate::backup::check_blocks;
use crate::backup::deaths::Early;
use crate::backup::frame::{FrameWriter, Sink};
use crate::backup::segment::CopyError;
use crate::backup::source::Source;
use crate::check::Checked;
use crate::form::shape;
use crate::ground::corrupt::Corrupt;
use crate::ground::ids::{Position, State};
use crate::ground::layout::SLOT_BYTES;
use crate::ground::section::Sections;
use crate::ground::slot::{Entry, Mark, Slots};
use crate::salvage::Salvage;

/// The reason why segments older than a lost one are lost too: segments have no gaps.
const OLDER: &str = "the slot of a newer segment is damaged, so the place of this one is unknown";

/// An output that discards all bytes.
struct Nowhere;

impl io::Write for Nowhere {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for Nowhere {
    fn cut(&mut self, _bytes: u64) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> Salvage<'a> {
    pub(super) fn slots(&self) -> Slots<'a> {
        Slots::new(self.region, &self.layout)
    }

    /// Leaves whole segments without a gap, with empty ones among them. `check_more` adds further
    /// findings about a segment.
    pub fn segments(&mut self, check_more: &dyn Fn(&mut Checked)) {
        let is_mended = self.mend_marks();
        // Each round clears a mark, so that the loop ends.
        while let Some(newest) = self.newest_without_slot() {
            let why = "its slot is damaged";
            let at = self.slots().place(newest);
            self.lose(Corrupt { what: "newest segment", at, why }, None);
            self.clear_mark(at);
        }
        self.drop_behind_gap();
        for position in self.live() {
            if is_mended {
                self.mend_run(position, check_more);
            }
            if let Err(what) = self.prove(position, check_more) {
                let entry =
                    self.entry(position).expect("segments without a valid slot were removed");
                self.lose(what, Some(self.documents_max(position, &entry)));
                self.empty(position, &entry);
            }
        }
    }

    fn clear_mark(&self, at: u64) {
        self.door.write_words(Site::Mark, self.region, at, &[0]);
    }

    /// Replaces damaged marks. A segment with a damaged mark counts as live if the segments on both
    /// sides are live. It also does if it is the newest one and whole. The oldest may have been
    /// dropped. Returns true if a mark was damaged.
    fn mend_marks(&mut self) -> bool {
        let slots = self.slots();
        let damaged =
            (0..slots.count()).filter_map(|index| Some((index, slots.mark(index).err()?)));
        let damaged: Vec<_> = damaged.collect();
        for (index, what) in &damaged {
            self.clear_mark(what.at);
            match self.position_in(*index).filter(|position| self.lived(*position)) {
                Some(position) => slots.set_live(&self.door, position, State::Engraved),
                None => self.lose(what.clone(), None),
            }
        }
        !damaged.is_empty()
    }

    fn lived(&self, position: Position) -> bool {
        let lives = |position: Position| matches!(self.slots().state(position), Ok(Some(_)));
        let newest = self.marks().map(|(position, _)| position).max();
        let is_between = position.checked_sub(1).is_some_and(lives)
            && position.checked_add(1).is_some_and(lives);
        let is_newest = newest.is_none_or(|newest| newest.checked_add(1) == Some(position));
        let is_whole = |state| self.part().check_live(position, state).findings.is_empty();
        is_between || (is_newest && [State::Engraved, State::Merged].into_iter().any(is_whole))
    }

    /// Marks a segment as merged if the dictionary has its terms. Only the newest segment of a
    /// merged run has this mark, and the mark may be lost. The restored part merges such segments
    /// again.
    fn mend_run(&self, position: Position, check_more: &dyn Fn(&mut Checked)) {
        let slots = self.slots();
        let is_marked = slots.state(position) == Ok(Some(State::Merged));
        let is_packed = self.sections(position).is_none_or(|sections| sections.are_packed());
        if is_marked || is_packed {
            return;
        }
        slots.set_live(&self.door, position, State::Merged);
        if self.prove(position, check_more).is_err() {
            slots.set_live(&self.door, position, State::Engraved);
        }
    }

    fn sections(&self, position: Position) -> Option<Sections> {
        Sections::of(self.region, &self.entry(position)?).ok()
    }

    /// Returns the position in the slot at `index`, for any state of its mark.
    fn position_in(&self, index: u64) -> Option<Position> {
        let slots = self.slots();
        let first = slots.place(0) + index * SLOT_BYTES;
        let id = self.region.view(Span::<AtomicU64>::new(first + 8, 1))[0].load(Relaxed);
        let position = Position::try_from(id >> 1).ok().filter(|p| slots.place(*p) == first)?;
        slots.entry(position).is_ok().then_some(position)
    }

    /// Returns the newest segment that ever was, if its slot is damaged.
    fn newest_without_slot(&self) -> Option<Position> {
        let newest = self.marks().map(|(position, _)| position).max()?;
        self.entry(newest).is_none().then_some(newest)
    }

    /// Returns the entry of a slot, if it is sound.
    pub(super) fn entry(&self, position: Position) -> Option<Entry> {
        let entry = self.slots().entry(position).ok()?;
        shape::check_numbers(&self.geometry, &entry).ok()?;
        check_blocks(&self.layout, self.slots().place(position), &entry).ok()?;
        self.can_be_emptied(&entry).then_some(entry)
    }

    /// Yields all marked positions, with true for those that live.
    pub(super) fn marks(&self) -> impl Iterator<Item = (Position, bool)> {
        let slots = self.slots();
        (0..slots.count()).filter_map(move |index| match slots.mark(index).ok()? {
            Mark::Empty => None,
            Mark::Live(position, _) => Some((position, true)),
            Mark::Retired(position) => Some((position, false)),
        })
    }

    /// Returns the live segments, newest first.
    fn live(&self) -> Vec<Position> {
        let live = self.marks().filter(|(_, lives)| *lives).map(|(position, _)| position);
        let mut live: Vec<Position> = live.collect();
        live.sort_unstable_by(|a, b| b.cmp(a));
        live
    }

    /// Retires segments older than one that is missing or has a damaged slot.
    fn drop_behind_gap(&mut self) {
        let newest = self.marks().map(|(position, _)| position).max();
        let mut expected = newest;
        for position in self.live() {
            let follows = expected == Some(position) && self.entry(position).is_some();
            if follows {
                expected = position.checked_sub(1);
                continue;
            }
            expected = None;
            let at = self.slots().place(position);
            let documents_max = self.entry(position).map(|e| self.documents_max(position, &e));
            self.lose(Corrupt { what: "segment", at, why: OLDER }, documents_max);
            self.slots().retire(&self.door, position);
        }
    }

    fn documents_max(&self, position: Position, entry: &Entry) -> u64 {
        entry.rows.saturating_sub(self.slots().dead(position).unwrap_or(0).into())
    }

    /// Checks that the segment is as it was engraved, and can be copied.
    fn prove(&self, position: Position, check_more: &dyn Fn(&mut Checked)) -> Result<(), Corrupt> {
        let state = self.slots().state(position)?.unwrap_or(State::Engraved);
        let mut checked = self.part().check_live(position, state);
        check_more(&mut checked);
        if let Some(dead) = self.dead_rows(&checked.findings, position) {
            // The copy counts dead rows again from their stamps.
            checked.findings.retain(|finding| finding.at != dead);
        }
        if let Some(finding) = checked.findings.into_iter().next() {
            return Err(finding);
        }
        let settings = self.geometry.settings;
        let source = Source::new(self.region, settings, None, true);
        let source = source.expect("the geometry was checked before").with_all_deaths();
        let mut nowhere = Nowhere;
        let mut frames = FrameWriter::new(&mut nowhere).expect("a write to nowhere cannot fail");
        let mut point = source.point()?;
        source.read(&mut point)?;
        match source.copy_segment(position, &point, &Early::default(), &mut frames) {
            Err(CopyError::Corrupt(what)) => Err(what),
            _ => Ok(()),
        }
    }

    /// Returns the place of the count of a segment's dead rows, if it is among the findings.
    fn dead_rows(&self, findings: &[Corrupt], position: Position) -> Option<u64> {
        let at = self.slots().dead(position).err()?.at;
        findings.iter().any(|finding| finding.at == at).then_some(at)
    }
}
