//! What is found without looking at an image.

use spirit_door::Site;
use spirit_door::sim::{Finding, Lint};
use spirit_door::trace::Event;

use crate::runs::{done, fence, publish, store, write_back};

fn lints(events: &[Event]) -> Vec<(usize, Lint)> {
    done(events).findings().iter().map(|finding| (finding.event, finding.lint)).collect()
}

#[test]
fn a_publication_covers_durable_stores_only() {
    let uncovered = (2, Lint::Uncovered { space: 0, at: 72 });
    let run = [store(0, 72, &[1]), write_back(0, 64, 64), publish(0, 0, 1)];
    assert_eq!(lints(&run), [uncovered]);
    let run = [store(0, 72, &[1]), write_back(0, 64, 64), fence(0), publish(0, 0, 1)];
    assert_eq!(lints(&run), []);
}

#[test]
fn a_publication_does_not_answer_for_its_own_word_nor_for_other_threads() {
    assert_eq!(lints(&[publish(0, 0, 1), publish(0, 0, 2)]), []);
    assert_eq!(lints(&[store(1, 72, &[1]), publish(0, 0, 2)]), []);
    assert_eq!(
        lints(&[publish(0, 0, 1), publish(0, 8, 2)]),
        [(1, Lint::Uncovered { space: 0, at: 0 })]
    );
}

#[test]
fn useless_work_is_found() {
    let sent = [store(0, 0, &[1]), write_back(0, 0, 64), fence(0)];
    assert_eq!(lints(&sent), []);
    let again = [&sent[..], &[write_back(0, 0, 64), fence(0), fence(1)]].concat();
    assert_eq!(
        lints(&again),
        [(3, Lint::CleanWriteBack), (4, Lint::IdleFence), (5, Lint::IdleFence)]
    );
}

#[test]
fn findings_are_counted_by_site() {
    let run = [write_back(0, 0, 64), fence(0), fence(1)];
    let simulator = done(&run);
    let first = Finding { event: 0, site: Some(Site::LogWriteBack), lint: Lint::CleanWriteBack };
    assert_eq!(simulator.findings()[0], first);
    let counted: Vec<_> = simulator.tally().into_iter().collect();
    let expected = [
        ((Some(Site::LogWriteBack), "clean write-back"), 1),
        ((Some(Site::LogFence), "idle fence"), 2),
    ];
    assert_eq!(counted, expected);
}
