//! The matcher: a thread that holds new rows against standing queries.
//!
//! It looks in [rounds](super::round), and queues what they find. The ingest role does nothing for it but
//! wake the thread.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::listener::Listener;
use super::mail::{Letter, Mail};
use super::round::{Round, rarest_terms};
use super::triggers::QueryId;
use crate::engine::readable::Readable;
use crate::search::error::SearchError;
use crate::search::seat::{End, Seat};
use crate::storage::shared::Numbers;

/// The pause after a round that found new rows. A stream fills the next round meanwhile, and its writers
/// need not wake the thread.
const PAUSE: Duration = Duration::from_micros(100);

/// The matcher of an index.
pub(super) struct Matcher {
    index: Arc<Readable>,
    numbers: Arc<Numbers>,
    mail: Arc<Mail>,
    seat: Seat,
    round: Round<Arc<Listener>>,
    /// The number of each listener's query.
    places: HashMap<usize, QueryId>,
}

impl Matcher {
    /// Returns a matcher that looks at what is added from now on.
    pub(super) fn new(
        index: Arc<Readable>,
        numbers: Arc<Numbers>,
        mail: Arc<Mail>,
    ) -> Result<Matcher, SearchError> {
        let seat = Seat::take(index.view(), index.options.readers_max)?;
        let round = Round::new(seat.view());
        Ok(Matcher { index, numbers, mail, seat, round, places: HashMap::new() })
    }

    /// Looks until the index is closed.
    pub(super) fn run(mut self) {
        let watch = &self.numbers.clone().watch;
        watch.begin();
        while !watch.is_over() {
            self.read_mail();
            if self.round.is_empty() {
                watch.rest();
                watch.sleep(|| self.mail.is_waiting() || watch.is_over());
                continue;
            }
            match self.look() {
                Ok(true) => thread::sleep(PAUSE),
                Ok(false) => {
                    let has_new = || self.mail.is_waiting() || self.round.has_new(self.seat.view());
                    watch.sleep(|| has_new() || watch.is_over());
                }
                Err(error) => self.end(&error),
            }
        }
    }

    fn read_mail(&mut self) {
        for letter in self.mail.take() {
            match letter {
                Letter::Listen(listener, reply) => {
                    if self.round.is_empty() {
                        self.round.catch_up(self.seat.view());
                        self.numbers.watch.begin();
                    }
                    listener.restart();
                    if self.add(&listener).is_ok() {
                        // A caller that was interrupted has dropped its end.
                        let _ = reply.send(self.round.cursors().to_vec());
                    }
                }
                Letter::Leave(listener) => {
                    if let Some(id) = self.places.remove(&place_of(&listener)) {
                        self.round.remove(id);
                    }
                }
            }
        }
    }

    /// Enters a listener, unless it is there. The error is the index's end.
    fn add(&mut self, listener: &Arc<Listener>) -> Result<(), SearchError> {
        let Matcher { index, seat, round, places, .. } = self;
        if places.contains_key(&place_of(listener)) {
            return Ok(());
        }
        let query = &listener.query;
        let terms = seat.ask(index, End::Leave, |view| Ok(rarest_terms(query, view)))?;
        let id = round.add(listener.clone(), query.clone(), terms.as_deref());
        places.insert(place_of(listener), id);
        Ok(())
    }

    /// Looks at the new rows of all executors, and queues matches. False if there are no new rows.
    fn look(&mut self) -> Result<bool, SearchError> {
        let has_new = self.round.look(&self.index, &mut self.seat)?;
        if self.round.has_lost() {
            self.round.owners().for_each(|listener| listener.fall_behind());
        }
        for (_, listener, matches) in self.round.found() {
            listener.send(matches.iter().copied());
        }
        for (id, error) in self.round.failed() {
            if let Some(listener) = self.round.remove(id) {
                self.places.remove(&place_of(&listener));
                listener.end(error);
            }
        }
        Ok(has_new)
    }

    /// Ends all listeners.
    fn end(&mut self, why: &SearchError) {
        self.places.clear();
        for listener in self.round.remove_all() {
            listener.end(why.clone());
        }
    }
}

impl Drop for Matcher {
    /// Ends all listeners, also those whose letters were not read, and also after a bug: nobody waits for
    /// a thread that is gone.
    fn drop(&mut self) {
        self.mail.close();
        drop(self.mail.take());
        self.end(&SearchError::Closed);
    }
}

/// Returns a number that no other listener has while this one is there.
fn place_of(listener: &Arc<Listener>) -> usize {
    Arc::as_ptr(listener).addr()
}
