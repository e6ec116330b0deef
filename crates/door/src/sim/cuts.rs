//! The positions at which a trace is cut.

use std::collections::{BTreeMap, BTreeSet};

use crate::site::Site;
use crate::trace::{Action, Event};

use super::random::Random;

/// The most events at which a site is cut, so that frequent sites do not take all the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// The most events that order others: fences, syncs, publications, notes.
    pub orders: usize,
    /// The most other events.
    pub others: usize,
}

impl Quota {
    /// No limit.
    pub const ALL: Quota = Quota { orders: usize::MAX, others: usize::MAX };
}

/// Returns positions of a simulator in ascending order: after each event that the quota allows,
/// before it too if it is a fence or a sync, and the end. The events of a site are spread about evenly over
/// the run; the seed selects them.
pub fn cuts(events: &[Event], quota: Quota, seed: u64) -> Vec<usize> {
    let mut random = Random::new(seed);
    let mut positions = BTreeSet::from([events.len()]);
    for ((_, orders), of_site) in &by_site(events) {
        let most = if *orders { quota.orders } else { quota.others };
        for event in spread(of_site, most, &mut random) {
            positions.insert(event + 1);
            if matches!(events[event].action, Action::Fence | Action::Sync) {
                positions.insert(event);
            }
        }
    }
    positions.into_iter().collect()
}

/// Returns the events of each site, by whether they order others. Notes have no site.
fn by_site(events: &[Event]) -> BTreeMap<(Option<Site>, bool), Vec<usize>> {
    let mut sites: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (at, event) in events.iter().enumerate() {
        let orders = !matches!(event.action, Action::Store { .. } | Action::WriteBack { .. });
        sites.entry((event.site, orders)).or_default().push(at);
    }
    sites
}

/// Selects at most `most` of `all`: one from each of this many equal parts.
fn spread(all: &[usize], most: usize, random: &mut Random) -> impl Iterator<Item = usize> {
    let parts = most.min(all.len());
    (0..parts).map(move |part| {
        let (first, end) = (part * all.len() / parts, (part + 1) * all.len() / parts);
        all[first + random.index(end - first)]
    })
}
