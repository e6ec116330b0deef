//! Sums of an index's figures under the names that programs know.

use spirit::stats::Stats;

/// The structures that take an index's memory.
pub const PARTS: [&str; 9] =
    ["postings", "fresh", "vectors", "rows", "term_maps", "columns", "keys", "dictionary", "texts"];

/// The engine's names of partitions of the second tier begin so.
const SECOND_TIER: &str = "nvm ";
/// The states of segments that are not in the second tier.
const NOT_PLACED: [&str; 2] = ["ingested", "flushed"];

/// Returns the bytes of each of [`PARTS`].
pub fn parts(stats: &Stats) -> [(&'static str, u64); 9] {
    let bytes = &stats.bytes;
    let of_parts = [
        bytes.postings,
        bytes.fresh,
        bytes.vectors,
        bytes.rows,
        bytes.term_maps,
        bytes.columns,
        bytes.keys,
        bytes.dictionary,
        bytes.texts,
    ];
    std::array::from_fn(|part| (PARTS[part], of_parts[part]))
}

/// Returns the bytes in use and all bytes of the partitions in DRAM, or of those in the second tier.
pub fn heap(stats: &Stats, is_second_tier: bool) -> (u64, u64) {
    let own =
        stats.partitions.iter().filter(|one| one.name.starts_with(SECOND_TIER) == is_second_tier);
    own.fold((0, 0), |(used, all), one| (used + one.used, all + one.bytes))
}

/// Returns the operations that only the log makes durable: a start replays them.
pub fn only_logged(stats: &Stats) -> u64 {
    let segments = stats.segments.iter();
    segments.filter(|one| NOT_PLACED.contains(&&*one.state)).map(|one| one.rows).sum()
}
