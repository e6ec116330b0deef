//! A run, cut again and again: each image is opened and judged.

use spirit_door::Site;
use spirit_door::sim::{Image, Model as Fault, Quota, Simulator, cuts};

use crate::failure::Failure;
use crate::patient::{Expected, Kill, Patient};
use crate::run::Run;
use crate::tally::Tally;

/// How often an image that is wrong is looked at again.
const AGAIN: usize = 16;

/// How much is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Where a run is cut.
    pub(crate) quota: Quota,
    /// Images of a cut in the models K, X and T.
    pub(crate) images: [usize; 3],
    /// If there are at most this many, all of them.
    pub(crate) all: usize,
    /// After one image in this many the index goes on; 0: after none.
    pub(crate) continued: u64,
    /// The recovery of one image in this many is cut itself; 0: of none.
    pub(crate) nested: u64,
    /// At one cut in this many the process is killed instead, and the power is cut after another one has started; 0: at none.
    pub(crate) killed: u64,
}

/// Looks at a run; the first image that is wrong ends it. Write-backs or fences of `dropped` have no effect.
pub(crate) fn explore(
    run: &Run,
    effort: Effort,
    seed: u64,
    dropped: Option<Site>,
) -> (Tally, Result<(), Failure>) {
    let mut tally = Tally { runs: 1, ..Tally::default() };
    let explored =
        Explorer { run, effort, seed, patient: Patient::new(run) }.all(dropped, &mut tally);
    (tally, explored)
}

struct Explorer<'r> {
    run: &'r Run,
    effort: Effort,
    seed: u64,
    patient: Patient<'r>,
}

impl Explorer<'_> {
    fn all(&mut self, dropped: Option<Site>, tally: &mut Tally) -> Result<(), Failure> {
        let run = self.run;
        let mut simulator = Simulator::new(run.initial.clone(), &run.events, dropped);
        let first = run.first_cut();
        for position in cuts(&run.events[first..], self.effort.quota, self.seed) {
            let position = first + position;
            simulator.advance_to(position);
            let expected = Expected {
                models: run.models(run.progress(position)),
                floors: run.retention.floors(position),
            };
            for fault in Fault::ALL {
                self.images(&mut simulator, fault, &expected, tally)?;
            }
            let is_due = |every: u64| every > 0 && tally.cuts % every == self.seed % every;
            if is_due(self.effort.killed) {
                self.after_kill(&simulator, &expected, dropped, tally)?;
            }
            tally.count_cut(run, position);
        }
        Ok(())
    }

    /// The process is killed here, another one starts and goes on, and then the power is cut.
    fn after_kill(
        &mut self,
        simulator: &Simulator<'_>,
        expected: &Expected,
        dropped: Option<Site>,
        tally: &mut Tally,
    ) -> Result<(), Failure> {
        let position = simulator.position();
        let before = &self.run.events[..position];
        let kill = Kill { before, image: simulator.volatile(), expected, dropped };
        let failed = |why| Failure { position, fault: Fault::K, image: 0, why };
        self.patient.cut_after_kill(&kill, self.seed + tally.cuts, tally).map_err(failed)
    }

    /// What is wrong, and whether it is so each time: what is not hangs on when threads ran.
    fn again(&mut self, image: &Image, expected: &Expected, why: &str) -> String {
        let looks = (0..AGAIN).map(|_| self.patient.look(image, expected));
        let wrong = looks.filter(Result::is_err).count();
        format!("{why}\nof {AGAIN} other looks at this image {wrong} find something wrong")
    }

    fn images(
        &mut self,
        simulator: &mut Simulator<'_>,
        fault: Fault,
        expected: &Expected,
        tally: &mut Tally,
    ) -> Result<(), Failure> {
        let position = simulator.position();
        let (few, all) = (self.effort.images[fault as usize], self.effort.all);
        let fits = all > few && simulator.images(fault, all, self.seed).is_exhaustive();
        let budget = if fits { all } else { few };
        let mut images = simulator.images(fault, budget, self.seed);
        tally.exhaustive[fault as usize] += u64::from(images.is_exhaustive());
        let mut image = 0;
        while let Some(found) = images.next_image() {
            let failed = |why| Failure { position, fault, image, why };
            let number = tally.all_images();
            let models = match self.patient.look(found, expected) {
                Ok(models) => models,
                Err(why) => return Err(failed(self.again(found, expected, &why))),
            };
            let is_due =
                |every: u64| every > 0 && number % every == self.seed % every && !models.is_empty();
            if is_due(self.effort.continued) {
                self.patient.go_on(found, &models).map_err(failed)?;
                tally.continued += 1;
            }
            if is_due(self.effort.nested) {
                let (images, depth) = (4, 2);
                let seed = self.seed + number;
                self.patient
                    .cut_again(found, &models, [images, depth], seed, tally)
                    .map_err(failed)?;
            }
            tally.images[fault as usize] += 1;
            image += 1;
        }
        Ok(())
    }
}
