//! An image that is wrong.

use spirit_door::sim::Model as Fault;

use crate::operation;
use crate::run::Run;

/// Which image, and what is wrong with it.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) position: usize,
    pub(crate) fault: Fault,
    pub(crate) image: usize,
    pub(crate) why: String,
}

/// Events before a cut that are shown.
const EVENTS: usize = 12;

impl Failure {
    /// What one needs to know to look into it.
    pub(crate) fn describe(&self, run: &Run, seed: u64) -> String {
        let Failure { position, fault, image, why } = self;
        let progress = run.progress(*position);
        let history = operation::describe(&run.history[..progress.begun]);
        let (events, setup) = (run.events.len(), run.setup);
        let last = self.last_events(run);
        format!(
            "SPIRIT_SIM_SEED={seed}, {setup:?}\nhistory so far: {history}\n\
             cut {position} of {events}, {} operations acknowledged, model {fault:?}, image {image}:\n\
             {why}\nlast events:\n{last}",
            progress.acknowledged
        )
    }

    fn last_events(&self, run: &Run) -> String {
        let first = self.position.saturating_sub(EVENTS);
        let lines = run.events[first..self.position].iter().map(|event| {
            let site = event.site.map_or("note", |site| site.name());
            let mut line = format!("  {site} {:?} {:?}", (event.space, event.thread), event.action);
            line.truncate(150);
            line
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}
