//! Requests whose keys were refused: a line at most once a second for each address, with their number.
//!
//! Addresses beyond a limit share a line, so a flood from many takes neither memory nor the log.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::client::Client;

/// The time between two lines about an address.
const BETWEEN: Duration = Duration::from_secs(1);
/// Addresses that have lines of their own.
const ADDRESSES_MAX: usize = 1024;

/// What an address was refused since its last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Refused {
    /// The time of the last line.
    since: Instant,
    why: &'static str,
    requests: u64,
}

/// The refused requests by address. None is of all those that are too many.
#[derive(Debug, Default)]
pub(crate) struct Refusals(Mutex<HashMap<Option<Client>, Refused>>);

impl Refusals {
    /// Counts a request. The first of an address has a line at once.
    pub(crate) fn add(&self, client: Client, why: &'static str) {
        if let Some((client, refused)) = self.added(client, why, Instant::now()) {
            write(client, refused);
        }
    }

    fn added(
        &self,
        client: Client,
        why: &'static str,
        now: Instant,
    ) -> Option<(Option<Client>, Refused)> {
        let mut all = self.all();
        let is_own = all.contains_key(&Some(client)) || all.len() < ADDRESSES_MAX;
        let client = is_own.then_some(client);
        let new = Refused { since: now, why, requests: 1 };
        match all.get_mut(&client) {
            Some(refused) => {
                *refused = Refused { why, requests: refused.requests + 1, ..*refused };
                None
            }
            None => {
                all.insert(client, Refused { requests: 0, ..new });
                Some((client, new))
            }
        }
    }

    /// Writes the lines that are due. It is called about once a second.
    pub(crate) fn write_due(&self) {
        self.due(Instant::now()).into_iter().for_each(|(client, refused)| write(client, refused));
    }

    fn due(&self, now: Instant) -> Vec<(Option<Client>, Refused)> {
        let mut due = Vec::new();
        self.all().retain(|client, refused| {
            if now.duration_since(refused.since) < BETWEEN {
                return true;
            }
            if refused.requests > 0 {
                due.push((*client, *refused));
            }
            let is_quiet = refused.requests == 0;
            *refused = Refused { since: now, requests: 0, ..*refused };
            !is_quiet
        });
        due
    }

    fn all(&self) -> MutexGuard<'_, HashMap<Option<Client>, Refused>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn write(client: Option<Client>, refused: Refused) {
    let client = client.map_or_else(|| "others".to_owned(), |client| client.to_string());
    let Refused { why, requests, .. } = refused;
    tracing::warn!(client, why, requests, "refused keys");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_line_a_second() {
        let (refusals, start) = (Refusals::default(), Instant::now());
        let client = Client::Address([127, 0, 0, 1].into());
        let first = refusals.added(client, "unknown", start).unwrap();
        assert_eq!((first.0, first.1.requests), (Some(client), 1));
        for _ in 0..5 {
            assert_eq!(refusals.added(client, "expired", start), None);
        }
        assert_eq!(refusals.due(start + BETWEEN / 2), []);
        let due = refusals.due(start + BETWEEN);
        assert_eq!((due.len(), due[0].1.requests, due[0].1.why), (1, 5, "expired"));
        // A quiet one is forgotten, and begins anew.
        assert_eq!(refusals.due(start + 2 * BETWEEN), []);
        assert!(refusals.added(client, "unknown", start + 2 * BETWEEN).is_some());
    }

    #[test]
    fn many_addresses_share_a_line() {
        let (refusals, start) = (Refusals::default(), Instant::now());
        let client = |number: u32| Client::Address(std::net::Ipv4Addr::from(number).into());
        let lines = (0..5000).filter_map(|n| refusals.added(client(n), "unknown", start)).count();
        assert_eq!(lines, ADDRESSES_MAX + 1);
        assert_eq!(refusals.all().len(), ADDRESSES_MAX + 1);
        let due = refusals.due(start + BETWEEN);
        assert_eq!((due.len(), due[0].0, due[0].1.requests), (1, None, 5000 - 1024 - 1));
    }
}
