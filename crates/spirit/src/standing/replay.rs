//! A replay: the matches among documents that were there before a listener was.
//!
//! It goes through the rows of one executor after the other, a segment at a time, the oldest first. Rows
//! that were dropped meanwhile are missing, and it says how many operations these may have been.

use std::collections::VecDeque;

use spirit_index::memory::Window;
use spirit_index::snapshot::Snapshot;
use spirit_query::{Address, Query, Scratch, Settings};

use super::round::{Matched, rows_of};
use crate::search::error::SearchError;
use crate::storage::view::View;

/// A replay under way.
#[derive(Debug)]
pub(super) struct Replay {
    /// For each executor, the sequence number from which its operations count.
    since: Vec<u64>,
    /// For each executor, the first row that does not count.
    until: Vec<u64>,
    executor: usize,
    /// The executor's next row; none before its first.
    next: Option<u64>,
    /// The number of operations that may be missing.
    pub(super) missed: u64,
}

/// What a replay asks, and the memory for it.
pub(super) struct Asking<'a> {
    pub(super) query: &'a Query,
    pub(super) settings: Settings<'a>,
    pub(super) scratch: &'a mut Scratch,
    pub(super) hits: &'a mut Vec<Address>,
}

impl Replay {
    pub(super) fn new(since: Vec<u64>, until: Vec<u64>) -> Replay {
        Replay { since, until, executor: 0, next: None, missed: 0 }
    }

    /// Adds the matches of the next segment. False if no segment is left: the replay is over.
    pub(super) fn step(
        &mut self,
        view: &View,
        asking: &mut Asking<'_>,
        found: &mut VecDeque<Matched>,
    ) -> Result<bool, SearchError> {
        while let Some(part) = view.parts.get(self.executor) {
            let snapshot = Snapshot::take(&part.memory).without_older(view.over_ms());
            let until = self.until[self.executor];
            let oldest = snapshot.segments().last();
            let oldest_row = oldest.as_ref().map_or(until, |oldest| oldest.base_row()).min(until);
            let from = match self.next {
                Some(from) => {
                    self.missed += oldest_row.saturating_sub(from);
                    from.max(oldest_row)
                }
                None => {
                    let since = self.since[self.executor];
                    let base = oldest.map_or(0, |oldest| oldest.base_sequence());
                    // Each of them has a row before the oldest.
                    self.missed += base.saturating_sub(since).min(oldest_row);
                    first_row(&snapshot, since)
                }
            };
            if from >= until {
                (self.executor, self.next) = (self.executor + 1, None);
                continue;
            }
            let (segment, end) = segment_from(&snapshot, from);
            self.next = Some(end);
            self.take(&segment, from, asking, found)?;
            return Ok(true);
        }
        Ok(false)
    }

    fn take(
        &self,
        segment: &Snapshot<'_>,
        from: u64,
        asking: &mut Asking<'_>,
        found: &mut VecDeque<Matched>,
    ) -> Result<(), SearchError> {
        let (since, until) = (self.since[self.executor], self.until[self.executor]);
        let Asking { query, settings, scratch, hits } = asking;
        let settings = Settings { from_row: from, ..*settings };
        let rows = rows_of(query, segment, settings, scratch, self.executor as u32, hits)?;
        found.extend(rows.filter(|matched| matched.sequence >= since && matched.row < until));
        Ok(())
    }
}

/// Returns the first row of the oldest segment that has a sequence number from `since` on.
fn first_row(snapshot: &Snapshot<'_>, since: u64) -> u64 {
    let is_over = |base: u64, span: u64| base + span < since;
    let later = snapshot
        .segments()
        .take_while(|segment| !is_over(segment.base_sequence(), segment.sequence_span()));
    later.last().map_or(snapshot.visible(), |segment| segment.base_row())
}

/// Returns the oldest segment with rows from `from` on, and the row behind it. Segments that are being
/// filled count as one.
fn segment_from<'a>(snapshot: &Snapshot<'a>, from: u64) -> (Snapshot<'a>, u64) {
    let window = snapshot.window();
    for position in window.oldest..window.end {
        let Some(segment) = snapshot.segment(position) else { continue };
        let end = segment.base_row() + segment.row_span() + 1;
        if segment.rows() > 0 && end > from {
            return (snapshot.within(Window { oldest: position, end: position + 1 }), end);
        }
    }
    (snapshot.since(window.end), snapshot.visible())
}
