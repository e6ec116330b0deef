//! Open points in time: each has an id, an end, and a copy of each of its indexes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use spirit_opensearch::error::Refusal;

use super::copies::{Copies, Copy};
use crate::api::server::Server;
use crate::guard::random;
use crate::index_name::IndexName;
use crate::problem::Problem;
use crate::registry::backing;
use crate::rest::refused::{Answered, Refused, forbidden};
use crate::served::Served;
use crate::settings::Settings;

/// Random bytes of an id, which has 20 letters.
const ID_BYTES: usize = 15;

/// All open points in time.
#[derive(Debug)]
pub(in crate::rest) struct PointsInTime {
    pub(super) copies: Arc<Copies>,
    open_max: usize,
    open: Mutex<HashMap<String, Open>>,
}

#[derive(Debug)]
struct Open {
    end: Instant,
    keep_alive: Duration,
    point: Arc<Point>,
}

/// A point in time.
#[derive(Debug)]
pub(super) struct Point {
    pub(super) copies: Vec<Copy>,
    pub(super) made_ms: u64,
}

impl Point {
    pub(super) fn new(copies: Vec<Copy>) -> Point {
        let made = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Point { copies, made_ms: made.as_millis() as u64 }
    }

    /// Returns its indexes as they were, if the request may ask all of them and they are there still.
    fn served(&self, server: &Server) -> Answered<Vec<Arc<Served>>> {
        for copy in &self.copies {
            let name = &copy.served.name;
            check_allowed(server, name)?;
            match server.catalog().get(name) {
                Ok(now) if Arc::as_ptr(&now) == copy.of.as_ptr() => {}
                _ => return Err(Refusal::index_not_found(name.as_str()).into()),
            }
        }
        Ok(self.copies.iter().map(|copy| copy.served.clone()).collect())
    }
}

/// Returns an error if the request may not ask an index, by its name or by that of its data stream.
fn check_allowed(server: &Server, index: &IndexName) -> Answered<()> {
    let (access, name) = (server.access(), index.as_str());
    let registered = server.catalog().registry().now();
    let mut streams = registered.streams.keys();
    let is_allowed = access.is_for(name)
        || streams.any(|stream| backing(stream).as_str() == name && access.is_for(stream));
    if is_allowed { Ok(()) } else { Err(forbidden(name, access.user())) }
}

/// What is shown of a point in time.
pub(super) struct Shown {
    pub(super) id: String,
    pub(super) made_ms: u64,
    pub(super) keep_alive: Duration,
}

impl PointsInTime {
    pub(in crate::rest) fn new(settings: &Settings) -> PointsInTime {
        let copies = Arc::new(Copies::new(settings));
        PointsInTime { copies, open_max: settings.pits, open: Mutex::default() }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes those that are chosen.
    fn take(&self, mut is_chosen: impl FnMut(&String, &mut Open) -> bool) -> Vec<(String, Open)> {
        self.open().extract_if(|id, open| is_chosen(id, open)).collect()
    }

    /// Closes those whose time is over. This waits for the disk.
    pub(super) fn sweep(&self) {
        let now = Instant::now();
        drop(self.take(|_, open| open.end <= now));
    }

    /// Returns when a point in time is over, unless it is closed.
    pub(super) fn end_of(&self, id: &str) -> Option<Instant> {
        self.open().get(id).map(|open| open.end)
    }

    /// Returns an error if no point in time can be opened.
    pub(super) fn check_room(&self) -> Answered<()> {
        let (now, max) = (Instant::now(), self.open_max);
        if self.open().values().filter(|open| open.end > now).count() < max {
            return Ok(());
        }
        Err(Refusal::rejected(format!(
            "Trying to create too many Point In Time contexts. Must be less than or equal to: [{max}]. \
             This limit can be set by changing the [pits] setting."
        ))
        .into())
    }

    /// Opens a point in time, and returns its id.
    pub(super) fn add(&self, point: Arc<Point>, keep_alive: Duration) -> Answered<String> {
        self.check_room()?;
        let id = random::<ID_BYTES>().map_err(Problem::internal)?;
        let end = Instant::now() + keep_alive;
        self.open().insert(id.clone(), Open { end, keep_alive, point });
        Ok(id)
    }

    /// Returns the indexes of a point in time, which is kept from now on.
    pub(super) fn get(
        &self,
        server: &Server,
        id: &str,
        keep_alive: Option<Duration>,
    ) -> Answered<Vec<Arc<Served>>> {
        check_id(id)?;
        let missing = || {
            let reason = format!("No search context found for id [{id}]");
            Refusal::new("search_context_missing_exception", 404, reason)
        };
        let now = Instant::now();
        let mut open = self.open();
        let found = open.get_mut(id).filter(|open| open.end > now).ok_or_else(missing)?;
        let served = found.point.served(server)?;
        // A shorter time than the one before changes nothing, as in OpenSearch.
        found.keep_alive = keep_alive.unwrap_or_default().max(found.keep_alive);
        found.end = now + found.keep_alive;
        Ok(served)
    }

    /// Closes points in time. One that is not there is closed already.
    pub(super) fn close(&self, server: &Server, ids: &[String]) -> Answered<usize> {
        ids.iter().try_for_each(|id| check_id(id))?;
        let allowed = |open: &Open| {
            open.point.copies.iter().try_for_each(|copy| check_allowed(server, &copy.served.name))
        };
        let known: Vec<Answered<()>> = {
            let open = self.open();
            ids.iter().filter_map(|id| open.get(id)).map(allowed).collect()
        };
        known.into_iter().collect::<Answered<()>>()?;
        Ok(self.take(|id, _| ids.contains(id)).len())
    }

    /// Closes all of them, and returns their ids.
    pub(super) fn close_all(&self) -> Vec<String> {
        self.take(|_, _| true).into_iter().map(|(id, _)| id).collect()
    }

    /// Returns those whose indexes the request may ask.
    pub(super) fn all(&self, server: &Server) -> Vec<Shown> {
        let now = Instant::now();
        let is_shown = |open: &Open| {
            let mut copies = open.point.copies.iter();
            open.end > now && copies.all(|copy| check_allowed(server, &copy.served.name).is_ok())
        };
        let open = self.open();
        let shown = open.iter().filter(|(_, open)| is_shown(open)).map(|(id, open)| Shown {
            id: id.clone(),
            made_ms: open.point.made_ms,
            keep_alive: open.keep_alive,
        });
        shown.collect()
    }
}

/// Returns an error if a text is no id of a point in time.
fn check_id(id: &str) -> Result<(), Refused> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    match id.len() == 20 && id.bytes().all(is_letter) {
        true => Ok(()),
        false => Err(Refusal::illegal_argument(format!("invalid id: [{id}]")).into()),
    }
}
