//! What the threads of a demonstration tell each other.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Instant;

use super::histogram::Histogram;
use super::probe::Probe;

/// The kinds of queries that are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A word of a document that was added a moment ago.
    Fresh,
    /// One word.
    One,
    /// Two words, both.
    Both,
    /// Two words, either.
    Either,
}

impl Kind {
    pub(crate) const ALL: [Kind; 4] = [Kind::Fresh, Kind::One, Kind::Both, Kind::Either];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Fresh => "just_added",
            Kind::One => "one_word",
            Kind::Both => "two_words_and",
            Kind::Either => "two_words_or",
        }
    }
}

pub(crate) struct Live {
    pub(crate) started: Instant,
    /// Documents of the corpus that queries find. Stored by the stream, release, after `add_all` came back;
    /// loaded by the asker, acquire, before it asks for one of them.
    pub(crate) added: AtomicU64,
    /// The asker is at work: the stream waits for it once, so that even a short one is measured.
    pub(crate) asking: AtomicBool,
    /// The stream has ended: so does the asker.
    pub(crate) ended: AtomicBool,
    /// Number of the newest document that a query found, plus one.
    pub(crate) newest_hit: AtomicU64,
    /// Queries for a word of an added document that found nothing: there must be none.
    pub(crate) missed: AtomicU64,
    pub(crate) latencies: [Histogram; Kind::ALL.len()],
    pub(crate) probe: Probe,
}

/// Measurements of each kind that are enough: ten of them are above the 99th percentile.
const ENOUGH: u64 = 1000;

impl Live {
    pub(crate) fn new() -> Live {
        Live {
            started: Instant::now(),
            added: AtomicU64::new(0),
            asking: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            newest_hit: AtomicU64::new(0),
            missed: AtomicU64::new(0),
            latencies: Default::default(),
            probe: Probe::default(),
        }
    }

    pub(crate) fn latency(&self, kind: Kind) -> &Histogram {
        &self.latencies[kind as usize]
    }

    /// True if there are enough measurements of each kind.
    pub(crate) fn is_measured(&self) -> bool {
        self.latencies.iter().chain([&self.probe.delays]).all(|times| times.count() >= ENOUGH)
    }

    /// Queries of all kinds.
    pub(crate) fn all_latencies(&self) -> Histogram {
        let all = Histogram::default();
        self.latencies.iter().for_each(|latency| all.add(latency));
        all
    }
}
