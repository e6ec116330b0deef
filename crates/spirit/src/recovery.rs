//! What an executor does at its start: finds its segments, then ingests again what the log holds.

use spirit_index::dictionary_writer::DictionaryWriter;
use spirit_index::keys;
use spirit_index::nvm::Corrupt;
use spirit_index::nvm::log::{LogSpace, LogWriter};
use spirit_index::nvm::recover::{self, Recovered};
use spirit_index::rows::KeyKind;
use spirit_index::snapshot::Snapshot;

use crate::durability::Mode;
use crate::error::{AddError, OpenError};
use crate::ingest::{Ingester, Start};
use crate::journal::Journal;
use crate::options::Options;
use crate::replay::{self, Found};
use crate::shared::Shared;
use crate::store::Store;

/// A start under way.
#[derive(Default)]
pub(crate) struct Recovery {
    recovered: Recovered,
    found: Found,
    /// The log, and the number of this start.
    log: Option<(LogSpace, u32)>,
}

/// Why a start cannot go on.
pub(crate) enum Failure {
    Corrupt(Corrupt),
    NoRoom(AddError),
}

impl Failure {
    pub(crate) fn of(self, executor: usize) -> OpenError {
        match self {
            Failure::Corrupt(what) => OpenError::Corrupt { executor, what },
            Failure::NoRoom(reason) => OpenError::Recovery(reason),
        }
    }
}

impl Recovery {
    /// Finds the segments. Nothing of it changes what is durable.
    pub(crate) fn begin(
        shared: &Shared,
        dictionary: &mut DictionaryWriter,
        options: &Options,
        store: Option<&Store>,
    ) -> Result<Recovery, Failure> {
        let memory = &shared.memory;
        let (Some(nvm), Some(store)) = (memory.nvm(), store) else {
            return Ok(Recovery::default());
        };
        let recovered = recover::recover(memory).map_err(Failure::Corrupt)?;
        for position in recovered.window.oldest..recovered.window.end {
            recover::register(memory, nvm, dictionary, position)
                .map_err(|_| Failure::NoRoom(AddError::HeapFull))?;
        }
        enter_keys(shared)?;
        replay::raise(&shared.numbers, &recovered);
        let mut recovery = Recovery { recovered, ..Recovery::default() };
        recovery.found.row_end = recovered.row_end;
        if options.mode == Mode::Crash {
            let (salt, incarnation) = store.log_identity();
            let (start, bytes) = nvm.layout().log;
            let space = LogSpace { start, bytes, salt };
            recovery.log = Some((space, incarnation));
            recovery.found = replay::scan(memory.region(), space, &recovered, incarnation);
            if recovery.found.kills {
                recover::expect_deaths(memory, recovered.window);
            }
        }
        Ok(recovery)
    }

    /// Where the ingest role begins.
    pub(crate) fn start(&self) -> Start {
        Start {
            position: self.recovered.window.end,
            row: self.found.row_end,
            sequence: self.recovered.sequence_end,
            journal: self.log.map(|(space, incarnation)| {
                let writer = LogWriter::new(space, self.recovered.log_from, incarnation);
                Journal::new(writer, space.bytes)
            }),
        }
    }

    /// Ingests what the log holds. Afterwards the role logs what it is given.
    pub(crate) fn finish(self, shared: &Shared, role: &mut Ingester) -> Result<(), AddError> {
        let Some((space, incarnation)) = self.log else { return Ok(()) };
        replay::replay(shared, role, space, &self.recovered, incarnation)?;
        role.journal().start(LogWriter::new(space, self.found.position, incarnation));
        Ok(())
    }
}

/// Enters the keys of the living rows in the key table.
fn enter_keys(shared: &Shared) -> Result<(), Failure> {
    let snapshot = Snapshot::of_role(&shared.memory, u64::MAX);
    let table = shared.keys();
    let mut key = Vec::with_capacity(spirit_index::batch::KEY_BYTES_MAX);
    for segment in snapshot.registered() {
        let rows = segment.row_table();
        for local in 0..segment.rows() {
            let row = rows.row(local);
            let word = row.key();
            if row.death() != 0 || matches!(word.kind(), KeyKind::None | KeyKind::Automatic(_)) {
                continue;
            }
            key.clear();
            keys::write_key(&segment, word, &mut key);
            table
                .insert(&shared.memory, keys::hash(&key), segment.row_number(local))
                .map_err(|_| Failure::NoRoom(AddError::KeysFull))?;
        }
    }
    Ok(())
}
