//! DLIRS (Li, SYSTOR 2018): LIRS (Jiang, Zhang, SIGMETRICS 2002), which finds its shares itself.
//!
//! An entry's *reuse distance* is the number of other keys between its last two requests. Entries
//! with a low distance are LIR. They fill most of the cache and do not leave it. The others are
//! HIR. They pass through a small rest, so that a loop larger than the cache does not flush it.
//!
//! | state | in S | in H | in Q | has an entry |
//! |---|---|---|---|---|
//! | LIR | yes | no | no | yes |
//! | HIR | perhaps | if in S | yes | yes |
//! | demoted: an HIR that was LIR, not found since | no | no | yes | yes |
//! | ghost: an HIR that left | yes | yes | no | no |
//!
//! The *stack* S is a list by recency. Its first node is the bottom. H has the HIR and ghosts of S,
//! in the same order. The *queue* Q has the entries that leave next, first its head. A node's
//! state, key and entry stand in the place of its number; a table leads from a ghost's key to its
//! node.
//!
//! 1. A LIR that is found goes to the top of S. S is *pruned*: HIR leave its bottom until a LIR is
//!    there.
//! 2. An HIR of S that is asked for again has a lower distance than the bottom LIR: it becomes LIR.
//!    For it the bottom LIR is demoted while the LIR fill their share. If it is a ghost, the
//!    share of HIR was too small, and grows.
//! 3. An entry that is found in Q only goes to the end of Q and on S. If it is demoted, the share
//!    of LIR was too small, and grows.
//! 4. A new key becomes LIR while they do not fill their share and there are no HIR; else HIR.
//!
//! The shares are the limits `hir` and `lir`. Their sum is the capacity; neither falls below one,
//! unless the capacity is one. A share grows by the ratio of ghosts and demoted entries, rounded,
//! at least by one. Ghosts and entries together are at most twice the capacity.
//!
//! Evictions and removals from outside can take the last LIR away, which DLIRS alone never does. S
//! is then empty. So this holds besides: an entry that would be put on an empty S as HIR becomes
//! LIR. Thus the bottom of S is always LIR. With a capacity of one the only entry is LIR too.

use super::index::Index;
use super::lists::Lists;
use super::numbers::Numbers;
use super::{Policy, possible};

mod check;

/// The only list of `stack`, `hirs` and `queue`.
const ONLY: u32 = 0;
/// No entry: a ghost's.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Lir,
    Hir,
    Demoted,
    Ghost,
}

#[derive(Clone, Copy)]
struct Node {
    key: u64,
    entry: u32,
    state: State,
}

/// The policy DLIRS.
pub struct Dlirs {
    /// Entries and ghosts, and one more for a key that is admitted before a ghost is forgotten.
    nodes: Box<[Node]>,
    free_nodes: Numbers,
    /// The node of each entry.
    entries: Box<[u32]>,
    free_entries: Numbers,
    /// S.
    stack: Lists,
    /// H.
    hirs: Lists,
    /// Q.
    queue: Lists,
    /// The ghosts by key.
    ghosts: Index,
    counts: Counts,
    /// The share of LIR.
    lir: u32,
    /// The share of HIR.
    hir: u32,
}

/// The number of nodes in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    lir: u32,
    /// Demoted ones too.
    hir: u32,
    demoted: u32,
    ghosts: u32,
}

impl Counts {
    fn entries(&self) -> u32 {
        self.lir + self.hir
    }
}

impl Dlirs {
    /// Returns an empty policy for `capacity` entries, at least 1 and at most
    /// [`CAPACITY_MAX`](super::CAPACITY_MAX). HIR get a hundredth of it at first.
    pub fn new(capacity: u32) -> Dlirs {
        let capacity = possible(capacity);
        let nodes = 2 * capacity + 1;
        let list = || Lists::new(nodes, 1);
        let unused = Node { key: 0, entry: NONE, state: State::Ghost };
        let hir = ((capacity + 50) / 100).max(1);
        Dlirs {
            nodes: vec![unused; nodes as usize].into(),
            free_nodes: Numbers::new(nodes),
            entries: vec![NONE; capacity as usize].into(),
            free_entries: Numbers::new(capacity),
            stack: list(),
            hirs: list(),
            queue: list(),
            ghosts: Index::new(nodes),
            counts: Counts::default(),
            lir: capacity - hir,
            hir,
        }
    }

    /// Returns the share of HIR, in entries. It changes with the requests.
    pub fn hir(&self) -> u32 {
        self.hir
    }

    /// Returns the number of ghosts.
    pub fn ghosts(&self) -> u32 {
        self.counts.ghosts
    }

    /// Case 2, for a node that has left S, H and Q and is no longer counted. Becomes LIR, after
    /// others made room. Both loops end: S has a LIR while one is counted, and Q an HIR if the LIR
    /// do not fill the cache.
    fn promote(&mut self, node: u32, evicted: &mut dyn FnMut(u32)) {
        while self.counts.lir >= self.lir.max(1) {
            self.demote();
        }
        self.make_room(evicted);
        self.become_lir(node);
    }

    /// Case 4, for a key that is not known.
    fn add(&mut self, key: u64, evicted: &mut dyn FnMut(u32)) -> Option<u32> {
        let is_full = self.counts.entries() == self.capacity();
        while is_full && self.counts.lir > self.lir {
            self.demote();
        }
        self.make_room(evicted);
        let node = self.free_nodes.take()?;
        self.nodes[node as usize] = Node { key, entry: NONE, state: State::Hir };
        let entry = self.enter(node)?;
        let has_room_for_lir = self.counts.lir < self.lir && self.counts.hir == 0;
        if has_room_for_lir || self.stack.first(ONLY).is_none() {
            self.become_lir(node);
        } else {
            self.nodes[node as usize].state = State::Hir;
            self.counts.hir += 1;
            self.queue.push(ONLY, node);
            self.stack_hir(node);
        }
        self.trim();
        Some(entry)
    }

    /// Case 3, for an entry that is in Q only.
    fn renew(&mut self, node: u32) {
        if self.nodes[node as usize].state == State::Demoted {
            self.grow_lir();
            self.nodes[node as usize].state = State::Hir;
            self.counts.demoted -= 1;
        }
        if self.stack.first(ONLY).is_none() {
            self.queue.remove(node);
            self.counts.hir -= 1;
            self.become_lir(node);
        } else {
            self.queue.renew(ONLY, node);
            self.stack_hir(node);
        }
    }

    /// Gives a free entry to a node.
    fn enter(&mut self, node: u32) -> Option<u32> {
        let entry = self.free_entries.take()?;
        self.entries[entry as usize] = node;
        self.nodes[node as usize].entry = entry;
        Some(entry)
    }

    /// Puts a node on top of S as LIR.
    fn become_lir(&mut self, node: u32) {
        self.nodes[node as usize].state = State::Lir;
        self.counts.lir += 1;
        self.stack.push(ONLY, node);
    }

    /// Puts an HIR on top of S and at the end of H.
    fn stack_hir(&mut self, node: u32) {
        self.stack.push(ONLY, node);
        self.hirs.push(ONLY, node);
    }

    /// Takes the oldest of H out of S until entries and ghosts are at most twice the capacity. That
    /// ends, for entries alone are fewer.
    fn trim(&mut self) {
        while self.counts.entries() + self.counts.ghosts > 2 * self.capacity() {
            let Some(oldest) = self.hirs.first(ONLY) else { break };
            self.unstack_hir(oldest);
        }
    }

    /// Takes an HIR out of S and H. A ghost is forgotten.
    fn unstack_hir(&mut self, node: u32) {
        self.stack.remove(node);
        self.hirs.remove(node);
        if self.nodes[node as usize].state == State::Ghost {
            self.remove_ghost(node);
            self.free_nodes.give(node);
        }
    }

    /// Takes HIR out of the bottom of S until a LIR is there.
    fn prune(&mut self) {
        while let Some(bottom) = self.stack.first(ONLY)
            && self.nodes[bottom as usize].state != State::Lir
        {
            self.unstack_hir(bottom);
        }
    }

    /// Moves the bottom LIR to the end of Q.
    fn demote(&mut self) {
        let Some(bottom) = self.stack.first(ONLY) else { return };
        debug_assert_eq!(self.nodes[bottom as usize].state, State::Lir);
        self.stack.remove(bottom);
        self.queue.push(ONLY, bottom);
        self.nodes[bottom as usize].state = State::Demoted;
        self.counts.lir -= 1;
        self.counts.hir += 1;
        self.counts.demoted += 1;
        self.prune();
    }

    /// Evicts the head of Q while the cache is full.
    fn make_room(&mut self, evicted: &mut dyn FnMut(u32)) {
        while self.counts.entries() == self.capacity()
            && let Some(entry) = self.evict_head()
        {
            evicted(entry);
        }
    }

    /// Evicts the head of Q. It stays in S as a ghost, if it is there.
    fn evict_head(&mut self) -> Option<u32> {
        let head = self.queue.first(ONLY)?;
        self.queue.remove(head);
        self.uncount_hir(head);
        let entry = self.leave(head);
        if self.stack.contains(head) {
            self.become_ghost(head);
        } else {
            self.free_nodes.give(head);
        }
        Some(entry)
    }

    /// Takes a node's entry away, and returns it.
    fn leave(&mut self, node: u32) -> u32 {
        let entry = std::mem::replace(&mut self.nodes[node as usize].entry, NONE);
        self.free_entries.give(entry);
        entry
    }

    fn uncount_hir(&mut self, node: u32) {
        self.counts.hir -= 1;
        self.counts.demoted -= u32::from(self.nodes[node as usize].state == State::Demoted);
    }

    /// Makes a node of S a ghost.
    fn become_ghost(&mut self, node: u32) {
        self.nodes[node as usize].state = State::Ghost;
        self.counts.ghosts += 1;
        self.ghosts.insert(self.nodes[node as usize].key, node);
    }

    /// Takes a ghost out of the table. Its node has no state then.
    fn remove_ghost(&mut self, ghost: u32) {
        self.ghosts.remove(|node| self.nodes[node as usize].key, ghost);
        self.counts.ghosts -= 1;
    }

    /// Adapts the shares when a ghost is asked for, which is still counted.
    fn grow_hir(&mut self) {
        let by = rounded(self.counts.demoted, self.counts.ghosts);
        self.hir = larger(self.hir, by, self.capacity());
        self.lir = self.capacity() - self.hir;
    }

    /// Adapts the shares when a demoted entry is found, which is still counted.
    fn grow_lir(&mut self) {
        let by = rounded(self.counts.ghosts, self.counts.demoted);
        self.lir = larger(self.lir, by, self.capacity());
        self.hir = self.capacity() - self.lir;
    }
}

/// Returns a ratio rounded to the nearest number, and at least 1. The divisor is not 0.
fn rounded(part: u32, of: u32) -> u32 {
    ((2 * u64::from(part) + u64::from(of)) / (2 * u64::from(of))).max(1) as u32
}

/// Returns a share that grows. The other one keeps an entry.
fn larger(share: u32, by: u32, capacity: u32) -> u32 {
    share.saturating_add(by).min(capacity - 1)
}

impl Policy for Dlirs {
    fn touch(&mut self, entry: u32) {
        let node = self.entries[entry as usize];
        if self.nodes[node as usize].state == State::Lir {
            self.stack.renew(ONLY, node);
            self.prune();
        } else if self.stack.contains(node) {
            self.unstack_hir(node);
            self.queue.remove(node);
            self.uncount_hir(node);
            // Not full while the node is not counted: nothing is evicted.
            self.promote(node, &mut |_| {});
        } else {
            self.renew(node);
        }
    }

    fn admit(&mut self, key: u64, evicted: &mut dyn FnMut(u32)) -> Option<u32> {
        let ghost = self.ghosts.find(|node| self.nodes[node as usize].key, key);
        let Some(node) = ghost else { return self.add(key, evicted) };
        self.grow_hir();
        self.stack.remove(node);
        self.hirs.remove(node);
        self.remove_ghost(node);
        self.promote(node, evicted);
        self.enter(node)
    }

    /// The head of Q leaves, as if for an admission. If Q is empty, the bottom LIR is demoted first.
    fn evict(&mut self) -> Option<u32> {
        if self.queue.first(ONLY).is_none() {
            self.demote();
        }
        self.evict_head()
    }

    fn remove(&mut self, entry: u32) {
        let node = self.entries[entry as usize];
        match self.nodes[node as usize].state {
            State::Lir => self.counts.lir -= 1,
            _ => self.uncount_hir(node),
        }
        self.stack.remove(node);
        self.hirs.remove(node);
        self.queue.remove(node);
        self.leave(node);
        self.free_nodes.give(node);
        self.prune();
    }

    fn len(&self) -> u32 {
        self.counts.entries()
    }

    fn capacity(&self) -> u32 {
        self.entries.len() as u32
    }

    fn bytes(&self) -> u64 {
        let own = size_of_val(&*self.nodes) + size_of_val(&*self.entries);
        let lists = self.stack.bytes() + self.hirs.bytes() + self.queue.bytes();
        let numbers = self.free_nodes.bytes() + self.free_entries.bytes();
        own as u64 + lists + numbers + self.ghosts.bytes()
    }
}
