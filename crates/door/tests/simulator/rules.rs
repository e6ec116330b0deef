//! When a store is durable, and what may be there while it is not.

use std::panic::catch_unwind;

use spirit_door::Site;
use spirit_door::sim::{Image, Model, Simulator};
use spirit_door::trace::Event;

use crate::runs::{BUDGET, all, done, fence, note, outcomes, publish, store, write_back, zeros};

/// Lines and words pending after each event.
fn pending(events: &[Event]) -> Vec<(usize, usize)> {
    let mut simulator = Simulator::new(zeros(), events, None);
    let mut counts = Vec::new();
    while simulator.advance().is_some() {
        let pending = simulator.pending();
        counts.push((pending.lines, pending.words));
    }
    counts
}

#[test]
fn a_store_is_durable_after_write_back_and_fence() {
    let run = [store(0, 8, &[1]), write_back(0, 8, 8), note(0), fence(0)];
    assert_eq!(pending(&run), [(1, 1), (1, 1), (1, 1), (0, 0)]);
    let unsent = [store(0, 8, &[1]), fence(0), write_back(0, 8, 8)];
    assert_eq!(pending(&unsent), [(1, 1), (1, 1), (1, 1)]);
    assert_eq!(outcomes(&unsent, Model::T, [1]), [[0], [1]]);
    assert_eq!(outcomes(&run, Model::T, [1]), [[1]]);
}

#[test]
fn a_fence_waits_for_its_own_thread_only() {
    let run = [store(0, 0, &[1]), write_back(0, 0, 8), fence(1), fence(0)];
    assert_eq!(pending(&run), [(1, 1), (1, 1), (1, 1), (0, 0)]);
}

#[test]
fn a_thread_may_send_the_stores_of_another() {
    let run = [store(0, 0, &[1]), write_back(1, 0, 8), fence(0), fence(1)];
    assert_eq!(pending(&run), [(1, 1), (1, 1), (1, 1), (0, 0)]);
}

#[test]
fn a_store_after_the_write_back_stays_pending() {
    let run = [store(0, 0, &[1, 5]), write_back(0, 0, 8), store(0, 0, &[2]), fence(0)];
    assert_eq!(pending(&run), [(1, 2), (1, 2), (1, 2), (1, 1)]);
    for model in [Model::X, Model::T] {
        assert_eq!(outcomes(&run, model, [0, 1]), [[1, 5], [2, 5]]);
    }
}

#[test]
fn what_was_sent_before_another_thread_saw_to_it_does_not_cover_later_stores() {
    let sent_twice = [store(0, 0, &[1]), write_back(0, 0, 8), write_back(1, 0, 8), fence(1)];
    let run = [&sent_twice[..], &[store(0, 8, &[2]), fence(0)]].concat();
    assert_eq!(pending(&run)[3..], [(0, 0), (1, 1), (1, 1)]);
}

#[test]
fn a_write_back_takes_the_lines_that_it_touches_and_no_others() {
    let lines = [store(0, 0, &[1]), store(0, 64, &[1]), store(0, 128, &[1])];
    let left = |at, bytes| {
        let run = [&lines[..], &[write_back(0, at, bytes), fence(0)]].concat();
        done(&run).pending().lines
    };
    assert_eq!([left(0, 64), left(63, 2), left(64, 65), left(0, 129)], [2, 1, 1, 0]);
    assert_eq!([left(64, 0), left(70, 0), left(192, 64)], [3; 3]);
}

#[test]
fn model_x_keeps_the_order_within_a_line() {
    let run = [store(0, 0, &[1]), store(0, 8, &[2]), store(0, 0, &[3])];
    assert_eq!(outcomes(&run, Model::X, [0, 1]), [[0, 0], [1, 0], [1, 2], [3, 2]]);
    let any = [[0, 0], [0, 2], [1, 0], [1, 2], [3, 0], [3, 2]];
    assert_eq!(outcomes(&run, Model::T, [0, 1]), any);
}

#[test]
fn no_model_of_power_cuts_orders_two_lines() {
    let run = [store(0, 0, &[1]), store(0, 64, &[2])];
    for model in [Model::X, Model::T] {
        assert_eq!(outcomes(&run, model, [0, 8]), [[0, 0], [0, 2], [1, 0], [1, 2]]);
    }
}

#[test]
fn a_bulk_store_tears_between_words() {
    let run = [store(0, 56, &[1, 2, 3])];
    // The first word is on another line than the others.
    let lines = [[0, 0, 0], [0, 2, 0], [0, 2, 3], [1, 0, 0], [1, 2, 0], [1, 2, 3]];
    assert_eq!(outcomes(&run, Model::X, [7, 8, 9]), lines);
    assert_eq!(outcomes(&run, Model::T, [7, 8, 9]).len(), 8);
}

#[test]
fn a_killed_process_leaves_what_it_did_and_the_last_store_in_part() {
    let mut run = vec![store(0, 256, &[9]), store(0, 56, &[1, 2, 3])];
    let prefixes = [[0, 0, 0, 9], [1, 0, 0, 9], [1, 2, 0, 9], [1, 2, 3, 9]];
    assert_eq!(outcomes(&run, Model::K, [7, 8, 9, 32]), prefixes);
    run.push(note(0));
    assert_eq!(outcomes(&run, Model::K, [7, 8, 9, 32]), [[1, 2, 3, 9]]);
}

#[test]
fn a_published_word_is_pending_like_any_other() {
    let run = [publish(0, 0, 1), write_back(0, 0, 8), fence(0)];
    assert_eq!(pending(&run), [(1, 1), (1, 1), (0, 0)]);
}

#[test]
fn a_fence_does_not_ask_which_space_was_written_back() {
    let elsewhere = |event: Event| Event { space: 1, ..event };
    let run = [elsewhere(store(0, 0, &[1])), elsewhere(write_back(0, 0, 8)), fence(0)];
    let mut simulator = Simulator::new(Image::new(vec![vec![0; 8]; 2]), &run, None);
    simulator.advance_to(2);
    assert_eq!(simulator.pending().words, 1);
    simulator.advance_to(9);
    assert_eq!((simulator.pending().words, simulator.position()), (0, 3));
    assert_eq!((simulator.volatile().words(0)[0], simulator.volatile().words(1)[0]), (0, 1));
}

#[test]
fn a_dropped_site_has_no_effect() {
    let run = [store(0, 0, &[1]), write_back(0, 0, 8), fence(0)];
    for site in [Site::LogWriteBack, Site::LogFence] {
        let mut simulator = Simulator::new(zeros(), &run, Some(site));
        simulator.advance_to(run.len());
        assert_eq!(simulator.pending().words, 1, "{site:?}");
        // The fence has nothing to wait for without the write-back.
        assert_eq!(simulator.findings().len(), usize::from(site == Site::LogWriteBack));
    }
}

#[test]
#[should_panic(expected = "can be dropped")]
fn a_site_that_stores_cannot_be_dropped() {
    Simulator::new(zeros(), &[store(0, 0, &[1])], Some(Site::LogRecord)).advance();
}

#[test]
fn events_of_no_site_are_not_dropped() {
    let run = [Event { site: None, ..store(0, 0, &[1]) }];
    assert_eq!(pending(&run), [(1, 1)]);
}

#[test]
fn a_store_outside_of_its_space_or_between_words_is_refused() {
    for at in [504, 4, u64::MAX - 7] {
        let refused = catch_unwind(|| done(&[store(0, at, &[1, 2])]).position()).unwrap_err();
        let message = refused.downcast::<String>().unwrap();
        assert!(message.contains("do not lie in space 0 of 512 bytes"), "{message}");
    }
}

#[test]
fn looking_at_images_changes_nothing() {
    let run = [store(0, 0, &[1, 2]), publish(0, 64, 3)];
    let mut simulator = done(&run);
    let before = simulator.volatile().clone();
    for model in Model::ALL {
        let mut images = simulator.images(model, BUDGET, 0);
        // Left in the middle.
        assert_ne!(images.next_image(), None);
        drop(images);
        assert_eq!(simulator.volatile(), &before);
        assert!(all(simulator.images(model, BUDGET, 0)).contains(&before.words(0).to_vec()));
        assert_eq!(simulator.volatile(), &before);
    }
    assert_eq!(before.bytes(0)[64..80], [3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
}
