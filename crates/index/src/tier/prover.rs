//! Compares pages of engraved segments with their [checks](crate::tier::pages) when a process reads
//! them for the first time. It [notes](crate::ground::damage) damaged pages.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU16, AtomicU64};

use spirit_mem::{Proved, Prover, Region, Zeroed};

use crate::ground::corrupt::Corrupt;
use crate::ground::damage;
use crate::ground::ids::Position;
use crate::ground::layout::{NvmLayout, PAGE, SLOTS_MAX};
use crate::ground::section::Sections;
use crate::ground::slot::{Entry, Mark, Slots};
use crate::tier::pages::Pages;

const _: () = assert!(SLOTS_MAX < u16::MAX as u64);

/// The comparison of the pages of an executor's segments with their checks.
pub(crate) struct SegmentProver {
    layout: NvmLayout,
    /// By page of the long-term partition: one past the index of the slot whose segment has the
    /// page; 0 if unknown.
    owners: Zeroed<AtomicU16>,
    /// A bit per slot: set if the page checks of its segment were checked and are right.
    checks: Zeroed<AtomicU64>,
}

impl SegmentProver {
    /// Returns the prover of the pages of both partitions of segments, in a part with this layout.
    pub(crate) fn proved(layout: NvmLayout) -> Proved {
        let (start, end) = (layout.short.0, layout.long.0 + layout.long.1);
        let owners = Zeroed::new((layout.long.1 / PAGE) as usize);
        let checks = Zeroed::new(layout.slots_max.div_ceil(64) as usize);
        Proved::new(start..end, Box::new(SegmentProver { layout, owners, checks }))
    }

    /// Returns the slot entry of the segment that has a page. A page without a segment has no known
    /// contents.
    fn owner(&self, slots: Slots<'_>, page: u64) -> Option<Entry> {
        let known =
            page.checked_sub(self.layout.long.0).map(|at| &self.owners[(at / PAGE) as usize]);
        let hint = known.and_then(|known| known.load(Relaxed).checked_sub(1));
        let hinted = hint.and_then(|index| self.entry(slots, index.into(), page));
        if hinted.is_some() {
            return hinted.map(|(_, entry)| entry);
        }
        // Another segment may reuse the space of a segment's terms once it is merged. The newest
        // owner is right.
        let all = (0..slots.count()).filter_map(|index| self.entry(slots, index, page));
        let (_, entry) = all.max_by_key(|(position, _)| *position)?;
        if known.is_some() {
            let index = entry.id / 2 % slots.count() + 1;
            let first = (entry.long_start - self.layout.long.0) / PAGE;
            let owned = &self.owners[first as usize..][..(entry.long_bytes / PAGE) as usize];
            owned.iter().for_each(|owner| owner.store(index as u16, Relaxed));
        }
        Some(entry)
    }

    /// Returns the entry of the slot at `index`, if its segment lives and has the page.
    fn entry(&self, slots: Slots<'_>, index: u64, page: u64) -> Option<(Position, Entry)> {
        let Ok(Mark::Live(position, _)) = slots.mark(index) else { return None };
        let entry = slots.entry(position).ok()?;
        let has = |start: u64, bytes: u64| page.checked_sub(start).is_some_and(|at| at < bytes);
        let (start, bytes) = self.layout.long;
        let is_inside = entry.long_start >= start
            && entry.long_bytes <= bytes
            && entry.long_start - start <= bytes - entry.long_bytes;
        let has =
            has(entry.long_start, entry.long_bytes) || has(entry.short_start, entry.short_bytes);
        (is_inside && has).then_some((position, entry))
    }

    /// Returns the pages of a segment. The first call checks their checks.
    fn pages(&self, region: &Region, entry: &Entry) -> Result<Pages, Corrupt> {
        let pages = Pages::of(entry, &Sections::of(region, entry)?);
        let index = entry.id / 2 % self.layout.slots_max;
        let (looked_at, bit) = (&self.checks[index as usize / 64], 1 << (index % 64));
        if looked_at.load(Relaxed) & bit == 0 {
            pages.look_at_checks(region)?;
            looked_at.fetch_or(bit, Relaxed);
        }
        Ok(pages)
    }
}

impl Prover for SegmentProver {
    fn prove(&self, region: &Region, range: Range<u64>, proved: &Proved) {
        if damage::found(region).is_some() {
            // This query ends with an error. Until then it may read the damaged page a million
            // times.
            return;
        }
        let slots = Slots::new(region, &self.layout);
        let mut segment: Option<Pages> = None;
        for page in range.map(|number| number * PAGE) {
            let is_same = segment.as_ref().is_some_and(|pages| pages.has(page));
            if !is_same {
                let Some(entry) = self.owner(slots, page) else { continue };
                match self.pages(region, &entry) {
                    Ok(pages) => segment = Some(pages),
                    Err(what) => {
                        damage::note(region, what);
                        continue;
                    }
                }
            }
            let Some(pages) = &segment else { continue };
            match pages.look_at(region, page) {
                Ok(()) => proved.mark(page / PAGE),
                Err(what) => damage::note(region, what),
            }
        }
    }
}
