//! Standing queries: documents are reported to those who wait for them, as they arrive.
//!
//! A [`Tail`] has a standing query. One [matcher](matcher) for all of them looks at new rows, outside
//! the ingest role. It queues matches for each [listener](listener), by their places in memory, so no
//! document is copied. The listener's own thread reads them, with a reader of its own.
//!
//! `docs/standing.md` has the protocol.

mod listener;
mod mail;
mod matcher;
mod percolator;
mod replay;
mod round;
mod row_terms;
mod tail;
mod triggers;

use std::fmt;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use spirit_query::Query;

use crate::engine::readable::Readable;
use crate::search::error::SearchError;
use crate::storage::shared::Numbers;
use listener::Listener;
use mail::{Letter, Mail};
use matcher::Matcher;
pub use percolator::Percolator;
use replay::Replay;
pub use tail::{Tail, Tailing};

/// The standing queries of an index that this process writes.
pub(crate) struct StandingQueries {
    index: Arc<Readable>,
    numbers: Arc<Numbers>,
    mail: Arc<Mail>,
    /// True once the matcher was started.
    is_started: Mutex<bool>,
}

impl fmt::Debug for StandingQueries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StandingQueries").finish_non_exhaustive()
    }
}

impl StandingQueries {
    pub(crate) fn new(index: Arc<Readable>, numbers: Arc<Numbers>) -> StandingQueries {
        let mail = Arc::new(Mail::default());
        StandingQueries { index, numbers, mail, is_started: Mutex::new(false) }
    }

    /// Listens to a query. Documents that are added after this returns are reported.
    pub(crate) fn tail(self: &Arc<Self>, query: &Query, how: Tailing) -> Result<Tail, SearchError> {
        let Tailing { since, capacity, bell } = how;
        let view = self.index.view();
        let since = since.map(|place| tail::read_place(&place, view.parts.len())).transpose()?;
        self.start()?;
        // A copy has no more memory than it needs.
        let listener = Arc::new(Listener::new(Arc::new(query.clone()), capacity, bell));
        // Before the matcher's answer: places that a listener has seen are never ahead.
        let now = view.parts.iter().map(|part| part.memory.sequence()).collect();
        let until = self.listen(&listener)?;
        let replay = since.clone().map(|since| Replay::new(since, until));
        Ok(Tail::new(self.clone(), listener, since.unwrap_or(now), replay))
    }

    /// Starts the matcher, once.
    fn start(&self) -> Result<(), SearchError> {
        let mut is_started = self.is_started.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_started {
            return Ok(());
        }
        let (index, numbers, mail) = (self.index.clone(), self.numbers.clone(), self.mail.clone());
        let matcher = Matcher::new(index, numbers, mail)?;
        let thread = thread::Builder::new().name("spirit-standing".to_owned());
        let started = thread.spawn(move || matcher.run());
        started.map_err(|error| SearchError::Thread { why: error.to_string() })?;
        *is_started = true;
        Ok(())
    }

    /// Lets a listener's queue begin anew. Returns the first row of each executor that it will have.
    fn listen(&self, listener: &Arc<Listener>) -> Result<Vec<u64>, SearchError> {
        let (reply, answer) = sync_channel(1);
        if !self.mail.leave(Letter::Listen(listener.clone(), reply)) {
            return Err(SearchError::Closed);
        }
        self.numbers.watch.wake();
        answer.recv().map_err(|_| SearchError::Closed)
    }

    fn leave(&self, listener: &Arc<Listener>) {
        if self.mail.leave(Letter::Leave(listener.clone())) {
            self.numbers.watch.wake();
        }
    }
}
