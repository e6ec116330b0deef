//! A twin of W-TinyLFU: three vectors of keys. It counts with the same sketch, which has a twin of
//! its own. It does not watch the hit rate: there are fewer requests than the watch needs.

use super::Naive;
use crate::policy::sketch::Sketch;

pub(super) struct NaiveTinyLfu {
    capacity: usize,
    window: Vec<u64>,
    probation: Vec<u64>,
    protected: Vec<u64>,
    sketch: Sketch,
}

impl NaiveTinyLfu {
    pub(super) fn new(capacity: u32) -> NaiveTinyLfu {
        NaiveTinyLfu {
            capacity: capacity as usize,
            window: Vec::new(),
            probation: Vec::new(),
            protected: Vec::new(),
            sketch: Sketch::new(32 * u64::from(capacity), 64 * u64::from(capacity)),
        }
    }

    fn window_share(&self) -> usize {
        1.max(self.capacity / 100)
    }

    fn protected_share(&self) -> usize {
        (self.capacity - self.window_share()) * 8 / 10
    }

    fn touch(&mut self, key: u64) {
        if self.window.contains(&key) {
            self.window.retain(|k| *k != key);
            self.window.push(key);
            return;
        }
        self.probation.retain(|k| *k != key);
        self.protected.retain(|k| *k != key);
        self.protected.push(key);
        let surplus = self.protected.len().saturating_sub(self.protected_share());
        self.probation.extend(self.protected.drain(..surplus));
    }

    /// The segment of the victim, which is its first key.
    fn main(&mut self) -> &mut Vec<u64> {
        if self.probation.is_empty() { &mut self.protected } else { &mut self.probation }
    }

    fn beats(&self, candidate: u64, victim: u64) -> bool {
        self.sketch.count(candidate) > self.sketch.count(victim)
    }

    /// Lets the candidate, which left the window, meet the victim. Returns the loser.
    fn meet(&mut self, candidate: u64) -> u64 {
        let Some(victim) = self.main().first().copied() else { return candidate };
        if self.beats(candidate, victim) {
            self.main().remove(0);
            self.probation.push(candidate);
            victim
        } else {
            self.main().rotate_left(1);
            candidate
        }
    }
}

impl Naive for NaiveTinyLfu {
    fn ask(&mut self, key: u64) -> (bool, Vec<u64>) {
        self.sketch.note(key);
        let segments = [&self.window, &self.probation, &self.protected];
        if segments.into_iter().flatten().any(|k| *k == key) {
            self.touch(key);
            return (true, Vec::new());
        }
        let is_full = self.len() == self.capacity;
        let mut left = Vec::new();
        if self.window.len() == self.window_share() {
            let candidate = self.window.remove(0);
            if is_full {
                left.push(self.meet(candidate));
            } else {
                self.probation.push(candidate);
            }
        }
        self.window.push(key);
        (false, left)
    }

    fn evict(&mut self) -> Option<u64> {
        let (candidate, victim) = (self.window.first().copied(), self.main().first().copied());
        let loser = match (candidate, victim) {
            (Some(candidate), Some(victim)) if self.beats(candidate, victim) => victim,
            (Some(candidate), _) => candidate,
            (None, victim) => victim?,
        };
        self.remove(loser);
        Some(loser)
    }

    fn remove(&mut self, key: u64) {
        for segment in [&mut self.window, &mut self.probation, &mut self.protected] {
            segment.retain(|k| *k != key);
        }
    }

    fn len(&self) -> usize {
        self.window.len() + self.probation.len() + self.protected.len()
    }
}
