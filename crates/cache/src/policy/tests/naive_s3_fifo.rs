//! A twin of S3-FIFO: three queues of keys.

use std::collections::{HashMap, VecDeque};

use super::Naive;

#[derive(Default)]
pub(super) struct NaiveS3Fifo {
    capacity: usize,
    small: VecDeque<u64>,
    main: VecDeque<u64>,
    ghosts: VecDeque<u64>,
    hits: HashMap<u64, u32>,
}

impl NaiveS3Fifo {
    pub(super) fn new(capacity: u32) -> NaiveS3Fifo {
        NaiveS3Fifo { capacity: capacity as usize, ..NaiveS3Fifo::default() }
    }

    fn small_share(&self) -> usize {
        1.max(self.capacity / 10)
    }

    fn main_share(&self) -> usize {
        self.capacity - self.small_share()
    }

    /// Looks at the oldest of the small queue. Returns its key if it leaves.
    fn step_small(&mut self) -> Option<u64> {
        let oldest = self.small.pop_front()?;
        if self.hits[&oldest] > 1 {
            self.hits.insert(oldest, 0);
            self.main.push_back(oldest);
            return None;
        }
        self.ghosts.push_back(oldest);
        let surplus = self.ghosts.len().saturating_sub(self.main_share());
        self.ghosts.drain(..surplus);
        Some(oldest)
    }

    /// Looks at the oldest of main. Returns its key if it leaves.
    fn step_main(&mut self) -> Option<u64> {
        let oldest = self.main.pop_front()?;
        if self.hits[&oldest] == 0 {
            return Some(oldest);
        }
        *self.hits.get_mut(&oldest).unwrap() -= 1;
        self.main.push_back(oldest);
        None
    }
}

impl Naive for NaiveS3Fifo {
    fn ask(&mut self, key: u64) -> (bool, Vec<u64>) {
        if let Some(hits) = self.hits.get_mut(&key) {
            *hits = 3.min(*hits + 1);
            return (true, Vec::new());
        }
        let is_full = self.len() == self.capacity;
        let left = if is_full { self.evict() } else { None };
        if self.ghosts.contains(&key) {
            self.ghosts.retain(|k| *k != key);
            self.main.push_back(key);
        } else {
            self.small.push_back(key);
        }
        self.hits.insert(key, 0);
        (false, left.into_iter().collect())
    }

    fn evict(&mut self) -> Option<u64> {
        if self.len() == 0 {
            return None;
        }
        let mut from_small = self.small.len() >= self.small_share() || self.main.is_empty();
        let left = loop {
            let left = if from_small { self.step_small() } else { self.step_main() };
            if let Some(left) = left {
                break left;
            }
            from_small &= self.main.len() <= self.main_share() && !self.small.is_empty();
        };
        self.hits.remove(&left);
        Some(left)
    }

    fn remove(&mut self, key: u64) {
        self.small.retain(|k| *k != key);
        self.main.retain(|k| *k != key);
        self.hits.remove(&key);
    }

    fn len(&self) -> usize {
        self.small.len() + self.main.len()
    }
}
