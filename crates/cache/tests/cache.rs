//! A cache against a map, with every policy and allocator: what it returns is what was filled in last, its sizes add
//! up, and threads that look up beside fills never get a torn value.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use proptest::prelude::*;
use spirit_cache::{AllocatorKind, Cache, CacheConfig, Fill, Key, PolicyKind};

const POLICIES: [PolicyKind; 5] = [
    PolicyKind::Lru,
    PolicyKind::Dlirs,
    PolicyKind::Random,
    PolicyKind::S3Fifo,
    PolicyKind::TinyLfu,
];
const ALLOCATORS: [AllocatorKind; 2] = [AllocatorKind::FirstFit, AllocatorKind::Tlsf];

fn cache(bytes: u64, entries: u32, policy: PolicyKind, allocator: AllocatorKind) -> Cache {
    let config =
        CacheConfig { entries: Some(entries), policy, allocator, ..CacheConfig::new(bytes) };
    Cache::new(&config, None).unwrap()
}

/// The words of a key: numbers of one to four words.
fn key(number: u64) -> Vec<u64> {
    (0..number % 4 + 1).map(|word| number << 8 | word).collect()
}

fn value(number: u64, version: u64, words: usize) -> Vec<u64> {
    (0..words as u64).map(|word| number << 40 | version << 20 | word).collect()
}

fn found(cache: &Cache, number: u64) -> Option<Vec<u64>> {
    cache.look_up(Key::new(&key(number)), |value| Some(value.iter().collect()))
}

#[derive(Clone, Debug)]
enum Step {
    LookUp(u64),
    Fill(u64, usize),
    Remove(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let words = prop_oneof![4 => 0usize..30, 2 => 30usize..600, 1 => 600usize..9000];
    let step = prop_oneof![
        4 => (0u64..60).prop_map(Step::LookUp),
        4 => (0u64..60, words).prop_map(|(number, words)| Step::Fill(number, words)),
        1 => (0u64..60).prop_map(Step::Remove),
    ];
    prop::collection::vec(step, 1..300)
}

/// A cache beside a map of all that was ever filled in.
struct Beside {
    cache: Cache,
    last: HashMap<u64, Vec<u64>>,
    version: u64,
}

impl Beside {
    fn step(&mut self, step: &Step) {
        match *step {
            Step::LookUp(number) => {
                let found = found(&self.cache, number);
                assert!(found.is_none() || found.as_ref() == self.last.get(&number));
            }
            Step::Fill(number, words) => {
                self.version += 1;
                let value = value(number, self.version, words);
                let fill = self.cache.fill(Key::new(&key(number)), &value);
                assert_ne!(fill, Fill::Busy);
                let found = found(&self.cache, number);
                assert_eq!(found.is_some(), fill == Fill::Kept, "{fill:?}");
                self.last.insert(number, value);
                assert!(found.is_none() || found.as_ref() == self.last.get(&number));
            }
            Step::Remove(number) => {
                self.cache.remove(Key::new(&key(number)));
                assert_eq!(found(&self.cache, number), None);
                self.last.remove(&number);
            }
        }
    }

    fn check_sizes(&self) {
        let stats = self.cache.stats();
        let there = (0..60).filter_map(|number| Some((number, found(&self.cache, number)?)));
        let (mut entries, mut words) = (0, 0);
        for (number, value) in there {
            entries += 1;
            words += value.len() + key(number).len();
        }
        assert_eq!((stats.entries, stats.kept_bytes), (entries, words as u64 * 8));
        assert!(stats.kept_bytes <= stats.block_bytes, "{stats:?}");
        assert!(stats.block_bytes + stats.free_bytes <= stats.heap_bytes, "{stats:?}");
        assert!(stats.largest_free_bytes <= stats.free_bytes, "{stats:?}");
        assert_eq!(stats.bytes, stats.heap_bytes + stats.table_bytes + stats.policy_bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn what_is_found_was_filled_in_last(steps in steps(), entries in 1u32..50) {
        for (policy, allocator) in POLICIES.into_iter().flat_map(|p| ALLOCATORS.map(|a| (p, a))) {
            let cache = cache(128 << 10, entries, policy, allocator);
            let mut beside = Beside { cache, last: HashMap::new(), version: 0 };
            steps.iter().for_each(|step| beside.step(step));
            beside.check_sizes();
        }
    }
}

#[test]
fn all_bytes_asked_for_suffice() {
    for policy in POLICIES {
        for (bytes, entries) in
            [(64 << 10, 1), (1 << 20, 1000), (8 << 20, 4000), (64 << 20, 100_000)]
        {
            let cache = cache(bytes, entries, policy, AllocatorKind::Tlsf);
            let stats = cache.stats();
            assert!(stats.bytes <= bytes, "{policy:?}: {} of {bytes}: {stats:?}", stats.bytes);
            assert!(stats.heap_bytes >= bytes / 2, "{policy:?}: {stats:?}");
        }
    }
}

#[test]
fn sizes_out_of_range_are_refused() {
    let refused = |bytes, entries| {
        let config = CacheConfig { entries, ..CacheConfig::new(bytes) };
        Cache::new(&config, None).unwrap_err().to_string()
    };
    assert!(refused(1000, None).contains("65536"), "{}", refused(1000, None));
    assert!(refused(1 << 20, Some(100_000)).contains("fewer entries"));
    assert!(refused(1 << 20, Some(0)).contains("give 1 to"));
    assert!(refused(1 << 50, None).contains("give"));
}

/// Values of which each word says which key and which version it is of.
#[test]
fn readers_beside_fills_get_whole_values() {
    for (policy, allocator) in
        [(PolicyKind::Lru, AllocatorKind::Tlsf), (PolicyKind::S3Fifo, AllocatorKind::FirstFit)]
    {
        let cache = cache(64 << 10, 20, policy, allocator);
        let ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for start in [0, 17] {
                let (cache, ended) = (&cache, &ended);
                scope.spawn(move || {
                    let mut hits = 0u64;
                    while !ended.load(Relaxed) || hits == 0 {
                        for number in (0..40).map(|number| (number + start) % 40) {
                            let Some(words) = found(cache, number) else { continue };
                            let version = words[0] >> 20 & 0xF_FFFF;
                            assert_eq!(words, value(number, version, words.len()), "torn");
                            hits += 1;
                        }
                    }
                });
            }
            let mut state = 1u64;
            for version in 1..60_000u64 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
                let (number, words) = ((state >> 33) % 40, (state >> 45) as usize % 500 + 1);
                cache.fill(Key::new(&key(number)), &value(number, version % (1 << 20), words));
            }
            ended.store(true, Relaxed);
        });
        let stats = cache.stats();
        assert!(stats.filled > 10_000 && stats.evicted > 100 && stats.found > 0, "{stats:?}");
    }
}
