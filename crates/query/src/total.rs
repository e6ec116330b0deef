//! The number of matching documents: exact, or a lower bound, if the caller needs no more.

use spirit_index::form::OlderEntries;
use spirit_index::ground::SegmentId;
use spirit_index::snapshot::Snapshot;

use crate::collect::{Collector, Limit};
use crate::evaluate::{Scratch, Settings};
use crate::limits::Stop;
use crate::query::Query;

/// The number of matching documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Total {
    /// The exact number.
    Exact(u64),
    /// A lower bound, above the number that was asked for.
    AtLeast(u64),
}

impl Total {
    /// Returns the number.
    pub fn count(self) -> u64 {
        match self {
            Total::Exact(count) | Total::AtLeast(count) => count,
        }
    }

    /// True if the number counts all matches.
    pub fn is_exact(self) -> bool {
        matches!(self, Total::Exact(_))
    }
}

/// A count of matches over several snapshots, exact up to a limit. The search ends behind the
/// limit.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    count: u64,
    up_to: u64,
}

impl Tally {
    /// Returns a count of 0, with the limit `up_to`.
    pub fn up_to(up_to: u64) -> Tally {
        Tally { count: 0, up_to }
    }

    /// Counts the matches in a snapshot, up to the limit.
    pub fn add(
        &mut self,
        snapshot: &Snapshot<'_>,
        query: &Query,
        settings: Settings<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), Stop> {
        if self.count <= self.up_to {
            let older = || OlderEntries::new(snapshot.memory());
            *self = crate::run(snapshot, query, settings, scratch, *self, older)?;
        }
        Ok(())
    }

    /// Adds matches that were found before.
    pub fn add_found(&mut self, count: u64) {
        self.count += count;
    }

    /// Returns the total.
    pub fn total(self) -> Total {
        let Tally { count, up_to } = self;
        if count <= up_to { Total::Exact(count) } else { Total::AtLeast(count) }
    }
}

impl Limit for Tally {
    /// Returns the matches up to one more than the limit: that one shows that there are more.
    fn wanted(&self) -> usize {
        let wanted = self.up_to.saturating_add(1).saturating_sub(self.count);
        usize::try_from(wanted).unwrap_or(usize::MAX)
    }
}

impl Collector for Tally {
    const COUNTS: bool = true;

    fn take(&mut self, _: SegmentId, _: u32) {
        self.count += 1;
    }

    fn skip(&mut self, count: u64) {
        self.count += count;
    }
}
