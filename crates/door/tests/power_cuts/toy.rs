//! The toy: a log of checked records, and a list of nodes that a published head leads to.
//!
//! | bytes | what |
//! |---|---|
//! | 0 .. 8 | head: offset of the newest node, 0 before the first |
//! | [`NODES`] .. [`LOG`] | nodes: offset of the next older one, words, operation, words of the operation |
//! | [`LOG`] .. [`END`] | records: words, sequence, operation, words of the operation, check over all before it |
//!
//! A record is good if its check is, so its words may arrive in any order; a node has no check, so it must be durable
//! before the head leads to it.

use std::sync::Arc;

use spirit_door::trace::Trace;
use spirit_door::{Barrier, Door, Site};
use spirit_mem::{Region, Residency};

pub(crate) const NODES: u64 = 64;
pub(crate) const LOG: u64 = 8 << 10;
pub(crate) const END: u64 = 24 << 10;

/// A mistake in the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bug {
    /// Records are not written back.
    RecordStays,
    /// A record is acknowledged without a fence.
    AcknowledgedEarly,
    /// The head leads to a node that is not yet durable.
    PublishedEarly,
    /// The head is not written back.
    HeadStays,
    /// Another thread than the one that wrote back has fenced.
    FencedElsewhere,
}

pub(crate) struct Toy {
    pub(crate) region: Region,
    door: Door,
    bug: Option<Bug>,
    sequence: u64,
    head: u64,
    nodes_end: u64,
    log_end: u64,
}

impl Toy {
    pub(crate) fn new(trace: Arc<Trace>, bug: Option<Bug>) -> Toy {
        let region = Region::reserve(END, Residency::OnTouch).unwrap();
        let door = Door::new(Barrier::WriteBack).traced(0, trace);
        Toy { region, door, bug, sequence: 0, head: 0, nodes_end: NODES, log_end: LOG }
    }

    fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    /// Appends a record of `operation` to the log. It is durable on return.
    pub(crate) fn append(&mut self, operation: u64) {
        let words = words_of(operation);
        self.sequence += 1;
        let mut record = vec![words.len() as u64, self.sequence, operation];
        record.extend(words);
        record.push(check(&record));
        let (at, bytes) = (self.log_end, self.write(Site::LogRecord, self.log_end, &record));
        assert!(at + bytes <= END, "the log is full");
        self.log_end += bytes;
        if !self.has(Bug::RecordStays) {
            self.door.write_back(Site::LogWriteBack, &self.region, at, bytes);
        }
        if self.has(Bug::FencedElsewhere) {
            std::thread::scope(|scope| {
                scope.spawn(|| self.door.fence(Site::LogFence, &self.region)).join()
            })
            .unwrap();
        } else if !self.has(Bug::AcknowledgedEarly) {
            self.door.fence(Site::LogFence, &self.region);
        }
    }

    /// Puts a node of `operation` before the others. It is durable on return.
    pub(crate) fn push(&mut self, operation: u64) {
        let words = words_of(operation);
        let node = [&[self.head, words.len() as u64, operation], &words[..]].concat();
        let (at, bytes) = (self.nodes_end, self.write(Site::BodyWords, self.nodes_end, &node));
        assert!(at + bytes <= LOG, "there is no room for nodes");
        self.nodes_end += bytes;
        if self.has(Bug::PublishedEarly) {
            self.door.publish(Site::Mark, &self.region, 0, at);
        }
        self.door.write_back(Site::BodyWriteBack, &self.region, at, bytes);
        self.door.fence(Site::BodyFence, &self.region);
        if !self.has(Bug::PublishedEarly) {
            self.door.publish(Site::Mark, &self.region, 0, at);
        }
        self.head = at;
        if !self.has(Bug::HeadStays) {
            self.door.write_back(Site::MarkWriteBack, &self.region, 0, 8);
        }
        self.door.fence(Site::MarkFence, &self.region);
    }

    /// Writes words, and says how many bytes they are.
    fn write(&self, site: Site, at: u64, words: &[u64]) -> u64 {
        let bytes: Vec<u8> = words.iter().copied().flat_map(u64::to_le_bytes).collect();
        self.door.write(site, &self.region, at, &bytes);
        bytes.len() as u64
    }
}

/// What an operation stores: 1 to 11 words, none of them 0.
pub(crate) fn words_of(operation: u64) -> Vec<u64> {
    let count = 1 + operation * 7 % 11;
    (1..=count).map(|word| operation << 8 | word).collect()
}

/// Depends on each word and its place (FNV-1a by words, then folded).
pub(crate) fn check(words: &[u64]) -> u64 {
    let step =
        |hash: u64, word: &u64| (hash ^ word).wrapping_mul(0x0000_0100_0000_01B3).rotate_left(29);
    words.iter().fold(0xCBF2_9CE4_8422_2325, step)
}
