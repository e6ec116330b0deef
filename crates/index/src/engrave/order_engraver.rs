//! Engraves the [order](crate::terms::term_order) of a segment's terms, some terms at a time. It is
//! a copy of the flushed order, but its numbers are those of nodes.

use spirit_door::Site;
use spirit_mem::Region;

use crate::ground::section::{Kind, Section, Sections};
use crate::terms::term_order::{Leads, TermOrder, head_of, order_bytes, places};
use crate::tier::Nvm;

/// Number of terms of one step. It is even, so that each step begins with a whole word.
const GROUP: usize = 8192;

/// The order of a segment's terms on its way to the second tier.
#[derive(Debug)]
pub(crate) struct OrderEngraver {
    /// The node of each ordinal that has one.
    nodes: Vec<u32>,
    written: usize,
}

impl OrderEngraver {
    /// Makes the engraver of the order of `terms` terms. `ordinals` yields the ordinal of each
    /// node.
    pub(crate) fn new(terms: usize, ordinals: impl Iterator<Item = u32>) -> OrderEngraver {
        let mut nodes = vec![0; terms];
        for (node, ordinal) in (0..).zip(ordinals) {
            nodes[ordinal as usize] = node;
        }
        OrderEngraver { nodes, written: 0 }
    }

    /// Writes some of `order`, which is in DRAM. Returns true if all is written. The section is cut
    /// to the order's size.
    pub(crate) fn advance(
        &mut self,
        region: &Region,
        nvm: &Nvm,
        order: TermOrder<'_>,
        sections: &mut Sections,
    ) -> bool {
        let section = sections.get(Kind::TermOrder);
        let terms = order.len() as u64;
        if self.written == 0 {
            let starts = [Kind::Nodes, Kind::TermKeys, Kind::LongTerms];
            let starts = starts.map(|kind| sections.get(kind).start);
            put(region, nvm, section.start, &head_of(terms, Leads::Nodes(starts)));
            sections.set(Kind::TermOrder, Section { bytes: order_bytes(terms), ..section });
        }
        let end = order.len().min(self.written + GROUP);
        let part = self.written..end;
        let (prefixes, numbers) = places(section.start, terms);
        let words: Vec<u64> = part.clone().map(|index| order.prefix(index)).collect();
        put(region, nvm, prefixes.start() + part.start as u64 * 8, &words);
        let node = |index| self.nodes[order.number(index) as usize] as u64;
        let pair = |index| node(index) | if index + 1 < end { node(index + 1) << 32 } else { 0 };
        let words: Vec<u64> = part.clone().step_by(2).map(pair).collect();
        put(region, nvm, numbers.start() + part.start as u64 * 4, &words);
        self.written = end;
        end == order.len()
    }
}

fn put(region: &Region, nvm: &Nvm, at: u64, words: &[u64]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    if !bytes.is_empty() {
        nvm.door().write(Site::BodyWords, region, at, &bytes);
        nvm.door().write_back(Site::BodyWriteBack, region, at, bytes.len() as u64);
    }
}
