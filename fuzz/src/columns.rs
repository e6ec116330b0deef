//! Any words as the columns of a segment: whatever its [shape](spirit_index::column::shape) lets through is read to an end, and
//! a range finds the rows that have a value in it.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_index::column::{Column, Columns, shape};
use spirit_kernel::Level;
use spirit_mem::{Region, Residency, Span};

use crate::bytes::Bytes;

const REGION_BYTES: u64 = 1 << 20;
/// Where columns lie.
const AT: u64 = 64;
const ROWS_MAX: u32 = 4096;

thread_local! {
    static REGION: Region = Region::reserve(REGION_BYTES, Residency::OnTouch).expect("little memory");
}

/// Takes `data` for columns: the first two bytes say of how many rows, the others are what lies there.
pub fn columns(data: &[u8]) {
    let mut bytes = Bytes(data);
    let rows = u32::from(bytes.number()) % ROWS_MAX;
    let words = bytes.0.len().div_ceil(8) as u64;
    REGION.with(|region| {
        let place: &[AtomicU64] = region.view(Span::new(AT, words));
        for (to, from) in place.iter().zip(bytes.0.chunks(8)) {
            let word = from.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            to.store(word, Relaxed);
        }
        if words > 0 && shape::check(region, AT, words * 8, u64::from(rows)).is_ok() {
            Columns::at(region, AT).iter().for_each(|column| look_at(&column, rows));
        }
    });
}

fn look_at(column: &Column<'_>, rows: u32) {
    let base = column.base_rank();
    let pairs: Vec<(u32, u64)> = column.iter().collect();
    let middle = pairs.get(pairs.len() / 2).map_or(0, |(_, value)| *value);
    for (low, high) in [(0, u64::MAX), (middle, middle), (column.min(), middle), (1, 0)] {
        let mut by_level = Level::all_supported().map(|level| {
            let mut bits = vec![0; (rows as usize).div_ceil(64) + 1];
            column.range_bits(level, base, low..=high, &mut bits);
            bits
        });
        let first = by_level.next().expect("there is a portable one");
        assert!(by_level.all(|bits| bits == first), "levels differ from {low} to {high}");
    }
    for rank in base..=base.saturating_add(rows) {
        assert_eq!(column.first(rank), column.of(rank).next());
    }
}
