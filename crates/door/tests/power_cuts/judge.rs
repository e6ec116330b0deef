//! The judge: each image must hold what was acknowledged, and nothing but what was started.

use spirit_door::Site;
use spirit_door::sim::{Model, Quota, Simulator, cuts};
use spirit_door::trace::{Action, Event};

use crate::recovery::{Recovered, recover};
use crate::run::{Said, empty, is_push};

/// Which images are looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    pub(crate) model: Model,
    /// At each cut.
    pub(crate) images: usize,
    pub(crate) quota: Quota,
    pub(crate) seed: u64,
    pub(crate) dropped: Option<Site>,
}

/// What was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) cuts: usize,
    /// Cuts of which all images were seen.
    pub(crate) exhausted: usize,
    pub(crate) images: usize,
    pub(crate) violations: usize,
}

/// What recovery owes: operations of one kind in order, of which at least `acknowledged` must be there.
#[derive(Debug, Default)]
struct Owed {
    started: Vec<u64>,
    acknowledged: usize,
}

impl Owed {
    fn is_met_by(&self, recovered: &[u64]) -> bool {
        recovered.len() >= self.acknowledged && self.started.starts_with(recovered)
    }
}

#[derive(Debug, Default)]
struct Oracle {
    appends: Owed,
    pushes: Owed,
}

impl Oracle {
    fn hear(&mut self, event: &Event) {
        let Action::Note(note) = event.action else { return };
        match Said::of(note) {
            Said::Started(operation) => self.owed(operation).started.push(operation),
            Said::Acknowledged(operation) => self.owed(operation).acknowledged += 1,
        }
    }

    fn owed(&mut self, operation: u64) -> &mut Owed {
        if is_push(operation) { &mut self.pushes } else { &mut self.appends }
    }

    fn accepts(&self, image: &[u64]) -> bool {
        recover(image).is_ok_and(|Recovered { appended, pushed }| {
            self.appends.is_met_by(&appended) && self.pushes.is_met_by(&pushed)
        })
    }
}

/// Looks at images of a run of the toy.
pub(crate) fn judge(events: &[Event], search: Search) -> Verdict {
    let mut simulator = Simulator::new(empty(), events, search.dropped);
    let (mut oracle, mut verdict) = (Oracle::default(), Verdict::default());
    for cut in cuts(events, search.quota, search.seed) {
        while simulator.position() < cut {
            oracle.hear(simulator.advance().expect("cuts lie in the run"));
        }
        let mut images = simulator.images(search.model, search.images, search.seed);
        verdict.cuts += 1;
        verdict.exhausted += usize::from(images.is_exhaustive());
        while let Some(image) = images.next_image() {
            verdict.images += 1;
            verdict.violations += usize::from(!oracle.accepts(image.words(0)));
        }
    }
    verdict
}
