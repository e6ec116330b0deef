//! Several threads ask one index.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use spirit::{Index, Query, Reader, Search};

use crate::Fallible;
use crate::cores::{Cores, On};
use crate::timing::{Latencies, Summary};

const K: usize = 10;

/// Which matches are scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// All, as in the paper.
    Exhaustive,
    /// Those of blocks that may have one of the best.
    Early,
}

impl Way {
    pub(super) const ALL: [Way; 2] = [Way::Exhaustive, Way::Early];

    pub(super) fn name(self) -> &'static str {
        match self {
            Way::Exhaustive => "exhaustive",
            Way::Early => "early termination",
        }
    }

    fn search(self) -> Search {
        match self {
            Way::Exhaustive => Search::best(K).exhaustive(),
            Way::Early => Search::best(K),
        }
    }
}

/// What asking every query once took.
pub(super) struct Pass {
    pub(super) summary: Summary,
    pub(super) per_second: f64,
}

/// The documents found, by sequence, and the bits of their scores.
pub(super) fn found(
    reader: &mut Reader,
    query: &Query,
    way: Way,
) -> Fallible<(Vec<u64>, Vec<u32>)> {
    let hits = reader.search(query, way.search())?;
    let scores = hits.iter().filter_map(|hit| hit.score().map(f32::to_bits)).collect();
    Ok((hits.iter().map(|hit| hit.sequence()).collect::<Result<Vec<_>, _>>()?, scores))
}

/// Each of `threads` asks its share of the queries.
pub(super) fn ask(
    index: &Index,
    queries: &[Query],
    way: Way,
    threads: usize,
    cores: Cores,
) -> Fallible<Pass> {
    let together = Barrier::new(threads);
    let one = |number: usize| {
        let _pinned = cores.pin(if number == 0 { On::Second } else { On::First });
        let share = queries.iter().skip(number).step_by(threads);
        let reader = index.reader();
        together.wait();
        let mut reader = reader.map_err(|error| error.to_string())?;
        Ok::<_, String>(ask_each(&mut reader, share, way, queries.len()))
    };
    let one = &one;
    let outcomes: Vec<_> = thread::scope(|scope| {
        let asking: Vec<_> = (0..threads).map(|number| scope.spawn(move || one(number))).collect();
        asking.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });
    let mut all = Latencies::with_capacity(queries.len());
    let mut longest = Duration::ZERO;
    for outcome in outcomes {
        let (latencies, taken) = outcome?;
        all.take_in(latencies);
        longest = longest.max(taken);
    }
    let per_second = queries.len() as f64 / longest.as_secs_f64();
    Ok(Pass { summary: all.summary(), per_second })
}

fn ask_each<'q>(
    reader: &mut Reader,
    queries: impl Iterator<Item = &'q Query>,
    way: Way,
    most: usize,
) -> (Latencies, Duration) {
    let mut latencies = Latencies::with_capacity(most);
    let search = way.search();
    let begin = Instant::now();
    for query in queries {
        let start = Instant::now();
        // A query that cannot be answered would have shown when answers were compared.
        black_box(reader.search(query, search.clone()).map_or(0, |hits| hits.len()));
        latencies.push(start.elapsed());
    }
    (latencies, begin.elapsed())
}
