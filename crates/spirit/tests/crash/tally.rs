//! What was looked at.

use std::collections::BTreeSet;
use std::fmt;

use spirit_door::Site;
use spirit_door::trace::{Action, Event};

use crate::operation::Operation;
use crate::run::Run;
use crate::setup::LOG_BYTES;

/// What a run may have in it before a cut, and whether it has.
type Feature = (&'static str, fn(&Run, usize) -> bool);

const FEATURES: [Feature; 11] = [
    ("deletes", deletes),
    ("updates", updates),
    ("conditions", conditions),
    ("groups with offsets", groups),
    ("groups in two executors", |run, at| run.setup.executors > 1 && groups(run, at)),
    ("two executors", |run, _| run.setup.executors > 1),
    ("log wrap", |run, position| run.events[..position].iter().any(is_of_a_later_lap)),
    ("dictionary growth", |run, position| passed(run, position, Site::Enter)),
    ("retention", |run, position| passed(run, position, Site::Retire)),
    ("merges", |run, position| passed(run, position, Site::Head)),
    ("runs merged", |run, position| run.events[..position].windows(2).any(are_links_of_a_run)),
];

/// Cuts and images, counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) runs: u64,
    pub(crate) cuts: u64,
    /// In the models K, X and T.
    pub(crate) images: [u64; 3],
    /// Cuts of which all images were looked at in a model.
    pub(crate) exhaustive: [u64; 3],
    pub(crate) features: [u64; FEATURES.len()],
    /// Images after which more was done to the index.
    pub(crate) continued: u64,
    /// Cuts inside a recovery, and images of them.
    pub(crate) nested: [u64; 2],
    /// Cuts after the process was killed and another one has started, and images of them.
    pub(crate) killed: [u64; 2],
}

impl Tally {
    pub(crate) fn count_cut(&mut self, run: &Run, position: usize) {
        self.cuts += 1;
        for (count, (_, has)) in self.features.iter_mut().zip(FEATURES) {
            *count += u64::from(has(run, position));
        }
    }

    pub(crate) fn add(&mut self, other: &Tally) {
        let add = |to: &mut [u64], from: &[u64]| to.iter_mut().zip(from).for_each(|(t, f)| *t += f);
        self.runs += other.runs;
        self.cuts += other.cuts;
        self.continued += other.continued;
        add(&mut self.images, &other.images);
        add(&mut self.exhaustive, &other.exhaustive);
        add(&mut self.features, &other.features);
        add(&mut self.nested, &other.nested);
        add(&mut self.killed, &other.killed);
    }

    pub(crate) fn all_images(&self) -> u64 {
        self.images.iter().sum()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [k, x, t] = self.images;
        let all = self.all_images();
        writeln!(f, "{} runs, {} cuts, {all} images (K {k}, X {x}, T {t})", self.runs, self.cuts)?;
        writeln!(f, "cuts of which all images were seen: K, X, T {:?}", self.exhaustive)?;
        writeln!(f, "images with operations afterwards: {}", self.continued)?;
        writeln!(f, "cuts in recoveries: {}, images {}", self.nested[0], self.nested[1])?;
        writeln!(
            f,
            "cuts after a kill and a start: {}, images {}",
            self.killed[0], self.killed[1]
        )?;
        for (count, (name, _)) in self.features.iter().zip(FEATURES) {
            writeln!(f, "cuts with {name}: {count}")?;
        }
        Ok(())
    }
}

fn passed(run: &Run, position: usize, site: Site) -> bool {
    run.events[..position].iter().any(|event| event.site == Some(site))
}

/// The operations begun before a cut.
fn begun(run: &Run, position: usize) -> &[Operation] {
    &run.history[..run.progress(position).begun]
}

fn deletes(run: &Run, position: usize) -> bool {
    begun(run, position).iter().any(|operation| matches!(operation, Operation::Delete(_)))
}

fn groups(run: &Run, position: usize) -> bool {
    let is_group = |operation: &Operation| matches!(operation, Operation::Group(..));
    begun(run, position).iter().any(is_group)
}

fn conditions(run: &Run, position: usize) -> bool {
    let is_one = |operation: &Operation| matches!(operation, Operation::Apply(_));
    begun(run, position).iter().any(is_one)
}

fn updates(run: &Run, position: usize) -> bool {
    let mut keys = BTreeSet::new();
    let documents = begun(run, position).iter().flat_map(Operation::documents);
    documents.filter_map(|(key, ..)| key).any(|key| !keys.insert(key))
}

/// The links of each segment of a run are written back, and then there is one fence.
fn are_links_of_a_run(events: &[Event]) -> bool {
    events.iter().all(|event| event.site == Some(Site::LinkWriteBack))
}

fn is_of_a_later_lap(event: &Event) -> bool {
    // A record's second word is its position, which counts on from lap to lap.
    let is_later = |words: &[u64]| words.len() >= 6 && words[1] >= LOG_BYTES;
    event.site == Some(Site::LogRecord)
        && matches!(&event.action, Action::Store { words, .. } if is_later(words))
}
