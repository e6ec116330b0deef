//! Where a trace is worth cutting.

use std::collections::{BTreeMap, BTreeSet};

use crate::site::Site;
use crate::trace::{Action, Event};

use super::random::Random;

/// At how many of its events a site is cut, so that one that is passed often does not take the time of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Events that order what is around them: fences, publications, notes.
    pub orders: usize,
    /// Other events.
    pub others: usize,
}

impl Quota {
    /// Everywhere.
    pub const ALL: Quota = Quota { orders: usize::MAX, others: usize::MAX };
}

/// Positions of a simulator, rising: after each event that the quota allows, before it too if it is a fence, and the
/// end. Of the events of a site those are taken that lie about evenly in the run; which ones, the seed says.
pub fn cuts(events: &[Event], quota: Quota, seed: u64) -> Vec<usize> {
    let mut random = Random::new(seed);
    let mut positions = BTreeSet::from([events.len()]);
    for ((_, orders), of_site) in &by_site(events) {
        let most = if *orders { quota.orders } else { quota.others };
        for event in spread(of_site, most, &mut random) {
            positions.insert(event + 1);
            if events[event].action == Action::Fence {
                positions.insert(event);
            }
        }
    }
    positions.into_iter().collect()
}

/// The events of each site, and whether they order anything. Notes are those of no site.
fn by_site(events: &[Event]) -> BTreeMap<(Option<Site>, bool), Vec<usize>> {
    let mut sites: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (at, event) in events.iter().enumerate() {
        let orders = !matches!(event.action, Action::Store { .. } | Action::WriteBack { .. });
        sites.entry((event.site, orders)).or_default().push(at);
    }
    sites
}

/// At most `most` of `all`: one of each of this many equal parts.
fn spread(all: &[usize], most: usize, random: &mut Random) -> impl Iterator<Item = usize> {
    let parts = most.min(all.len());
    (0..parts).map(move |part| {
        let (first, end) = (part * all.len() / parts, (part + 1) * all.len() / parts);
        all[first + random.below(end - first)]
    })
}
