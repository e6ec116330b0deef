//! Tests of all policies: each agrees with a naive twin that keeps vectors of keys.

mod golden;
mod naive_dlirs;
mod naive_lists;
mod naive_s3_fifo;
mod naive_tiny_lfu;

use proptest::prelude::*;

use super::Policy;
use super::dlirs::Dlirs;
use super::lru::Lru;
use super::random::Random;
use super::s3_fifo::S3Fifo;
use super::tiny_lfu::TinyLfu;
use naive_dlirs::NaiveDlirs;
use naive_lists::{NaiveLru, NaiveRandom};
use naive_s3_fifo::NaiveS3Fifo;
use naive_tiny_lfu::NaiveTinyLfu;

/// A policy written down from its definition, without a thought of speed.
trait Naive {
    /// Asks for a key, which enters if it has no entry. Returns if it was found, and the keys that
    /// left.
    fn ask(&mut self, key: u64) -> (bool, Vec<u64>);
    fn evict(&mut self) -> Option<u64>;
    /// Removes a key that has an entry.
    fn remove(&mut self, key: u64);
    fn len(&self) -> usize;
}

/// A policy that checks itself.
trait Checked: Policy {
    fn check(&self) -> Result<(), &'static str>;
}

macro_rules! checked {
    ($($policy:ty),+) => {
        $(impl Checked for $policy {
            fn check(&self) -> Result<(), &'static str> {
                <$policy>::check(self)
            }
        })+
    };
}
checked!(Lru, Random, Dlirs, S3Fifo, TinyLfu);

/// A cache of keys without values.
struct Keys<P> {
    policy: P,
    /// The key of each entry.
    entries: Vec<Option<u64>>,
}

impl<P: Policy> Keys<P> {
    fn new(policy: P) -> Keys<P> {
        Keys { entries: vec![None; policy.capacity() as usize], policy }
    }

    fn entry(&self, key: u64) -> Option<u32> {
        self.entries.iter().position(|k| *k == Some(key)).map(|entry| entry as u32)
    }

    fn ask(&mut self, key: u64) -> (bool, Vec<u64>) {
        if let Some(entry) = self.entry(key) {
            self.policy.touch(entry);
            return (true, Vec::new());
        }
        (false, self.admit(key))
    }

    /// Admits a key, even if it has an entry. Returns the keys that left.
    fn admit(&mut self, key: u64) -> Vec<u64> {
        let (mut left, entries) = (Vec::new(), &mut self.entries);
        let mut leave = |entry: u32| left.push(entries[entry as usize].take().expect("in use"));
        let entry = self.policy.admit(key, &mut leave).expect("these policies admit all keys");
        assert_eq!(self.entries[entry as usize].replace(key), None, "the entry was free");
        left
    }

    fn evict(&mut self) -> Option<u64> {
        let entry = self.policy.evict()?;
        Some(self.entries[entry as usize].take().expect("in use"))
    }

    fn remove(&mut self, key: u64) {
        let entry = self.entry(key).expect("found");
        self.policy.remove(entry);
        self.entries[entry as usize] = None;
    }

    fn len(&self) -> usize {
        self.entries.iter().flatten().count()
    }
}

/// A number that chooses what to do, and one that chooses a key.
type Step = (u32, u64);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec((0u32..40, 0u64..1000), 1..400)
}

/// Does the same to a policy and its twin. `outside` of 40 steps evict, and as many remove. The
/// others ask: half of them for any of `span` keys, half for the next one of a loop.
fn agree<P: Checked, N: Naive>(
    (span, outside): (u64, u32),
    steps: Vec<Step>,
    (policy, mut naive): (P, N),
    same: impl Fn(&P, &N) -> bool,
) -> Result<(), TestCaseError> {
    let mut keys = Keys::new(policy);
    let mut next = 0;
    for (step, key) in steps {
        let key = key % span;
        if step < outside {
            prop_assert_eq!(keys.evict(), naive.evict());
        } else if step < 2 * outside {
            if keys.entry(key).is_some() {
                keys.remove(key);
                naive.remove(key);
            }
        } else {
            next += step as u64 % 2;
            let key = if step % 2 == 1 { next % span } else { key };
            prop_assert_eq!(keys.ask(key), naive.ask(key), "key {}", key);
        }
        prop_assert_eq!(keys.policy.check(), Ok(()));
        prop_assert!(same(&keys.policy, &naive), "their states differ");
        prop_assert_eq!((keys.len(), keys.policy.len() as usize), (naive.len(), naive.len()));
        prop_assert_eq!(keys.policy.is_empty(), naive.len() == 0);
    }
    Ok(())
}

fn same_shares(policy: &Dlirs, naive: &NaiveDlirs) -> bool {
    (policy.hir() as usize, policy.ghosts() as usize) == (naive.hir(), naive.ghosts())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn lru_agrees(c in 1u32..=12, mix in (1u64..=30, 0u32..8), steps in steps()) {
        agree(mix, steps, (Lru::new(c), NaiveLru::new(c)), |_, _| true)?;
    }

    #[test]
    fn random_agrees(c in 1u32..=12, mix in (1u64..=30, 0u32..8), steps in steps(), seed: u64) {
        agree(mix, steps, (Random::new(c, seed), NaiveRandom::new(c, seed)), |_, _| true)?;
    }

    #[test]
    fn dlirs_agrees(c in 1u32..=12, mix in (1u64..=30, 0u32..8), steps in steps()) {
        agree(mix, steps, (Dlirs::new(c), NaiveDlirs::new(c)), same_shares)?;
    }

    #[test]
    fn s3_fifo_agrees(c in 1u32..=12, mix in (1u64..=30, 0u32..8), steps in steps()) {
        agree(mix, steps, (S3Fifo::new(c), NaiveS3Fifo::new(c)), |_, _| true)?;
    }

    #[test]
    fn tiny_lfu_agrees(c in 1u32..=12, mix in (1u64..=30, 0u32..8), steps in steps()) {
        agree(mix, steps, (TinyLfu::new(c), NaiveTinyLfu::new(c)), |_, _| true)?;
    }

    /// Two keys may have one hash. A policy then sees a key admitted that has an entry.
    #[test]
    fn keys_of_one_hash_do_no_harm(c in 1u32..=12, span in 1u64..=12, steps in steps()) {
        fn run(policy: impl Checked, span: u64, steps: &[Step]) -> Result<(), TestCaseError> {
            let mut keys = Keys::new(policy);
            for (step, key) in steps {
                match step {
                    0..30 => drop(keys.admit(key % span)),
                    30..36 => drop(keys.ask(key % span)),
                    _ => drop(keys.evict()),
                }
                prop_assert_eq!(keys.policy.check(), Ok(()));
                prop_assert_eq!(keys.policy.len() as usize, keys.len());
            }
            Ok(())
        }
        run(Lru::new(c), span, &steps)?;
        run(Random::new(c, 1), span, &steps)?;
        run(Dlirs::new(c), span, &steps)?;
        run(S3Fifo::new(c), span, &steps)?;
        run(TinyLfu::new(c), span, &steps)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn dlirs_agrees_with_several_hir(
        c in 145u32..=155,
        mix in (100u64..=400, 0u32..4),
        steps in steps(),
    ) {
        agree(mix, steps, (Dlirs::new(c), NaiveDlirs::new(c)), same_shares)?;
    }

    #[test]
    fn s3_fifo_agrees_with_a_small_queue_of_several(
        c in 20u32..=60,
        mix in (20u64..=100, 0u32..4),
        steps in steps(),
    ) {
        agree(mix, steps, (S3Fifo::new(c), NaiveS3Fifo::new(c)), |_, _| true)?;
    }

    #[test]
    fn tiny_lfu_agrees_with_a_window_of_several(
        c in 200u32..=210,
        mix in (150u64..=400, 0u32..4),
        steps in steps(),
    ) {
        agree(mix, steps, (TinyLfu::new(c), NaiveTinyLfu::new(c)), |_, _| true)?;
    }
}

#[test]
fn memory_is_counted_and_at_most_160_bytes_an_entry() {
    for capacity in [16, 100, 1000, 1024, 4000, 65_536] {
        let bytes = [
            Lru::new(capacity).bytes(),
            Random::new(capacity, 1).bytes(),
            Dlirs::new(capacity).bytes(),
            S3Fifo::new(capacity).bytes(),
            TinyLfu::new(capacity).bytes(),
        ];
        let each = bytes.map(|bytes| bytes as f64 / f64::from(capacity));
        println!("{capacity}: LRU, random, DLIRS, S3-FIFO, TinyLFU take {each:.1?} bytes an entry");
        assert!(each.iter().all(|bytes| (8.0..=160.0).contains(bytes)));
    }
}

#[test]
fn capacities_that_cannot_be_become_the_nearest() {
    assert_eq!(Lru::new(0).capacity(), 1);
    assert_eq!(super::possible(u32::MAX), super::CAPACITY_MAX);
}
