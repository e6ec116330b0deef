//! An index that is asked while documents go in, as in the first paper's *WRT* (§5): four fifths of the documents are in, and one thread
//! asks for all matches of one query after the other, each timed alone, while another adds the rest at full speed.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Instant;

use spirit::{Builder, Index, Reader};

use crate::Fallible;
use crate::all_matches;
use crate::cores::{Cores, On};
use crate::corpus::Corpus;
use crate::scratch::Scratch;
use crate::timing::{Latencies, median};
use crate::workloads::Workload;

/// Tight, moderate and loose: long-term DRAM as a share of what the index takes.
pub(crate) const CAPS: [(&str, f64); 3] = [("T", 0.15), ("M", 0.55), ("L", 1.0)];
/// Queries of a window, at most.
const ASKED_MAX: usize = 4_000_000;
/// Queries of a workload whose time is divided between the tiers.
const DIVIDED: usize = 1000;
/// How often they are asked for that.
const DIVIDED_ROUNDS: usize = 5;

/// An index with four fifths of the documents.
pub(crate) struct Live {
    pub(crate) index: Index,
    /// Behind the index: it outlives it.
    _scratch: Scratch,
}

/// What came of a window.
pub(crate) struct Window {
    /// P50, P95, P99 and mean of each workload, µs.
    pub(crate) latencies: Vec<[f64; 4]>,
    /// Documents a second that were added meanwhile.
    pub(crate) docs_per_s: f64,
}

impl Live {
    /// Fills an index of these options in a directory of its own.
    pub(crate) fn filled(corpus: &Corpus, options: Builder, cores: Cores) -> Fallible<Live> {
        let scratch = Scratch::new()?;
        // What is behind ingest stays where it is started: the other core is the queries'.
        let _pinned = cores.pin(On::First);
        let index = options.directory(scratch.path()).open()?;
        index.add_all(corpus.iter().take(base(corpus)).map(|text| (None, text)))?;
        index.settle();
        Ok(Live { index, _scratch: scratch })
    }

    /// Asks each workload while its share of the rest goes in.
    pub(crate) fn asked(
        &self,
        corpus: &Corpus,
        workloads: &[Workload],
        cores: Cores,
    ) -> Fallible<Window> {
        let mut reader = self.index.reader()?;
        let share = (corpus.len() - base(corpus)) / workloads.len();
        let (mut latencies, mut rates) = (Vec::new(), Vec::new());
        for (number, workload) in workloads.iter().enumerate() {
            let from = base(corpus) + number * share;
            let documents = (from..from + share).map(|number| (None, corpus.get(number)));
            let is_written = AtomicBool::new(false);
            let mut asked = Latencies::with_capacity(ASKED_MAX);
            let written = thread::scope(|scope| {
                let writer = scope.spawn(|| {
                    let _pinned = cores.pin(On::First);
                    let start = Instant::now();
                    let added = self.index.add_all(documents);
                    is_written.store(true, Relaxed);
                    added.map(|_| share as f64 / start.elapsed().as_secs_f64())
                });
                let _pinned = cores.pin(On::Second);
                ask(&mut reader, workload, &is_written, &mut asked);
                writer.join().expect("no thread panics")
            });
            rates.push(written?);
            latencies.push(asked.summary().values);
        }
        Ok(Window { latencies, docs_per_s: rates.iter().sum::<f64>() / rates.len() as f64 })
    }

    /// The share of a workload's time that passes in segments which are read in DRAM: the time of searches in them alone against that
    /// of searches in all, the median over the rounds. Nothing is added meanwhile.
    pub(crate) fn share_in_dram(&self, workload: &Workload) -> Fallible<f64> {
        let mut reader = self.index.reader()?;
        let oldest = self.oldest_in_dram()?;
        let mut since = |oldest| {
            let start = Instant::now();
            for query in workload.queries.iter().take(DIVIDED) {
                black_box(reader.count_since(query, oldest));
            }
            start.elapsed()
        };
        // Once to warm up, and then in turn: the clock has two states, and a round in which it changes says nothing.
        let mut share = || since(oldest).as_secs_f64() / since(0).as_secs_f64();
        share();
        let shares: Vec<f64> = (0..DIVIDED_ROUNDS).map(|_| share()).collect();
        Ok(median(&shares))
    }

    /// The position of the oldest segment that is read in DRAM, as all newer ones are.
    fn oldest_in_dram(&self) -> Fallible<u32> {
        let stats = self.index.stats()?;
        let is_in_dram = |state: &str| !matches!(state, "committed" | "merged");
        let in_dram = stats.segments.iter().take_while(|segment| is_in_dram(&segment.state));
        let oldest = in_dram.last().ok_or("the newest segment is always in DRAM")?;
        Ok(oldest.position)
    }
}

/// Asks one query after the other until all documents are in, and one at least.
fn ask(reader: &mut Reader, workload: &Workload, is_written: &AtomicBool, asked: &mut Latencies) {
    for query in workload.queries.iter().cycle() {
        let start = Instant::now();
        black_box(all_matches::ask(reader, query));
        asked.push(start.elapsed());
        if is_written.load(Relaxed) || asked.is_full() {
            return;
        }
    }
}

/// Documents that are in before anything is asked.
fn base(corpus: &Corpus) -> usize {
    corpus.len() / 5 * 4
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use spirit::Search;

    use super::*;
    use crate::all_matches::Sizes;
    use crate::workloads;

    #[test]
    fn segments_read_in_dram_are_the_newest_ones_and_all_if_there_is_room() {
        let corpus = Corpus::generate(11, Some(16_000));
        let sizes = Sizes::of(&corpus, 120).unwrap();
        let workloads = workloads::of_top_terms(&corpus, 11, 20).unwrap();
        let mut shares = Vec::new();
        for (cap, share) in CAPS {
            let options = sizes.options(share).mode(spirit::Mode::Crash);
            let live = Live::filled(&corpus, options, Cores::find()).unwrap();
            let oldest = live.oldest_in_dram().unwrap();
            let mut reader = live.index.reader().unwrap();
            let (mut young, mut positions) = (BTreeSet::<u32>::new(), BTreeSet::<u32>::new());
            for query in workloads.iter().flat_map(|workload| &workload.queries) {
                let hits = reader.search(query, Search::all()).unwrap();
                let all: Vec<u32> = hits.rows().map(|(_, id, _)| id >> 1).collect();
                drop(hits);
                let in_dram = all.iter().filter(|position| **position >= oldest).count();
                assert_eq!(reader.count_since(query, oldest), in_dram, "{cap}");
                assert_eq!(reader.count_since(query, 0), all.len(), "{cap}");
                young.extend(all.iter().filter(|position| **position >= oldest));
                positions.extend(all);
            }
            shares.push(young.len() as f64 / positions.len() as f64);
        }
        assert!(shares.is_sorted() && shares[0] < 0.5 && shares[2] > 0.9, "{shares:?}");
    }
}
