//! The rules that hold between two calls of [`Dlirs`].

use super::{Counts, Dlirs, ONLY, State};
use crate::policy::{Policy, require};

impl Dlirs {
    /// Returns a rule that is broken, if one is. Walks all nodes: for tests.
    pub fn check(&self) -> Result<(), &'static str> {
        let is_used = |node: &u32| !self.free_nodes.is_free(*node);
        (0..self.nodes.len() as u32).filter(is_used).try_for_each(|node| self.check_node(node))?;
        self.check_stack()?;
        self.check_counts()
    }

    /// A node is where its state says, and is found there.
    fn check_node(&self, number: u32) -> Result<(), &'static str> {
        let node = self.nodes[number as usize];
        let lists = [&self.stack, &self.hirs, &self.queue].map(|list| list.contains(number));
        let is_placed = match node.state {
            State::Lir => lists == [true, false, false],
            State::Demoted => lists == [false, false, true],
            State::Ghost => lists == [true, true, false],
            State::Hir => lists[0] == lists[1] && lists[2],
        };
        require(is_placed, "a node's state says in which lists it is")?;
        let is_found = match node.state {
            State::Ghost => self.ghosts.find(|n| self.nodes[n as usize].key, node.key).is_some(),
            _ => self.entries.get(node.entry as usize) == Some(&number),
        };
        require(is_found, "an entry leads to its node, and a ghost's key to a ghost")
    }

    /// S and H are right as a whole.
    fn check_stack(&self) -> Result<(), &'static str> {
        let is_lir = |node: &u32| self.nodes[*node as usize].state == State::Lir;
        let bottom = self.stack.first(ONLY);
        require(bottom.is_none_or(|node| is_lir(&node)), "the bottom of S is LIR")?;
        let hirs = self.stack.nodes(ONLY).filter(|node| !is_lir(node));
        require(hirs.eq(self.hirs.nodes(ONLY)), "H has the HIR of S in their order")
    }

    /// Counts and shares are right.
    fn check_counts(&self) -> Result<(), &'static str> {
        let mut counts = Counts::default();
        for node in self.stack.nodes(ONLY) {
            counts.lir += u32::from(self.nodes[node as usize].state == State::Lir);
            counts.ghosts += u32::from(self.nodes[node as usize].state == State::Ghost);
        }
        for node in self.queue.nodes(ONLY) {
            counts.hir += 1;
            counts.demoted += u32::from(self.nodes[node as usize].state == State::Demoted);
        }
        let known = counts.entries() + counts.ghosts;
        require(counts == self.counts, "nodes are counted")?;
        require(counts.entries() <= self.capacity(), "entries are at most the capacity")?;
        require(known <= 2 * self.capacity(), "entries and ghosts are at most twice that")?;
        require(known == self.free_nodes.used(), "all other nodes are free")?;
        require(counts.entries() == self.free_entries.used(), "all other entries are free")?;
        require(counts.ghosts as usize == self.ghosts.len(), "the table has the ghosts")?;
        require(self.lir + self.hir == self.capacity(), "the shares add up to the capacity")?;
        require(self.hir >= 1 && (self.lir >= 1 || self.capacity() == 1), "no share is empty")
    }
}
