//! Pending stores: done but possibly not durable, by their line.

use std::collections::BTreeMap;
use std::ops::Range;

use spirit_mem::line::LINE_BYTES;

use super::Model;
use super::image::{Change, WORD_BYTES};
use super::overlay::Overlay;

const LINE_WORDS: usize = LINE_BYTES / WORD_BYTES as usize;

/// The amount that is possibly not durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// The number of lines with a pending store.
    pub lines: usize,
    /// The number of words with a pending store.
    pub words: usize,
}

/// A line of a space: the space, and the line's number in it.
type Line = (u8, usize);

#[derive(Debug)]
struct Store {
    /// The number of the store in the run.
    number: u64,
    thread: u8,
    change: Change,
}

/// A write-back of a thread: on `line`, of the stores before `number`.
#[derive(Debug)]
struct Sent {
    line: Line,
    number: u64,
}

/// All pending stores.
#[derive(Debug, Default)]
pub(super) struct PendingStores {
    /// The stores of each line, in program order; no line is empty.
    lines: BTreeMap<Line, Vec<Store>>,
    /// The write-backs of each thread since its last fence.
    sent: BTreeMap<u8, Vec<Sent>>,
    /// The number of the next store.
    next: u64,
    /// The number of the last event's first store.
    event: u64,
}

impl PendingStores {
    /// Begins the next event.
    pub(super) fn begin_event(&mut self) {
        self.event = self.next;
    }

    pub(super) fn store(&mut self, thread: u8, change: Change) {
        let store = Store { number: self.next, thread, change };
        self.next += 1;
        self.lines.entry((change.space, change.index / LINE_WORDS)).or_default().push(store);
    }

    /// Writes back the lines of `bytes`. True if any had a pending store.
    pub(super) fn write_back(&mut self, thread: u8, space: u8, bytes: Range<u64>) -> bool {
        if bytes.is_empty() {
            return false;
        }
        let line = LINE_BYTES as u64;
        let (first, last) = ((bytes.start / line) as usize, ((bytes.end - 1) / line) as usize);
        let lines = self.lines.range((space, first)..=(space, last)).map(|(line, _)| *line);
        let sent: Vec<Sent> = lines.map(|line| Sent { line, number: self.next }).collect();
        let dirty = !sent.is_empty();
        self.sent.entry(thread).or_default().extend(sent);
        dirty
    }

    /// Ends the thread's pending write-backs. True if it had written back anything.
    pub(super) fn fence(&mut self, thread: u8) -> bool {
        let sent = self.sent.remove(&thread).unwrap_or_default();
        for Sent { line, number } in &sent {
            // Another thread may have fenced the line meanwhile.
            let Some(stores) = self.lines.get_mut(line) else { continue };
            stores.retain(|store| store.number >= *number);
            if stores.is_empty() {
                self.lines.remove(line);
            }
        }
        !sent.is_empty()
    }

    /// Makes all stores of all threads durable.
    pub(super) fn sync(&mut self) {
        self.lines.clear();
    }

    /// Returns a word, as space and index, that `thread` has pending and that is not `published`.
    pub(super) fn uncovered(&self, thread: u8, published: (u8, usize)) -> Option<(u8, usize)> {
        let stores = self.lines.values().flatten().filter(|store| store.thread == thread);
        let mut words = stores.map(|store| (store.change.space, store.change.index));
        words.find(|word| *word != published)
    }

    /// Adds the groups of `model` to `overlay`.
    pub(super) fn group(&self, model: Model, overlay: &mut Overlay<'_>) {
        let last_event = |store: &&Store| store.number >= self.event;
        match model {
            Model::K => overlay.add(changes(self.lines.values().flatten().filter(last_event))),
            Model::X => self.lines.values().for_each(|line| overlay.add(changes(line.iter()))),
            Model::T => self.lines.values().for_each(|line| add_words(line, overlay)),
        }
    }

    pub(super) fn count(&self) -> Pending {
        let words = |line: &Vec<Store>| {
            (0..LINE_WORDS).filter(|word| on_word(line, *word).next().is_some()).count()
        };
        Pending { lines: self.lines.len(), words: self.lines.values().map(words).sum() }
    }
}

fn add_words(line: &[Store], overlay: &mut Overlay<'_>) {
    for word in 0..LINE_WORDS {
        overlay.add(changes(on_word(line, word)));
    }
}

/// Iterates over the stores to one word of a line.
fn on_word(line: &[Store], word: usize) -> impl Iterator<Item = &Store> {
    line.iter().filter(move |store| store.change.index % LINE_WORDS == word)
}

fn changes<'s>(stores: impl Iterator<Item = &'s Store>) -> impl Iterator<Item = &'s Change> {
    stores.map(|store| &store.change)
}
