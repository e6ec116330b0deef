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

#![forbid(unsafe_code)]

use spirit_cache::policy::Policy;
use spirit_cache::policy::dlirs::Dlirs;
use spirit_cache::policy::lru::Lru;
use spirit_cache::policy::random::Random;
use spirit_cache::policy::s3_fifo::S3Fifo;
use spirit_cache::policy::tiny_lfu::TinyLfu;

const TERMS: u64 = 108;
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
