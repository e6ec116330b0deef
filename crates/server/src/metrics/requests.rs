//! Requests by class and status, and their durations.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::histogram::Histogram;
use super::text::Text;

/// The statuses of HTTP: 100 to 599.
const STATUSES: usize = 500;
/// Statuses of requests that are refused before any work is done, each with the reason.
const REJECTED: [(u16, &str); 5] = [
    (401, "unauthorized"),
    (403, "forbidden"),
    (413, "too_long"),
    (429, "no_room_or_no_turn"),
    (503, "overloaded_or_starting"),
];

/// What a route does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Search,
    Get,
    Write,
    Admin,
    /// What operators and clients ask of the server.
    Server,
    /// There is no such route.
    Unknown,
}

impl Class {
    const ALL: [Class; 6] =
        [Class::Search, Class::Get, Class::Write, Class::Admin, Class::Server, Class::Unknown];

    /// Returns the class of what OpenSearch calls an action.
    pub(crate) fn of_action(action: &str) -> Class {
        match action.split_once('/').map_or((action, ""), |(head, rest)| (head, rest)) {
            ("indices:data", "read/get" | "read/mget") => Class::Get,
            ("indices:data", rest) if rest.starts_with("read/") => Class::Search,
            ("indices:data", _) => Class::Write,
            ("indices:admin", _) => Class::Admin,
            _ => Class::Server,
        }
    }

    /// True if requests of this class ask indexes.
    pub(crate) fn is_of_indexes(self) -> bool {
        matches!(self, Class::Search | Class::Get | Class::Write | Class::Admin)
    }

    fn name(self) -> &'static str {
        match self {
            Class::Search => "search",
            Class::Get => "get",
            Class::Write => "write",
            Class::Admin => "admin",
            Class::Server => "server",
            Class::Unknown => "unknown",
        }
    }
}

/// The requests of a class.
#[derive(Debug)]
struct OfClass {
    statuses: [AtomicU64; STATUSES],
    durations: Histogram,
}

/// All requests.
#[derive(Debug)]
pub(crate) struct Requests([OfClass; Class::ALL.len()]);

impl Default for Requests {
    fn default() -> Requests {
        Requests(Class::ALL.map(|_| OfClass {
            statuses: [const { AtomicU64::new(0) }; STATUSES],
            durations: Histogram::default(),
        }))
    }
}

impl Requests {
    /// Counts a request that was answered.
    pub(crate) fn observe(&self, class: Class, status: u16, time: Duration) {
        let own = &self.0[class as usize];
        if let Some(count) = own.statuses.get(usize::from(status).wrapping_sub(100)) {
            count.fetch_add(1, Relaxed);
        }
        own.durations.observe(time);
    }

    pub(super) fn write(&self, text: &mut Text) {
        let mut samples = Vec::new();
        for (class, own) in Class::ALL.iter().zip(&self.0) {
            for (status, count) in (100..).zip(&own.statuses) {
                let count = count.load(Relaxed);
                if count > 0 {
                    samples.push((class.name(), format!("{status}"), count as f64));
                }
            }
        }
        let labels: Vec<_> = samples
            .iter()
            .map(|(class, status, count)| ([("route", *class), ("status", &**status)], *count))
            .collect();
        let samples: Vec<_> = labels.iter().map(|(labels, count)| (&labels[..], *count)).collect();
        text.counter("spirit_http_requests_total", "Requests by route and status", &samples);
        self.write_durations(text);
        self.write_rejected(text);
    }

    fn write_durations(&self, text: &mut Text) {
        let of = |class: Class| self.0[class as usize].durations.read();
        let labels = Class::ALL.map(|class| [("route", class.name())]);
        let samples: Vec<_> = Class::ALL
            .iter()
            .zip(&labels)
            .map(|(class, labels)| (&labels[..], of(*class)))
            .collect();
        let name = "spirit_http_request_duration_seconds";
        text.histograms(name, "Time from a request's head to the head of its answer", &samples);
        let kinds: [(&[_], _); 2] =
            [(&[("kind", "search")], of(Class::Search)), (&[("kind", "get")], of(Class::Get))];
        text.histograms("spirit_search_duration_seconds", "Time of searches and reads", &kinds);
        let writes: [(&[_], _); 1] = [(&[], of(Class::Write))];
        text.histograms("spirit_ingest_duration_seconds", "Time of writes", &writes);
    }

    fn write_rejected(&self, text: &mut Text) {
        let count = |status: u16| {
            let place = usize::from(status) - 100;
            self.0.iter().map(|own| own.statuses[place].load(Relaxed)).sum::<u64>() as f64
        };
        let labels = REJECTED.map(|(status, reason)| ([("reason", reason)], count(status)));
        let samples = labels.each_ref().map(|(labels, count)| (&labels[..], *count));
        text.counter("spirit_rejected_requests_total", "Refused requests by reason", &samples);
    }
}
