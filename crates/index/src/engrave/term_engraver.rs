//! Engraves the terms of a segment, some at a time. It gathers them from the DRAM dictionary by
//! ordinal, the order of their records. Then it writes them in the order of their hashes, in which
//! they are [merged](crate::merge).

use std::ops::Range;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use spirit_door::Site;
use spirit_mem::{Region, Span};

use crate::engrave::order_engraver::OrderEngraver;
use crate::form::engraved_terms::{TERM_HASH_BYTES, TERM_KEY_BYTES, hash_bytes};
use crate::form::node::{NODE_BYTES, Node};
use crate::ground::ids::SegmentId;
use crate::ground::section::{Kind, Section, Sections};
use crate::ground::term::TermKey;
use crate::memory::Memory;
use crate::terms::dictionary::{Dictionary, TermId};
use crate::terms::entries::Entry;
use crate::tier::Nvm;

/// Number of terms of one step.
pub(crate) const GROUP: usize = 1024;
/// Prefetch distance in terms: a term's newest entry is prefetched this many terms ahead, and its
/// record twice as many.
const AHEAD: usize = 12;

/// The facts about a term that are written.
#[derive(Clone, Copy, Debug)]
struct Gathered {
    key: TermKey,
    /// Offset of a long term's bytes in the gathered bytes.
    long: usize,
    ordinal: u32,
    entry: Entry,
}

/// The terms of a segment on their way to the second tier.
#[derive(Debug)]
pub(crate) struct TermEngraver {
    segment: SegmentId,
    /// The dictionary's number of each ordinal.
    map: Span<AtomicU32>,
    /// The next ordinal to gather.
    next: usize,
    terms: Vec<Gathered>,
    longs: Vec<u8>,
    /// A word per term: the low half of its hash (high half), and its index in `terms` (low half).
    /// Ascending once all are gathered.
    order: Vec<u64>,
    /// Number of terms written, and number of bytes of long terms written.
    written: usize,
    long_at: u64,
}

impl TermEngraver {
    /// Makes the engraver of a segment. `map` has the numbers of its ordinals.
    pub(crate) fn new(segment: SegmentId, map: Span<AtomicU32>) -> TermEngraver {
        let count = map.len() as usize;
        TermEngraver {
            segment,
            map,
            next: 0,
            terms: Vec::with_capacity(count),
            longs: Vec::new(),
            order: Vec::with_capacity(count),
            written: 0,
            long_at: 0,
        }
    }

    /// Gathers or writes some terms. Returns true if all are written. The sections are then cut to
    /// their contents. They may be smaller than planned, since terms whose only document was broken
    /// off have no postings.
    pub(crate) fn advance(&mut self, memory: &Memory, nvm: &Nvm, sections: &mut Sections) -> bool {
        if self.next < self.map.len() as usize {
            self.gather(memory);
            if self.next == self.map.len() as usize {
                self.order.sort_unstable();
            }
        } else if self.written < self.order.len() {
            self.write(memory.region(), nvm, sections);
        } else {
            self.end(sections);
            return true;
        }
        false
    }

    /// Returns the engraver of the terms' order by bytes. All terms are written.
    pub(crate) fn into_order(self) -> OrderEngraver {
        let ordinals = self.order.iter().map(|word| self.terms[*word as u32 as usize].ordinal);
        OrderEngraver::new(self.map.len() as usize, ordinals)
    }

    fn gather(&mut self, memory: &Memory) {
        let dictionary = Dictionary::new(memory.region(), memory.geometry());
        let end = (self.map.len() as usize).min(self.next + GROUP);
        let mut bytes = Vec::new();
        each_entry(memory, self.segment, self.map, self.next..end, |ordinal, id, entry| {
            let key = dictionary.key(id, &mut bytes);
            let place = self.terms.len() as u64;
            self.order.push((key.hash() & 0xFFFF_FFFF) << 32 | place);
            self.terms.push(Gathered { key, long: self.longs.len(), ordinal, entry });
            self.longs.extend_from_slice(&bytes);
        });
        self.next = end;
    }

    fn write(&mut self, region: &Region, nvm: &Nvm, sections: &Sections) {
        let end = self.order.len().min(self.written + GROUP);
        let (mut hashes, mut keys, mut nodes) = (Vec::new(), Vec::new(), Vec::new());
        let mut longs = Vec::new();
        for word in &self.order[self.written..end] {
            let Gathered { key, long, ordinal, entry } = self.terms[*word as u32 as usize];
            let long_at = self.long_at + longs.len() as u64;
            if key.is_long() {
                longs.extend_from_slice(&self.longs[long..long + key.len()]);
                longs.resize(longs.len().next_multiple_of(8), 0);
            }
            let node = Node::new(entry, ordinal, key);
            hashes.extend_from_slice(&((word >> 32) as u32).to_le_bytes());
            put(&mut keys, [key.low, key.high, long_at]);
            put(&mut nodes, node.words());
        }
        hashes.resize(hashes.len().next_multiple_of(8), 0);
        let first = self.written as u64;
        for (kind, at, bytes) in [
            (Kind::TermHashes, first * TERM_HASH_BYTES, &hashes),
            (Kind::TermKeys, first * TERM_KEY_BYTES, &keys),
            (Kind::Nodes, first * NODE_BYTES, &nodes),
            (Kind::LongTerms, self.long_at, &longs),
        ] {
            if !bytes.is_empty() {
                let at = sections.get(kind).start + at;
                nvm.door().write(Site::BodyWords, region, at, bytes);
                nvm.door().write_back(Site::BodyWriteBack, region, at, bytes.len() as u64);
            }
        }
        self.written = end;
        self.long_at += longs.len() as u64;
    }

    fn end(&self, sections: &mut Sections) {
        let terms = self.order.len() as u64;
        for (kind, bytes) in [
            (Kind::TermHashes, hash_bytes(terms)),
            (Kind::TermKeys, terms * TERM_KEY_BYTES),
            (Kind::Nodes, terms * NODE_BYTES),
            (Kind::LongTerms, self.long_at),
        ] {
            sections.set(kind, Section { bytes, ..sections.get(kind) });
        }
    }
}

/// Calls `found` with each of the segment's ordinals in `ordinals` that has postings. It passes the
/// term's number and its entry, both from the DRAM dictionary. `map` has the numbers.
pub(crate) fn each_entry(
    memory: &Memory,
    segment: SegmentId,
    map: Span<AtomicU32>,
    ordinals: Range<usize>,
    mut found: impl FnMut(u32, TermId, Entry),
) {
    let region = memory.region();
    // A flush in another thread may give a term a new array and reuse the old one.
    let _writer = memory.dictionary();
    let dictionary = Dictionary::new(region, memory.geometry());
    let map = region.view(map);
    let id_at = |ordinal: usize| {
        map.get(ordinal).map(|id| TermId(id.load(Relaxed))).filter(|id| *id != TermId::NONE)
    };
    for ordinal in ordinals {
        id_at(ordinal + 2 * AHEAD).inspect(|id| dictionary.prefetch_record(*id));
        id_at(ordinal + AHEAD).inspect(|id| dictionary.prefetch_newest(*id));
        let Some(id) = id_at(ordinal) else { continue };
        let entries = dictionary.entries(id);
        let index = entries.rfind(region, segment);
        let entry = entries.get(region, index.expect("a registered term has its entry"));
        found(ordinal as u32, id, entry);
    }
}

fn put<const N: usize>(bytes: &mut Vec<u8>, words: [u64; N]) {
    bytes.extend_from_slice(words.map(u64::to_le_bytes).as_flattened());
}
