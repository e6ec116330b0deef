//! The dead rows of a segment in a backup. These died before the backup's point was settled, or by
//! later operations in its segments. A replay of the operations in its log repeats their kills.

use std::collections::HashMap;

use spirit_mem::Region;

use crate::ground::ids::Position;
use crate::rows::STAMP_MAX;
use crate::rows::stamps::Stamps;

/// A set of rows: one bit a row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    /// Returns the rows of a segment that are dead.
    pub(super) fn of_dead(region: &Region, stamps: Stamps, rows: u32) -> Bits {
        let mut bits = Bits::default();
        (0..rows).filter(|local| stamps.get(region, *local) != 0).for_each(|local| bits.set(local));
        bits
    }

    fn set(&mut self, local: u32) {
        let word = local as usize / 64;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (local % 64);
    }

    fn has(&self, local: u32) -> bool {
        self.0.get(local as usize / 64).is_some_and(|word| word >> (local % 64) & 1 == 1)
    }
}

/// The rows that were dead before the backup's point was settled, by segment.
#[derive(Clone, Debug, Default)]
pub struct Early(HashMap<Position, Bits>);

impl Early {
    pub(super) fn set(&mut self, position: Position, dead: Bits) {
        self.0.insert(position, dead);
    }

    pub(super) fn get(&self, position: Position) -> Bits {
        self.0.get(&position).cloned().unwrap_or_default()
    }
}

/// The facts that decide which of a segment's rows are dead in the backup.
pub(super) struct Judge {
    pub(super) early: Bits,
    /// The segment's first row.
    pub(super) base_row: u64,
    /// Operations from this row on are not in the backup's segments.
    pub(super) row_end: u64,
    /// Rows that were dead early died by operations before this row.
    pub(super) row_limit: u64,
    /// True if only the rows that were dead early count.
    pub(super) is_far: bool,
}

impl Judge {
    /// Returns the dead rows of a segment, in order: local id (low half) and the stamp in the
    /// backup (high half). The error is the local id of a row that died by an operation that never
    /// was.
    pub(super) fn deaths(
        &self,
        region: &Region,
        stamps: Stamps,
        rows: u32,
    ) -> Result<Vec<u64>, u32> {
        let stamped = (0..rows).map(|local| (local, stamps.get(region, local)));
        let stamped = stamped.filter(|(_, stamp)| *stamp != 0);
        let judged = stamped.filter_map(|(local, stamp)| match self.stamp(local, stamp) {
            Ok(stamp) => stamp.map(|stamp| Ok(local as u64 | (stamp as u64) << 32)),
            Err(()) => Some(Err(local)),
        });
        judged.collect()
    }

    /// Returns the stamp in the backup of a row with this stamp, or `None` if the row lives there.
    fn stamp(&self, local: u32, stamp: u32) -> Result<Option<u32>, ()> {
        // The largest stamp that names a row of the backup's segments.
        let last = self.row_end.saturating_sub(self.base_row);
        if stamp as u64 <= last && !self.is_far {
            return Ok(Some(stamp));
        }
        if !self.early.has(local) {
            return Ok(None);
        }
        if stamp < STAMP_MAX && self.base_row.saturating_add(stamp as u64) > self.row_limit {
            return Err(());
        }
        Ok(Some(u64::from(stamp).min(last).min(STAMP_MAX.into()) as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(is_far: bool) -> Judge {
        let mut early = Bits::default();
        [3, 70, 900].into_iter().for_each(|local| early.set(local));
        Judge { early, base_row: 1000, row_end: 3000, row_limit: 7000, is_far }
    }

    #[test]
    fn a_stamp_counts_if_it_is_early_or_by_a_row_of_the_backup() {
        let judge = judge(false);
        assert_eq!(judge.stamp(5, 1), Ok(Some(1)), "by the segment's first row");
        assert_eq!(judge.stamp(5, 2000), Ok(Some(2000)), "by the last row");
        assert_eq!(judge.stamp(5, 2001), Ok(None), "by one behind it");
        assert_eq!(judge.stamp(5, STAMP_MAX), Ok(None));
        assert_eq!(judge.stamp(70, 2001), Ok(Some(2000)), "it was dead before");
        assert_eq!(judge.stamp(900, STAMP_MAX), Ok(Some(2000)));
        assert_eq!(judge.stamp(3, 17), Ok(Some(17)));
        assert_eq!(judge.stamp(3, 6000), Ok(Some(2000)), "by the last operation of the log");
        assert_eq!(judge.stamp(3, 6001), Err(()), "by one that never was");
        assert_eq!(judge.stamp(5, 6001), Ok(None), "by one that came later");
    }

    #[test]
    fn far_back_only_what_is_early_counts() {
        let judge = judge(true);
        assert_eq!(judge.stamp(5, 1), Ok(None));
        assert_eq!(judge.stamp(3, 17), Ok(Some(17)));
        assert_eq!(judge.stamp(3, 5000), Ok(Some(2000)));
        let far = Judge { base_row: 0, row_end: 1 << 40, row_limit: 1 << 41, ..judge };
        assert_eq!(far.stamp(3, STAMP_MAX), Ok(Some(STAMP_MAX)));
        assert_eq!(far.stamp(4, STAMP_MAX), Ok(None));
    }

    #[test]
    fn bits_are_those_that_were_set() {
        let early = judge(false).early;
        let set: Vec<u32> = (0..2000).filter(|local| early.has(*local)).collect();
        assert_eq!(set, [3, 70, 900]);
    }
}
