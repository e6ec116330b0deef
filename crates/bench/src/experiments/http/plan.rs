//! How much is measured, by the scale that was asked for.

use std::time::Duration;

use crate::args::Scale;

/// The amounts of everything that is measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Documents of a corpus, at most.
    pub(super) documents_max: usize,
    /// Documents that warm the servers up, and those of a measured round of bulks.
    pub(super) bulk_warm_up: usize,
    pub(super) bulk_round: usize,
    /// Rounds of bulks and of searches, at most those of the command line.
    pub(super) rounds_max: usize,
    /// Rounds of searches while documents go in. The index grows meanwhile, so they are few.
    pub(super) rounds_busy: usize,
    /// Queries of a class, at most those of the command line.
    pub(super) per_class_max: usize,
    /// The time for which a class is asked in a round.
    pub(super) window: Duration,
    /// The time for which a class is asked beforehand, in each round.
    pub(super) warm_up: Duration,
    /// Documents that a stream repeats.
    pub(super) stream: usize,
    /// Single documents that are put, and those of the slow `wait_for`.
    pub(super) puts: usize,
    pub(super) puts_waiting: usize,
    /// The time of the searches at a fixed rate.
    pub(super) steady: Duration,
    /// How often the dashboard is asked, and the time from one to the next.
    pub(super) dashboards: usize,
    pub(super) dashboard_every: Duration,
}

impl Plan {
    pub(super) fn of(scale: Scale) -> Plan {
        match scale {
            Scale::Small => Plan {
                documents_max: 10_000,
                bulk_warm_up: 2_000,
                bulk_round: 5_000,
                rounds_max: 1,
                rounds_busy: 1,
                per_class_max: 2,
                window: Duration::from_millis(20),
                warm_up: Duration::ZERO,
                stream: 10_000,
                puts: 50,
                puts_waiting: 3,
                steady: Duration::from_secs(1),
                dashboards: 3,
                dashboard_every: Duration::from_secs(1),
            },
            Scale::Full => Plan {
                documents_max: usize::MAX,
                bulk_warm_up: 200_000,
                bulk_round: 400_000,
                rounds_max: 3,
                rounds_busy: 1,
                per_class_max: 100,
                window: Duration::from_millis(500),
                warm_up: Duration::from_millis(300),
                stream: 400_000,
                puts: 1000,
                puts_waiting: 20,
                steady: Duration::from_secs(20),
                dashboards: 24,
                dashboard_every: Duration::from_secs(5),
            },
        }
    }
}
