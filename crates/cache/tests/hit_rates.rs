//! Hit rates of all policies with the requests of the thesis (seed 001, §4.2 and §5.3, table 5.1).
//!
//! A log has 100,000 queries. Each draws two of 108 terms, independently, uniformly and with
//! replacement; its key is the unordered pair, one of 5,886. There are ten caches. Each query goes
//! to a random one, as if the next free thread took it. The log is replayed 20 times to warm the
//! caches and 20 times to measure.
//!
//! The pairs are nearly equally frequent. So a policy can gain on LRU only by the noise of the log.
//! The best content that stays fixed is the most frequent keys of the log. It is the measure: a
//! frequency policy is judged by its share of the way from LRU to there.
//!
//! Partial matching (thesis §3.3.3.2) is measured with one LRU cache and a log of a third ANDs, ORs and
//! single terms each: a single term is also answered by the entry of an OR that has it.

#![forbid(unsafe_code)]

use spirit_cache::policy::Policy;
use spirit_cache::policy::dlirs::Dlirs;
use spirit_cache::policy::lru::Lru;
use spirit_cache::policy::random::Random;
use spirit_cache::policy::s3_fifo::S3Fifo;
use spirit_cache::policy::tiny_lfu::TinyLfu;
use spirit_cache::{CacheConfig, Found, Key};

const TERMS: u64 = 108;
/// Terms of the single queries: those and less frequent ones.
const SINGLES: u64 = 1490;
const PAIRS: f64 = 5_886.0;
const QUERIES: usize = 100_000;
const CACHES: u64 = 10;
/// Passes over the log that warm the caches, and as many that are measured.
const PASSES: usize = 20;
/// No entry.
const NONE: u32 = u32::MAX;

/// SplitMix64.
struct Draws(u64);

impl Draws {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((u128::from(z ^ (z >> 31)) * u128::from(end)) >> 64) as u64
    }
}

/// Returns the keys of the log's queries.
fn log() -> Vec<u32> {
    let mut draws = Draws(2012);
    let mut pair = || [draws.below(TERMS), draws.below(TERMS)];
    (0..QUERIES)
        .map(|_| {
            let [a, b] = pair();
            (a.min(b) * TERMS + a.max(b)) as u32
        })
        .collect()
}

/// A cache of keys without values.
struct Cache {
    policy: Box<dyn Policy>,
    /// The entry of each key.
    entries: Vec<u32>,
    /// The key of each entry.
    keys: Vec<u32>,
}

impl Cache {
    fn new(policy: Box<dyn Policy>) -> Cache {
        let keys = vec![0; policy.capacity() as usize];
        Cache { policy, entries: vec![NONE; (TERMS * TERMS) as usize], keys }
    }

    /// True if the key was found. It is admitted if not.
    fn ask(&mut self, key: u32) -> bool {
        let entry = self.entries[key as usize];
        if entry != NONE {
            self.policy.touch(entry);
            return true;
        }
        let (entries, keys) = (&mut self.entries, &self.keys);
        let mut leave = |entry: u32| entries[keys[entry as usize] as usize] = NONE;
        let entry = self.policy.admit(key.into(), &mut leave).expect("all keys are admitted");
        self.keys[entry as usize] = key;
        self.entries[key as usize] = entry;
        false
    }
}

/// Returns the hits in a hundred queries of ten caches.
fn rate(log: &[u32], policy: &dyn Fn() -> Box<dyn Policy>) -> f64 {
    let mut caches: Vec<Cache> = (0..CACHES).map(|_| Cache::new(policy())).collect();
    let mut draws = Draws(10);
    let mut pass = || {
        let hit = |key: &&u32| caches[draws.below(CACHES) as usize].ask(**key);
        log.iter().filter(hit).count()
    };
    let hits: Vec<usize> = (0..2 * PASSES).map(|_| pass()).collect();
    100.0 * hits[PASSES..].iter().sum::<usize>() as f64 / (QUERIES * PASSES) as f64
}

/// Returns the hits in a hundred queries if the most frequent keys stay.
fn best_fixed(log: &[u32], capacity: u32) -> f64 {
    let mut counts = vec![0u32; (TERMS * TERMS) as usize];
    log.iter().for_each(|key| counts[*key as usize] += 1);
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let hits: u32 = counts[..capacity as usize].iter().sum();
    100.0 * f64::from(hits) / QUERIES as f64
}

/// The rates with one capacity.
struct Rates {
    lru: f64,
    random: f64,
    dlirs: f64,
    s3_fifo: f64,
    tiny_lfu: f64,
    best: f64,
}

impl Rates {
    fn measure(log: &[u32], capacity: u32) -> Rates {
        Rates {
            lru: rate(log, &|| Box::new(Lru::new(capacity))),
            random: rate(log, &|| Box::new(Random::new(capacity, 1))),
            dlirs: rate(log, &|| Box::new(Dlirs::new(capacity))),
            s3_fifo: rate(log, &|| Box::new(S3Fifo::new(capacity))),
            tiny_lfu: rate(log, &|| Box::new(TinyLfu::new(capacity))),
            best: best_fixed(log, capacity),
        }
    }

    /// Returns how much of the way from LRU to the best fixed content a policy goes.
    fn share(&self, rate: f64) -> f64 {
        100.0 * (rate - self.lru) / (self.best - self.lru)
    }

    fn print(&self, capacity: u32) {
        println!(
            "{capacity} entries: LRU {:.2}, random {:.2}, DLIRS {:.2}, best fixed content {:.2}; \
             share of the way there: S3-FIFO {:.2} ({:.0} %), TinyLFU {:.2} ({:.0} %)",
            self.lru,
            self.random,
            self.dlirs,
            self.best,
            self.s3_fifo,
            self.share(self.s3_fifo),
            self.tiny_lfu,
            self.share(self.tiny_lfu),
        );
    }
}

#[test]
fn hit_rates_are_those_of_the_thesis_and_tiny_lfu_nears_the_best_fixed_content() {
    let log = log();
    let measured = std::thread::scope(|threads| {
        let measure = |capacity| {
            threads.spawn({
                let log = &log;
                move || Rates::measure(log, capacity)
            })
        };
        [1000, 2000, 4000]
            .map(|capacity| (capacity, measure(capacity)))
            .map(|(c, t)| (c, t.join().unwrap()))
    });
    for (capacity, rates) in measured {
        rates.print(capacity);
        let uniform = 100.0 * f64::from(capacity) / PAIRS;
        let (dlirs_gain, tiny_lfu_share) = match capacity {
            1000 => (-0.3, 70.0),
            2000 => (-0.3, 80.0),
            _ => (2.0, 80.0),
        };
        assert!((rates.lru - uniform).abs() < 0.5, "LRU hits as often as keys have entries");
        assert!(rates.dlirs >= rates.lru + dlirs_gain);
        assert!(rates.share(rates.tiny_lfu) >= tiny_lfu_share);
    }
}

/// Returns the hits in a hundred of each 10,000 requests. Four of five are for one of 800 keys, the
/// others for any of 11,664. After 200,000 requests 800 other keys are the frequent ones.
fn rates_around_a_change(policy: Box<dyn Policy>) -> Vec<f64> {
    let (mut cache, mut draws) = (Cache::new(policy), Draws(3));
    let mut request = |first: u64| match draws.below(5) {
        0 => cache.ask(draws.below(TERMS * TERMS) as u32),
        _ => cache.ask((first + draws.below(800)) as u32),
    };
    let mut part = |part: usize| (0..10_000).filter(|_| request(5000 * (part as u64 / 20))).count();
    (0..40).map(|n| part(n) as f64 / 100.0).collect()
}

#[test]
fn tiny_lfu_notices_a_change_of_the_requests() {
    let rates = rates_around_a_change(Box::new(TinyLfu::new(1000)));
    let lru = rates_around_a_change(Box::new(Lru::new(1000)));
    println!("TinyLFU before the change {:.1}, after it {:.1?}", rates[19], &rates[20..]);
    println!("LRU before the change {:.1}, after it {:.1?}", lru[19], &lru[20..23]);
    assert!(rates[19] > lru[19] + 5.0);
    assert!(rates[22] > 0.95 * rates[19], "hits are back after 20 requests for each entry");
}

/// Returns the keys of a log of a third ANDs, ORs and single terms each.
fn mixed_log() -> Vec<[u64; 3]> {
    let mut draws = Draws(2021);
    (0..QUERIES)
        .map(|_| {
            let operator = [b'^', b'|', b'0'][draws.below(3) as usize];
            if operator == b'0' {
                return [operator.into(), draws.below(SINGLES), u64::MAX];
            }
            let [a, b] = [draws.below(TERMS), draws.below(TERMS)];
            [operator.into(), a.min(b), a.max(b)]
        })
        .collect()
}

/// Returns the alias of an OR that has a term.
fn any_with(term: u64) -> u64 {
    Key::new(&[u64::from(b'|'), term]).hash
}

/// True if the cache has an answer: of the query, or of an OR with the single term, if the cache has
/// aliases. It is filled in if not.
fn is_answered(cache: &spirit_cache::Cache, words: &[u64; 3]) -> bool {
    let [operator, term, other] = *words;
    let is_single = operator == u64::from(b'0');
    let aliases = if is_single { &[any_with(term)][..] } else { &[] };
    let key = Key::new(words);
    let read = |found: Found<'_>| match found {
        Found::Own(value) => value.get(0),
        Found::Other { key, value, .. } => {
            let terms = (key.get(0)? == u64::from(b'|')).then_some([key.get(1)?, key.get(2)?])?;
            terms.contains(&term).then(|| value.get(0)).flatten()
        }
    };
    let found = cache.look_up_any(key, aliases, read).is_some();
    if !found {
        let both = [any_with(term), any_with(other)];
        cache.fill_as(key, &[1], if operator == u64::from(b'|') { &both } else { &[] });
    }
    found
}

/// Returns the hits in a hundred queries, and those among them that an OR's entry answered.
fn mixed_rates(log: &[[u64; 3]], entries: u32, aliases: u32) -> [f64; 2] {
    let config = CacheConfig { entries: Some(entries), aliases, ..CacheConfig::new(8 << 20) };
    let cache = spirit_cache::Cache::new(&config, None).unwrap();
    let pass = || log.iter().filter(|words| is_answered(&cache, words)).count();
    let by_alias = || cache.stats().found_by_alias;
    (0..PASSES).for_each(|_| _ = pass());
    let before = by_alias();
    let hits: usize = (0..PASSES).map(|_| pass()).sum();
    assert_eq!((cache.stats().entries, cache.stats().busy), (entries, 0));
    [hits as u64, by_alias() - before].map(|n| 100.0 * n as f64 / (QUERIES * PASSES) as f64)
}

#[test]
fn partial_matching_answers_more_of_a_mixed_log() {
    let log = mixed_log();
    for (entries, isomorphic, partial) in
        [(1000, 10.99, 13.12), (2000, 21.23, 23.00), (4000, 39.81, 41.13)]
    {
        let [without, none] = mixed_rates(&log, entries, 0);
        let [with, by_alias] = mixed_rates(&log, entries, 2);
        println!("{entries} entries: {without:.2}, partial {with:.2}, by an OR {by_alias:.2}");
        assert!((without - isomorphic).abs() < 0.5, "{without:.2}, not {isomorphic}");
        assert!((with - partial).abs() < 0.5, "{with:.2}, not {partial}");
        assert!(none == 0.0 && by_alias > with - without, "an entry is also left for others");
    }
}
