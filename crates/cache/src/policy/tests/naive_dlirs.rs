//! A twin of DLIRS: S and Q are vectors of keys, and each count is counted when it is needed.

use std::collections::HashSet;

use super::Naive;

pub(super) struct NaiveDlirs {
    capacity: usize,
    hir_share: usize,
    lir_share: usize,
    /// S, the bottom first.
    stack: Vec<u64>,
    /// Q, the head first.
    queue: Vec<u64>,
    /// The LIR. They are all in S.
    lirs: HashSet<u64>,
    /// The demoted ones. They are all in Q.
    demoted: HashSet<u64>,
}

impl NaiveDlirs {
    pub(super) fn new(capacity: u32) -> NaiveDlirs {
        let hir_share = 1.max((f64::from(capacity) * 0.01 + 0.5).floor() as usize);
        NaiveDlirs {
            capacity: capacity as usize,
            hir_share,
            lir_share: capacity as usize - hir_share,
            stack: Vec::new(),
            queue: Vec::new(),
            lirs: HashSet::new(),
            demoted: HashSet::new(),
        }
    }

    pub(super) fn hir(&self) -> usize {
        self.hir_share
    }

    /// Nodes of S that are neither LIR nor in Q.
    pub(super) fn ghosts(&self) -> usize {
        self.stack
            .iter()
            .filter(|key| !self.lirs.contains(key) && !self.queue.contains(key))
            .count()
    }

    fn is_full(&self) -> bool {
        self.len() >= self.capacity
    }

    fn prune(&mut self) {
        while self.stack.first().is_some_and(|bottom| !self.lirs.contains(bottom)) {
            self.stack.remove(0);
        }
    }

    fn trim(&mut self) {
        while self.len() + self.ghosts() > 2 * self.capacity {
            let oldest = self.stack.iter().position(|key| !self.lirs.contains(key)).unwrap();
            self.stack.remove(oldest);
        }
    }

    fn demote(&mut self) {
        let bottom = self.stack.remove(0);
        assert!(self.lirs.remove(&bottom));
        self.queue.push(bottom);
        self.demoted.insert(bottom);
        self.prune();
    }

    fn evict_head(&mut self) -> u64 {
        let head = self.queue.remove(0);
        self.demoted.remove(&head);
        head
    }

    fn adapt(&mut self, is_ghost: bool) {
        let (demoted, ghosts) = (self.demoted.len() as f64, self.ghosts() as f64);
        let by = |ratio: f64| 1.max((ratio + 0.5).floor() as usize);
        if is_ghost {
            self.hir_share = (self.hir_share + by(demoted / ghosts)).min(self.capacity - 1);
            self.lir_share = self.capacity - self.hir_share;
        } else {
            self.lir_share = (self.lir_share + by(ghosts / demoted)).min(self.capacity - 1);
            self.hir_share = self.capacity - self.lir_share;
        }
    }

    fn become_lir(&mut self, key: u64) {
        self.lirs.insert(key);
        self.stack.push(key);
    }

    /// Puts an HIR at the end of Q and on S. It becomes LIR if S is empty.
    fn become_hir(&mut self, key: u64) {
        if self.stack.is_empty() {
            self.become_lir(key);
        } else {
            self.queue.push(key);
            self.stack.push(key);
            self.trim();
        }
    }

    fn case_1(&mut self, key: u64) {
        self.stack.retain(|k| *k != key);
        self.stack.push(key);
        self.prune();
    }

    fn case_2(&mut self, key: u64) -> (bool, Vec<u64>) {
        let is_hit = self.queue.contains(&key);
        if !is_hit {
            self.adapt(true);
        }
        self.stack.retain(|k| *k != key);
        self.queue.retain(|k| *k != key);
        let mut left = Vec::new();
        while self.lirs.len() >= self.lir_share {
            self.demote();
        }
        while self.is_full() {
            left.push(self.evict_head());
        }
        self.become_lir(key);
        (is_hit, left)
    }

    fn case_3(&mut self, key: u64) {
        if self.demoted.contains(&key) {
            self.adapt(false);
            self.demoted.remove(&key);
        }
        self.queue.retain(|k| *k != key);
        self.become_hir(key);
    }

    fn case_4(&mut self, key: u64) -> Vec<u64> {
        let mut left = Vec::new();
        if self.lirs.len() < self.lir_share && self.queue.is_empty() {
            self.become_lir(key);
            self.trim();
            return left;
        }
        while self.is_full() {
            while self.lirs.len() > self.lir_share {
                self.demote();
            }
            left.push(self.evict_head());
        }
        self.become_hir(key);
        left
    }
}

impl Naive for NaiveDlirs {
    fn ask(&mut self, key: u64) -> (bool, Vec<u64>) {
        if self.lirs.contains(&key) {
            self.case_1(key);
            (true, Vec::new())
        } else if self.stack.contains(&key) {
            self.case_2(key)
        } else if self.queue.contains(&key) {
            self.case_3(key);
            (true, Vec::new())
        } else {
            (false, self.case_4(key))
        }
    }

    fn evict(&mut self) -> Option<u64> {
        if self.len() == 0 {
            return None;
        }
        if self.queue.is_empty() {
            self.demote();
        }
        Some(self.evict_head())
    }

    fn remove(&mut self, key: u64) {
        self.stack.retain(|k| *k != key);
        self.queue.retain(|k| *k != key);
        self.lirs.remove(&key);
        self.demoted.remove(&key);
        self.prune();
    }

    fn len(&self) -> usize {
        self.lirs.len() + self.queue.len()
    }
}
