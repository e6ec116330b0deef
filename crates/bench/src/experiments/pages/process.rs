//! The process that asks, and what it notes about its pages.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use serde_json::json;
use spirit::cache::{Cache, Policy};
use spirit::{Index, Query, Search};

use crate::{Fallible, cgroup, engine};

/// The first argument of the process.
pub(crate) const ASK: &str = "ask-under-a-limit";
/// The file of queries in the index's directory.
pub(super) const LOG: &str = "log";
pub(super) const PERIOD: Duration = Duration::from_millis(200);
const SAMPLES: usize = 60;
/// Pages of a part of the file: a MiB.
const PART: usize = 256;
const PAGE: u64 = 4096;
/// A word of `/proc/self/pagemap` says of a page whether it is mapped in its highest bit.
const MAPPED: u64 = 1 << 63;

/// The mapping of the index's file: its first page, and the number of pages that are in use.
struct Pages {
    map: File,
    first: u64,
    count: u64,
}

/// Asks. `arguments` are the directory, the cgroup, and bytes: DRAM, the limit beyond what is used after the start, and the cache.
pub(crate) fn ask(mut arguments: impl Iterator<Item = String>) -> Fallible<()> {
    let mut next = || arguments.next().ok_or("an argument is missing");
    let (directory, group) = (next()?, next()?);
    let (dram, limit, cache): (u64, u64, u64) =
        (next()?.parse()?, next()?.parse()?, next()?.parse()?);
    cgroup::enter(Path::new(&group))?;
    let mut options = Index::builder().directory(Path::new(&directory)).dram_bytes(dram);
    if cache > 0 {
        options = options.cache(Cache::new(cache).policy(Policy::Dlirs).cost_min(Duration::ZERO));
    }
    let index = options.prefault(false).open()?;
    index.settle();
    let mut reader = index.reader()?;
    let lines = std::fs::read_to_string(Path::new(&directory).join(LOG))?;
    let log: Vec<Query> = lines.lines().map(|line| reader.parse(line)).collect::<Result<_, _>>()?;
    let pages = Pages::of(&directory)?;
    cgroup::forget_pages(Path::new(&directory))?;
    cgroup::limit(Path::new(&group), limit + cache)?;
    let (asked, is_over) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let sampler = scope.spawn(|| {
            let outcome = pages.sample(&asked).map_err(|error| error.to_string());
            is_over.store(1, Relaxed);
            outcome
        });
        // Ends once the sampler has all its samples.
        for query in log.iter().cycle().take_while(|_| is_over.load(Relaxed) == 0) {
            engine::hits(&mut reader, query, Search::newest(Search::HITS_MAX));
            asked.fetch_add(1, Relaxed);
        }
        sampler.join().unwrap_or_else(|_| Err("the sampler panicked".into()))
    })?;
    Ok(())
}

impl Pages {
    /// Finds the largest mapping of a file in the directory.
    fn of(directory: &str) -> Fallible<Pages> {
        let maps = std::fs::read_to_string("/proc/self/maps")?;
        let mapping = |line: &str| {
            let (start, end) = line.split(' ').next()?.split_once('-')?;
            let [start, end] = [start, end].map(|word| u64::from_str_radix(word, 16).ok());
            line.contains(directory).then_some((start? / PAGE, end? / PAGE))
        };
        let largest = maps.lines().filter_map(mapping).max_by_key(|(start, end)| end - start);
        let (first, end) = largest.ok_or("the index's file is not mapped")?;
        Ok(Pages { map: File::open("/proc/self/pagemap")?, first, count: end - first })
    }

    /// Prints a line for each sample.
    fn sample(&self, asked: &AtomicU64) -> Fallible<()> {
        let mut words = vec![0u8; self.count as usize * 8];
        let start = Instant::now();
        for number in 0..SAMPLES {
            let due = PERIOD * number as u32;
            std::thread::sleep(due.saturating_sub(start.elapsed()));
            self.map.read_exact_at(&mut words, self.first * 8)?;
            let bins = bins(&words);
            let (minor, major) = faults()?;
            println!(
                "{}",
                json!({
                    "s": start.elapsed().as_secs_f64(),
                    "queries": asked.load(Relaxed),
                    "minor": minor,
                    "major": major,
                    "bins": bins,
                })
            );
        }
        Ok(())
    }
}

/// The share of the pages that are mapped, in each part of the file.
fn bins(words: &[u8]) -> Vec<f64> {
    let pages: Vec<bool> = words
        .chunks_exact(8)
        .map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default()) & MAPPED != 0)
        .collect();
    let share = |part: &[bool]| part.iter().filter(|is| **is).count() as f64 / part.len() as f64;
    pages.chunks(PART).map(share).collect()
}

/// Minor and major faults of this process so far.
fn faults() -> Fallible<(u64, u64)> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').ok_or("no name in the statistics")?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    // Fields 10 and 12, of which the first two came before the name's end.
    let field = |number: usize| fields.get(number - 3).and_then(|field| field.parse().ok());
    Ok((field(10).ok_or("no minor faults")?, field(12).ok_or("no major faults")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_mapped_by_the_share_of_its_pages() {
        let word = |is_mapped: bool| (if is_mapped { MAPPED } else { 0 } | 77).to_le_bytes();
        let words: Vec<u8> =
            (0..PART * 3).flat_map(|page| word(page < 64 || page == PART)).collect();
        let bins = bins(&words);
        assert_eq!(bins, [0.25, 1.0 / 256.0, 0.0]);
    }

    #[test]
    fn faults_are_counted() {
        let (before, _) = faults().unwrap();
        let pages = vec![1u8; 64 << 20];
        assert!(pages[1 << 20] == 1 && faults().unwrap().0 > before);
    }
}
