//! Recovery of an executor: finds its segments, then replays the log.

use std::sync::atomic::Ordering::Relaxed;

use spirit_index::ground::Corrupt;
use spirit_index::ground::Gauge;
use spirit_index::ground::Position;
use spirit_index::log::{LogSpace, LogWriter, seal};
use spirit_index::memory::Memory;
use spirit_index::snapshot::Snapshot;
use spirit_index::start::recover;
use spirit_index::start::recover::Recovered;

use crate::config::error::WriteError;
use crate::config::options::Options;
use crate::config::recovering::StartReport;
use crate::config::source::Source;
use crate::start::replay::{self, Found, Refused, Replay};
use crate::storage::retention::living_between;
use crate::storage::shared::Shared;
use crate::storage::store::Store;
use crate::write::ingest::{Ingester, Start};
use crate::write::journal::Journal;

/// A recovery under way.
#[derive(Default)]
pub(crate) struct Recovery {
    recovered: Recovered,
    found: Found,
    /// The log, and the incarnation of this start.
    log: Option<(LogSpace, u32)>,
    /// True if the index had more DRAM the last time.
    less_room: bool,
    source: Option<Source>,
    /// The time in milliseconds since 1970 at which, or before which, documents had expired at the
    /// start, by their arrival.
    over_ms: u64,
    report: StartReport,
}

impl Recovery {
    /// Finds the segments, and scans the log. One thing durable changes: a segment without dead
    /// rows gets a count of one while operations in the log may have killed rows.
    pub(crate) fn begin(
        shared: &Shared,
        options: &Options,
        store: Option<&Store>,
    ) -> Result<Recovery, Corrupt> {
        let memory = &shared.memory;
        let (Some(nvm), Some(store)) = (memory.nvm(), store) else {
            return Ok(Recovery::default());
        };
        let recovered = recover::recover(memory)?;
        let log = store.log_of(nvm, options);
        if store.was_closed() {
            seal::check(memory.region(), nvm.layout(), log)?;
        }
        replay::raise(&shared.numbers, &recovered);
        shared.note_engraved_to(recovered.sequence_end);
        shared.gauge(Gauge::Deleted).store(recovered.deleted, Relaxed);
        let mut recovery = Recovery { recovered, ..Recovery::default() };
        let window = recovered.window;
        recovery.report.segments = u64::from(window.end - window.oldest);
        recovery.found.row_end = recovered.row_end;
        if let Some((space, incarnation)) = log {
            recovery.log = Some((space, incarnation));
            recovery.less_room = store.has_less_dram();
            recovery.source = options.source.clone();
            let (closed, numbers) = (store.was_closed(), &shared.numbers);
            // The first executor's log shows which groups took effect.
            let group = numbers.group.load(Relaxed);
            let schema = shared.fields.current();
            recovery.found = replay::scan(
                memory.region(),
                space,
                &recovered,
                incarnation,
                closed,
                group,
                &schema,
            )?;
            numbers.group.store(recovery.found.group, Relaxed);
            numbers.sequence.fetch_max(recovery.found.group, Relaxed);
            // A writer that closes has stamped and counted all deaths. A replay stamps none again.
            if recovery.found.kills && !closed {
                // The estimate is corrected when the rows are counted.
                let expected = recover::expect_deaths(memory, recovered.window);
                shared.add(Gauge::Deleted, expected);
            }
        }
        if let Some(retention) = &shared.retention {
            retention.note_arrival(recovered.arrived_ms.max(recovery.found.arrived_ms));
            recovery.over_ms = retention.over_ms();
        }
        recovery.report.expired = memory.expired().documents() + recovery.count_over(memory, 0);
        Ok(recovery)
    }

    /// Returns the number of documents in segments from `from` on that had expired at the start.
    fn count_over(&self, memory: &Memory, from: Position) -> u64 {
        let all = Snapshot::take(memory);
        living_between(from, &all, &all.without_older(self.over_ms))
    }

    /// Returns the number of bytes of the log to be replayed.
    pub(crate) fn log_bytes(&self) -> u64 {
        self.found.position.saturating_sub(self.recovered.log_from)
    }

    /// Returns the state in which the ingest role begins.
    pub(crate) fn start(&self, options: &Options) -> Start {
        Start {
            position: self.recovered.window.end,
            row: self.found.row_end,
            sequence: self.recovered.sequence_end,
            documents: self.recovered.documents_end,
            accepted: self.recovered.accepted,
            arrived_ms: self.recovered.arrived_ms,
            journal: self.log.map(|(space, incarnation)| {
                let writer = LogWriter::new(space, self.recovered.log_from, incarnation);
                Journal::new(writer, space.bytes, options)
            }),
        }
    }

    /// Replays the log, and calls `watch` with its progress in bytes. From then on the role logs
    /// its operations. Returns the report.
    pub(crate) fn finish(
        mut self,
        shared: &Shared,
        role: &mut Ingester,
        watch: impl Fn(u64, u64),
    ) -> Result<StartReport, WriteError> {
        let Some((space, incarnation)) = self.log else { return Ok(self.report) };
        let (from, end) = (self.recovered.log_from, self.found.position);
        self.report.log_bytes = end - from;
        let mut replayed = 0;
        let note = &mut |position: u64, operations: u64| {
            replayed += operations;
            watch(position - from, end - from);
        };
        let (recovered, source) = (&self.recovered, self.source.as_ref());
        let less_room = self.less_room;
        let unended = self.found.unended;
        let replay = Replay { shared, space, incarnation, recovered, unended, less_room, source };
        let refused = replay.run(role, note)?;
        role.replay_arrival(0);
        role.publish_reserved();
        self.report.replayed = replayed;
        self.report.expired += self.count_over(&shared.memory, recovered.window.end);
        let Found { position, sequence, .. } = self.found;
        role.journal().start(LogWriter::new(space, position, incarnation), sequence);
        if let Some(Refused { sequence, row }) = refused {
            let documents = role.documents_end();
            role.journal().cancel(shared, sequence, row, documents)?;
        }
        Ok(self.report)
    }
}
