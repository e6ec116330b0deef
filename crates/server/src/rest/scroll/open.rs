//! Open scrolls: each has an id, an end, and the hits that it has not given yet.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use spirit_opensearch::error::Refusal;
use spirit_opensearch::search::SearchBody;

use super::spool::{Budget, Kept, Spool, failed};
use crate::guard::random;
use crate::problem::Problem;
use crate::rest::hit;
use crate::rest::refused::Answered;
use crate::settings::Settings;

/// Random bytes of an id, which has 20 letters.
const ID_BYTES: usize = 15;

/// All open scrolls.
#[derive(Debug)]
pub(in crate::rest) struct Scrolls {
    pub(super) budget: Arc<Budget>,
    open_max: usize,
    open: Mutex<HashMap<String, Open>>,
}

#[derive(Debug)]
struct Open {
    end: Instant,
    scroll: Arc<Mutex<Scroll>>,
}

/// A scroll: what it was asked for, and what is left.
#[derive(Debug)]
pub(super) struct Scroll {
    pub(super) asked: Arc<SearchBody>,
    pub(super) total: u64,
    pub(super) max_score: Option<f32>,
    /// The hits that were not given yet, of each index.
    pub(super) spools: Vec<Spool>,
}

impl Scroll {
    /// Takes the next hits.
    pub(super) fn next(&mut self) -> Answered<Vec<Kept>> {
        let mut page = Vec::new();
        while page.len() < self.asked.size {
            let ahead = self.spools.iter().enumerate();
            let ahead = ahead.filter_map(|(place, spool)| Some((place, spool.peek()?)));
            let order = |(_, one): &(usize, &Kept), (_, other): &(usize, &Kept)| {
                hit::order(&self.asked, &one.rank, &other.rank)
            };
            let Some(first) = ahead.min_by(order).map(|(place, _)| place) else { break };
            page.extend(self.spools[first].take().map_err(|error| failed(&error))?);
        }
        Ok(page)
    }
}

impl Scrolls {
    pub(in crate::rest) fn new(settings: &Settings) -> Scrolls {
        let documents = settings.scroll_documents as u64;
        let budget = Arc::new(Budget::new(settings.scroll_bytes, documents));
        Scrolls { budget, open_max: settings.scrolls, open: Mutex::default() }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, Open>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        open.retain(|_, open| open.end > now);
        open
    }

    /// Closes the scrolls whose time is over.
    pub(super) fn sweep(&self) {
        drop(self.open());
    }

    /// Returns an error if no scroll can be opened.
    pub(super) fn check_room(&self) -> Answered<()> {
        if self.open().len() < self.open_max {
            return Ok(());
        }
        let max = self.open_max;
        Err(Refusal::rejected(format!(
            "Trying to create too many scroll contexts. Must be less than or equal to: [{max}]. \
             This limit can be set by changing the [scrolls] setting."
        ))
        .into())
    }

    /// Opens a scroll for a time, and returns its id.
    pub(super) fn add(&self, scroll: Scroll, time: Duration) -> Answered<String> {
        self.check_room()?;
        // Nobody guesses it: who has it may read what another key found.
        let id = random::<ID_BYTES>().map_err(Problem::internal)?;
        let scroll = Arc::new(Mutex::new(scroll));
        self.open().insert(id.clone(), Open { end: Instant::now() + time, scroll });
        Ok(id)
    }

    /// Returns a scroll, which stays open for a time from now on, if one is given.
    pub(super) fn get(
        &self,
        id: &str,
        time: Option<Duration>,
    ) -> Result<Arc<Mutex<Scroll>>, Refusal> {
        check_id(id)?;
        let mut open = self.open();
        let found = open.get_mut(id).ok_or_else(|| {
            let reason = format!("No search context found for id [{id}]");
            Refusal::new("search_context_missing_exception", 404, reason)
        })?;
        if let Some(time) = time {
            found.end = Instant::now() + time;
        }
        Ok(found.scroll.clone())
    }

    /// Closes scrolls. Returns how many of them were open.
    pub(super) fn close(&self, ids: &[String]) -> Result<usize, Refusal> {
        if ids.iter().any(|id| id == "_all") {
            return Ok(std::mem::take(&mut *self.open()).len());
        }
        ids.iter().try_for_each(|id| check_id(id))?;
        let mut open = self.open();
        Ok(ids.iter().filter(|id| open.remove(*id).is_some()).count())
    }
}

/// Returns an error if a text is no id of a scroll.
fn check_id(id: &str) -> Result<(), Refusal> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    match id.len() == 20 && id.bytes().all(is_letter) {
        true => Ok(()),
        false => Err(Refusal::illegal_argument("Cannot parse scroll id")),
    }
}
