//! Golden traces of LRU and DLIRS: hits and shares that another implementation counted.

use super::Keys;
use crate::policy::Policy;
use crate::policy::dlirs::Dlirs;
use crate::policy::lru::Lru;

/// Requests for 40 hot keys (60 %), for a loop of 300 (30 %), and for keys that never return.
fn mixed_requests() -> impl Iterator<Item = u64> {
    let mut x: u64 = 12_345;
    (0..50_000).map(move |i| {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        match (x >> 33) % 1000 {
            0..600 => (x >> 45) % 40,
            600..900 => 1000 + i % 300,
            _ => 10_000 + i,
        }
    })
}

/// Returns the hits of the requests, and the policy behind them.
fn hits<P: Policy>(policy: P, requests: impl Iterator<Item = u64>) -> (usize, P) {
    let mut keys = Keys::new(policy);
    let hits = requests.filter(|key| keys.ask(*key).0).count();
    (hits, keys.policy)
}

#[test]
fn mixed_requests_hit_as_often_as_elsewhere() {
    let golden = [
        (20, 8_331, 11_480, 16),
        (50, 18_375, 29_773, 10),
        (100, 26_966, 30_877, 31),
        (200, 34_261, 36_071, 43),
        (400, 40_852, 44_471, 35),
    ];
    for (capacity, lru, dlirs, hir) in golden {
        assert_eq!(hits(Lru::new(capacity), mixed_requests()).0, lru);
        let (found, policy) = hits(Dlirs::new(capacity), mixed_requests());
        assert_eq!((found, policy.hir()), (dlirs, hir), "capacity {capacity}");
        assert_eq!(policy.check(), Ok(()));
    }
}

#[test]
fn a_loop_larger_than_the_cache_hits_with_dlirs_only() {
    for (capacity, dlirs) in [(50, 4_851), (100, 9_801)] {
        let requests = || (0..12_000).map(|i| i % 120);
        assert_eq!(hits(Lru::new(capacity), requests()).0, 0);
        assert_eq!(hits(Dlirs::new(capacity), requests()).0, dlirs);
    }
}

#[test]
fn hir_get_a_hundredth_rounded_at_first() {
    let shares = [1, 49, 149, 150, 249, 250, 1000].map(|capacity| Dlirs::new(capacity).hir());
    assert_eq!(shares, [1, 1, 1, 2, 2, 3, 10]);
}
