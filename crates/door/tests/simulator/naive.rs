//! The naive twin: what may be on the medium, word for word as the definition says it, from the whole trace each time.

use std::collections::BTreeSet;

use proptest::prelude::*;
use spirit_door::Site;
use spirit_door::sim::{Image, Model, Simulator};
use spirit_door::trace::{Action, Event};

const SPACES: u8 = 2;
const WORDS: u64 = 16;
const LINE_WORDS: u64 = 8;

type Words = Vec<Vec<u64>>;

/// Every word stored so far, in order: event, space, word, value.
fn stores(events: &[Event]) -> Vec<(usize, u8, u64, u64)> {
    let mut stores = Vec::new();
    for (at, event) in events.iter().enumerate() {
        match &event.action {
            Action::Store { at: first, words } => {
                let words = (first / 8..).zip(words);
                stores.extend(words.map(|(word, value)| (at, event.space, word, *value)));
            }
            Action::Publish { at: word, word: value } => {
                stores.push((at, event.space, word / 8, *value))
            }
            _ => {}
        }
    }
    stores
}

/// Stores to a line before this event are durable: the last write-back of the line that its thread has fenced, or the last
/// sync of all lines.
fn durable_before(events: &[Event], space: u8, line: u64) -> usize {
    let fenced = |sent: usize| {
        let later = &events[sent + 1..];
        later
            .iter()
            .any(|event| event.thread == events[sent].thread && event.action == Action::Fence)
    };
    let sends = |event: &Event| match event.action {
        Action::WriteBack { at, bytes } => {
            event.space == space && bytes > 0 && at / 64 <= line && line <= (at + bytes - 1) / 64
        }
        _ => false,
    };
    let is_durable =
        |at: usize| events[at].action == Action::Sync || sends(&events[at]) && fenced(at);
    (0..events.len()).rev().find(|at| is_durable(*at)).unwrap_or(0)
}

/// Every image: for each line (X) or word (T) independently, a prefix of its stores that has at least the durable ones.
fn naive(events: &[Event], model: Model) -> BTreeSet<Words> {
    let words_each = if model == Model::X { LINE_WORDS } else { 1 };
    let stores = stores(events);
    let mut images = BTreeSet::from([vec![vec![0; WORDS as usize]; SPACES.into()]]);
    for (space, group) in
        (0..SPACES).flat_map(|space| (0..WORDS / words_each).map(move |group| (space, group)))
    {
        let durable = durable_before(events, space, group * words_each / LINE_WORDS);
        let mine = stores.iter().filter(|store| (store.1, store.2 / words_each) == (space, group));
        let mine: Vec<_> = mine.collect();
        let sure = mine.iter().filter(|store| store.0 < durable).count();
        let with = |image: &Words, prefix: usize| {
            let mut image = image.clone();
            for (_, space, word, value) in &mine[..prefix] {
                image[usize::from(*space)][*word as usize] = *value;
            }
            image
        };
        images = images
            .iter()
            .flat_map(|image| (sure..=mine.len()).map(|prefix| with(image, prefix)))
            .collect();
    }
    images
}

fn event() -> impl Strategy<Value = Event> {
    let values = prop::collection::vec(0..3u64, 1..4);
    let action = prop_oneof![
        3 => (0..WORDS - 3, values).prop_map(|(word, words)| Action::Store { at: word * 8, words: words.into() }),
        1 => (0..WORDS, 0..3u64).prop_map(|(word, value)| Action::Publish { at: word * 8, word: value }),
        2 => (0..WORDS * 8, 0..80u64).prop_map(|(at, bytes)| Action::WriteBack { at, bytes }),
        2 => Just(Action::Fence),
        1 => Just(Action::Sync),
    ];
    (0..SPACES, 0..2u8, action).prop_map(|(space, thread, action)| Event {
        space,
        thread,
        site: Some(Site::Body),
        action,
    })
}

/// The images that the simulator shows, and whether it says that these are all.
fn shown(simulator: &mut Simulator<'_>, model: Model, budget: usize) -> (Vec<Words>, bool) {
    let mut images = simulator.images(model, budget, 5);
    let exhaustive = images.is_exhaustive();
    let mut shown = Vec::new();
    while let Some(image) = images.next_image() {
        shown.push((0..SPACES).map(|space| image.words(space).to_vec()).collect());
    }
    (shown, exhaustive)
}

proptest! {
    #[test]
    fn images_are_those_of_the_naive_twin(events in prop::collection::vec(event(), 1..14)) {
        let zeros = Image::new(vec![vec![0; WORDS as usize]; SPACES.into()]);
        let mut simulator = Simulator::new(zeros, &events, None);
        while simulator.advance().is_some() {
            for (model, budget) in [(Model::X, 4096), (Model::T, 4096), (Model::X, 9), (Model::T, 9)] {
                if simulator.images(model, 0, 0).states() > 4096 {
                    continue;
                }
                let legal = naive(&events[..simulator.position()], model);
                let (shown, exhaustive) = shown(&mut simulator, model, budget);
                let distinct: BTreeSet<_> = shown.iter().cloned().collect();
                prop_assert_eq!(distinct.len(), shown.len());
                prop_assert!(distinct.is_subset(&legal));
                prop_assert!(distinct == legal || !exhaustive && shown.len() <= budget);
            }
        }
    }
}
