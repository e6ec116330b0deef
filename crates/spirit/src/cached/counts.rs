//! Counts of matches.

use spirit_index::snapshot::Snapshot;
use spirit_query::{Settings, Stop};

use super::gather::Gather;
use super::{Caller, Candidate, Recall};

impl Candidate<'_> {
    /// Counts the matches in an executor.
    pub(crate) fn count(self, mut caller: Caller<'_>, recall: &mut Recall) -> Result<u64, Stop> {
        let (place, snapshot) = ((caller.view, caller.executor), caller.snapshot);
        let least = self.cache.settings.matches_min;
        let parts = self.gather(place, snapshot, &mut caller, recall, |parts| {
            least == 0 || parts.all().map(|part| part.state).sum::<u64>() >= least
        })?;
        Ok(parts.all().map(|part| part.state).sum())
    }
}

impl Gather for Caller<'_> {
    type State = u64;
    type Error = Stop;

    fn evaluate(&mut self, snapshot: &Snapshot<'_>, from_row: u64) -> Result<u64, Stop> {
        let settings = Settings { from_row, ..self.settings };
        spirit_query::count(snapshot, self.query, settings, self.scratch)
    }

    fn join(&mut self, states: &mut dyn Iterator<Item = &u64>) -> Result<u64, Stop> {
        Ok(states.sum())
    }
}
