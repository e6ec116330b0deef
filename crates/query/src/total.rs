//! How many documents match: exactly, or a lower bound, once the caller needs no more.

use spirit_index::form::older::OlderEntries;
use spirit_index::ground::ids::SegmentId;
use spirit_index::snapshot::Snapshot;

use crate::collect::{Collector, Limit};
use crate::evaluate::{Scratch, Settings};
use crate::limits::Stop;
use crate::query::Query;

/// How many documents match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Total {
    /// This many.
    Exact(u64),
    /// This many, which is more than were asked for; there may be others.
    AtLeast(u64),
}

impl Total {
    /// The number.
    pub fn count(self) -> u64 {
        match self {
            Total::Exact(count) | Total::AtLeast(count) => count,
        }
    }

    /// Whether it is that of all matches.
    pub fn is_exact(self) -> bool {
        matches!(self, Total::Exact(_))
    }
}

/// Matches counted over several snapshots, exactly up to a number of them. What comes behind that is not looked at.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    count: u64,
    up_to: u64,
}

impl Tally {
    /// Nothing counted yet.
    pub fn up_to(up_to: u64) -> Tally {
        Tally { count: 0, up_to }
    }

    /// Counts the matches in a snapshot, until there are enough.
    pub fn add(
        &mut self,
        snapshot: Snapshot<'_>,
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

    /// Counts matches that were found already.
    pub fn add_found(&mut self, count: u64) {
        self.count += count;
    }

    /// How many there are.
    pub fn total(self) -> Total {
        let Tally { count, up_to } = self;
        if count <= up_to { Total::Exact(count) } else { Total::AtLeast(count) }
    }
}

impl Limit for Tally {
    /// One more than is counted exactly shows that there are more.
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
