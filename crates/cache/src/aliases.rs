//! Aliases: further names of entries, by which other questions find them.
//!
//! An alias is a hash, with no words to compare. It leads to entries that may answer a question,
//! the one that came last first. A reader then looks at the key that is stored with the entry.
//!
//! | part | what |
//! |---|---|
//! | heads | for each bucket, one more than the number of its first node; 0: none |
//! | nodes | two words each, below; those of an entry are neighbours |
//!
//! | word of a node | low half | high half |
//! |---|---|---|
//! | 0 | the alias | |
//! | 1 | one more than the next node's number | one more than the number of the node before, [`FIRST`], or 0: in no chain |
//!
//! Nodes have no stamp. They only lead to an entry, and a reader believes nothing before it has
//! compared that entry's [stamp](crate::stamp) and key. Nodes may leave the chain meanwhile and
//! enter another one, so a reader may get lost. Then it finds nothing, or it finds another entry,
//! whose key does not suit. A chain may be long, since many entries may have one alias. So a node
//! knows the one before, and leaves in constant time; a reader takes a bounded number of steps.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};

use spirit_mem::{Region, Span};

/// Words of a node.
const NODE_WORDS: u64 = 2;
/// Nodes of a chain that a reader visits, at most.
const STEPS_MAX: usize = 32;
/// There is no node before: the bucket leads to it.
const FIRST: u32 = u32::MAX;
const LOW: u64 = u32::MAX as u64;

/// The places of the aliases in a cache's region.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aliases {
    heads: Span<AtomicU32>,
    nodes: Span<AtomicU64>,
    /// Aliases of an entry, at most.
    each: u32,
}

impl Aliases {
    /// Returns the place for `each` aliases of this many entries. It begins at byte `at`, a multiple
    /// of 8, and takes nothing if `each` is 0.
    pub(crate) fn new(at: u64, entries: u32, each: u32) -> Aliases {
        let count = u64::from(entries) * u64::from(each);
        let nodes = Span::new(at, count * NODE_WORDS);
        let buckets = if each == 0 { 0 } else { count.next_power_of_two().max(2) };
        Aliases { heads: Span::new(nodes.end(), buckets), nodes, each }
    }

    /// Returns the offset behind it.
    pub(crate) fn end(&self) -> u64 {
        self.heads.end()
    }

    /// Lets `read` read entries with an alias, the one that came last first, until it finds
    /// something.
    pub(crate) fn find<T>(
        &self,
        region: &Region,
        alias: u64,
        mut read: impl FnMut(u32) -> Option<T>,
    ) -> Option<T> {
        let mut next = self.head(region, alias)?.load(Acquire);
        for _ in 0..STEPS_MAX {
            let node = next.checked_sub(1)?;
            let words = self.node(region, node)?;
            if words[0].load(Acquire) == alias
                && let Some(found) = read(node / self.each)
            {
                return Some(found);
            }
            next = words[1].load(Acquire) as u32;
        }
        None
    }

    /// Names an entry that has no aliases. The owner alone calls this and all that follow. Aliases
    /// beyond those that an entry may have are left out, and so are equal ones.
    pub(crate) fn link(&self, region: &Region, entry: u32, aliases: &[u64]) {
        for (number, alias) in aliases.iter().take(self.each as usize).enumerate() {
            if !aliases[..number].contains(alias) {
                self.link_one(region, entry * self.each + number as u32, *alias);
            }
        }
    }

    /// Takes all aliases from an entry.
    pub(crate) fn unlink(&self, region: &Region, entry: u32) {
        for number in 0..self.each {
            self.unlink_one(region, entry * self.each + number);
        }
    }

    fn link_one(&self, region: &Region, node: u32, alias: u64) {
        let Some(head) = self.head(region, alias) else { return };
        let (words, first) = (self.words(region, node), head.load(Relaxed));
        words[0].store(alias, Release);
        words[1].store(u64::from(first) | u64::from(FIRST) << 32, Release);
        head.store(node + 1, Release);
        if first > 0 {
            self.set_before(region, first - 1, node + 1);
        }
    }

    fn unlink_one(&self, region: &Region, node: u32) {
        let words = self.words(region, node);
        let links = words[1].load(Relaxed);
        let (next, before) = (links as u32, (links >> 32) as u32);
        match before {
            0 => return,
            FIRST => {
                let alias = words[0].load(Relaxed);
                self.head(region, alias).into_iter().for_each(|head| head.store(next, Release));
            }
            _ => {
                let link = &self.words(region, before - 1)[1];
                link.store(link.load(Relaxed) & !LOW | u64::from(next), Release);
            }
        }
        if next > 0 {
            self.set_before(region, next - 1, before);
        }
        // A reader that stands here goes on.
        words[1].store(u64::from(next), Release);
    }

    fn set_before(&self, region: &Region, node: u32, before: u32) {
        let link = &self.words(region, node)[1];
        link.store(link.load(Relaxed) & LOW | u64::from(before) << 32, Release);
    }

    /// Returns the head of an alias' bucket, if entries have aliases.
    fn head<'r>(&self, region: &'r Region, alias: u64) -> Option<&'r AtomicU32> {
        let heads = region.dram(self.heads);
        heads.get((alias >> 32) as usize & heads.len().checked_sub(1)?)
    }

    fn words<'r>(&self, region: &'r Region, node: u32) -> &'r [AtomicU64] {
        self.node(region, node).expect("the owner knows the nodes' numbers")
    }

    fn node<'r>(&self, region: &'r Region, node: u32) -> Option<&'r [AtomicU64]> {
        let first = node as usize * NODE_WORDS as usize;
        region.dram(self.nodes).get(first..first + NODE_WORDS as usize)
    }
}
