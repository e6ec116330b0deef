//! Traces written by hand, of one space of [`WORDS`] zeros.

use spirit_door::Site;
use spirit_door::sim::{Image, Images, Model, Simulator};
use spirit_door::trace::{Action, Event};

pub(crate) const WORDS: usize = 64;
pub(crate) const BUDGET: usize = 1 << 12;

fn event(thread: u8, site: Option<Site>, action: Action) -> Event {
    Event { space: 0, thread, site, action }
}

pub(crate) fn store(thread: u8, at: u64, words: &[u64]) -> Event {
    event(thread, Some(Site::LogRecord), Action::Store { at, words: words.into() })
}

pub(crate) fn publish(thread: u8, at: u64, word: u64) -> Event {
    event(thread, Some(Site::Mark), Action::Publish { at, word })
}

pub(crate) fn write_back(thread: u8, at: u64, bytes: u64) -> Event {
    event(thread, Some(Site::LogWriteBack), Action::WriteBack { at, bytes })
}

pub(crate) fn fence(thread: u8) -> Event {
    event(thread, Some(Site::LogFence), Action::Fence)
}

pub(crate) fn sync() -> Event {
    event(0, Some(Site::OpenSync), Action::Sync)
}

pub(crate) fn note(note: u64) -> Event {
    event(0, None, Action::Note(note))
}

pub(crate) fn zeros() -> Image {
    Image::new(vec![vec![0; WORDS]])
}

/// A simulator that has done all of `events`.
pub(crate) fn done(events: &[Event]) -> Simulator<'_> {
    let mut simulator = Simulator::new(zeros(), events, None);
    simulator.advance_to(events.len());
    simulator
}

/// The first space of every image, in order.
pub(crate) fn all(mut images: Images<'_>) -> Vec<Vec<u64>> {
    let mut all = Vec::new();
    while let Some(image) = images.next_image() {
        all.push(image.words(0).to_vec());
    }
    all
}

/// What the words at `indices` may be after `events`, sorted.
pub(crate) fn outcomes<const N: usize>(
    events: &[Event],
    model: Model,
    indices: [usize; N],
) -> Vec<[u64; N]> {
    let images = all(done(events).images(model, BUDGET, 0));
    let mut outcomes: Vec<_> =
        images.iter().map(|image| indices.map(|index| image[index])).collect();
    outcomes.sort_unstable();
    outcomes
}
