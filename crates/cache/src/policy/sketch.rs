//! A sketch of how often keys are asked for: a count-min sketch (Cormode, Muthukrishnan, J. of
//! Algorithms 2005) that forgets.
//!
//! A line of 64 counters, as large as a cache line, serves many keys. It has four rows of 16
//! counters. A key's hash chooses a line and one counter of each row. The key's count is the least
//! of its four counters, for others share some of them. Only the least ones are incremented
//! (conservative update; Estan, Varghese, SIGCOMM 2002): so counts err upwards, and less than with
//! plain ones.
//!
//! After a number of requests all counters are halved (Einziger, Friedman, Manes, ACM ToS 2017):
//! old requests count less. A counter has 8 bits, and stays at 255.

use super::splitmix::{mixed, scaled};

const ROWS: usize = 4;
const COUNTERS: usize = 16;

/// Counters that share a cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([[u8; COUNTERS]; ROWS]);

/// A sketch of frequencies.
pub(super) struct Sketch {
    lines: Box<[Line]>,
    /// The requests until counters are halved.
    left: u64,
    period: u64,
}

impl Sketch {
    /// Returns a sketch with about `counters` counters, which are halved every `period` requests.
    pub(super) fn new(counters: u64, period: u64) -> Sketch {
        let lines = counters.div_ceil(size_of::<Line>() as u64).max(1);
        let line = Line([[0; COUNTERS]; ROWS]);
        Sketch { lines: vec![line; lines as usize].into(), left: period, period }
    }

    /// Counts a request for a key.
    pub(super) fn note(&mut self, key: u64) {
        let (line, places) = self.places(key);
        let least = self.lines[line].least(places);
        for (row, place) in self.lines[line].0.iter_mut().zip(places) {
            row[place] = row[place].max(least.saturating_add(1));
        }
        self.left -= 1;
        if self.left == 0 {
            self.halve();
        }
    }

    /// Returns how often a key was asked for, about. Requests of long ago count less.
    pub(super) fn count(&self, key: u64) -> u8 {
        let (line, places) = self.places(key);
        self.lines[line].least(places)
    }

    /// Halves all counters. The period begins again.
    pub(super) fn halve(&mut self) {
        self.left = self.period;
        let rows = self.lines.iter_mut().flat_map(|line| &mut line.0);
        rows.flatten().for_each(|counter| *counter /= 2);
    }

    /// Returns a key's line, and its counter of each row.
    fn places(&self, key: u64) -> (usize, [usize; ROWS]) {
        // High bits choose the line, low ones the counters.
        let hash = mixed(key);
        let line = scaled(hash, self.lines.len() as u64);
        let place = |row| (hash >> (4 * row)) as usize % COUNTERS;
        (line as usize, [0, 1, 2, 3].map(place))
    }

    /// Returns the bytes of its memory.
    pub(super) fn bytes(&self) -> u64 {
        size_of_val(&*self.lines) as u64
    }
}

impl Line {
    fn least(&self, places: [usize; ROWS]) -> u8 {
        let counters = self.0.iter().zip(places).map(|(row, place)| row[place]);
        counters.min().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    #[test]
    fn a_line_is_a_cache_line() {
        assert_eq!((size_of::<Line>(), Sketch::new(65, 1).bytes()), (64, 128));
    }

    #[test]
    fn counts_stay_at_the_largest_and_halve_after_a_period() {
        let mut sketch = Sketch::new(64, 300);
        (0..299).for_each(|_| sketch.note(1));
        assert_eq!(sketch.count(1), 255);
        sketch.note(2);
        assert_eq!(sketch.count(1), 127);
    }

    #[test]
    fn counts_of_few_keys_are_exact_and_of_many_nearly() {
        let mut sketch = Sketch::new(8000, u64::MAX);
        let keys = || (0..1500u64).map(|key| (key, 1 + key % 50));
        keys().for_each(|(key, times)| (0..times).for_each(|_| sketch.note(key)));
        let wrong = keys().filter(|(key, times)| u64::from(sketch.count(*key)) != *times).count();
        println!("{wrong} of 1,500 counts are too high in 2,000 counters a row");
        assert!(wrong < 75);
    }

    /// A line, a row and a place in it.
    type Counter = (usize, usize, usize);

    fn least_of(counts: &HashMap<Counter, u32>, counters: &[Counter]) -> u32 {
        counters.iter().map(|counter| counts.get(counter).copied().unwrap_or(0)).min().unwrap()
    }

    proptest! {
        /// The sketch agrees with counters in a map, and no count is too low before the first
        /// halving.
        #[test]
        fn a_sketch_is_a_map_of_counters(
            counters in 1u64..200,
            period in 1u64..60,
            keys in prop::collection::vec(0u64..30, 1..200),
        ) {
            let mut sketch = Sketch::new(counters, period);
            let mut naive: HashMap<Counter, u32> = HashMap::new();
            let mut times: HashMap<u64, u8> = HashMap::new();
            for (request, key) in (1u64..).zip(keys) {
                let (line, places) = sketch.places(key);
                let counters: Vec<_> = (0..ROWS).map(|row| (line, row, places[row])).collect();
                let least = least_of(&naive, &counters);
                for counter in &counters {
                    let count = naive.entry(*counter).or_default();
                    *count += u32::from(*count == least);
                }
                if request % period == 0 {
                    naive.values_mut().for_each(|count| *count /= 2);
                }
                *times.entry(key).or_default() += 1;
                sketch.note(key);
                prop_assert_eq!(u32::from(sketch.count(key)), least_of(&naive, &counters));
                prop_assert!(request >= period || sketch.count(key) >= times[&key]);
            }
        }
    }
}
