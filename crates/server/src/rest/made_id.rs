//! Ids that the server makes.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns an id that no other document has: 20 letters, as OpenSearch's.
pub(super) fn made_id() -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    static NEXT: AtomicU64 = AtomicU64::new(0);
    // The time of the process' first id, so that ids of later processes differ.
    static FIRST: OnceLock<u64> = OnceLock::new();
    let first = FIRST.get_or_init(|| {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64)
    });
    let number = u128::from(*first) << 56 | u128::from(NEXT.fetch_add(1, Relaxed));
    // Two halves of ten letters.
    let halves = [(number >> 60) as u64, number as u64];
    let letters = halves.into_iter().flat_map(|half| {
        (0..10).rev().map(move |place| char::from(LETTERS[(half >> (6 * place) & 63) as usize]))
    });
    letters.collect()
}
