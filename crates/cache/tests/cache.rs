//! A cache against a map, with every policy and allocator: what it returns is what was filled in last, its sizes add
//! up, and threads that look up beside fills never get a torn value. An alias leads to an entry that has it.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use proptest::prelude::*;
use spirit_cache::{AllocatorKind, Cache, CacheConfig, Fill, Found, Key, PolicyKind};

const POLICIES: [PolicyKind; 5] = [
    PolicyKind::Lru,
    PolicyKind::Dlirs,
    PolicyKind::Random,
    PolicyKind::S3Fifo,
    PolicyKind::TinyLfu,
];
const ALLOCATORS: [AllocatorKind; 2] = [AllocatorKind::FirstFit, AllocatorKind::Tlsf];

fn cache(bytes: u64, entries: u32, policy: PolicyKind, allocator: AllocatorKind) -> Cache {
    let config = CacheConfig {
        entries: Some(entries),
        policy,
        allocator,
        aliases: 2,
        ..CacheConfig::new(bytes)
    };
    Cache::new(&config, None).unwrap()
}

/// The words of a key: numbers of one to four words.
fn key(number: u64) -> Vec<u64> {
    (0..number % 4 + 1).map(|word| number << 8 | word).collect()
}

/// The aliases of a key: each is that of several.
fn aliases(number: u64) -> [u64; 2] {
    [number % 7, 100 + number % 5].map(|word| Key::new(&[word]).hash)
}

fn value(number: u64, version: u64, words: usize) -> Vec<u64> {
    (0..words as u64).map(|word| number << 40 | version << 20 | word).collect()
}

fn found(cache: &Cache, number: u64) -> Option<Vec<u64>> {
    cache.look_up(Key::new(&key(number)), |value| Some(value.iter().collect()))
}

/// Returns the number and the value of an entry with an alias that `is_wanted`.
fn found_by(cache: &Cache, alias: u64, is_wanted: impl Fn(u64) -> bool) -> Option<(u64, Vec<u64>)> {
    cache.look_up_any(Key::new(&[u64::MAX]), &[alias], |found| {
        let Found::Other { alias: of, key: stored, value } = found else { return None };
        assert_eq!(of, 0);
        let number = stored.get(0)? >> 8;
        let is_whole = stored.iter().eq(key(number)) && aliases(number).contains(&alias);
        (is_whole && is_wanted(number)).then(|| (number, value.iter().collect()))
    })
}

#[derive(Clone, Debug)]
enum Step {
    LookUp(u64),
    /// By one of its aliases.
    LookAround(u64, usize),
    Fill(u64, usize),
    Remove(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let words = prop_oneof![4 => 0usize..30, 2 => 30usize..600, 1 => 600usize..9000];
    let step = prop_oneof![
        4 => (0u64..60).prop_map(Step::LookUp),
        2 => (0u64..60, 0usize..2).prop_map(|(number, alias)| Step::LookAround(number, alias)),
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
            Step::LookAround(number, alias) => {
                let alias = aliases(number)[alias];
                let by_alias = found_by(&self.cache, alias, |_| true);
                assert!(by_alias.is_some() || found(&self.cache, number).is_none(), "{number}");
                let Some((other, value)) = by_alias else { return };
                assert_eq!(Some(&value), self.last.get(&other));
                let same = found_by(&self.cache, alias, |number| number == other);
                assert_eq!(same, Some((other, value)), "a reader may pass over entries");
            }
            Step::Fill(number, words) => {
                self.version += 1;
                let value = value(number, self.version, words);
                let fill = self.cache.fill_as(Key::new(&key(number)), &value, &aliases(number));
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
fn an_alias_leads_to_the_entry_that_came_last() {
    let cache = cache(128 << 10, 10, PolicyKind::Lru, AllocatorKind::Tlsf);
    let alias = aliases(1)[0];
    let fill = |number| cache.fill_as(Key::new(&key(number)), &[number], &aliases(number));
    let first =
        |is_wanted: &dyn Fn(u64) -> bool| found_by(&cache, alias, is_wanted).map(|(n, _)| n);
    assert_eq!(first(&|_| true), None);
    for number in [1, 8, 15, 2, 9] {
        assert_eq!(fill(number), Fill::Kept);
    }
    assert_eq!((first(&|_| true), first(&|number| number < 15)), (Some(15), Some(8)));
    cache.remove(Key::new(&key(8)));
    assert_eq!((first(&|_| true), first(&|number| number < 15)), (Some(15), Some(1)));
    cache.remove(Key::new(&key(15)));
    assert_eq!(first(&|_| true), Some(1));
    // What is found by an alias is used: it stays, while ten others come.
    for number in (100..110).filter(|number| number % 7 != 1) {
        assert_eq!((fill(number), first(&|_| true)), (Fill::Kept, Some(1)));
    }
    let stats = cache.stats();
    assert_eq!((stats.found, stats.found_by_alias, stats.missed), (14, 14, 1), "{stats:?}");
    assert_eq!(found(&cache, 2), None);
}

#[test]
fn a_cache_without_aliases_has_no_room_for_them() {
    let config = CacheConfig { entries: Some(50), ..CacheConfig::new(1 << 20) };
    let cache = Cache::new(&config, None).unwrap();
    assert_eq!(cache.fill_as(Key::new(&key(1)), &[1], &aliases(1)), Fill::Kept);
    assert_eq!(
        (found(&cache, 1), found_by(&cache, aliases(1)[0], |_| true)),
        (Some(vec![1]), None)
    );
    let with = Cache::new(&CacheConfig { aliases: 2, ..config }, None).unwrap();
    let [without, with] = [cache, with].map(|cache| cache.stats().table_bytes);
    // A head for two nodes of two words.
    assert_eq!(with - without, 50 * 2 * 16 + 128 * 4);
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
                            let by_alias = || found_by(cache, aliases(number)[0], |_| true);
                            let either = match found(cache, number) {
                                Some(words) => Some((number, words)),
                                None => by_alias(),
                            };
                            let Some((number, words)) = either else { continue };
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
                let value = value(number, version % (1 << 20), words);
                cache.fill_as(Key::new(&key(number)), &value, &aliases(number));
            }
            ended.store(true, Relaxed);
        });
        let stats = cache.stats();
        assert!(stats.filled > 10_000 && stats.evicted > 100 && stats.found > 0, "{stats:?}");
        assert!(stats.found_by_alias > 1000, "{stats:?}");
    }
}
