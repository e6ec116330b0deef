//! Deaths of rows, in every copy of a row.

use std::sync::atomic::Ordering::Release;

use spirit_door::Site;

use crate::ground::slot::Slots;
use crate::memory::Memory;
use crate::memory::descriptor::Descriptor;
use crate::rows::stamp_of;
use crate::rows::stamps::Stamps;
use crate::snapshot::Segment;

impl Memory {
    /// Kills a row in every copy of it, by the operation that is row `by` of the executor. The
    /// death takes effect when that operation becomes visible. The operation's record is durable.
    /// Ingest role only, with the key lock held. Returns true if it stamped a copy in the second
    /// tier. Then [`fence_deaths`](Self::fence_deaths) comes before the operation is visible.
    pub fn kill(&self, segment: &Segment<'_>, local: u32, by: u64) -> bool {
        let descriptor = segment.descriptor();
        self.stamp_in_dram(segment, local, by);
        self.note_dead(descriptor);
        self.note_death(descriptor, by);
        if !self.stamp_engraved(segment, local, by) {
            return false;
        }
        let Some(nvm) = self.nvm() else { return true };
        let slots = Slots::new(self.region(), nvm.layout());
        let sites = [Site::Stamp, Site::StampWriteBack];
        slots.set_dead(nvm.door(), sites, segment.id().position(), descriptor.dead() as u32);
        true
    }

    /// Like [`kill`](Self::kill), for a row whose death is stamped and counted already, but by an
    /// operation that never became visible: a crash interrupted its replay.
    pub fn kill_again(&self, segment: &Segment<'_>, local: u32, by: u64) -> bool {
        self.stamp_in_dram(segment, local, by);
        self.note_death(segment.descriptor(), by);
        self.stamp_engraved(segment, local, by)
    }

    /// Notes when a row of `descriptor`'s segment died, before the death is visible.
    fn note_death(&self, descriptor: Descriptor<'_>, by: u64) {
        descriptor.note_death(stamp_of(by - descriptor.base_row()));
        self.roots().newest_death().store(by + 1, Release);
    }

    fn stamp_in_dram(&self, segment: &Segment<'_>, local: u32, by: u64) {
        let rows = segment.row_table();
        if rows.place(local).is_some_and(|place| place >= self.region().nvm_bytes()) {
            rows.words(local).kill(by - segment.base_row());
        }
    }

    /// Returns false if the segment is not engraved.
    fn stamp_engraved(&self, segment: &Segment<'_>, local: u32, by: u64) -> bool {
        let Some(nvm) = self.nvm() else { return false };
        let Some(stamps) = Stamps::from_word(segment.descriptor().stamps()) else { return false };
        let stamp = stamp_of(by - segment.base_row());
        let at = stamps.set(nvm.door(), Site::Stamp, self.region(), local, stamp);
        nvm.door().write_back(Site::StampWriteBack, self.region(), at, 8);
        true
    }

    /// Waits until deaths stamped in the second tier are durable. Another thread may trim their
    /// record as soon as their segment is engraved. With [`Barrier::Sync`](spirit_door::Barrier) it
    /// does not wait: the fence of that segment makes them durable.
    pub fn fence_deaths(&self) {
        if let Some(nvm) = self.nvm() {
            nvm.door().fence(Site::StampFence, self.region());
        }
    }
}
