//! A run of the toy, written down with what was asked of it and what it has acknowledged.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use spirit_door::sim::Image;
use spirit_door::trace::{Event, Trace};
use spirit_mem::Span;

use crate::toy::{Bug, END, Toy};

/// What a note says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    Started(u64),
    Acknowledged(u64),
}

impl Said {
    fn note(self) -> u64 {
        match self {
            Said::Started(operation) => operation << 1,
            Said::Acknowledged(operation) => operation << 1 | 1,
        }
    }

    pub(crate) fn of(note: u64) -> Said {
        let operation = note >> 1;
        if note & 1 == 0 { Said::Started(operation) } else { Said::Acknowledged(operation) }
    }
}

/// Every third operation is a push, the others are appends.
pub(crate) fn is_push(operation: u64) -> bool {
    operation % 3 == 2
}

/// What the medium holds before the first operation.
pub(crate) fn empty() -> Image {
    Image::new(vec![vec![0; END as usize / 8]])
}

/// What is in memory.
pub(crate) fn memory(toy: &Toy) -> Vec<u64> {
    let words = toy.region.view(Span::<AtomicU64>::new(0, END / 8));
    words.iter().map(|word| word.load(Relaxed)).collect()
}

/// Does `operations` operations, counted from `first`.
pub(crate) fn run(first: u64, operations: u64, bug: Option<Bug>) -> Vec<Event> {
    let trace = Arc::new(Trace::default());
    let mut toy = Toy::new(trace.clone(), bug);
    for operation in first..first + operations {
        trace.note(Said::Started(operation).note());
        if is_push(operation) {
            toy.push(operation)
        } else {
            toy.append(operation)
        }
        trace.note(Said::Acknowledged(operation).note());
    }
    trace.take()
}
