//! Which images are shown, and how many.

use std::collections::HashSet;

use spirit_door::sim::Model;
use spirit_door::trace::Event;

use crate::runs::{BUDGET, WORDS, all, done, note, store};

fn distinct(images: &[Vec<u64>]) -> usize {
    images.iter().collect::<HashSet<_>>().len()
}

/// A bulk store over all lines: 9 choices a line, 2 a word.
fn everywhere() -> [Event; 1] {
    [store(0, 0, &(1..=WORDS as u64).collect::<Vec<_>>())]
}

#[test]
fn few_images_are_shown_all_and_once() {
    let run =
        [store(0, 0, &[1, 2, 3]), store(0, 64, &[4]), store(0, 64, &[5]), store(0, 120, &[6, 7])];
    for (model, states) in [(Model::K, 3), (Model::X, 4 * 4 * 2), (Model::T, 8 * 3 * 2 * 2)] {
        let mut simulator = done(&run);
        assert!(!simulator.images(model, states - 1, 0).is_exhaustive());
        let images = simulator.images(model, states, 0);
        assert!(images.is_exhaustive());
        assert_eq!(images.states(), states as u64);
        let shown = all(images);
        assert_eq!((shown.len(), distinct(&shown)), (states, states), "{model:?}");
    }
}

#[test]
fn without_pending_stores_there_is_one_image() {
    for model in Model::ALL {
        assert_eq!(all(done(&[]).images(model, BUDGET, 0)), [vec![0; WORDS]]);
        assert!(all(done(&[]).images(model, 0, 0)).is_empty());
    }
}

#[test]
fn stores_that_change_nothing_make_no_images() {
    let zeros = [store(0, 0, &[0; 9]), store(0, 16, &[1, 1]), store(0, 16, &[1])];
    assert_eq!(done(&zeros).images(Model::T, BUDGET, 0).states(), 4);
    let there_and_back = [store(0, 0, &[1]), store(0, 0, &[0])];
    for model in [Model::X, Model::T] {
        let shown = all(done(&there_and_back).images(model, BUDGET, 0));
        assert_eq!((shown.len(), distinct(&shown)), (2, 2));
    }
}

#[test]
fn many_images_are_sampled_and_single_ones_are_among_them() {
    for (model, group) in [(Model::X, 8), (Model::T, 1)] {
        let run = everywhere();
        let mut simulator = done(&run);
        let images = simulator.images(model, 300, 7);
        assert!(!images.is_exhaustive());
        let shown = all(images);
        assert_eq!((shown.len(), distinct(&shown)), (300, 300));
        let full = simulator.volatile().words(0);
        let masked = |keep: &dyn Fn(usize) -> bool| -> Vec<u64> {
            (0..WORDS).map(|index| if keep(index) { full[index] } else { 0 }).collect()
        };
        assert!(shown.contains(&masked(&|_| false)) && shown.contains(&masked(&|_| true)));
        for single in 0..WORDS / group {
            assert!(shown.contains(&masked(&|index| index / group == single)), "only {single}");
            assert!(shown.contains(&masked(&|index| index / group != single)), "all but {single}");
        }
    }
}

#[test]
fn a_small_budget_goes_to_none_and_all_and_then_to_single_words_far_apart() {
    let run = everywhere();
    let shown = all(done(&run).images(Model::T, 10, 3));
    let arrived: Vec<usize> =
        shown.iter().map(|image| image.iter().filter(|word| **word != 0).count()).collect();
    assert_eq!(arrived, [0, WORDS, 1, 1, 1, 1, WORDS - 1, WORDS - 1, WORDS - 1, WORDS - 1]);
    let single = |image: &Vec<u64>| image.iter().position(|word| *word != 0).unwrap();
    assert!(shown[2..6].windows(2).all(|pair| single(&pair[1]) - single(&pair[0]) == WORDS / 4));
    assert_eq!(all(done(&run).images(Model::T, 2, 3)), shown[..2]);
    let first = |seed| single(&all(done(&run).images(Model::T, 10, seed))[2]);
    assert!((0..8).any(|seed| first(seed) != first(8)), "another seed, other words");
}

#[test]
fn a_seed_is_always_the_same_images() {
    let run = everywhere();
    let images = |seed| all(done(&run).images(Model::X, 100, seed));
    assert_eq!(images(1), images(1));
    assert_ne!(images(1), images(2));
    let later = [&run[..], &[note(0)]].concat();
    assert_ne!(images(1), all(done(&later).images(Model::X, 100, 1)), "another cut, other images");
}

#[test]
fn each_model_shows_what_the_one_before_it_shows() {
    let run = [store(0, 0, &[1, 2]), store(0, 8, &[3]), store(0, 56, &[4, 5])];
    let images =
        |model| all(done(&run).images(model, BUDGET, 0)).into_iter().collect::<HashSet<_>>();
    let [k, x, t] = Model::ALL.map(images);
    assert!(k.is_subset(&x) && x.is_subset(&t) && k.len() < x.len() && x.len() < t.len());
}
