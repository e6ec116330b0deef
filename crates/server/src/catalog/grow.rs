//! An index gets more DRAM: it is closed, and opened with more.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU8;
use std::time::{Duration, Instant};

use spirit::{Index, OpenError};

use super::{Absent, Catalog, Entry};
use crate::index_name::IndexName;
use crate::kept::Kept;
use crate::served::{Served, Taken};

/// The time between two looks whether somebody still has the index.
const LOOK: Duration = Duration::from_millis(2);

/// The reason why an index has not grown.
#[derive(Debug)]
pub(crate) enum NotGrown {
    Absent(Absent),
    BeyondBudget(String),
    /// Requests did not end in time.
    Busy,
    /// It cannot be opened with the new size, and is served with the old one.
    Refused(String),
    /// It cannot be opened any more.
    Lost(String),
}

impl Catalog {
    /// Gives an index this much DRAM. Returns what it has then, and the time for which it was closed.
    /// `let_go` asks those who keep a reader of an index that is closed to drop it.
    pub(crate) fn grow(
        &self,
        name: &IndexName,
        dram: u64,
        patience: Duration,
        let_go: &dyn Fn(),
    ) -> Result<(Taken, Duration), NotGrown> {
        let _one_at_a_time = self.changing();
        let served = self.get(name).map_err(NotGrown::Absent)?;
        let has = served.taken();
        if dram == has.dram {
            return Ok((has, Duration::ZERO));
        }
        self.check_budget(Taken { dram: dram.saturating_sub(has.dram), nvm: 0 })
            .map_err(|error| NotGrown::BeyondBudget(error.to_string()))?;
        let started = Instant::now();
        let held = self.reopening.hold(name, patience);
        self.entries_mut().insert(name.clone(), Entry::Starting(Arc::new(AtomicU8::new(0))));
        let grown = self.closed_and_opened(name, served, dram, patience, let_go);
        drop(held);
        let taken = grown?;
        let duration_ms = started.elapsed().as_millis() as u64;
        tracing::info!(index = name.as_str(), dram, duration_ms, "an index has grown");
        Ok((taken, started.elapsed()))
    }

    /// Closes an index that nobody can get any more, and opens it.
    fn closed_and_opened(
        &self,
        name: &IndexName,
        served: Arc<Served>,
        dram: u64,
        patience: Duration,
        let_go: &dyn Fn(),
    ) -> Result<Taken, NotGrown> {
        let serve = |served: Arc<Served>| {
            self.entries_mut().insert(name.clone(), Entry::Serving(served));
        };
        let had = served.taken().dram;
        let served = match alone(served, patience) {
            Ok(served) => served,
            Err(served) => {
                serve(served);
                return Err(NotGrown::Busy);
            }
        };
        if let Err(error) = served.index.close() {
            // Its file says what a start has to repair.
            tracing::error!(index = name.as_str(), %error, "cannot close an index");
        }
        let (index, refusal) = match self.opened_with(name, dram, patience, let_go) {
            Ok(index) => (Ok(index), None),
            Err(why) => (self.opened_with(name, had, patience, let_go), Some(why.to_string())),
        };
        let index = index.map_err(|error| {
            let why = error.to_string();
            tracing::error!(index = name.as_str(), why, "an index is out of service");
            self.entries_mut().insert(name.clone(), Entry::OutOfService(why.clone()));
            NotGrown::Lost(why)
        })?;
        let served = Arc::new(Served::new(name.clone(), index));
        let taken = served.taken();
        serve(served);
        if let Some(why) = refusal {
            return Err(NotGrown::Refused(why));
        }
        // Without it, the next start gives the index what it had. That harms nothing.
        if let Err(error) = (Kept { dram }).write(&self.path(name)) {
            tracing::error!(index = name.as_str(), %error, "cannot keep the size of an index");
        }
        Ok(taken)
    }

    /// Opens an index. Readers of threads that answer may have its file for a moment more.
    fn opened_with(
        &self,
        name: &IndexName,
        dram: u64,
        patience: Duration,
        let_go: &dyn Fn(),
    ) -> Result<Index, OpenError> {
        let end = Instant::now() + patience;
        // Terminates: the time ends.
        loop {
            let_go();
            match self.builder(name).dram_bytes(dram).open() {
                Err(OpenError::Locked { .. }) if Instant::now() < end => std::thread::sleep(LOOK),
                opened => return opened,
            }
        }
    }
}

/// Waits until nobody else has an index.
fn alone(mut served: Arc<Served>, patience: Duration) -> Result<Served, Arc<Served>> {
    let end = Instant::now() + patience;
    // Terminates: the time ends.
    loop {
        served = match Arc::try_unwrap(served) {
            Ok(served) => return Ok(served),
            Err(served) if Instant::now() >= end => return Err(served),
            Err(served) => served,
        };
        std::thread::sleep(LOOK);
    }
}

impl fmt::Display for NotGrown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotGrown::Absent(absent) => absent.fmt(f),
            NotGrown::Busy => f.write_str(
                "requests or tasks that have the index do not end; come again when it is less busy",
            ),
            NotGrown::BeyondBudget(why) | NotGrown::Refused(why) => f.write_str(why),
            NotGrown::Lost(why) => write!(f, "the index is out of service: {why}"),
        }
    }
}
